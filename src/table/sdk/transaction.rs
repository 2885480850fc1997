//! Several writes as plain data in; their TransactWriteItems's cost, or the conditions that failed, out. Must not know what a request is.
//!
//! Every attempt carries the same token, so that the server makes the transaction once (DynamoDB developer guide, "Amazon DynamoDB
//! transactions: how it works", idempotency). So an attempt is repeated even if it may have been carried out.

use super::attempt_error::{AttemptError, classify_error};
use super::convert::{item_to_sdk, key_to_sdk, names, text, values};
use super::single_write::item_of;
use super::store::SdkStore;
use crate::table::data::error::{TableError, TableErrorKind};
use crate::table::data::expressions::Expressions;
use crate::table::data::limits::TOKEN_BYTES;
use crate::table::data::transaction::{tables_of, too_many_bytes};
use crate::table::data::write::{ConditionFailure, Unfit, WriteAction, WriteCall, WriteError};
use crate::table::data_store::Metered;
use crate::table::sdk::attempts::{Ended, Next, Retry};
use aws_sdk_dynamodb::config::http::HttpResponse;
use aws_sdk_dynamodb::error::{BuildError, ProvideErrorMetadata, SdkError};
use aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsError;
use aws_sdk_dynamodb::types::{
    CancellationReason, ConditionCheck, Delete, Put, ReturnConsumedCapacity, ReturnValuesOnConditionCheckFailure, TransactWriteItem, Update,
};
use std::time::Duration;
use tokio::time::Instant;

/// The shortest wait while an earlier attempt is still being carried out.
const IN_PROGRESS_WAIT: Duration = Duration::from_secs(1);

/// Writes all or nothing. Gives the capacity units consumed.
pub(super) async fn write_all(store: &SdkStore, calls: &[WriteCall], token: &str, deadline: Instant) -> Result<Metered<()>, WriteError> {
    let tables = tables_of(calls);
    let attempts = store.attempts("TransactWriteItems", &tables, deadline);
    let invalid = |detail: String| WriteError::Failed(attempts.named(TableError { kind: TableErrorKind::Invalid, detail }));
    if !(1..=TOKEN_BYTES).contains(&token.len()) {
        return Err(invalid(format!("a token of {} bytes; it has 1 to {TOKEN_BYTES}", token.len())));
    }
    let items: Vec<TransactWriteItem> =
        calls.iter().map(transact_item).collect::<Result<_, _>>().map_err(|error| invalid(error.to_string()))?;
    let request = store
        .client()
        .transact_write_items()
        .set_transact_items(Some(items))
        .client_request_token(token)
        .return_consumed_capacity(ReturnConsumedCapacity::Total);

    // Whether an attempt so far may have been carried out.
    let mut uncertain = false;
    let classify = |trouble: Option<SdkError<TransactWriteItemsError, HttpResponse>>| {
        let refusal = trouble.as_ref().and_then(SdkError::as_service_error);
        if let Some(TransactWriteItemsError::TransactionCanceledException(canceled)) = refusal {
            // Had an earlier attempt been carried out, its answer would have come again. So none was.
            uncertain = false;
            return match classify_reasons(canceled.cancellation_reasons()) {
                Next::Stop(WriteError::Failed(error)) => Next::Stop(WriteError::refused(attempts.named(error))),
                next => next,
            };
        }
        let code = refusal.and_then(ProvideErrorMetadata::code);
        let at_least = if code == Some("TransactionInProgressException") { IN_PROGRESS_WAIT } else { Duration::ZERO };
        let mismatch = code == Some("IdempotentParameterMismatchException");
        let failure = trouble.as_ref().map_or_else(AttemptError::unanswered, classify_error);
        uncertain |= failure.uncertain;
        let error = failure.error;
        match (failure.again, uncertain && !mismatch) {
            (true, _) => Next::Again(Retry { error, at_least, patient: uncertain }),
            (false, true) => Next::Stop(WriteError::Uncertain(attempts.named(error))),
            // Only the server knows the size of an updated item.
            (false, false) if error.detail.contains("4MB") || error.detail.contains("4 MB") => Next::Stop(too_many_bytes()),
            (false, false) => Next::Stop(WriteError::refused(attempts.named(error))),
        }
    };
    let answer = attempts.until_stopped(|| request.clone().send(), classify).await;
    match answer {
        Ok(output) => Ok(((), output.consumed_capacity.iter().flatten().filter_map(|part| part.capacity_units).sum())),
        Err(Ended::Stopped(error)) => Err(error),
        Err(Ended::Deadline(error)) if uncertain => Err(WriteError::Uncertain(error)),
        Err(Ended::Deadline(error)) => Err(WriteError::Failed(error)),
    }
}

