//! GetItem: a key in; its item and its cost out. Must not know what a request is.

use super::call::{Call, EngineAnswer};
use crate::table::attempt::attempts::CallMeans;
use crate::table::attempt::failure::AttemptFailure;
use crate::table::data::attribute::Item;
use crate::table::data::expressions::Expressions;
use crate::table::data_store::{GetResult, ItemRequest, Metered};
use crate::table::embedded::run::EngineRun;
use crate::table::embedded::turns::Length;
use crate::table::embedded::values as engine;
use crate::table::json::decode::{AnswerJson, AnswerReader};
use crate::table::json::encode::BodyWriter;
use crate::table::json::reader::JsonResult;
use crate::table::sdk::convert::{self, arc_from_sdk, key_to_sdk, strong};
use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::types::ReturnConsumedCapacity;
use dynoxide::actions::get_item::GetItemRequest;
use std::sync::Arc;
use tokio::time::Instant;

/// Reads one item. Gives it and the capacity units consumed.
pub(in crate::table) async fn get_item(caller: CallMeans<'_>, request: ItemRequest<'_>, deadline: Instant) -> Metered<GetResult> {
    let call = GetItem { request };
    let attempts = caller.attempts(call.operation(), request.table, deadline);
    match attempts.send(|| caller.make(&call)).await {
        Ok((item, capacity)) => (Ok(item), capacity),
        Err(error) => (Err(error), 0.0),
    }
}

/// A GetItem.
struct GetItem<'a> {
    request: ItemRequest<'a>,
}

/// The JSON of its answer.
#[derive(Default)]
struct Answer {
    item: Option<Item>,
    units: f64,
}

impl AnswerJson for Answer {
    fn member(&mut self, name: &str, answer: &mut AnswerReader<'_>) -> JsonResult<()> {
        match name {
            "Item" => self.item = answer.item_or_null()?,
            "ConsumedCapacity" => self.units = answer.units()?,
            _ => answer.ignore()?,
        }
        Ok(())
    }
}

impl Call for GetItem<'_> {
    type Answer = Option<Arc<Item>>;
    type Json = Answer;

    fn operation(&self) -> &'static str {
        "GetItem"
    }

    fn body(&self, body: &mut BodyWriter) {
        let ItemRequest { table, key, projection, consistent } = self.request;
        body.text("TableName", table);
        body.key("Key", key);
        body.expressions(&Expressions::default().project(projection));
        body.consistent(consistent);
    }

    fn answer(&self, Answer { item, units }: Answer) -> Result<Metered<Self::Answer>, AttemptFailure> {
        Ok((item.map(Arc::new), units))
    }

    async fn by_sdk(&self, client: &Client) -> Result<Metered<Self::Answer>, AttemptFailure> {
        let ItemRequest { table, key, projection, consistent } = self.request;
        let built = Expressions::default().project(projection);
        let request = client.get_item().table_name(table).set_key(Some(key_to_sdk(key)));
        let request = request.set_projection_expression(built.projection.clone()).set_expression_attribute_names(built.names_map());
        let request = request.set_consistent_read(strong(consistent)).return_consumed_capacity(ReturnConsumedCapacity::Total);
        let output = request.send().await?;
        Ok((output.item.map(arc_from_sdk).transpose()?, convert::units(output.consumed_capacity.as_slice())))
    }

    fn length(&self) -> Length {
        Length::Moment
    }

    fn by_engine(&self) -> impl FnOnce(&EngineRun<'_>) -> EngineAnswer<Self::Answer> + Send + 'static {
        let ItemRequest { table, key, projection, consistent } = self.request;
        let projection = engine::projection(projection);
        let request = engine::key(key).map(|key| GetItemRequest {
            table_name: table.to_owned(),
            key,
            consistent_read: strong(consistent),
            return_consumed_capacity: engine::total(),
            ..GetItemRequest::default()
        });
        move |run| {
            let answer = run.database.get_item(request?)?;
            Ok((engine::items(answer.item, projection).next(), engine::units(&answer.consumed_capacity)))
        }
    }
}
