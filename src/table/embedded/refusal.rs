//! A refusal of the engine in; out: the same as DynamoDB words it, as the answer of a server, and as the failure of an
//! attempt. Must not know kinds of calls.

use super::storage_failure;
use super::values::present;
use crate::table::attempt::failure::{AttemptFailure, CancelReason, Refusal, STORAGE_FAILURE};
use dynoxide::DynoxideError;
use dynoxide::errors::CancellationReason;

/// The refusal of an operation in DynamoDB's words. DynamoDB puts an envelope around some refusals of writes; the
/// engine leaves it to its caller.
pub(super) fn worded(operation: &str, refusal: DynoxideError) -> DynoxideError {
    match refusal {
        DynoxideError::EnvelopedValidation(message) if matches!(operation, "PutItem" | "UpdateItem" | "DeleteItem") => {
            DynoxideError::ValidationException(format!("1 validation error detected: {message}"))
        }
        other => other,
    }
}

/// The HTTP status and the JSON body of a server that refuses.
pub(super) fn answer(refusal: &DynoxideError) -> (u16, Vec<u8>) {
    match storage_failure::cause(refusal) {
        Some(cause) => storage_failure::answer(cause),
        None => (refusal.status_code(), refusal.to_json().into_bytes()),
    }
}

/// The failure that the refusal of an attempt is.
pub(super) fn failure(refusal: DynoxideError) -> AttemptFailure {
    if let Some(cause) = storage_failure::cause(&refusal) {
        return AttemptFailure::refused(Some(STORAGE_FAILURE), Some(cause), storage_failure::STATUS);
    }
    let code = refusal.error_type().rsplit('#').next();
    let mut failure = AttemptFailure::refused(code, Some(&refusal.to_string()), refusal.status_code());
    match refusal {
        DynoxideError::ConditionalCheckFailedException(_, item) => failure.refusal = Refusal::Condition(present(item)),
        DynoxideError::TransactionCanceledException(_, reasons) => {
            failure.refusal = Refusal::Canceled(reasons.into_iter().map(reason).collect());
        }
        _ => {}
    }
    failure
}

fn reason(CancellationReason { code, message, item }: CancellationReason) -> CancelReason {
    CancelReason { code, message, item: present(item) }
}
