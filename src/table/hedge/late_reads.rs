//! A read and how to make it in; its answer out, made a second time if it is late. Must not know the AWS SDK.
//!
//! A read may be made twice if it is eventually consistent and by key or by partition: GetItem, BatchGetItem and Query.
//! The call that answers first gives the items and the capacity; the other one is dropped, though the server may still
//! run it. There is no second call for a table that throttles, or after a failed call.

use super::extra_calls::ExtraCalls;
use super::shared_timer::{Late, SharedTimer};
use super::usual_time::UsualTime;
use crate::schema::table::Table;
use crate::table::data::call::{Page, Query};
use crate::table::data::error::TableError;
use crate::table::data_store::{GetResult, ItemRequest, Metered};
use foldhash::quality::RandomState;
use futures_util::future::{BoxFuture, Either, FutureExt, select};
use std::collections::HashMap;
use tokio::time::Instant;

/// Makes late reads of some tables twice.
#[derive(Debug)]
pub struct LateReads {
    tables: HashMap<String, UsualTimes, RandomState>,
    extra: ExtraCalls,
    timer: SharedTimer,
}

/// The usual times of a table's reads.
#[derive(Debug, Default)]
struct UsualTimes {
    get: UsualTime,
    batch: UsualTime,
    query: UsualTime,
}

impl LateReads {
    /// For reads of these tables. Second calls are at most this share, from 0 to 1, of all calls that may have one.
    pub fn new(tables: &[Table], share: f64) -> Self {
        let tables = tables.iter().map(|table| (table.name.clone(), UsualTimes::default())).collect();
        Self { tables, extra: ExtraCalls::new(share), timer: SharedTimer::default() }
    }

    /// Gives what a GetItem or a BatchGetItem of these items answers. `throttles` says whether a table has just
    /// throttled a call.
    pub fn get_items<'a>(
        &'a self,
        requests: &'a [ItemRequest<'a>],
        throttles: impl Fn(&str) -> bool + Send + Sync + 'a,
        make: impl Fn() -> BoxFuture<'a, Metered<Vec<GetResult>>> + Send + Sync + 'a,
    ) -> BoxFuture<'a, Metered<Vec<GetResult>>> {
        let Some(usual) = self.usual_get(requests) else { return make() };
        async move {
            let throttles = || requests.iter().any(|request| throttles(request.table));
            let is_well = |(outcomes, _): &Metered<Vec<GetResult>>| outcomes.iter().all(Result::is_ok);
            self.read(usual, throttles, make, is_well).await
        }
        .boxed()
    }

    /// Gives what a Query or a Scan answers. `throttles` says whether a table has just throttled a call.
    pub fn read_page<'a>(
        &'a self,
        query: &'a Query,
        throttles: impl Fn(&str) -> bool + Send + Sync + 'a,
        make: impl Fn() -> BoxFuture<'a, Result<Metered<Page>, TableError>> + Send + Sync + 'a,
    ) -> BoxFuture<'a, Result<Metered<Page>, TableError>> {
        let Some(usual) = self.usual_query(query) else { return make() };
        async move { self.read(usual, || throttles(&query.table), make, Result::is_ok).await }.boxed()
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
    async fn read<'a, T>(
        &self,
        usual: &UsualTime,
        throttles: impl Fn() -> bool,
        make: impl Fn() -> BoxFuture<'a, T>,
        is_well: fn(&T) -> bool,
    ) -> T {
        self.extra.count();
        let begun = Instant::now();
        let mut first = make();
        let answer = match usual.late_after() {
            None => first.await,
            Some(after) => match self.timer.wait(after, &mut first).await {
                Ok(answer) => answer,
                Err(Late) if throttles() || !self.extra.take() => first.await,
                Err(Late) => {
                    tracing::debug!(?after, "a read is late: it is made a second time");
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
