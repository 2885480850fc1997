//! An error of the SDK in; its kind, whether to try again, and whether the call may have been carried out, out.

use crate::table::data::error::{TableError, TableErrorKind};
use crate::table::embedded::storage_failure;
use aws_sdk_dynamodb::config::http::HttpResponse;
use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};
use std::error::Error;

/// A failed attempt.
#[derive(Debug)]
pub(super) struct AttemptError {
    /// The error to report if no later attempt succeeds.
    pub(super) error: TableError,
    /// Whether another attempt may succeed.
    pub(super) again: bool,
    /// Whether the call may have been carried out, so that sending a write again could write twice.
    pub(super) uncertain: bool,
}

impl AttemptError {
    /// An attempt without an answer in time.
    pub(super) fn unanswered() -> Self {
        let error = TableError { kind: TableErrorKind::Timeout, detail: "no answer in time".to_owned() };
        Self { error, again: true, uncertain: true }
    }
}

/// Classifies an error of the SDK (DynamoDB developer guide, "Error handling with DynamoDB", error messages and codes).
pub(super) fn classify_error<E>(error: &SdkError<E, HttpResponse>) -> AttemptError
where
    E: ProvideErrorMetadata + Error + 'static,
{
    let (kind, again) = match error {
        // An incomplete answer of DynamoDB: the SDK found no code in it.
        SdkError::ServiceError(refusal) if refusal.err().code().is_none() && is_cut_short(refusal.raw()) => {
            (TableErrorKind::Unavailable, true)
        }
        SdkError::ServiceError(refusal) => {
            let (code, message) = (refusal.err().code(), refusal.err().message().unwrap_or_default());
            kind_of_refusal(code.unwrap_or_default(), message, refusal.raw().status().as_u16())
        }
        SdkError::TimeoutError(_) => (TableErrorKind::Timeout, true),
        SdkError::DispatchFailure(trouble) if trouble.is_timeout() => (TableErrorKind::Timeout, true),
        SdkError::DispatchFailure(trouble) if trouble.is_user() => (TableErrorKind::Invalid, false),
        SdkError::DispatchFailure(trouble) if trouble.is_other() && mentions(error, "credential") => {
            // Missing credentials stay missing; a slow or failing source of credentials may recover.
            (TableErrorKind::Denied, mentions(error, "timed out") || mentions(error, "an error occurred while loading"))
        }
        // No connection, a broken one, or an incomplete or unreadable answer.
        SdkError::DispatchFailure(_) | SdkError::ResponseError(_) => (TableErrorKind::Unavailable, true),
        // The call could not be built.
        _ => (TableErrorKind::Invalid, false),
    };
    let detail = match (error.code(), error.message()) {
        (Some(storage_failure::CODE), Some(cause)) => cause.to_owned(),
        (Some(code), message) => format!("{code}: {}", message.unwrap_or("no message")),
        _ => with_causes(error),
    };
    AttemptError { error: TableError { kind, detail }, again, uncertain: may_be_done(error) }
}

/// Whether a call with this error may have been carried out: it was sent, and no answer refused it. After a status of 5xx, items may have
/// been written (DynamoDB developer guide, "Error handling with DynamoDB").
fn may_be_done<E>(error: &SdkError<E, HttpResponse>) -> bool
where
    E: ProvideErrorMetadata + Error + 'static,
{
    match error {
        SdkError::ServiceError(refusal) => {
            let throttled = || {
                let (code, status) = (refusal.err().code().unwrap_or_default(), refusal.raw().status().as_u16());
                kind_of_refusal(code, "", status).0 == TableErrorKind::Throttled
            };
            // The status comes before the body: 400 is a refusal even if the body is incomplete.
            let refused = (400..500).contains(&refusal.raw().status().as_u16()) || throttled();
            !refused
                || matches!(refusal.err().code(), Some("TransactionInProgressException" | "RequestTimeout" | "RequestTimeoutException"))
        }
        SdkError::DispatchFailure(trouble) if trouble.is_user() => false,
        SdkError::DispatchFailure(trouble) if trouble.is_other() && mentions(error, "credential") => false,
        SdkError::DispatchFailure(_) => !never_connected(error),
        SdkError::ConstructionFailure(_) => false,
        _ => true,
    }
}

