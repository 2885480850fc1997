//! The reads of a request that the cache may answer in; their answers, from the cache, from another request's call, or
//! from a call of their own, out. Must not know plans.

use super::concurrently::concurrently;
use super::known_items::KnownItems;
use super::session::{CallRecord, Session, lost, milliseconds};
use crate::table::cache::entry::CacheAnswer;
use crate::table::cache::flight::FlightWaiter;
use crate::table::cache::table_cache::{Claim, Fill, TableCache};
use crate::table::data::attribute::{AttributeName, AttributeNames, Item};
use crate::table::data::call::{Page, Query, joined_tables};
use crate::table::data::error::{TableError, TableErrorKind};
use crate::table::data::limits::KEYS_PER_BATCH;
use crate::table::data_store::{GetResult, ItemRequest, Metered};
use futures_util::future::join;
use smallvec::SmallVec;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// An item to read, and the greatest age in seconds of what the cache may answer.
#[derive(Debug, Clone, Copy)]
pub(super) struct CachedGet<'a> {
    /// The item.
    pub(super) request: ItemRequest<'a>,
    /// The age; `None` if the cache may not answer.
    pub(super) max_age: Option<u32>,
}

/// A page to read, which the cache may answer.
#[derive(Debug, Clone, Copy)]
pub(super) struct WantedPage<'a> {
    /// The query.
    pub(super) query: &'a Query,
    /// The greatest age of the answer, in seconds.
    pub(super) max_age: u32,
    /// The place of its record.
    pub(super) slot: usize,
}

/// An item that a call must read.
struct ToRead<'a> {
    position: usize,
    request: ItemRequest<'a>,
    fill: Option<Fill>,
}

