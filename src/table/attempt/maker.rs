//! What makes one attempt of a call: the AWS SDK, or the direct client. Must not know attempts before or after it.

use super::failure::AttemptFailure;
use crate::table::data::attribute::Item;
use crate::table::data::call::{Page, Query};
use crate::table::data::write::{BatchWrite, WriteCall};
use crate::table::data_store::{ItemRequest, Metered};
use futures_util::future::BoxFuture;
use std::sync::Arc;

/// The result of one attempt, with the capacity units that it consumed.
pub(in crate::table) type Attempted<'a, T> = BoxFuture<'a, Result<Metered<T>, AttemptFailure>>;

/// What one BatchGetItem found.
#[derive(Debug, Default)]
pub(in crate::table) struct BatchRead {
    /// The items, each with its table.
    pub(in crate::table) items: Vec<(String, Arc<Item>)>,
    /// The keys that were not read, each with its table.
    pub(in crate::table) unprocessed: Vec<(String, Item)>,
}

/// Makes attempts.
pub(in crate::table) trait CallMaker: Send + Sync {
    /// GetItem.
    fn get_item<'a>(&'a self, request: ItemRequest<'a>) -> Attempted<'a, Option<Arc<Item>>>;

    /// BatchGetItem: for each table its requests, which have one projection.
    fn batch_get_item<'a>(&'a self, tables: Vec<(&'a str, Vec<ItemRequest<'a>>)>) -> Attempted<'a, BatchRead>;

    /// Query, or Scan where the query names no partition.
    fn read_page<'a>(&'a self, query: &'a Query) -> Attempted<'a, Page>;

    /// PutItem, UpdateItem or DeleteItem, with the item that it returns.
    fn write<'a>(&'a self, call: &'a WriteCall) -> Attempted<'a, Option<Item>>;

    /// TransactWriteItems.
    fn transact<'a>(&'a self, calls: &'a [WriteCall], token: &'a str) -> Attempted<'a, ()>;

    /// BatchWriteItem, with the writes that were not made.
    fn write_batch<'a>(&'a self, table: &'a str, writes: &'a [BatchWrite]) -> Attempted<'a, Vec<BatchWrite>>;
}