/// Whether no connection was made, so that nothing was sent. The HTTP client's error types are private, so their texts decide.
pub(super) fn never_connected(error: &(dyn Error + 'static)) -> bool {
    let refused = |error: &(dyn Error + 'static)| {
        error.downcast_ref::<std::io::Error>().is_some_and(|error| error.kind() == std::io::ErrorKind::ConnectionRefused)
    };
    causes(error).any(refused) || ["client error (Connect)", "HTTP connect timeout"].iter().any(|words| mentions(error, words))
}

fn kind_of_refusal(code: &str, message: &str, status: u16) -> (TableErrorKind, bool) {
    use TableErrorKind::{Condition, Denied, Invalid, NoSuchTable, Storage, Throttled, Unavailable};
    match code {
        // LimitExceededException: too many tables are being created at once; it passes when they become active.
        "ProvisionedThroughputExceededException"
        | "ThrottlingException"
        | "Throttling"
        | "RequestLimitExceeded"
        | "RequestThrottled"
        | "TooManyRequestsException"
        | "LimitExceededException" => (Throttled, true),
        "InternalServerError"
        | "InternalServerException"
        | "InternalFailure"
        | "ServiceUnavailable"
        | "ServiceUnavailableException"
        | "RequestTimeout"
        | "RequestTimeoutException"
        // Backups of a new table are being prepared.
        | "ContinuousBackupsUnavailableException" => (Unavailable, true),
        // The embedded store's disk is full, or its data file is damaged.
        storage_failure::CODE => (Storage, false),
        "ResourceNotFoundException" | "TableNotFoundException" => (NoSuchTable, false),
        "ValidationException" if message.contains("does not have the specified index") => (NoSuchTable, false),
        "AccessDeniedException"
        | "UnrecognizedClientException"
        | "MissingAuthenticationTokenException"
        | "MissingAuthenticationToken"
        | "IncompleteSignatureException"
        | "IncompleteSignature"
        | "InvalidSignatureException"
        | "SignatureDoesNotMatch"
        | "ExpiredTokenException"
        | "ExpiredToken"
        | "InvalidClientTokenId"
        | "NotAuthorized"
        | "OptInRequired" => (Denied, false),
        "ConditionalCheckFailedException" | "TransactionCanceledException" => (Condition, false),
        // Another write of the same item was in progress; it is over in a moment.
        "TransactionConflictException" => (Condition, true),
        "TransactionInProgressException" => (Unavailable, true),
        _ => match status {
            429 => (Throttled, true),
            501 => (Invalid, false),
            500.. => (Unavailable, true),
            401 | 403 => (Denied, false),
            // Without a code, the answer is not DynamoDB's: another server listens there.
            _ if code.is_empty() => (Unavailable, false),
            _ => (Invalid, false),
        },
    }
}

/// Whether a body without an error code is what is left of JSON rather than the page of some other server.
fn is_cut_short(response: &HttpResponse) -> bool {
    response.status().is_success() || response.body().bytes().is_some_and(|body| body.starts_with(b"{"))
}

/// The texts of an error and its causes, each once: some errors repeat their cause.
fn with_causes(error: &(dyn Error + 'static)) -> String {
    causes(error).map(ToString::to_string).fold(String::new(), |said, text| match said.as_str() {
        "" => text,
        _ if said.ends_with(&text) => said,
        _ => format!("{said}: {text}"),
    })
}

/// Whether the text of an error or of one of its causes contains these words. Some error types of the SDK are private.
fn mentions(error: &(dyn Error + 'static), words: &str) -> bool {
    causes(error).any(|error| error.to_string().contains(words))
}

/// An error and its causes.
fn causes<'e>(error: &'e (dyn Error + 'static)) -> impl Iterator<Item = &'e (dyn Error + 'static)> {
    std::iter::successors(Some(error), |error: &&'e (dyn Error + 'static)| (**error).source())
}

#[cfg(test)]
mod tests {
    use super::*;
    use TableErrorKind::*;

    #[test]
    fn codes_and_statuses_have_their_kinds() {
        for (code, message, status, kind, again) in [
            ("ProvisionedThroughputExceededException", "", 400, Throttled, true),
            ("ThrottlingException", "", 400, Throttled, true),
            ("RequestLimitExceeded", "", 400, Throttled, true),
            ("InternalServerError", "", 500, Unavailable, true),
            ("SomethingNew", "", 503, Unavailable, true),
            ("", "", 502, Unavailable, true),
            ("", "", 429, Throttled, true),
            ("UnsupportedOperation", "", 501, Invalid, false),
            ("ResourceNotFoundException", "", 400, NoSuchTable, false),
            ("ValidationException", "The table does not have the specified index: x", 400, NoSuchTable, false),
            ("ValidationException", "Invalid FilterExpression", 400, Invalid, false),
            ("AccessDeniedException", "", 400, Denied, false),
            ("ExpiredTokenException", "", 400, Denied, false),
            ("", "", 403, Denied, false),
            ("ConditionalCheckFailedException", "", 400, Condition, false),
            ("TransactionConflictException", "", 400, Condition, true),
            ("TransactionInProgressException", "", 400, Unavailable, true),
            ("IdempotentParameterMismatchException", "", 400, Invalid, false),
            ("", "", 404, Unavailable, false),
            ("SomethingNew", "", 400, Invalid, false),
        ] {
            assert_eq!(kind_of_refusal(code, message, status), (kind, again), "{code} {status}");
        }
    }
}
