//! One write as plain data in; PutItem, UpdateItem or DeleteItem; the item that it gives back and what it cost out.
//! Must not know what a request is: bounds and records are the loaders' work.
//!
//! Without a token the server cannot tell a repeated write from a new one, so an attempt is repeated only where it certainly came to
//! nothing: a refusal to serve it now, or a connection that could not be made.

use super::attribute::Item;
use super::convert::{SdkItem, item_from_sdk, item_to_sdk, key_to_sdk};
use super::error::{TableError, TableErrorKind};
use super::expressions::Expressions;
use super::failure::{Failure, failure};
use super::retry::{Attempts, Ended, Next};
use super::store::Store;
use super::write::{ConditionFailure, WriteAction, WriteCall, WriteError};
use aws_sdk_dynamodb::config::http::HttpResponse;
use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_dynamodb::operation::{delete_item::DeleteItemError, put_item::PutItemError, update_item::UpdateItemError};
use aws_sdk_dynamodb::types::error::ConditionalCheckFailedException;
use aws_sdk_dynamodb::types::{ConsumedCapacity, ReturnConsumedCapacity, ReturnValue, ReturnValuesOnConditionCheckFailure};
use std::error::Error;
use std::future::Future;
use std::time::Duration;
use tokio::time::Instant;

/// A failed condition brings the item that failed it.
const WITH_ITEM: ReturnValuesOnConditionCheckFailure = ReturnValuesOnConditionCheckFailure::AllOld;

/// The name of the operation that does it; `None` of a check, which is only a part of transactions.
pub(super) fn operation(action: &WriteAction) -> Option<&'static str> {
    match action {
        WriteAction::Put(_) => Some("PutItem"),
        WriteAction::Update(..) => Some("UpdateItem"),
        WriteAction::Delete(_) => Some("DeleteItem"),
        WriteAction::Check(_) => None,
    }
}

/// Writes. Gives the item as it is after an update, as it was before a put or a delete, and the capacity units consumed.
pub(super) async fn write_one(store: &Store, call: &WriteCall, deadline: Instant) -> Result<(Option<Item>, f64), WriteError> {
    let Some(operation) = operation(&call.action) else {
        let detail = format!("a check of an item of {} is a part of transactions only", call.table);
        return Err(WriteError::Failed(TableError { kind: TableErrorKind::Invalid, detail }));
    };
    let attempts = store.attempts(operation, &call.table, deadline);
    let update = if let WriteAction::Update(_, update) = &call.action { update.as_ref() } else { None };
    let built = Expressions::of_write(call.condition.as_ref(), update);
    match &call.action {
        WriteAction::Put(item) => {
            let request = store
                .client()
                .put_item()
                .table_name(&*call.table)
                .set_item(Some(item_to_sdk(item.clone())))
                .set_condition_expression(built.condition.clone())
                .set_expression_attribute_names(built.names())
                .set_expression_attribute_values(built.values())
                .return_values(ReturnValue::AllOld)
                .return_values_on_condition_check_failure(WITH_ITEM)
                .return_consumed_capacity(ReturnConsumedCapacity::Total);
            let refused = |error: &PutItemError| match error {
                PutItemError::ConditionalCheckFailedException(refusal) => Some(refusal.clone()),
                _ => None,
            };
            let output = send(attempts, || request.clone().send(), refused).await?;
            answer(attempts, output.attributes, output.consumed_capacity)
        }
        WriteAction::Update(key, _) => {
            let request = store
                .client()
                .update_item()
                .table_name(&*call.table)
                .set_key(Some(key_to_sdk(key)))
                .set_update_expression(built.update.clone())
                .set_condition_expression(built.condition.clone())
                .set_expression_attribute_names(built.names())
                .set_expression_attribute_values(built.values())
                .return_values(ReturnValue::AllNew)
                .return_values_on_condition_check_failure(WITH_ITEM)
                .return_consumed_capacity(ReturnConsumedCapacity::Total);
            let refused = |error: &UpdateItemError| match error {
                UpdateItemError::ConditionalCheckFailedException(refusal) => Some(refusal.clone()),
                _ => None,
            };
            let output = send(attempts, || request.clone().send(), refused).await?;
            answer(attempts, output.attributes, output.consumed_capacity)
        }
        WriteAction::Delete(key) | WriteAction::Check(key) => {
            let request = store
                .client()
                .delete_item()
                .table_name(&*call.table)
                .set_key(Some(key_to_sdk(key)))
                .set_condition_expression(built.condition.clone())
                .set_expression_attribute_names(built.names())
                .set_expression_attribute_values(built.values())
                .return_values(ReturnValue::AllOld)
                .return_values_on_condition_check_failure(WITH_ITEM)
                .return_consumed_capacity(ReturnConsumedCapacity::Total);
            let refused = |error: &DeleteItemError| match error {
                DeleteItemError::ConditionalCheckFailedException(refusal) => Some(refusal.clone()),
                _ => None,
            };
            let output = send(attempts, || request.clone().send(), refused).await?;
            answer(attempts, output.attributes, output.consumed_capacity)
        }
    }
}

/// Makes attempts as long as none can have been carried out.
async fn send<T, E, F>(
    attempts: Attempts<'_>,
    attempt: impl FnMut() -> F,
    refused: impl Fn(&E) -> Option<ConditionalCheckFailedException>,
) -> Result<T, WriteError>
where
    F: Future<Output = Result<T, SdkError<E, HttpResponse>>>,
    E: ProvideErrorMetadata + Error + 'static,
{
    let judge = |trouble: Option<SdkError<E, HttpResponse>>| {
        if let Some(refusal) = trouble.as_ref().and_then(|error| refused(error.as_service_error()?)) {
            return Next::Stop(WriteError::Conditions(vec![ConditionFailure { position: 0, item: item_of(refusal.item) }]));
        }
        match trouble.as_ref().map_or_else(Failure::unanswered, failure) {
            Failure { error, uncertain: true, .. } => Next::Stop(WriteError::Uncertain(attempts.named(error))),
            Failure { error, again: true, .. } => Next::Again(error, Duration::ZERO),
            Failure { error, .. } => Next::Stop(WriteError::refused(attempts.named(error))),
        }
    };
    attempts.until_judged(attempt, judge).await.map_err(|ended| match ended {
        Ended::Stopped(error) => error,
        Ended::Deadline(error) => WriteError::Failed(error),
    })
}

/// The item that came with a failed condition; none of one that did not exist.
pub(super) fn item_of(item: Option<SdkItem>) -> Option<Item> {
    item.and_then(item_from_sdk).filter(|item| !item.is_empty())
}

fn answer(attempts: Attempts<'_>, item: Option<SdkItem>, cost: Option<ConsumedCapacity>) -> Result<(Option<Item>, f64), WriteError> {
    let unknown = || {
        let detail = "it is written, but the item holds an attribute of an unknown type".to_owned();
        WriteError::Uncertain(attempts.named(TableError { kind: TableErrorKind::Invalid, detail }))
    };
    let item = item.map(|item| item_from_sdk(item).ok_or_else(unknown)).transpose()?;
    Ok((item.filter(|item| !item.is_empty()), cost.and_then(|cost| cost.capacity_units).unwrap_or(0.0)))
}
