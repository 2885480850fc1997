//! PutItem, UpdateItem and DeleteItem: one write in; the item that it returns and its cost out. Must not know what a
//! request is.
//!
//! Without a token, the server cannot distinguish a repeated write from a new one. So an attempt is repeated only if it
//! certainly wrote nothing: the server refused it for now, or no connection could be made.

use super::call_means::CallMeans;
use crate::table::attempt::attempts::{Ended, Next};
use crate::table::attempt::failure::{AttemptFailure, Refusal};
use crate::table::data::attribute::Item;
use crate::table::data::error::{TableError, TableErrorKind};
use crate::table::data::expressions::{Expressions, text};
use crate::table::data::transaction::write_size;
use crate::table::data::write::{ConditionFailure, WriteAction, WriteCall, WriteError};
use crate::table::data_store::Metered;
use crate::table::embedded::engine::SHORT_BYTES;
use crate::table::embedded::run::EngineRun;
use crate::table::embedded::turns::Length;
use crate::table::embedded::values as engine;
use crate::table::json::decode::{AnswerJson, AnswerReader};
use crate::table::json::encode::BodyWriter;
use crate::table::json::reader::JsonResult;
use crate::table::makers::call::{Call, EngineAnswer};
use crate::table::sdk::convert::{self, conditioned, item_from_sdk, item_to_sdk, key_to_sdk, unknown_type};
use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::config::http::HttpResponse;
use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_dynamodb::operation::{delete_item::DeleteItemError, put_item::PutItemError, update_item::UpdateItemError};
use aws_sdk_dynamodb::types::error::ConditionalCheckFailedException;
use aws_sdk_dynamodb::types::{ReturnConsumedCapacity, ReturnValue};
use dynoxide::DynoxideError;
use dynoxide::actions::{delete_item::DeleteItemRequest, put_item::PutItemRequest, update_item::UpdateItemRequest};
use std::error::Error;
use tokio::time::Instant;

/// Writes. Gives the item as it is after an update, as it was before a put or a delete, and the capacity units
/// consumed.
pub(in crate::table) async fn write_one(
    caller: CallMeans<'_>,
    write: &WriteCall,
    deadline: Instant,
) -> Result<Metered<Option<Item>>, WriteError> {
    let Some(operation) = write.action.operation() else {
        let detail = format!("a check of an item of {} must be part of a transaction", write.table);
        return Err(WriteError::Failed(TableError { kind: TableErrorKind::Invalid, detail }));
    };
    let call = SingleWrite { operation, write };
    let attempts = caller.attempts(operation, &write.table, deadline);
    let classify = |failure: AttemptFailure| match failure {
        AttemptFailure { refusal: Refusal::Condition(item), .. } => {
            Next::Stop(WriteError::Conditions(vec![ConditionFailure { position: 0, item }]))
        }
        AttemptFailure { error, uncertain: true, .. } => Next::Stop(WriteError::Uncertain(attempts.named(error))),
        AttemptFailure { error, again: true, .. } => Next::Again(error.into()),
        AttemptFailure { error, .. } => Next::Stop(WriteError::refused(attempts.named(error))),
    };
    attempts.until_stopped(|| caller.make(&call), classify).await.map_err(|ended| match ended {
        Ended::Stopped(error) => error,
        Ended::Deadline(error) => WriteError::Failed(error),
    })
}

/// A PutItem, an UpdateItem or a DeleteItem.
struct SingleWrite<'a> {
    operation: &'static str,
    write: &'a WriteCall,
}

/// The JSON of its answer.
#[derive(Default)]
struct Answer {
    attributes: Option<Item>,
    units: f64,
}

impl AnswerJson for Answer {
    fn member(&mut self, name: &str, answer: &mut AnswerReader<'_>) -> JsonResult<()> {
        match name {
            "Attributes" => self.attributes = answer.present()?,
            "ConsumedCapacity" => self.units = answer.units()?,
            _ => answer.ignore()?,
        }
        Ok(())
    }
}

