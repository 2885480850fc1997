//! GetItem: a key in; its item and its cost out. Must not know what a request is.

use super::call_means::CallMeans;
use super::known_partition::{KnownPartition, asked_attributes};
use crate::table::attempt::failure::AttemptFailure;
use crate::table::data::attribute::{AttributeName, Item};
use crate::table::data::expressions::{Expressions, text};
use crate::table::data_store::{GetResult, ItemRequest, Metered};
use crate::table::embedded::run::EngineRun;
use crate::table::embedded::turns::Length;
use crate::table::embedded::values as engine;
use crate::table::json::decode::{AnswerJson, AnswerReader};
use crate::table::json::encode::BodyWriter;
use crate::table::json::reader::JsonResult;
use crate::table::makers::call::{Call, EngineAnswer};
use crate::table::sdk::convert::{self, arc_from_sdk, key_to_sdk, strong};
use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::types::ReturnConsumedCapacity;
use dynoxide::actions::get_item::GetItemRequest;
use std::sync::Arc;
use tokio::time::Instant;

/// Reads one item. Gives it and the capacity units consumed.
pub(in crate::table) fn get_item<'a>(
    caller: CallMeans<'a>,
    request: ItemRequest<'a>,
    deadline: Instant,
) -> impl Future<Output = Metered<GetResult>> + Send + 'a {
    let call = GetItem { request };
    let attempts = caller.attempts(call.operation(), request.table, deadline);
    async move {
        match attempts.send(|| caller.make(&call)).await {
            Ok((item, capacity)) => (Ok(item), capacity),
            Err(error) => (Err(error), 0.0),
        }
    }
}

/// A GetItem.
struct GetItem<'a> {
    request: ItemRequest<'a>,
}

/// The JSON of its answer.
#[derive(Default)]
struct Answer<'a> {
    /// The attributes that were asked for.
    projection: &'a [AttributeName],
    item: Option<Item>,
    units: f64,
}

impl AnswerJson for Answer<'_> {
    fn member(&mut self, name: &str, answer: &mut AnswerReader<'_>) -> JsonResult<()> {
        match name {
            "Item" => self.item = answer.asked_item(self.projection)?,
            "ConsumedCapacity" => self.units = answer.units()?,
            _ => answer.ignore()?,
        }
        Ok(())
    }
}

impl<'a> GetItem<'a> {
    /// The partition key that a server need not send back. An item always has its sort key, so that an item without the
    /// attributes that are asked for is not taken for none.
    fn known(&self) -> Option<KnownPartition<'a>> {
        let ItemRequest { key, projection, .. } = self.request;
        let (name, value) = key.sort.as_ref().map(|_| &key.partition)?;
        KnownPartition::new(projection, (name, value))
    }

    /// The expressions of a request to a server.
    fn expressions(&self) -> Expressions<'a> {
        Expressions::default().project(asked_attributes(self.request.projection, self.known()))
    }

    /// The item of a server's answer with all that was asked for.
    fn completed(&self, mut item: Option<Arc<Item>>) -> Option<Arc<Item>> {
        KnownPartition::add_to(self.known(), &mut item);
        item
    }
}

impl<'a> Call for GetItem<'a> {
    type Answer = Option<Arc<Item>>;
    type Json = Answer<'a>;

    fn operation(&self) -> &'static str {
        "GetItem"
    }

    fn body(&self, body: &mut BodyWriter) {
        let ItemRequest { table, key, consistent, .. } = self.request;
        body.text("TableName", table);
        body.key("Key", key);
        body.expressions(&self.expressions());
        body.consistent(consistent);
    }

    fn unread(&self) -> Answer<'a> {
        Answer { projection: self.request.projection, ..Answer::default() }
    }

    fn answer(&self, Answer { item, units, .. }: Answer<'a>) -> Result<Metered<Self::Answer>, AttemptFailure> {
        Ok((self.completed(item.map(Arc::new)), units))
    }

    async fn by_sdk(&self, client: &Client) -> Result<Metered<Self::Answer>, AttemptFailure> {
        let (ItemRequest { table, key, consistent, .. }, built) = (self.request, self.expressions());
        let request = client.get_item().table_name(table).set_key(Some(key_to_sdk(key)));
        let request = request
            .set_projection_expression(text(&built.projection))
            .set_expression_attribute_names(built.names_map());
        let request =
            request.set_consistent_read(strong(consistent)).return_consumed_capacity(ReturnConsumedCapacity::Total);
        let output = request.send().await?;
        Ok((
            self.completed(output.item.map(arc_from_sdk).transpose()?),
            convert::units(output.consumed_capacity.as_slice()),
        ))
    }

    fn length(&self) -> Length {
        Length::Moment
    }

    fn by_engine(&self) -> impl FnOnce(&EngineRun<'_>) -> EngineAnswer<Self::Answer> + Send + 'static {
        let ItemRequest { table, key, projection, consistent } = self.request;
        let projection = projection.into();
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