/// What the reasons of a cancellation, one for each write, mean. Conditions come first: a retry would not help them.
fn classify_reasons(reasons: &[CancellationReason]) -> Next<WriteError> {
    let code = |reason: &CancellationReason| reason.code().unwrap_or("None").to_owned();
    let failed: Vec<ConditionFailure> = reasons
        .iter()
        .enumerate()
        .filter(|(_, reason)| code(reason) == "ConditionalCheckFailed")
        .map(|(position, reason)| ConditionFailure { position, item: item_of(reason.item.clone()) })
        .collect();
    if !failed.is_empty() {
        return Next::Stop(WriteError::Conditions(failed));
    }
    let told: Vec<String> = reasons
        .iter()
        .enumerate()
        .filter(|(_, reason)| code(reason) != "None")
        .map(|(position, reason)| format!("write {position}: {}: {}", code(reason), reason.message().unwrap_or("no message")))
        .collect();
    let detail = if told.is_empty() { "canceled without a reason".to_owned() } else { told.join("; ") };
    let all = |codes: &[&str]| !told.is_empty() && reasons.iter().map(code).all(|code| code == "None" || codes.contains(&code.as_str()));
    let throttled = ["ProvisionedThroughputExceeded", "ThrottlingError", "RequestLimitExceeded"];
    if all(&["TransactionConflict"]) {
        return Next::Again(TableError { kind: TableErrorKind::Condition, detail }.into());
    }
    if all(&[throttled.as_slice(), &["TransactionConflict"]].concat()) {
        return Next::Again(TableError { kind: TableErrorKind::Throttled, detail }.into());
    }
    let unfit = |(position, reason): (usize, &CancellationReason)| Some((position, Unfit::of(reason.message()?)?));
    if let Some((position, unfit)) = reasons.iter().enumerate().find_map(unfit) {
        return Next::Stop(WriteError::Unfit(Some(position), unfit));
    }
    Next::Stop(WriteError::Failed(TableError { kind: TableErrorKind::Invalid, detail }))
}

fn transact_item(call: &WriteCall) -> Result<TransactWriteItem, BuildError> {
    let update = if let WriteAction::Update(_, update) = &call.action { update.as_ref() } else { None };
    let built = Expressions::of_write(call.condition.as_ref(), update);
    let with_item = ReturnValuesOnConditionCheckFailure::AllOld;
    let item = TransactWriteItem::builder();
    Ok(match &call.action {
        WriteAction::Put(new) => {
            let put = Put::builder().table_name(&*call.table).set_item(Some(item_to_sdk(new.clone())));
            let put = put.set_condition_expression(text(&built.condition)).set_expression_attribute_names(names(&built));
            let put = put.set_expression_attribute_values(values(&built));
            item.put(put.return_values_on_condition_check_failure(with_item).build()?)
        }
        WriteAction::Update(key, Some(_)) => {
            let update = Update::builder().table_name(&*call.table).set_key(Some(key_to_sdk(key)));
            let update = update.set_update_expression(text(&built.update)).set_condition_expression(text(&built.condition));
            let update = update.set_expression_attribute_names(names(&built)).set_expression_attribute_values(values(&built));
            item.update(update.return_values_on_condition_check_failure(with_item).build()?)
        }
        WriteAction::Delete(key) => {
            let delete = Delete::builder().table_name(&*call.table).set_key(Some(key_to_sdk(key)));
            let delete = delete.set_condition_expression(text(&built.condition)).set_expression_attribute_names(names(&built));
            let delete = delete.set_expression_attribute_values(values(&built));
            item.delete(delete.return_values_on_condition_check_failure(with_item).build()?)
        }
        // A transaction has no update without an expression. A check of its condition is the same.
        WriteAction::Check(key) | WriteAction::Update(key, None) => {
            let check = ConditionCheck::builder().table_name(&*call.table).set_key(Some(key_to_sdk(key)));
            let check = check.set_condition_expression(text(&built.condition)).set_expression_attribute_names(names(&built));
            let check = check.set_expression_attribute_values(values(&built));
            item.condition_check(check.return_values_on_condition_check_failure(with_item).build()?)
        }
    }
    .build())
}
