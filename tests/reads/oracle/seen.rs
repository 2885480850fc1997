//! What a store is really asked for by an operation: calls, read units and round trips. Must not know operations.

use futures_util::future::{BoxFuture, FutureExt};
use keyfold::schema::table::Table;
use keyfold::table::call_scope::CallScope;
use keyfold::table::data::attribute::Item;
use keyfold::table::data::call::{Page, Query};
use keyfold::table::data::error::TableError;
use keyfold::table::data::write::{BatchWrite, WriteCall, WriteError};
use keyfold::table::data_store::{DataStore, GetResult, ItemRequest, Metered};
use keyfold::table::retry::budget::RetryBudget;
use std::sync::{Arc, Mutex};

/// What operations cost.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Cost {
    /// Round trips: the longest chain of calls that wait for each other.
    pub waves: usize,
    pub calls: usize,
    /// Read units.
    pub units: f64,
}

/// Passes reads on to a store and measures them.
pub struct Measured {
    store: Arc<dyn DataStore>,
    seen: Mutex<Seen>,
}

/// What was read since the last look.
#[derive(Debug, Default)]
pub struct Seen {
    pub cost: Cost,
    pub calls: Vec<Call>,
}

/// A call.
#[derive(Debug)]
pub struct Call {
    /// Its round trip, from 1.
    pub wave: usize,
    /// The partition of a Query in words; of a Get, nothing.
    pub partition: String,
    /// The range of a Query in words, with its filter and direction.
    pub range: String,
    /// Whether it goes on where another call ended.
    pub goes_on: bool,
    /// All of it in words.
    pub text: String,
}

impl Measured {
    pub fn new(store: Arc<dyn DataStore>) -> Arc<Self> {
        Arc::new(Self { store, seen: Mutex::default() })
    }

    pub fn take(&self) -> Seen {
        std::mem::take(&mut *self.seen.lock().unwrap())
    }

    /// The round trip of a call that begins now: the one after those that have ended. The other calls of its own round
    /// trip begin before it ends; a batch does so some turns later than a Query.
    async fn begin(&self) -> usize {
        let wave = self.seen.lock().unwrap().cost.waves + 1;
        for _ in 0..24 {
            tokio::task::yield_now().await;
        }
        wave
    }

    fn end(&self, units: f64, call: Call) {
        let Seen { cost, calls } = &mut *self.seen.lock().unwrap();
        cost.waves = cost.waves.max(call.wave);
        cost.calls += 1;
        cost.units += units;
        calls.push(call);
    }
}

impl DataStore for Measured {
    fn get_items<'a>(
        &'a self,
        requests: &'a [ItemRequest<'a>],
        scope: CallScope<'a>,
    ) -> BoxFuture<'a, Metered<Vec<GetResult>>> {
        async move {
            let wave = self.begin().await;
            let (found, units) = self.store.get_items(requests, scope).await;
            let keys: Vec<_> = requests.iter().map(|request| request.key).collect();
            let text = format!("Get {keys:?}");
            self.end(units, Call { wave, partition: String::new(), range: String::new(), goes_on: false, text });
            (found, units)
        }
        .boxed()
    }

    fn read_page<'a>(
        &'a self,
        query: &'a Query,
        scope: CallScope<'a>,
    ) -> BoxFuture<'a, Result<Metered<Page>, TableError>> {
        async move {
            let wave = self.begin().await;
            let (page, units) = self.store.read_page(query, scope).await?;
            let Query { index, partition, sort, limit, filter, start, forward, .. } = query;
            let partition = format!("{index:?} {partition:?}");
            let range = format!("{sort:?} {filter:?} {forward}");
            let text = format!("Query {partition} {range} limit {limit} start {start:?}: {} items", page.scanned);
            self.end(units, Call { wave, partition, range, goes_on: start.is_some(), text });
            Ok((page, units))
        }
        .boxed()
    }

    fn write<'a>(
        &'a self,
        call: &'a WriteCall,
        scope: CallScope<'a>,
    ) -> BoxFuture<'a, Result<Metered<Option<Item>>, WriteError>> {
        self.store.write(call, scope)
    }

    fn transact<'a>(
        &'a self,
        calls: &'a [WriteCall],
        token: &'a str,
        scope: CallScope<'a>,
    ) -> BoxFuture<'a, Result<Metered<()>, WriteError>> {
        self.store.transact(calls, token, scope)
    }

    fn write_batch<'a>(
        &'a self,
        table: &'a str,
        writes: Vec<BatchWrite>,
        scope: CallScope<'a>,
    ) -> BoxFuture<'a, Result<Metered<()>, WriteError>> {
        self.store.write_batch(table, writes, scope)
    }

    fn ready<'a>(&'a self, tables: &'a [Table]) -> BoxFuture<'a, Result<(), TableError>> {
        self.store.ready(tables)
    }

    fn retries(&self) -> &RetryBudget {
        self.store.retries()
    }

    fn has_eventual_indexes(&self) -> bool {
        self.store.has_eventual_indexes()
    }
}
