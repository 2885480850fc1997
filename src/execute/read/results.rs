//! Makes the calls of a wave: its Gets, its queries and the Queries that they share in, what all of them found out.
//! Must not know rows or the response.

use super::admit::ItemGate;
use super::query_cache::QueryCache;
use super::range_query::{QueryResult, RangePart};
use super::requests::{PendingQuery, ReadRequests, RowRequest, WaveRequests};
use super::shared::collection::{SharedPart, SharedPartResult, SharedQuery};
use crate::execute::context::ExecutionContext;
use crate::execute::error::Failure;
use crate::execute::expression::narrow::KnownAttributes;
use crate::plan::tree::Want;
use crate::table::data::attribute::Item;
use crate::table::data::call::{Get, Page};
use crate::table::data::error::TableError;
use crate::table::request::concurrently::concurrently;
use foldhash::quality::RandomState;
use futures_util::future::join;
use smallvec::SmallVec;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;
use tokio::task::coop::unconstrained;

/// The requests of a wave and what they found.
pub struct WaveResults<'a> {
    requests: WaveRequests,
    /// What each Get found; `None` if it was not made yet.
    items: Vec<Option<Result<Option<Arc<Item>>, TableError>>>,
    /// What the queries found.
    cache: &'a mut QueryCache,
    /// Whether its Gets join those of other tasks.
    joins: bool,
}

/// Requests of a wave whose calls run concurrently.
struct Round<'r> {
    gets: Vec<usize>,
    queries: Vec<usize>,
    shared: &'r [SharedQuery],
    /// Gets besides, whose results later Gets find.
    foreseen: Vec<Arc<Get>>,
}

/// A call of a round: a query from what it found so far, or a shared Query by its position.
enum Call {
    Query(usize, QueryResult),
    Shared(usize),
}

/// What a call of a round found.
enum CallResult {
    Query(usize, Result<QueryResult, TableError>),
    Shared(usize, Result<(Page, FailedLookUps), TableError>),
}

/// The queries of a shared Query for whose items a rule could not look up what it demands, by their positions.
type FailedLookUps = Vec<(usize, TableError)>;

impl<'a> WaveResults<'a> {
    /// The results of a wave before its first call. `joins` says whether its Gets join those of other tasks.
    pub fn new(requests: WaveRequests, cache: &'a mut QueryCache, joins: bool) -> Self {
        let mut items = vec![None; requests.gets.len()];
        for (position, item) in &requests.known {
            items[*position] = Some(Ok(item.clone()));
        }
        Self { items, requests, cache, joins }
    }

