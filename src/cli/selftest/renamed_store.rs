//! Calls that name tables as a schema does in; the same calls of the tables with their scratch names out. The model
//! keeps its names, because a cursor is of a table by its name, and goldens have cursors.

use crate::schema::table::Table;
use crate::table::call_scope::CallScope;
use crate::table::data::attribute::Item;
use crate::table::data::call::{Page, Query};
use crate::table::data::error::TableError;
use crate::table::data::write::{BatchWrite, WriteCall, WriteError};
use crate::table::data_store::{DataStore, GetResult, ItemRequest, Metered};
use crate::table::retry::budget::RetryBudget;
use crate::table::store::TableStore;
use futures_util::future::{BoxFuture, FutureExt};
use std::sync::Arc;

/// A store whose tables have something before their names. It has no streams: no golden is a subscription.
pub struct RenamedStore {
    store: TableStore,
    before: Arc<str>,
}

impl RenamedStore {
    /// The tables of a store whose names begin so.
    pub fn new(store: TableStore, before: &str) -> Self {
        Self { store, before: before.into() }
    }

    fn name(&self, table: &str) -> String {
        format!("{}{table}", self.before)
    }

    fn renamed(&self, call: &WriteCall) -> WriteCall {
        WriteCall { table: self.name(&call.table).into(), ..call.clone() }
    }
}

impl DataStore for RenamedStore {
    fn get_items<'a>(
        &'a self,
        requests: &'a [ItemRequest<'a>],
        scope: CallScope<'a>,
    ) -> BoxFuture<'a, Metered<Vec<GetResult>>> {
        async move {
            let names: Vec<String> = requests.iter().map(|request| self.name(request.table)).collect();
            let renamed = requests.iter().zip(&names).map(|(request, table)| ItemRequest { table, ..*request });
            self.store.get_items(&renamed.collect::<Vec<_>>(), scope).await
        }
        .boxed()
    }

    fn read_page<'a>(
        &'a self,
        query: &'a Query,
        scope: CallScope<'a>,
    ) -> BoxFuture<'a, Result<Metered<Page>, TableError>> {
        async move {
            let query = Query { table: self.name(&query.table).into(), ..query.clone() };
            self.store.read_page(&query, scope).await
        }
        .boxed()
    }

    fn write<'a>(
        &'a self,
        call: &'a WriteCall,
        scope: CallScope<'a>,
    ) -> BoxFuture<'a, Result<Metered<Option<Item>>, WriteError>> {
        async move { self.store.write(&self.renamed(call), scope).await }.boxed()
    }

    fn transact<'a>(
        &'a self,
        calls: &'a [WriteCall],
        token: &'a str,
        scope: CallScope<'a>,
    ) -> BoxFuture<'a, Result<Metered<()>, WriteError>> {
        async move {
            let calls: Vec<WriteCall> = calls.iter().map(|call| self.renamed(call)).collect();
            self.store.transact(&calls, token, scope).await
        }
        .boxed()
    }

    fn write_batch<'a>(
        &'a self,
        table: &'a str,
        writes: Vec<BatchWrite>,
        scope: CallScope<'a>,
    ) -> BoxFuture<'a, Result<Metered<()>, WriteError>> {
        async move { self.store.write_batch(&self.name(table), writes, scope).await }.boxed()
    }

    fn ready<'a>(&'a self, tables: &'a [Table]) -> BoxFuture<'a, Result<(), TableError>> {
        async move {
            let renamed = |table: &Table| Table { name: self.name(&table.name), ..table.clone() };
            self.store.ready(&tables.iter().map(renamed).collect::<Vec<_>>()).await
        }
        .boxed()
    }

    fn retries(&self) -> &RetryBudget {
        DataStore::retries(&self.store)
    }

    fn has_eventual_indexes(&self) -> bool {
        self.store.has_eventual_indexes()
    }

    fn usual_calls_in_flight(&self) -> usize {
        self.store.usual_calls_in_flight()
    }
}
