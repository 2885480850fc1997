//! Several writes as plain data in; one TransactWriteItems; what it cost, or which conditions failed, out.
//! Must not know what a request is: bounds and records are the loaders' work.
//!
//! Every attempt carries the same token, by which the server knows it again: what was carried out once is answered, not repeated
//! (DynamoDB developer guide, "Amazon DynamoDB transactions: how it works", idempotency). So an attempt whose fate is not known is
//! repeated too. The SDK makes a token of its own only where none is given.

use super::attribute::Key;
use super::convert::{item_to_sdk, key_to_sdk};
use super::error::{TableError, TableErrorKind};
use super::expressions::Expressions;
use super::failure::{Failure, failure};
use super::item_size::{attribute_size, item_size, key_size};
use super::key_range::canonical;
use super::retry::{Ended, Next};
use super::single_write::item_of;
use super::store::Store;
use super::write::{ConditionFailure, Unfit, WriteAction, WriteCall, WriteError};
use aws_sdk_dynamodb::config::http::HttpResponse;
use aws_sdk_dynamodb::error::{BuildError, ProvideErrorMetadata, SdkError};
use aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsError;
use aws_sdk_dynamodb::types::{
    CancellationReason, ConditionCheck, Delete, Put, ReturnConsumedCapacity, ReturnValuesOnConditionCheckFailure, TransactWriteItem, Update,
};
use std::collections::{HashMap, HashSet};
use std::time::Duration;
use tokio::time::Instant;

/// Most writes of a transaction (DynamoDB API reference, `TransactWriteItems`).
const MOST_WRITES: usize = 100;
/// Most bytes of all items of a transaction (same page).
const MOST_BYTES: usize = 4 * 1024 * 1024;
/// The longest token (same page).
const LONGEST_TOKEN: usize = 36;
/// The least wait where an earlier attempt is still being carried out.
const IN_PROGRESS_WAIT: Duration = Duration::from_secs(1);

