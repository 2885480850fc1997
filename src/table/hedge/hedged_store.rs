//! A store in; a store out that makes late reads a second time. Must not know the AWS SDK.
//!
//! A read may be made twice if it is eventually consistent and by key or by partition: GetItem, BatchGetItem and Query. The call that
//! answers first gives the items and the capacity; the other one is dropped, though the server may still run it. There is no second call
//! for a table that throttles, or after a failed call.

use super::extra_calls::ExtraCalls;
use super::usual_time::UsualTime;
use crate::schema::table::Table;
use crate::table::data::attribute::Item;
use crate::table::data::call::{Page, Query};
use crate::table::data::error::TableError;
use crate::table::data::write::{BatchWrite, WriteCall, WriteError};
use crate::table::data_store::{DataStore, GetResult, ItemRequest, Metered};
use crate::table::retry::budget::RetryBudget;
use futures_util::future::{BoxFuture, Either, FutureExt, select};
use std::collections::HashMap;
use std::sync::Arc;
use tokio::time::{Instant, timeout};

/// A store that makes late reads twice.
pub struct HedgedStore {
    store: Arc<dyn DataStore>,
    tables: HashMap<String, UsualTimes>,
    extra: ExtraCalls,
}

/// The usual times of a table's reads.
#[derive(Debug, Default)]
struct UsualTimes {
    get: UsualTime,
    batch: UsualTime,
    query: UsualTime,
}

impl HedgedStore {
    /// A store around this one for reads of these tables. Second calls are at most this share, from 0 to 1, of all calls that may have one.
    pub fn new(store: Arc<dyn DataStore>, tables: &[Table], share: f64) -> Self {
        let tables = tables.iter().map(|table| (table.name.clone(), UsualTimes::default())).collect();
        Self { store, tables, extra: ExtraCalls::new(share) }
    }

    /// The usual time of such a read, stored with the first of its tables; `None` for strong reads and unknown tables.
    fn usual_get(&self, requests: &[ItemRequest<'_>]) -> Option<&UsualTime> {
        let usual = self.tables.get(requests.first()?.table)?;
        let eventual = requests.iter().all(|request| !request.consistent);
        eventual.then_some(if requests.len() == 1 { &usual.get } else { &usual.batch })
    }

    fn usual_query(&self, query: &Query) -> Option<&UsualTime> {
        let hedged = query.partition.is_some() && !query.consistent;
        hedged.then(|| self.tables.get(&*query.table).map(|usual| &usual.query)).flatten()
    }

    /// Makes a call, and makes it again if it is late. The first good answer counts.
    async fn read<'a, T>(&'a self, usual: &UsualTime, tables: &[&str], make: impl Fn() -> BoxFuture<'a, T>, is_well: fn(&T) -> bool) -> T {
        self.extra.count();
        let begun = Instant::now();
        let mut first = make();
        let answer = match usual.late_after() {
            None => first.await,
            Some(after) => match timeout(after, &mut first).await {
                Ok(answer) => answer,
                Err(_) if tables.iter().any(|table| self.store.throttles(table)) || !self.extra.take() => first.await,
                Err(_) => {
                    tracing::debug!(tables = tables.join(","), ?after, "a read is late: it is made a second time");
                    match select(first, make()).await {
                        Either::Left((answer, _)) | Either::Right((answer, _)) if is_well(&answer) => answer,
                        Either::Left((_, other)) | Either::Right((_, other)) => other.await,
                    }
                }
            },
        };
        if is_well(&answer) {
            usual.record(begun.elapsed());
        }
        answer
    }
}

impl DataStore for HedgedStore {
    fn get_items<'a>(&'a self, requests: &'a [ItemRequest<'a>], deadline: Instant) -> BoxFuture<'a, Metered<Vec<GetResult>>> {
        let make = move || self.store.get_items(requests, deadline);
        let Some(usual) = self.usual_get(requests) else { return make() };
        async move {
            let mut tables: Vec<&str> = requests.iter().map(|request| request.table).collect();
            tables.dedup();
            let is_well = |(outcomes, _): &Metered<Vec<GetResult>>| outcomes.iter().all(Result::is_ok);
            self.read(usual, &tables, make, is_well).await
        }
        .boxed()
    }

    fn read_page<'a>(&'a self, query: &'a Query, deadline: Instant) -> BoxFuture<'a, Result<Metered<Page>, TableError>> {
        let make = move || self.store.read_page(query, deadline);
        let Some(usual) = self.usual_query(query) else { return make() };
        async move { self.read(usual, &[&query.table], make, Result::is_ok).await }.boxed()
    }

    fn write<'a>(&'a self, call: &'a WriteCall, deadline: Instant) -> BoxFuture<'a, Result<Metered<Option<Item>>, WriteError>> {
        self.store.write(call, deadline)
    }

    fn transact<'a>(&'a self, calls: &'a [WriteCall], token: &'a str, deadline: Instant) -> BoxFuture<'a, Result<Metered<()>, WriteError>> {
        self.store.transact(calls, token, deadline)
    }

    fn write_batch<'a>(
        &'a self,
        table: &'a str,
        writes: Vec<BatchWrite>,
        deadline: Instant,
    ) -> BoxFuture<'a, Result<Metered<()>, TableError>> {
        self.store.write_batch(table, writes, deadline)
    }

    fn ready<'a>(&'a self, tables: &'a [Table]) -> BoxFuture<'a, Result<(), TableError>> {
        self.store.ready(tables)
    }

    fn retries(&self) -> &RetryBudget {
        self.store.retries()
    }

    fn throttles(&self, table: &str) -> bool {
        self.store.throttles(table)
    }

    fn has_eventual_indexes(&self) -> bool {
        self.store.has_eventual_indexes()
    }
}
