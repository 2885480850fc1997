//! Calls as plain data in; each sent once over a connection: what makes [`DirectMaker`] a [`CallMaker`].

use super::connection::DynamoConnection;
use super::decode::{BatchGetItemAnswer, GetItemAnswer, PageAnswer, WriteAnswer, WritesAnswer};
use super::encode;
use super::refusal::unreadable;
use crate::table::attempt::failure::AttemptFailure;
use crate::table::attempt::maker::{Attempted, BatchRead, CallMaker};
use crate::table::data::attribute::Item;
use crate::table::data::call::{Page, Query};
use crate::table::data::error::TableErrorKind;
use crate::table::data::write::{BatchWrite, WriteAction, WriteCall};
use crate::table::data_store::ItemRequest;
use futures_util::future::FutureExt;
use serde::de::DeserializeOwned;
use std::sync::Arc;

/// Makes calls without the AWS SDK.
pub(in crate::table) struct DirectMaker {
    /// Sends them.
    pub(in crate::table) connection: DynamoConnection,
}

impl DirectMaker {
    async fn call<A: DeserializeOwned>(&self, operation: &'static str, body: Vec<u8>) -> Result<A, AttemptFailure> {
        let answer = self.connection.send(operation, body).await?;
        serde_json::from_slice(&answer).map_err(|error| unreadable(&error))
    }
}

impl CallMaker for DirectMaker {
    fn get_item<'a>(&'a self, request: ItemRequest<'a>) -> Attempted<'a, Option<Arc<Item>>> {
        async move { self.call("GetItem", encode::get_item(request)).await.map(GetItemAnswer::item) }.boxed()
    }

    fn batch_get_item<'a>(&'a self, tables: Vec<(&'a str, Vec<ItemRequest<'a>>)>) -> Attempted<'a, BatchRead> {
        async move { self.call("BatchGetItem", encode::batch_get_item(tables)).await.map(BatchGetItemAnswer::read) }.boxed()
    }

    fn read_page<'a>(&'a self, query: &'a Query) -> Attempted<'a, Page> {
        let operation = if query.partition.is_some() { "Query" } else { "Scan" };
        async move { self.call(operation, encode::query(query)).await.map(PageAnswer::page) }.boxed()
    }

    fn write<'a>(&'a self, call: &'a WriteCall) -> Attempted<'a, Option<Item>> {
        let operation = match call.action {
            WriteAction::Put(_) => "PutItem",
            WriteAction::Update(..) => "UpdateItem",
            WriteAction::Delete(_) | WriteAction::Check(_) => "DeleteItem",
        };
        async move { self.call(operation, encode::write(call)).await.map(WriteAnswer::item) }.boxed()
    }

    fn transact<'a>(&'a self, calls: &'a [WriteCall], token: &'a str) -> Attempted<'a, ()> {
        async move {
            let answer: WritesAnswer = self.call("TransactWriteItems", encode::transact_write_items(calls, token)).await?;
            Ok(((), answer.capacity()))
        }
        .boxed()
    }

    fn write_batch<'a>(&'a self, table: &'a str, writes: &'a [BatchWrite]) -> Attempted<'a, Vec<BatchWrite>> {
        async move {
            let answer: WritesAnswer = self.call("BatchWriteItem", encode::batch_write_item(table, writes)).await?;
            let capacity = answer.capacity();
            let strange = || AttemptFailure::unusable(TableErrorKind::Invalid, "a write that was not made cannot be read".to_owned());
            Ok((answer.unprocessed(writes).ok_or_else(strange)?, capacity))
        }
        .boxed()
    }
}
