//! The calls of requests in, a file for each kind: its request, its JSON body and answer, its builder and answer of the AWS SDK, its request
//! and answer of the embedded engine, and which of its attempts may be repeated. Out: what makes [`SdkStore`] a [`DataStore`].
//!
//! [`call::Call`] is what a kind says of itself. [`known_partition`] is what the reads share.

pub(in crate::table) mod batch_get_item;
pub(in crate::table) mod batch_write;
pub(in crate::table) mod call;
mod get_item;
mod known_partition;
mod page;
mod transaction;
mod write;

use self::batch_get_item::batch_get_items;
use self::batch_write::write_batch;
use self::get_item::get_item;
use self::page::read_page;
use self::transaction::write_all;
use self::write::write_one;
use crate::schema::table::Table;
use crate::table::call_scope::CallScope;
use crate::table::data::attribute::Item;
use crate::table::data::call::{Page, Query};
use crate::table::data::error::TableError;
use crate::table::data::write::{BatchWrite, WriteCall, WriteError};
use crate::table::data_store::{DataStore, GetResult, ItemRequest, Metered, usual_calls_in_flight};
use crate::table::retry::budget::RetryBudget;
use crate::table::sdk::store::SdkStore;
use crate::table::stream::source::ChangeSource;
use futures_util::future::{BoxFuture, FutureExt, TryFutureExt};
use std::sync::Arc;

/// The usual number of calls in flight on the embedded store. Its engine makes one at a time, and an answer waits in memory until its request
/// goes on. Three quarters of them, those for many items, are more than the 32 of a request.
const EMBEDDED_CALLS: usize = 44;

impl DataStore for SdkStore {
    fn changes(&self) -> Option<Arc<dyn ChangeSource>> {
        Some(Arc::new(self.change_source()))
    }

    fn get_items<'a>(&'a self, requests: &'a [ItemRequest<'a>], scope: CallScope<'a>) -> BoxFuture<'a, Metered<Vec<GetResult>>> {
        let make = move || match requests {
            [only] => get_item(self.caller(scope), *only, scope.deadline).map(|(result, capacity)| (vec![result], capacity)).boxed(),
            _ => batch_get_items(self.caller(scope), requests, scope.deadline).boxed(),
        };
        match self.late_reads() {
            Some(late) => late.get_items(requests, |table| self.health().throttles(table), make),
            None => make(),
        }
    }

    fn read_page<'a>(&'a self, query: &'a Query, scope: CallScope<'a>) -> BoxFuture<'a, Result<Metered<Page>, TableError>> {
        let make = move || read_page(self.caller(scope), query, scope.deadline).boxed();
        match self.late_reads() {
            Some(late) => late.read_page(query, |table| self.health().throttles(table), make),
            None => make(),
        }
    }

    fn write<'a>(&'a self, call: &'a WriteCall, scope: CallScope<'a>) -> BoxFuture<'a, Result<Metered<Option<Item>>, WriteError>> {
        write_one(self.caller(scope), call, scope.deadline).boxed()
    }

    fn transact<'a>(
        &'a self,
        calls: &'a [WriteCall],
        token: &'a str,
        scope: CallScope<'a>,
    ) -> BoxFuture<'a, Result<Metered<()>, WriteError>> {
        write_all(self.caller(scope), calls, token, scope.deadline).boxed()
    }

    fn write_batch<'a>(
        &'a self,
        table: &'a str,
        writes: Vec<BatchWrite>,
        scope: CallScope<'a>,
    ) -> BoxFuture<'a, Result<Metered<()>, WriteError>> {
        write_batch(self.caller(scope), table, writes, scope.deadline).map_err(WriteError::from).boxed()
    }

    fn ready<'a>(&'a self, tables: &'a [Table]) -> BoxFuture<'a, Result<(), TableError>> {
        SdkStore::ready(self, tables).boxed()
    }

    fn retries(&self) -> &RetryBudget {
        SdkStore::retries(self)
    }

    fn has_eventual_indexes(&self) -> bool {
        self.engine().is_none()
    }

    fn usual_calls_in_flight(&self) -> usize {
        if self.engine().is_some() { EMBEDDED_CALLS } else { usual_calls_in_flight() }
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
