//! One write as plain data in; the item that its PutItem, UpdateItem or DeleteItem returns by the SDK, and its cost, out.

use super::convert::{SdkItem, item_from_sdk, item_to_sdk, key_to_sdk, names, text, values};
use super::reads::{units, unknown_type};
use crate::table::attempt::failure::{AttemptFailure, Refusal};
use crate::table::data::attribute::Item;
use crate::table::data::expressions::Expressions;
use crate::table::data::write::{WriteAction, WriteCall};
use crate::table::data_store::Metered;
use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::config::http::HttpResponse;
use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_dynamodb::operation::{delete_item::DeleteItemError, put_item::PutItemError, update_item::UpdateItemError};
use aws_sdk_dynamodb::types::error::ConditionalCheckFailedException;
use aws_sdk_dynamodb::types::{ConsumedCapacity, ReturnConsumedCapacity, ReturnValue, ReturnValuesOnConditionCheckFailure};
use std::error::Error;

/// A failed condition returns the item.
const WITH_ITEM: ReturnValuesOnConditionCheckFailure = ReturnValuesOnConditionCheckFailure::AllOld;

/// One PutItem, UpdateItem or DeleteItem.
pub(super) async fn write(client: &Client, call: &WriteCall) -> Result<Metered<Option<Item>>, AttemptFailure> {
    let update = if let WriteAction::Update(_, update) = &call.action { update.as_ref() } else { None };
    let built = Expressions::of_write(call.condition.as_ref(), update);
    match &call.action {
        WriteAction::Put(item) => {
            let request = client
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
            let output = request.send().await.map_err(|error| failure(error, refused))?;
            answer(output.attributes, output.consumed_capacity)
        }
        WriteAction::Update(key, _) => {
            let request = client
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
            let output = request.send().await.map_err(|error| failure(error, refused))?;
            answer(output.attributes, output.consumed_capacity)
        }
        WriteAction::Delete(key) | WriteAction::Check(key) => {
            let request = client
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
            let output = request.send().await.map_err(|error| failure(error, refused))?;
            answer(output.attributes, output.consumed_capacity)
        }
    }
}

fn failure<E>(error: SdkError<E, HttpResponse>, refused: impl Fn(&E) -> Option<ConditionalCheckFailedException>) -> AttemptFailure
where
    E: ProvideErrorMetadata + Error + 'static,
{
    let condition = error.as_service_error().and_then(refused);
    let mut failure = AttemptFailure::from(error);
    if let Some(condition) = condition {
        failure.refusal = Refusal::Condition(item_of(condition.item));
    }
    failure
}

/// The item that came with a failed condition; `None` if there is none.
pub(super) fn item_of(item: Option<SdkItem>) -> Option<Item> {
    item.and_then(item_from_sdk).filter(|item| !item.is_empty())
}

fn answer(item: Option<SdkItem>, cost: Option<ConsumedCapacity>) -> Result<Metered<Option<Item>>, AttemptFailure> {
    let item = item.map(|item| item_from_sdk(item).ok_or_else(unknown_type)).transpose()?;
    Ok((item.filter(|item| !item.is_empty()), units(cost.as_slice())))
}
