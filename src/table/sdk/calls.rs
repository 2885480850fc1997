//! The calls of requests in; each sent by the AWS SDK, its answer out: what makes [`SdkStore`] a [`DataStore`].

use super::store::SdkStore;
use crate::schema::table::Table;
use crate::table::attempt::batch_write::write_batch;
use crate::table::attempt::reads::{batch_get_items, get_item, read_page};
use crate::table::attempt::single_write::write_one;
use crate::table::attempt::transaction::write_all;
use crate::table::data::attribute::Item;
use crate::table::data::call::{Page, Query};
use crate::table::data::error::TableError;
use crate::table::data::write::{BatchWrite, WriteCall, WriteError};
use crate::table::data_store::{DataStore, GetResult, ItemRequest, Metered};
use crate::table::retry::budget::RetryBudget;
use futures_util::future::{BoxFuture, FutureExt};
use std::sync::Arc;
use tokio::time::Instant;

impl DataStore for SdkStore {
    fn get_items<'a>(&'a self, requests: &'a [ItemRequest<'a>], deadline: Instant) -> BoxFuture<'a, Metered<Vec<GetResult>>> {
        match requests {
            [only] => get_item(self.caller(), *only, deadline).map(|(result, capacity)| (vec![result], capacity)).boxed(),
            _ => batch_get_items(self.caller(), requests, deadline).boxed(),
        }
    }

    fn read_page<'a>(&'a self, query: &'a Query, deadline: Instant) -> BoxFuture<'a, Result<Metered<Page>, TableError>> {
        read_page(self.caller(), query, deadline).boxed()
    }

    fn write<'a>(&'a self, call: &'a WriteCall, deadline: Instant) -> BoxFuture<'a, Result<Metered<Option<Item>>, WriteError>> {
        write_one(self.caller(), call, deadline).boxed()
    }

    fn transact<'a>(&'a self, calls: &'a [WriteCall], token: &'a str, deadline: Instant) -> BoxFuture<'a, Result<Metered<()>, WriteError>> {
        write_all(self.caller(), calls, token, deadline).boxed()
    }

    fn write_batch<'a>(
        &'a self,
        table: &'a str,
        writes: Vec<BatchWrite>,
        deadline: Instant,
    ) -> BoxFuture<'a, Result<Metered<()>, TableError>> {
        write_batch(self.caller(), table, writes, deadline).boxed()
    }

    fn ready<'a>(&'a self, tables: &'a [Table]) -> BoxFuture<'a, Result<(), TableError>> {
        SdkStore::ready(self, tables).boxed()
    }

    fn retries(&self) -> &RetryBudget {
        SdkStore::retries(self)
    }

    fn throttles(&self, table: &str) -> bool {
        self.health().throttles(table)
    }

    fn has_eventual_indexes(&self) -> bool {
        self.engine().is_none()
    }
}

impl From<SdkStore> for Arc<dyn DataStore> {
    fn from(store: SdkStore) -> Self {
        Arc::new(store)
    }
}

impl From<&SdkStore> for Arc<dyn DataStore> {
    fn from(store: &SdkStore) -> Self {
        Arc::new(store.clone())
    }
}