impl Call for SingleWrite<'_> {
    type Answer = Option<Item>;
    type Json = Answer;

    fn operation(&self) -> &'static str {
        self.operation
    }

    fn body(&self, body: &mut BodyWriter) {
        write_members(body, self.write);
        let is_update = matches!(self.write.action, WriteAction::Update(..));
        body.text("ReturnValues", if is_update { "ALL_NEW" } else { "ALL_OLD" });
    }

    fn answer(&self, Answer { attributes, units }: Answer) -> Result<Metered<Option<Item>>, AttemptFailure> {
        Ok((attributes, units))
    }

    async fn by_sdk(&self, client: &Client) -> Result<Metered<Option<Item>>, AttemptFailure> {
        let (table, built) = (&*self.write.table, expressions(self.write));
        // The builders, the outputs and the errors of the three operations have their members in common, but no trait.
        macro_rules! send {
            ($builder:expr, $returns:ident, $error:ident) => {{
                let request = conditioned!($builder.table_name(table), built).return_values(ReturnValue::$returns);
                let refused = |error: &$error| match error {
                    $error::ConditionalCheckFailedException(refusal) => Some(refusal.clone()),
                    _ => None,
                };
                let sent = request.return_consumed_capacity(ReturnConsumedCapacity::Total).send().await;
                let output = sent.map_err(|error| failure(error, refused))?;
                let item = output.attributes.map(|item| item_from_sdk(item).ok_or_else(unknown_type)).transpose()?;
                Ok((item.filter(|item| !item.is_empty()), convert::units(output.consumed_capacity.as_slice())))
            }};
        }
        match &self.write.action {
            WriteAction::Put(item) => {
                send!(client.put_item().set_item(Some(item_to_sdk(item.clone()))), AllOld, PutItemError)
            }
            WriteAction::Update(key, _) => {
                let request =
                    client.update_item().set_key(Some(key_to_sdk(key))).set_update_expression(text(&built.update));
                send!(request, AllNew, UpdateItemError)
            }
            WriteAction::Delete(key) | WriteAction::Check(key) => {
                send!(client.delete_item().set_key(Some(key_to_sdk(key))), AllOld, DeleteItemError)
            }
        }
    }

    fn length(&self) -> Length {
        Length::short_if(write_size(self.write) <= SHORT_BYTES)
    }

    fn by_engine(&self) -> impl FnOnce(&EngineRun<'_>) -> EngineAnswer<Option<Item>> + Send + 'static {
        let request = engine_request(self.write);
        macro_rules! made {
            ($answer:expr) => {{
                let answer = $answer;
                Ok((engine::present(answer.attributes), engine::units(&answer.consumed_capacity)))
            }};
        }
        move |run| match request? {
            EngineWrite::Put(put) => made!(run.database.put_item(put)?),
            EngineWrite::Update(update) => made!(run.database.update_item(update)?),
            EngineWrite::Delete(delete) => made!(run.database.delete_item(delete)?),
        }
    }
}

/// The expressions of a write, alone or in a transaction.
pub(in crate::table) fn expressions(write: &WriteCall) -> Expressions<'_> {
    let update = if let WriteAction::Update(_, update) = &write.action { update.as_ref() } else { None };
    Expressions::for_write(write.condition.as_ref(), update)
}

/// Writes the members of a write, alone or in a transaction. A failed condition returns the item.
pub(in crate::table) fn write_members(body: &mut BodyWriter, write: &WriteCall) {
    body.text("TableName", &write.table);
    match &write.action {
        WriteAction::Put(item) => body.item("Item", item),
        WriteAction::Update(key, _) | WriteAction::Delete(key) | WriteAction::Check(key) => body.key("Key", key),
    }
    body.expressions(&expressions(write));
    body.text("ReturnValuesOnConditionCheckFailure", "ALL_OLD");
}

fn failure<E>(
    error: SdkError<E, HttpResponse>,
    refused: impl Fn(&E) -> Option<ConditionalCheckFailedException>,
) -> AttemptFailure
where
    E: ProvideErrorMetadata + Error + 'static,
{
    let condition = error.as_service_error().and_then(refused);
    let mut failure = AttemptFailure::from(error);
    if let Some(condition) = condition {
        failure.refusal = Refusal::Condition(convert::present(condition.item));
    }
    failure
}

/// The request of a write on the embedded engine.
enum EngineWrite {
    Put(PutItemRequest),
    Update(UpdateItemRequest),
    Delete(DeleteItemRequest),
}

fn engine_request(write: &WriteCall) -> Result<EngineWrite, DynoxideError> {
    let built = expressions(write);
    // The requests of the three operations have their members in common, but no trait.
    macro_rules! request {
        ($request:ident, $returns:literal, { $($member:ident: $value:expr),* }) => {
            $request {
                table_name: write.table.to_string(),
                condition_expression: text(&built.condition),
                expression_attribute_names: built.names_map(),
                expression_attribute_values: engine::values(&built)?,
                return_values: Some($returns.to_owned()),
                return_values_on_condition_check_failure: Some("ALL_OLD".to_owned()),
                return_consumed_capacity: engine::total(),
                $($member: $value,)*
                ..$request::default()
            }
        };
    }
    Ok(match &write.action {
        WriteAction::Put(item) => EngineWrite::Put(request!(PutItemRequest, "ALL_OLD", { item: engine::item(item)? })),
        WriteAction::Update(key, _) => EngineWrite::Update(request!(UpdateItemRequest, "ALL_NEW", {
            key: engine::key(key)?,
            update_expression: text(&built.update)
        })),
        WriteAction::Delete(key) | WriteAction::Check(key) => {
            EngineWrite::Delete(request!(DeleteItemRequest, "ALL_OLD", { key: engine::key(key)? }))
        }
    })
}
