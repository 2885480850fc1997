//! Several writes as plain data in; their TransactWriteItems's cost, or the conditions that failed, out. Must not know what a request is.
//!
//! Every attempt carries the same token, so that the server makes the transaction once (DynamoDB developer guide, "Amazon DynamoDB
//! transactions: how it works", idempotency). So an attempt is repeated even if it may have been carried out.

use super::attempts::{CallMeans, Ended, Next, Retry};
use super::failure::{AttemptFailure, CancelReason, Refusal};
use crate::table::data::error::{TableError, TableErrorKind};
use crate::table::data::limits::TOKEN_BYTES;
use crate::table::data::transaction::{tables_of, too_many_bytes};
use crate::table::data::write::{ConditionFailure, Unfit, WriteAction, WriteCall, WriteError};
use crate::table::data_store::Metered;
use std::time::Duration;
use tokio::time::Instant;

/// The shortest wait while an earlier attempt is still being carried out.
const IN_PROGRESS_WAIT: Duration = Duration::from_secs(1);

/// Writes all or nothing. Gives the capacity units consumed.
pub(in crate::table) async fn write_all(
    caller: CallMeans<'_>,
    calls: &[WriteCall],
    token: &str,
    deadline: Instant,
) -> Result<Metered<()>, WriteError> {
    let tables = tables_of(calls);
    let attempts = caller.attempts("TransactWriteItems", &tables, deadline);
    let invalid = |detail: String| Err(WriteError::Failed(attempts.named(TableError { kind: TableErrorKind::Invalid, detail })));
    if !(1..=TOKEN_BYTES).contains(&token.len()) {
        return invalid(format!("a token of {} bytes; it has 1 to {TOKEN_BYTES}", token.len()));
    }
    // A transaction has no update without an expression. A check of its condition is the same.
    let is_check = |call: &WriteCall| matches!(call.action, WriteAction::Check(_) | WriteAction::Update(_, None));
    if let Some(call) = calls.iter().find(|call| is_check(call) && call.condition.is_none()) {
        return invalid(format!("a check of an item of {} has no condition", call.table));
    }
    // Whether an attempt so far may have been carried out.
    let mut uncertain = false;
    let classify = |failure: AttemptFailure| {
        let at_least = match failure.refusal {
            Refusal::Canceled(reasons) => {
                // Had an earlier attempt been carried out, its answer would have come again. So none was.
                uncertain = false;
                return match classify_reasons(reasons) {
                    Next::Stop(WriteError::Failed(error)) => Next::Stop(WriteError::refused(attempts.named(error))),
                    next => next,
                };
            }
            Refusal::InProgress => IN_PROGRESS_WAIT,
            _ => Duration::ZERO,
        };
        uncertain |= failure.uncertain;
        let mismatch = matches!(failure.refusal, Refusal::TokenMismatch);
        let error = failure.error;
        match (failure.again, uncertain && !mismatch) {
            (true, _) => Next::Again(Retry { error, at_least, patient: uncertain }),
            (false, true) => Next::Stop(WriteError::Uncertain(attempts.named(error))),
            // Only the server knows the size of an updated item.
            (false, false) if error.detail.contains("4MB") || error.detail.contains("4 MB") => Next::Stop(too_many_bytes()),
            (false, false) => Next::Stop(WriteError::refused(attempts.named(error))),
        }
    };
    match attempts.until_stopped(|| caller.maker.transact(calls, token), classify).await {
        Ok(made) => Ok(made),
        Err(Ended::Stopped(error)) => Err(error),
        Err(Ended::Deadline(error)) if uncertain => Err(WriteError::Uncertain(error)),
        Err(Ended::Deadline(error)) => Err(WriteError::Failed(error)),
    }
}

/// What the reasons of a cancellation, one for each write, mean. Conditions come first: a retry would not help them.
fn classify_reasons(reasons: Vec<CancelReason>) -> Next<WriteError> {
    if reasons.iter().any(|reason| reason.code == "ConditionalCheckFailed") {
        let failed = reasons.into_iter().enumerate().filter(|(_, reason)| reason.code == "ConditionalCheckFailed");
        return Next::Stop(WriteError::Conditions(
            failed.map(|(position, CancelReason { item, .. })| ConditionFailure { position, item }).collect(),
        ));
    }
    let said: Vec<String> = reasons
        .iter()
        .enumerate()
        .filter(|(_, reason)| reason.code != "None")
        .map(|(position, reason)| format!("write {position}: {}: {}", reason.code, reason.message.as_deref().unwrap_or("no message")))
        .collect();
    let detail = if said.is_empty() { "canceled without a reason".to_owned() } else { said.join("; ") };
    let all = |codes: &[&str]| !said.is_empty() && reasons.iter().all(|reason| reason.code == "None" || codes.contains(&&*reason.code));
    let throttled = ["ProvisionedThroughputExceeded", "ThrottlingError", "RequestLimitExceeded"];
    if all(&["TransactionConflict"]) {
        return Next::Again(TableError { kind: TableErrorKind::Condition, detail }.into());
    }
    if all(&[throttled.as_slice(), &["TransactionConflict"]].concat()) {
        return Next::Again(TableError { kind: TableErrorKind::Throttled, detail }.into());
    }
    let unfit = |(position, reason): (usize, &CancelReason)| Some((position, Unfit::of(reason.message.as_deref()?)?));
    if let Some((position, unfit)) = reasons.iter().enumerate().find_map(unfit) {
        return Next::Stop(WriteError::Unfit(Some(position), unfit));
    }
    Next::Stop(WriteError::Failed(TableError { kind: TableErrorKind::Invalid, detail }))
}
