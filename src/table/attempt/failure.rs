//! Why an attempt failed: its kind, whether to try again, and whether the call may have been carried out. Must not know
//! who made it.

use crate::table::data::attribute::Item;
use crate::table::data::error::{TableError, TableErrorKind};
use crate::table::retry::table_health::Verdict;
use serde::de::IgnoredAny;

/// The error code of a call that failed because of the disk or the data file of the embedded store. It ends the call.
pub(in crate::table) const STORAGE_FAILURE: &str = "StorageFailureException";

/// A failed attempt.
#[derive(Debug)]
pub(in crate::table) struct AttemptFailure {
    /// The error to report if no later attempt succeeds.
    pub(in crate::table) error: TableError,
    /// Whether another attempt may succeed.
    pub(in crate::table) again: bool,
    /// Whether the call may have been carried out, so that sending a write again could write twice.
    pub(in crate::table) uncertain: bool,
    /// Whether no connection was made.
    pub(in crate::table) never_connected: bool,
    /// What it says about the health of the table.
    pub(in crate::table) verdict: Verdict,
    /// What the server refused, where calls go on from that.
    pub(in crate::table) refusal: Refusal,
}

/// Refusals of the server that say more than their kind.
#[derive(Debug, Default)]
pub(in crate::table) enum Refusal {
    /// None of the others.
    #[default]
    Plain,
    /// The condition of a single write did not hold; the item as it is.
    Condition(Option<Item>),
    /// A transaction was canceled; a reason for each write.
    Canceled(Vec<CancelReason>),
    /// An earlier attempt of the transaction is still being carried out.
    InProgress,
    /// The token belongs to another transaction.
    TokenMismatch,
}

/// Why one write of a transaction was refused (DynamoDB API reference, `CancellationReason`).
#[derive(Debug)]
pub(in crate::table) struct CancelReason {
    /// `None` for a write that was not the reason.
    pub(in crate::table) code: String,
    /// The server's words.
    pub(in crate::table) message: Option<String>,
    /// The item of a failed condition.
    pub(in crate::table) item: Option<Item>,
}

impl AttemptFailure {
    /// An attempt without an answer in time.
    pub(in crate::table) fn unanswered() -> Self {
        let error = TableError { kind: TableErrorKind::Timeout, detail: "no answer in time".to_owned() };
        Self {
            error,
            again: true,
            uncertain: true,
            never_connected: false,
            verdict: Verdict::Silent,
            refusal: Refusal::Plain,
        }
    }

    /// An attempt whose answer cannot be used, though the call may have been carried out.
    pub(in crate::table) fn unusable(kind: TableErrorKind, detail: String) -> Self {
        let again = kind != TableErrorKind::Invalid;
        let error = TableError { kind, detail };
        Self {
            error,
            again,
            uncertain: true,
            never_connected: false,
            verdict: Verdict::Silent,
            refusal: Refusal::Plain,
        }
    }

    /// An answer with an error code, or with a status that is none of success.
    pub(in crate::table) fn refused(code: Option<&str>, message: Option<&str>, status: u16) -> Self {
        let (kind, again) = kind_of_refusal(code.unwrap_or_default(), message.unwrap_or_default(), status);
        let detail = match code {
            Some(STORAGE_FAILURE) => message.unwrap_or_default().to_owned(),
            Some(code) => format!("{code}: {}", message.unwrap_or("no message")),
            None => format!("status {status} without an error code"),
        };
        // The status comes before the body: 400 is a refusal even if the body is incomplete. After a status of 5xx,
        // items may have been written (DynamoDB developer guide, "Error handling with DynamoDB").
        let is_refusal = (400..500).contains(&status) || kind == TableErrorKind::Throttled;
        let late =
            matches!(code, Some("TransactionInProgressException" | "RequestTimeout" | "RequestTimeoutException"));
        let refusal = match code {
            Some("TransactionInProgressException") => Refusal::InProgress,
            Some("IdempotentParameterMismatchException") => Refusal::TokenMismatch,
            _ => Refusal::Plain,
        };
        let error = TableError { kind, detail };
        Self {
            error,
            again,
            uncertain: !is_refusal || late,
            never_connected: false,
            verdict: Verdict::Answered,
            refusal,
        }
    }
}

/// Whether a body without an error code is what is left of an answer of DynamoDB. Whole JSON and any other text are
/// another server's.
pub(in crate::table) fn is_cut_off(body: &[u8]) -> bool {
    body.starts_with(b"{") && serde_json::from_slice::<IgnoredAny>(body).is_err()
}

/// The kind of a refusal, and whether it passes (DynamoDB developer guide, "Error handling with DynamoDB", error
/// messages and codes).
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
        STORAGE_FAILURE => (Storage, false),
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
        "TransactionConflictException"
        // In another Region, of a global table with strong consistency (DynamoDB API reference, `PutItem`, errors).
        | "ReplicatedWriteConflictException" => (Condition, true),
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
            ("ReplicatedWriteConflictException", "", 400, Condition, true),
            ("TransactionInProgressException", "", 400, Unavailable, true),
            ("IdempotentParameterMismatchException", "", 400, Invalid, false),
            ("", "", 404, Unavailable, false),
            ("SomethingNew", "", 400, Invalid, false),
        ] {
            assert_eq!(kind_of_refusal(code, message, status), (kind, again), "{code} {status}");
        }
    }
}