/// Writes all or nothing. Gives the capacity units consumed.
pub(super) async fn write_all(store: &Store, calls: &[WriteCall], token: &str, deadline: Instant) -> Result<f64, WriteError> {
    let tables = tables_of(calls);
    let attempts = store.attempts("TransactWriteItems", &tables, deadline);
    let invalid = |detail: String| WriteError::Failed(attempts.named(TableError { kind: TableErrorKind::Invalid, detail }));
    if !(1..=LONGEST_TOKEN).contains(&token.len()) {
        return Err(invalid(format!("a token of {} bytes; it has 1 to {LONGEST_TOKEN}", token.len())));
    }
    if let Some(text) = too_large(calls) {
        return Err(WriteError::TooLarge(text));
    }
    if let Some(second) = written_twice(calls) {
        return Err(WriteError::Unfit(Some(second), Unfit::Twice));
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
    let judge = |trouble: Option<SdkError<TransactWriteItemsError, HttpResponse>>| {
        let refusal = trouble.as_ref().and_then(SdkError::as_service_error);
        if let Some(TransactWriteItemsError::TransactionCanceledException(canceled)) = refusal {
            // An attempt that was carried out would have been answered again, so those before this one were not.
            uncertain = false;
            return match judge_reasons(canceled.cancellation_reasons()) {
                Next::Stop(WriteError::Failed(error)) => Next::Stop(WriteError::refused(attempts.named(error))),
                next => next,
            };
        }
        let code = refusal.and_then(ProvideErrorMetadata::code);
        let at_least = if code == Some("TransactionInProgressException") { IN_PROGRESS_WAIT } else { Duration::ZERO };
        let mismatch = code == Some("IdempotentParameterMismatchException");
        let failure = trouble.as_ref().map_or_else(Failure::unanswered, failure);
        uncertain |= failure.uncertain;
        let error = failure.error;
        match (failure.again, uncertain && !mismatch) {
            (true, _) => Next::Again(error, at_least),
            (false, true) => Next::Stop(WriteError::Uncertain(attempts.named(error))),
            // Of what an update makes of an item, only the server knows the size.
            (false, false) if error.detail.contains("4MB") || error.detail.contains("4 MB") => Next::Stop(WriteError::TooLarge(larger())),
            (false, false) => Next::Stop(WriteError::refused(attempts.named(error))),
        }
    };
    let answer = attempts.until_judged(|| request.clone().send(), judge).await;
    match answer {
        Ok(output) => Ok(output.consumed_capacity.iter().flatten().filter_map(|part| part.capacity_units).sum()),
        Err(Ended::Stopped(error)) => Err(error),
        Err(Ended::Deadline(error)) if uncertain => Err(WriteError::Uncertain(error)),
        Err(Ended::Deadline(error)) => Err(WriteError::Failed(error)),
    }
}

/// The tables of the writes, each once, joined by a comma.
pub(super) fn tables_of(calls: &[WriteCall]) -> String {
    let mut tables: Vec<&str> = calls.iter().map(|call| &*call.table).collect();
    tables.sort_unstable();
    tables.dedup();
    tables.join(",")
}

/// What the reasons of a cancellation, one for each write, mean. Conditions come first: that they failed will not pass.
fn judge_reasons(reasons: &[CancellationReason]) -> Next<WriteError> {
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
    let detail = if told.is_empty() { "canceled for no reason".to_owned() } else { told.join("; ") };
    let all = |codes: &[&str]| !told.is_empty() && reasons.iter().map(code).all(|code| code == "None" || codes.contains(&code.as_str()));
    let throttled = ["ProvisionedThroughputExceeded", "ThrottlingError", "RequestLimitExceeded"];
    if all(&["TransactionConflict"]) {
        return Next::Again(TableError { kind: TableErrorKind::Condition, detail }, Duration::ZERO);
    }
    if all(&[throttled.as_slice(), &["TransactionConflict"]].concat()) {
        return Next::Again(TableError { kind: TableErrorKind::Throttled, detail }, Duration::ZERO);
    }
    let unfit = |(position, reason): (usize, &CancellationReason)| Some((position, Unfit::of(reason.message()?)?));
    if let Some((position, unfit)) = reasons.iter().enumerate().find_map(unfit) {
        return Next::Stop(WriteError::Unfit(Some(position), unfit));
    }
    Next::Stop(WriteError::Failed(TableError { kind: TableErrorKind::Invalid, detail }))
}

fn too_large(calls: &[WriteCall]) -> Option<String> {
    if calls.len() > MOST_WRITES {
        return Some(format!("A transaction writes at most {MOST_WRITES} items, and these are {}.", calls.len()));
    }
    let size = |call: &WriteCall| match &call.action {
        WriteAction::Put(item) => item_size(item),
        WriteAction::Update(key, update) => {
            key_size(key) + update.iter().flat_map(|update| update.values.values()).map(attribute_size).sum::<usize>()
        }
        WriteAction::Delete(key) | WriteAction::Check(key) => key_size(key),
    };
    (calls.iter().map(size).sum::<usize>() > MOST_BYTES).then(larger)
}

fn larger() -> String {
    "A transaction writes at most 4 MB, and these items are larger.".to_owned()
}

/// The position of the second write of one item. What the key of a put is, only another write of its table tells; where none does, the server
/// finds it out.
fn written_twice(calls: &[WriteCall]) -> Option<usize> {
    let key = |call: &WriteCall| match &call.action {
        WriteAction::Put(_) => None,
        WriteAction::Update(key, _) | WriteAction::Delete(key) | WriteAction::Check(key) => Some(key.clone()),
    };
    let shapes: HashMap<&str, Key> = calls.iter().filter_map(|call| Some((&*call.table, key(call)?))).collect();
    let mut seen: HashSet<(&str, Key)> = HashSet::new();
    for (position, call) in calls.iter().enumerate() {
        let key = match &call.action {
            WriteAction::Put(item) => shapes.get(&*call.table).and_then(|shape| {
                let sort = shape.sort.as_ref().map(|(name, _)| name.as_str());
                Key::of(item, &shape.partition.0, sort)
            }),
            _ => key(call),
        };
        if let Some(key) = key
            && !seen.insert((&call.table, canonical(&key).into_owned()))
        {
            return Some(position);
        }
    }
    None
}

fn transact_item(call: &WriteCall) -> Result<TransactWriteItem, BuildError> {
    let update = if let WriteAction::Update(_, update) = &call.action { update.as_ref() } else { None };
    let built = Expressions::of_write(call.condition.as_ref(), update);
    let with_item = ReturnValuesOnConditionCheckFailure::AllOld;
    let item = TransactWriteItem::builder();
    Ok(match &call.action {
        WriteAction::Put(new) => {
            let put = Put::builder().table_name(&*call.table).set_item(Some(item_to_sdk(new.clone())));
            let put = put.set_condition_expression(built.condition.clone()).set_expression_attribute_names(built.names());
            let put = put.set_expression_attribute_values(built.values());
            item.put(put.return_values_on_condition_check_failure(with_item).build()?)
        }
        WriteAction::Update(key, Some(_)) => {
            let update = Update::builder().table_name(&*call.table).set_key(Some(key_to_sdk(key)));
            let update = update.set_update_expression(built.update.clone()).set_condition_expression(built.condition.clone());
            let update = update.set_expression_attribute_names(built.names()).set_expression_attribute_values(built.values());
            item.update(update.return_values_on_condition_check_failure(with_item).build()?)
        }
        WriteAction::Delete(key) => {
            let delete = Delete::builder().table_name(&*call.table).set_key(Some(key_to_sdk(key)));
            let delete = delete.set_condition_expression(built.condition.clone()).set_expression_attribute_names(built.names());
            let delete = delete.set_expression_attribute_values(built.values());
            item.delete(delete.return_values_on_condition_check_failure(with_item).build()?)
        }
        // A transaction has no update of nothing; that its condition holds is all that one says.
        WriteAction::Check(key) | WriteAction::Update(key, None) => {
            let check = ConditionCheck::builder().table_name(&*call.table).set_key(Some(key_to_sdk(key)));
            let check = check.set_condition_expression(built.condition.clone()).set_expression_attribute_names(built.names());
            let check = check.set_expression_attribute_values(built.values());
            item.condition_check(check.return_values_on_condition_check_failure(with_item).build()?)
        }
    }
    .build())
}
