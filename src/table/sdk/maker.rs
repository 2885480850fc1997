//! Calls as plain data in; each sent once by the AWS SDK: what makes [`SdkMaker`] a [`CallMaker`].

use super::{batch_write, reads, single_write, transaction};
use crate::table::attempt::maker::{Attempted, BatchRead, CallMaker};
use crate::table::data::attribute::Item;
use crate::table::data::call::{Page, Query};
use crate::table::data::write::{BatchWrite, WriteCall};
use crate::table::data_store::ItemRequest;
use aws_sdk_dynamodb::Client;
use futures_util::future::FutureExt;
use std::sync::Arc;

/// Makes calls by the AWS SDK.
pub(super) struct SdkMaker {
    /// The SDK's client.
    pub(super) client: Client,
}

impl CallMaker for SdkMaker {
    fn get_item<'a>(&'a self, request: ItemRequest<'a>) -> Attempted<'a, Option<Arc<Item>>> {
        reads::get_item(&self.client, request).boxed()
    }

    fn batch_get_item<'a>(&'a self, tables: Vec<(&'a str, Vec<ItemRequest<'a>>)>) -> Attempted<'a, BatchRead> {
        reads::batch_get_item(&self.client, tables).boxed()
    }

    fn read_page<'a>(&'a self, query: &'a Query) -> Attempted<'a, Page> {
        reads::read_page(&self.client, query).boxed()
    }

    fn write<'a>(&'a self, call: &'a WriteCall) -> Attempted<'a, Option<Item>> {
        single_write::write(&self.client, call).boxed()
    }

    fn transact<'a>(&'a self, calls: &'a [WriteCall], token: &'a str) -> Attempted<'a, ()> {
        transaction::transact(&self.client, calls, token).boxed()
    }

    fn write_batch<'a>(&'a self, table: &'a str, writes: &'a [BatchWrite]) -> Attempted<'a, Vec<BatchWrite>> {
        batch_write::write_batch(&self.client, table, writes).boxed()
    }
}