/// Reads items, no key twice. What the cache has leaves the batches; what another request is reading is waited for. The
/// results are in the order of `wanted`.
pub(super) async fn read_items(session: &Session, known: &KnownItems, wanted: &[CachedGet<'_>]) -> Vec<GetResult> {
    if let Some(cache) = session.cache.as_ref().filter(|_| wanted.iter().any(|item| item.max_age.is_some())) {
        // Its future is large, and most reads need none.
        return Box::pin(read_through(cache, (session, known), wanted)).await;
    }
    let requests: SmallVec<[ItemRequest<'_>; 1]> = wanted.iter().map(|item| item.request).collect();
    match requests.len() {
        0 => Vec::new(),
        1..=KEYS_PER_BATCH => session.read(session.reserve(), known, &requests).await,
        _ => {
            let calls = requests.chunks(KEYS_PER_BATCH).map(|chunk| session.read(session.reserve(), known, chunk));
            concurrently(calls).await.into_iter().flatten().collect()
        }
    }
}

/// Reads items, some of which the cache may answer.
async fn read_through(
    cache: &Arc<TableCache>,
    (session, known): (&Session, &KnownItems),
    wanted: &[CachedGet<'_>],
) -> Vec<GetResult> {
    if let Err(error) = session.bytes.check() {
        return vec![Err(error); wanted.len()];
    }
    let begun = Instant::now();
    let mut results: Vec<Option<GetResult>> = vec![None; wanted.len()];
    let mut joined: Vec<(usize, FlightWaiter)> = Vec::new();
    let mut to_read: Vec<ToRead<'_>> = Vec::new();
    for (position, CachedGet { request, max_age }) in wanted.iter().enumerate() {
        let claim = max_age.map(|age| cache.item(request.table, request.key, request.projection, seconds(age)));
        match claim {
            Some(Claim::Hit(found)) => results[position] = Some(Ok(item_of(found))),
            Some(Claim::Join(other)) => joined.push((position, other)),
            Some(Claim::Fill(fill)) => to_read.push(ToRead { position, request: *request, fill: Some(fill) }),
            None => to_read.push(ToRead { position, request: *request, fill: None }),
        }
    }
    // The record of what the cache answers comes before those of the calls.
    let of_cache = (to_read.len() < wanted.len()).then(|| session.reserve());
    let reading = read_and_keep(session, known, to_read);
    let waiting = joined
        .into_iter()
        .map(async |(position, other)| (position, wait((session, known), cache, &wanted[position], other).await));
    let waiting = concurrently(waiting);
    let (read, waited) = join(reading, waiting).await;
    let mut answered: Vec<usize> = (0..wanted.len()).filter(|position| results[*position].is_some()).collect();
    for (position, result) in read {
        results[position] = Some(result);
    }
    for (position, (result, is_cached)) in waited {
        answered.extend(is_cached.then_some(position));
        results[position] = Some(result);
    }
    let results: Vec<GetResult> = results.into_iter().map(|result| result.unwrap_or_else(|| Err(lost()))).collect();
    if let (Some(slot), false) = (of_cache, answered.is_empty()) {
        let items = || answered.iter().filter_map(|position| results[*position].as_ref().ok()?.as_deref());
        session.bytes.add_items(items());
        let operation = if answered.len() == 1 { "GetItem" } else { "BatchGetItem" };
        let table = joined_tables(answered.iter().map(|position| wanted[*position].request.table));
        session.record(
            slot,
            CallRecord { keys: answered.len(), ..CallRecord::from_cache(operation, table, items().count(), begun) },
        );
    }
    results
}

/// Reads items by calls, and gives the cache those that it waits for.
async fn read_and_keep(session: &Session, known: &KnownItems, to_read: Vec<ToRead<'_>>) -> Vec<(usize, GetResult)> {
    let projections = projections(&to_read);
    let chunks: Vec<_> = {
        let mut to_read = to_read;
        let mut chunks = Vec::new();
        while !to_read.is_empty() {
            let rest = to_read.split_off(to_read.len().min(KEYS_PER_BATCH));
            chunks.push((session.reserve(), std::mem::replace(&mut to_read, rest)));
        }
        chunks
    };
    let calls = chunks.into_iter().map(async |(slot, chunk)| {
        let wider = |request: ItemRequest<'_>| {
            projections.get(request.table).cloned().unwrap_or_else(|| request.projection.into())
        };
        let lists: Vec<AttributeNames> = chunk.iter().map(|one| wider(one.request)).collect();
        let requests: Vec<ItemRequest<'_>> =
            chunk.iter().zip(&lists).map(|(one, projection)| ItemRequest { projection, ..one.request }).collect();
        let outcomes = session.read(slot, known, &requests).await;
        chunk
            .into_iter()
            .zip(lists)
            .zip(outcomes)
            .map(|((one, projection), result)| {
                if let Some(fill) = one.fill {
                    fill.end(result.clone().map(CacheAnswer::Item), projection);
                }
                (one.position, result)
            })
            .collect::<Vec<_>>()
    });
    concurrently(calls).await.into_iter().flatten().collect()
}

/// The attributes to read of each table of which the cache asks for more than the request does. A call takes one list
/// for each table.
fn projections(to_read: &[ToRead<'_>]) -> BTreeMap<String, AttributeNames> {
    let mut wider: BTreeMap<&str, BTreeSet<&AttributeName>> = BTreeMap::new();
    for ToRead { request, fill, .. } in to_read {
        let Some(fill) = fill.as_ref().filter(|fill| **fill.projection() != *request.projection) else { continue };
        let names = wider.entry(request.table).or_insert_with(|| request.projection.iter().collect());
        names.extend(fill.projection().iter());
    }
    // No attributes are all.
    let is_whole = |table: &str| {
        to_read
            .iter()
            .any(|one| one.request.table == table && one.fill.as_ref().is_some_and(|fill| fill.projection().is_empty()))
    };
    wider
        .into_iter()
        .map(|(table, names)| {
            let names = if is_whole(table) { BTreeSet::new() } else { names };
            (table.to_owned(), names.into_iter().cloned().collect())
        })
        .collect()
}

/// Waits for another request's call of an item; makes the call if that fails. Also gives whether the cache answers.
async fn wait(
    (session, known): (&Session, &KnownItems),
    cache: &Arc<TableCache>,
    wanted: &CachedGet<'_>,
    joined: FlightWaiter,
) -> (GetResult, bool) {
    let CachedGet { request, max_age } = wanted;
    let again = || cache.item(request.table, request.key, request.projection, seconds(max_age.unwrap_or_default()));
    match turn(session, joined, again).await {
        Ok(Turn::Answer(found)) => (Ok(item_of(found)), true),
        Ok(Turn::Fill(fill)) => {
            let to_read = vec![ToRead { position: 0, request: *request, fill: Some(fill) }];
            let read = read_and_keep(session, known, to_read).await.pop();
            (read.map_or_else(|| Err(lost()), |(_, result)| result), false)
        }
        Err(error) => (Err(error), false),
    }
}

/// Reads a page that the cache may answer. `read` makes the call.
pub(super) async fn read_page(
    session: &Session,
    cache: &Arc<TableCache>,
    WantedPage { query, max_age, slot }: WantedPage<'_>,
    read: impl AsyncFnOnce(&Query) -> Result<Metered<Page>, TableError>,
) -> Result<Page, TableError> {
    let begun = Instant::now();
    let ask = || cache.page(query, seconds(max_age));
    let turn = match ask() {
        None => return read(query).await.map(|(page, _)| page),
        Some(Claim::Hit(found)) => Turn::Answer(found),
        Some(Claim::Fill(fill)) => Turn::Fill(fill),
        Some(Claim::Join(joined)) => {
            let again = || ask().unwrap_or_else(|| Claim::Hit(CacheAnswer::Item(None)));
            turn(session, joined, again).await?
        }
    };
    match turn {
        Turn::Answer(CacheAnswer::Page(page, units)) => {
            session.bytes.check()?;
            session.bytes.add_page(query, &page, units);
            let index = query.index.clone();
            let operation = if query.partition.is_some() { "Query" } else { "Scan" };
            session.record(
                slot,
                CallRecord { index, ..CallRecord::from_cache(operation, query.table.clone(), page.items.len(), begun) },
            );
            Ok(Page::clone(&page))
        }
        Turn::Answer(CacheAnswer::Item(_)) => Err(lost()),
        Turn::Fill(fill) => {
            let projection = fill.projection().clone();
            let wider = match &query.projection {
                Some(own) if **own != *projection => {
                    Cow::Owned(Query { projection: Some(projection.clone()), ..query.clone() })
                }
                _ => Cow::Borrowed(query),
            };
            let answer = read(&wider).await;
            fill.end(
                answer
                    .as_ref()
                    .map(|(page, units)| CacheAnswer::Page(Arc::new(page.clone()), *units))
                    .map_err(Clone::clone),
                projection,
            );
            answer.map(|(page, _)| page)
        }
    }
}

/// What one who has waited does next.
enum Turn {
    /// Nothing: this is the answer.
    Answer(CacheAnswer),
    /// It makes the call.
    Fill(Fill),
}

/// Whether a request failed because its own time or bytes ended.
fn is_own_end(kind: TableErrorKind) -> bool {
    matches!(kind, TableErrorKind::Timeout | TableErrorKind::Throttled | TableErrorKind::TooMuch)
}

/// Waits until another's call is answered, or until it is one's own turn to make the call, but not longer than the
/// request lasts.
async fn turn(session: &Session, mut joined: FlightWaiter, again: impl Fn() -> Claim) -> Result<Turn, TableError> {
    let mut failed = false;
    loop {
        let outcome = timeout_at(session.deadline, joined.outcome()).await.map_err(|_| {
            let detail = "the deadline passed while another request read the same".to_owned();
            TableError { kind: TableErrorKind::Timeout, detail }
        })?;
        match outcome {
            Some(Ok(found)) => return Ok(Turn::Answer(found)),
            // The first failure may be that of the other request alone, as every end of its time or its bytes is: it
            // was throttled for as long as it lasted.
            Some(Err(error)) if failed && !is_own_end(error.kind) => return Err(error),
            Some(Err(_)) => failed = true,
            None => {}
        }
        match again() {
            Claim::Hit(found) => return Ok(Turn::Answer(found)),
            Claim::Fill(fill) => return Ok(Turn::Fill(fill)),
            Claim::Join(other) => joined = other,
        }
    }
}

impl CallRecord {
    /// The record of what the cache answered: it consumed nothing.
    fn from_cache(operation: &'static str, table: Arc<str>, items: usize, begun: Instant) -> Self {
        let (capacity, ms) = (0.0, milliseconds(begun));
        Self { operation, table, keys: 1, items, capacity, cached: true, ms, ..Self::default() }
    }
}

fn seconds(age: u32) -> Duration {
    Duration::from_secs(age.into())
}

fn item_of(found: CacheAnswer) -> Option<Arc<Item>> {
    match found {
        CacheAnswer::Item(item) => item,
        CacheAnswer::Page(..) => None,
    }
}