    /// Makes the calls of a wave. First come the shared Queries and all requests that share none. Then come the
    /// requests that the shared Queries did not reach, if something waits for them. The rest is left to the next wave.
    pub async fn call(&mut self, context: &ExecutionContext<'_>, reads: &[ReadRequests<'_>], shared: &[SharedQuery]) {
        let parts: HashSet<SharedPart, RandomState> = shared.iter().flat_map(SharedQuery::parts).collect();
        let is_left = |get: &usize| !parts.contains(&SharedPart::Get(*get)) && !self.requests.is_known(*get);
        let gets = (0..self.requests.gets.len()).filter(is_left).collect();
        // The ranges of a query share Queries all, or none does.
        let queries =
            (0..self.requests.queries.len()).filter(|query| !parts.contains(&SharedPart::Range(*query, 0))).collect();
        let foreseen = self.foreseen(context, reads);
        self.round(Round { gets, queries, shared, foreseen }, context).await;
        // What few waves need is boxed, so that the futures of all stay small.
        if !parts.is_empty() {
            Box::pin(self.call_rest(context, reads)).await;
        }
        if reads.iter().any(|requests| requests.read.discriminator.lookups() > 0) {
            Box::pin(self.look_up(context, reads)).await;
        }
    }

    /// Makes the calls for what the shared Queries did not reach, if something waits for it.
    async fn call_rest(&mut self, context: &ExecutionContext<'_>, reads: &[ReadRequests<'_>]) {
        let awaited = reads.iter().filter(|requests| !requests.read.may_wait && self.needs_more(requests));
        let (mut gets, mut queries) = (Vec::new(), Vec::new());
        for row in awaited.flat_map(|requests| &requests.rows) {
            match row {
                RowRequest::Gets(positions) => {
                    gets.extend(positions.iter().filter(|position| self.needs_get(**position)))
                }
                RowRequest::Query(position, _) => queries.push(*position),
                RowRequest::Absent | RowRequest::Failed(_) => {}
            }
        }
        queries.sort_unstable();
        queries.dedup();
        self.round(Round { gets, queries, shared: &[], foreseen: Vec::new() }, context).await;
    }

    /// The reads of what rules look up for the items of a wave, as far as the keys determine it. What a list of the
    /// wave brings is not among them.
    fn foreseen(&self, context: &ExecutionContext<'_>, reads: &[ReadRequests<'_>]) -> Vec<Arc<Get>> {
        let of_row = |gate: &ItemGate, row: &RowRequest| match row {
            RowRequest::Gets(positions) => {
                let keys =
                    positions.iter().filter_map(|position| self.requests.gets.get(*position)).map(|get| &get.key);
                gate.foreseen(context, keys.map(|key| KnownAttributes::from_key(key).into_item()))
            }
            RowRequest::Query(position, _) => {
                gate.foreseen(context, self.requests.queries[*position].query.known_keys())
            }
            RowRequest::Absent | RowRequest::Failed(_) => Vec::new(),
        };
        let looking_up = || reads.iter().filter(|requests| requests.read.discriminator.lookups() > 0);
        let rows = looking_up().flat_map(|requests| requests.rows.iter().map(|row| (&requests.gate, row)));
        let gets = rows.flat_map(|(gate, row)| of_row(gate, row).into_iter().map(move |get| (row, get)));
        gets.filter(|(row, get)| !self.is_brought(reads, row, get)).map(|(_, get)| Arc::new(get)).collect()
    }

    /// Whether a list of the wave that is read to its end brings what a rule looks up for a row. The items of a Query
    /// are looked at page by page, so only its own items are there in time.
    fn is_brought(&self, reads: &[ReadRequests<'_>], row: &RowRequest, get: &Get) -> bool {
        let brings = |row: &RowRequest| match row {
            RowRequest::Query(position, page) if matches!(page.want, Want::Whole { .. }) => {
                self.requests.queries[*position].query.covers(get)
            }
            _ => false,
        };
        match row {
            RowRequest::Query(..) => brings(row),
            _ => reads.iter().flat_map(|requests| &requests.rows).any(brings),
        }
    }

    /// Looks up what rules demand for the items of Gets. Queries do it for each page.
    async fn look_up(&mut self, context: &ExecutionContext<'_>, reads: &[ReadRequests<'_>]) {
        let results = &*self;
        let asked = reads.iter().filter(|requests| requests.read.discriminator.lookups() > 0).map(async |requests| {
            let of_row = |row: &RowRequest| {
                if let RowRequest::Gets(positions) = row { positions.clone() } else { SmallVec::new() }
            };
            let positions: Vec<usize> = requests.rows.iter().flat_map(of_row).collect();
            let found = |position: &usize| results.item(*position)?.as_ref().ok()?.as_ref();
            let outcome = requests.gate.look_up(context, positions.iter().filter_map(found)).await;
            (positions, outcome)
        });
        for (positions, outcome) in concurrently(asked).await {
            let Err(error) = outcome else { continue };
            for position in positions {
                if let Some(found @ Some(Ok(Some(_)))) = self.items.get_mut(position) {
                    *found = Some(Err(error.clone()));
                }
            }
        }
    }

    /// Makes calls side by side, and keeps what they find.
    async fn round(&mut self, round: Round<'_>, context: &ExecutionContext<'_>) {
        let calls = self.calls(&round);
        let WaveRequests { gets, queries, .. } = &self.requests;
        let calling = calls.into_iter().map(async |call| match call {
            Call::Query(position, known) => {
                let PendingQuery { query, needed, .. } = &queries[position];
                CallResult::Query(position, query.fetch_more(known, *needed, context).await)
            }
            Call::Shared(position) => {
                let shared = &round.shared[position];
                let found = match context.loaders.query_after(&shared.query(), 0, shared.keeps()).await {
                    Ok(page) => {
                        let asking: Vec<usize> = asking(shared, queries).collect();
                        let failed = match asking.as_slice() {
                            [] => Vec::new(),
                            // Its future is large, and few rules look items up.
                            asking => Box::pin(look_up_for(asking, &page, queries, context)).await,
                        };
                        Ok((page, failed))
                    }
                    Err(error) => Err(error),
                };
                CallResult::Shared(position, found)
            }
        });
        let calling = concurrently(calling);
        // What a query looks up may be among the foreseen Gets that are under way. Then it joins them.
        let joins = self.joins || !round.foreseen.is_empty();
        let own: Vec<Arc<Get>> = round.gets.iter().map(|get| gets[*get].clone()).chain(round.foreseen).collect();
        // The queries come first, so that the order of the calls depends on the plan alone. A task that has used up its
        // budget would resume its calls in reverse order. Their number is bounded, and each waits for its response.
        let (called, got) = unconstrained(join(calling, context.loaders.get_shared(own, joins))).await;
        for (position, item) in round.gets.into_iter().zip(got) {
            self.items[position] = Some(item);
        }
        let mut known: Vec<(Arc<Get>, Option<Arc<Item>>)> = Vec::new();
        let mut found: BTreeMap<usize, BTreeMap<usize, RangePart>> = BTreeMap::new();
        for called in called {
            match called {
                CallResult::Query(position, result) => {
                    self.keep(position, result.map_err(|error| Failure::from_table(&error)))
                }
                CallResult::Shared(position, Ok((page, failed))) => {
                    known.extend(self.take(&round.shared[position], &page, &mut found));
                    for (query, error) in failed {
                        self.keep(query, Err(Failure::from_table(&error)));
                    }
                }
                CallResult::Shared(position, Err(error)) => self.fail(&round.shared[position], &error),
            }
        }
        found.into_iter().for_each(|(query, parts)| self.join(query, parts));
        // Later waves need no call for items that a shared Query has read.
        if !known.is_empty() {
            context.loaders.prime(known);
        }
    }

    /// The queries of a round, in the order in which they were requested.
    fn calls(&mut self, round: &Round<'_>) -> Vec<Call> {
        let mut calls: Vec<(usize, Call)> = Vec::new();
        for position in &round.queries {
            let PendingQuery { id, query, needed, .. } = &self.requests.queries[*position];
            if self.cache.needs_more(*id, *needed) {
                calls.push((*position, Call::Query(*position, self.cache.resume(*id, query))));
            }
        }
        for (position, shared) in round.shared.iter().enumerate() {
            let first = shared.parts().filter_map(SharedPart::query).min();
            calls.push((first.unwrap_or_default(), Call::Shared(position)));
        }
        calls.sort_by_key(|(position, _)| *position);
        calls.into_iter().map(|(_, call)| call).collect()
    }

    /// Keeps what Gets found in the page of a shared Query, and adds to `parts` what is of ranges: query → range →
    /// part. Gives the Gets that need no call any more, with their items.
    fn take(
        &mut self,
        shared: &SharedQuery,
        page: &Page,
        parts: &mut BTreeMap<usize, BTreeMap<usize, RangePart>>,
    ) -> Vec<(Arc<Get>, Option<Arc<Item>>)> {
        let mut known = Vec::new();
        for found in shared.take(page, &|position| &self.requests.queries[position].query) {
            match found {
                SharedPartResult::Range(query, range, part) => {
                    parts.entry(query).or_default().insert(range, part);
                }
                SharedPartResult::Item(gets, item) => {
                    known.extend(gets.first().map(|get| (self.requests.gets[*get].clone(), item.clone())));
                    gets.into_iter().for_each(|get| self.items[get] = Some(Ok(item.clone())));
                }
            }
        }
        known
    }

    /// Keeps what a query found in the pages of shared Queries, if they have begun all of its ranges. What failed
    /// stays.
    fn join(&mut self, query: usize, parts: BTreeMap<usize, RangePart>) {
        let PendingQuery { id, query: of, needed, .. } = &self.requests.queries[query];
        if parts.len() == of.ranges.len() && self.cache.get(*id).is_none() {
            let joined = of.join(parts.into_values().collect(), *needed);
            self.keep(query, Ok(joined));
        }
    }

    /// Fails all members of a shared Query.
    fn fail(&mut self, shared: &SharedQuery, error: &TableError) {
        let why = Failure::from_table(error);
        for part in shared.parts() {
            match part {
                SharedPart::Get(get) => self.items[get] = Some(Err(error.clone())),
                SharedPart::Range(query, _) => self.keep(query, Err(why.clone())),
            }
        }
    }

    fn keep(&mut self, query: usize, result: Result<QueryResult, Arc<Failure>>) {
        self.cache.insert(self.requests.queries[query].id, result);
    }

    /// What the Get at a position found; `None` where no Get has been made.
    pub fn item(&self, position: usize) -> Option<&Result<Option<Arc<Item>>, TableError>> {
        self.items.get(position)?.as_ref()
    }

    /// What the query at a position found.
    pub fn query(&self, position: usize) -> Option<&Result<QueryResult, Arc<Failure>>> {
        self.cache.get(self.requests.queries[position].id)
    }

    /// Whether a read's rows request something that has yet to be read.
    pub fn needs_more(&self, requests: &ReadRequests<'_>) -> bool {
        requests.rows.iter().any(|row| match row {
            RowRequest::Gets(positions) => positions.iter().any(|position| self.needs_get(*position)),
            RowRequest::Query(position, _) => {
                let PendingQuery { id, needed, .. } = &self.requests.queries[*position];
                self.cache.needs_more(*id, *needed)
            }
            RowRequest::Absent | RowRequest::Failed(_) => false,
        })
    }

    fn needs_get(&self, position: usize) -> bool {
        matches!(self.items.get(position), Some(None))
    }
}

/// The queries of a shared Query whose rules look up items, by their positions.
fn asking(shared: &SharedQuery, queries: &[PendingQuery]) -> impl Iterator<Item = usize> {
    let of_shared: BTreeSet<usize> = shared.parts().filter_map(SharedPart::query).collect();
    of_shared.into_iter().filter(|position| queries[*position].query.looks_up())
}

/// Looks up what rules demand for the items of the page of a shared Query, for all queries that ask at once. Gives
/// those for which that failed.
async fn look_up_for(
    asking: &[usize],
    page: &Page,
    queries: &[PendingQuery],
    context: &ExecutionContext<'_>,
) -> FailedLookUps {
    let looking = asking.iter().map(|position| async move {
        let looked = queries[*position].query.look_up(&page.items, context).await;
        Some((*position, looked.err()?))
    });
    concurrently(looking).await.into_iter().flatten().collect()
}
