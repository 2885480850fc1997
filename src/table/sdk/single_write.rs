//! One write as plain data in; the item that its PutItem, UpdateItem or DeleteItem returns, and its cost, out. Must not know what a
//! request is.
//!
//! Without a token, the server cannot tell a repeated write from a new one. So an attempt is repeated only if it certainly wrote nothing:
//! the server refused it for now, or no connection could be made.

use super::attempt_error::{AttemptError, classify_error};
use super::convert::{SdkItem, item_from_sdk, item_to_sdk, key_to_sdk, names, text, values};
use super::store::SdkStore;
use crate::table::data::attribute::Item;
use crate::table::data::error::{TableError, TableErrorKind};
use crate::table::data::expressions::Expressions;
use crate::table::data::write::{ConditionFailure, WriteAction, WriteCall, WriteError};
use crate::table::data_store::Metered;
use crate::table::sdk::attempts::{Attempts, Ended, Next};
use aws_sdk_dynamodb::config::http::HttpResponse;
use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_dynamodb::operation::{delete_item::DeleteItemError, put_item::PutItemError, update_item::UpdateItemError};
use aws_sdk_dynamodb::types::error::ConditionalCheckFailedException;
use aws_sdk_dynamodb::types::{ConsumedCapacity, ReturnConsumedCapacity, ReturnValue, ReturnValuesOnConditionCheckFailure};
use std::error::Error;
use std::future::Future;
use tokio::time::Instant;

/// A failed condition returns the item.
const WITH_ITEM: ReturnValuesOnConditionCheckFailure = ReturnValuesOnConditionCheckFailure::AllOld;

/// Writes. Gives the item as it is after an update, as it was before a put or a delete, and the capacity units consumed.
pub(super) async fn write_one(store: &SdkStore, call: &WriteCall, deadline: Instant) -> Result<Metered<Option<Item>>, WriteError> {
    let Some(operation) = call.action.operation() else {
        let detail = format!("a check of an item of {} must be part of a transaction", call.table);
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
                .set_condition_expression(text(&built.condition))
                .set_expression_attribute_names(names(&built))
                .set_expression_attribute_values(values(&built))
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
                .set_update_expression(text(&built.update))
                .set_condition_expression(text(&built.condition))
                .set_expression_attribute_names(names(&built))
                .set_expression_attribute_values(values(&built))
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
                .set_condition_expression(text(&built.condition))
                .set_expression_attribute_names(names(&built))
                .set_expression_attribute_values(values(&built))
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

/// Makes attempts until one may have been carried out.
async fn send<T, E, F>(
    attempts: Attempts<'_>,
    attempt: impl FnMut() -> F,
    refused: impl Fn(&E) -> Option<ConditionalCheckFailedException>,
) -> Result<T, WriteError>
where
    F: Future<Output = Result<T, SdkError<E, HttpResponse>>>,
    E: ProvideErrorMetadata + Error + 'static,
{
    let classify = |trouble: Option<SdkError<E, HttpResponse>>| {
        if let Some(refusal) = trouble.as_ref().and_then(|error| refused(error.as_service_error()?)) {
            return Next::Stop(WriteError::Conditions(vec![ConditionFailure { position: 0, item: item_of(refusal.item) }]));
        }
        match trouble.as_ref().map_or_else(AttemptError::unanswered, classify_error) {
            AttemptError { error, uncertain: true, .. } => Next::Stop(WriteError::Uncertain(attempts.named(error))),
            AttemptError { error, again: true, .. } => Next::Again(error.into()),
            AttemptError { error, .. } => Next::Stop(WriteError::refused(attempts.named(error))),
        }
    };
    attempts.until_stopped(attempt, classify).await.map_err(|ended| match ended {
        Ended::Stopped(error) => error,
        Ended::Deadline(error) => WriteError::Failed(error),
    })
}

/// The item that came with a failed condition; `None` if there is none.
pub(super) fn item_of(item: Option<SdkItem>) -> Option<Item> {
    item.and_then(item_from_sdk).filter(|item| !item.is_empty())
}

fn answer(attempts: Attempts<'_>, item: Option<SdkItem>, cost: Option<ConsumedCapacity>) -> Result<Metered<Option<Item>>, WriteError> {
    let unknown = || {
        let detail = "it was written, but the item has an attribute of an unknown type".to_owned();
        WriteError::Uncertain(attempts.named(TableError { kind: TableErrorKind::Invalid, detail }))
    };
    let item = item.map(|item| item_from_sdk(item).ok_or_else(unknown)).transpose()?;
    Ok((item.filter(|item| !item.is_empty()), cost.and_then(|cost| cost.capacity_units).unwrap_or(0.0)))
}
