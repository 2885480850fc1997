//! Several writes as plain data in; the cost of their TransactWriteItems by the SDK, or why it was refused, out.

use super::convert::{item_to_sdk, key_to_sdk, names, text, values};
use super::reads::units;
use super::single_write::item_of;
use crate::table::attempt::failure::{AttemptFailure, CancelReason, Refusal};
use crate::table::data::error::TableErrorKind;
use crate::table::data::expressions::Expressions;
use crate::table::data::write::{WriteAction, WriteCall};
use crate::table::data_store::Metered;
use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::config::http::HttpResponse;
use aws_sdk_dynamodb::error::{BuildError, SdkError};
use aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsError;
use aws_sdk_dynamodb::types::{
    CancellationReason, ConditionCheck, Delete, Put, ReturnConsumedCapacity, ReturnValuesOnConditionCheckFailure, TransactWriteItem, Update,
};

/// One TransactWriteItems.
pub(super) async fn transact(client: &Client, calls: &[WriteCall], token: &str) -> Result<Metered<()>, AttemptFailure> {
    let items: Result<Vec<TransactWriteItem>, BuildError> = calls.iter().map(transact_item).collect();
    // What cannot be built is not sent.
    let unbuilt =
        |error: BuildError| AttemptFailure { uncertain: false, ..AttemptFailure::unusable(TableErrorKind::Invalid, error.to_string()) };
    let request = client.transact_write_items().set_transact_items(Some(items.map_err(unbuilt)?)).client_request_token(token);
    let output = request.return_consumed_capacity(ReturnConsumedCapacity::Total).send().await.map_err(failure)?;
    Ok(((), units(output.consumed_capacity())))
}

fn failure(error: SdkError<TransactWriteItemsError, HttpResponse>) -> AttemptFailure {
    let canceled = match error.as_service_error() {
        Some(TransactWriteItemsError::TransactionCanceledException(canceled)) => Some(canceled.cancellation_reasons().to_vec()),
        _ => None,
    };
    let mut failure = AttemptFailure::from(error);
    if let Some(reasons) = canceled {
        failure.refusal = Refusal::Canceled(reasons.into_iter().map(reason).collect());
    }
    failure
}

fn reason(reason: CancellationReason) -> CancelReason {
    let CancellationReason { code, message, item, .. } = reason;
    CancelReason { code: code.unwrap_or_else(|| "None".to_owned()), message, item: item_of(item) }
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
