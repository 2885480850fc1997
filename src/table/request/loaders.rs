//! The reads of one request as plain data in, items out. Gets are batched and read once; calls are bounded, counted, and ended by the
//! deadline. Must not know plans or the AWS SDK.

use super::gate::{CallGate, CallPlace, Turnstile};
use super::interner::{GetId, Interner};
use super::read_bytes::ReadBytes;
use crate::table::data::attribute::{Item, Key};
use crate::table::data::call::{Get, Page, Query};
use crate::table::data::error::{TableError, TableErrorKind};
use crate::table::data::key_identity::{canonical, key_can_exist};
use crate::table::data::limits::KEYS_PER_BATCH;
use crate::table::data::sort_range::satisfiable;
use crate::table::data_store::{DataStore, GetResult, ItemRequest};
use dataloader::BatchFn;
use dataloader::cached::Loader;
use futures_util::future::join_all;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::{Instant, timeout_at};

/// Most concurrent calls of one request. Further calls wait, even if the gate of all requests has places.
pub const CALLS_IN_FLIGHT: usize = 32;

/// The reads and writes of one request. Use it from any number of tasks at once; drop it with the request.
pub struct Loaders {
    /// What the reads and writes of the request share.
    pub(super) session: Arc<Session>,
    /// Replaced after each write.
    gets: Mutex<Gets>,
}

type Gets = Loader<GetId, GetResult, Batches>;

/// A call that was made, as `extensions.keyfold.calls` shows it.
#[derive(Debug, Clone, serde::Serialize)]
pub struct CallRecord {
    /// `GetItem`, `BatchGetItem`, `Query`, `Scan`, `PutItem`, `UpdateItem`, `DeleteItem`, `TransactWriteItems`, `BatchWriteItem`.
    pub operation: &'static str,
    /// The table, or the tables joined by a comma.
    pub table: String,
    /// The index; null for the table itself.
    pub index: Option<String>,
    /// How many keys it read or wrote; 1 for a Query.
    pub keys: usize,
    /// How many items it returned.
    pub items: usize,
    /// Consumed capacity units, as the server reports them.
    pub capacity: f64,
    /// Whether those are write capacity units.
    #[serde(skip)]
    pub write: bool,
    /// Duration in milliseconds, retries included.
    pub ms: f64,
    /// When it was first sent, in milliseconds since the execution of the request began.
    pub start: f64,
    /// Its wave, from 1. Calls of one wave run side by side.
    pub wave: usize,
}

impl Loaders {
    /// Loaders on a store, for one request that ends at the deadline and shares its calls with no other.
    pub fn new(store: impl Into<Arc<dyn DataStore>>, deadline: Instant) -> Self {
        Self::through(&CallGate::new(CALLS_IN_FLIGHT), store, deadline)
    }

    /// Loaders whose calls take turns with those of all requests of a gate.
    pub fn through(gate: &Arc<CallGate>, store: impl Into<Arc<dyn DataStore>>, deadline: Instant) -> Self {
        let session = Arc::new(Session {
            store: store.into(),
            begun: Instant::now(),
            deadline,
            permits: Semaphore::new(CALLS_IN_FLIGHT),
            turnstile: gate.turnstile(),
            bytes: ReadBytes::default(),
            wave: AtomicUsize::new(1),
            last_wave: AtomicUsize::new(0),
            calls: Mutex::default(),
            interner: Mutex::default(),
        });
        let gets = Mutex::new(session.gets());
        Self { session, gets }
    }

    /// Sets how many bytes of items the request may read from now on, including those that filters and counts look at. `None` is no bound.
    pub fn bound_reads(&self, most: Option<u64>) {
        self.session.bytes.bound(most);
    }

    /// Begins a wave: the next calls come after all calls so far. A wave without calls does not count.
    pub fn begin_wave(&self) {
        self.session.wave.store(self.session.last_wave.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }

    /// Forgets what was read, after a write: later Gets read again. Concurrent Gets keep their loader, whose results no later Get sees.
    pub(super) fn forget(&self) {
        *self.gets.lock().unwrap_or_else(PoisonError::into_inner) = self.session.gets();
    }

    /// Reads items, each distinct key once until the next write: 100 in each BatchGetItem, side by side, or a single one by GetItem. The
    /// results are in the order of `gets`.
    pub async fn get<'a>(&self, gets: impl Into<Cow<'a, [Get]>>) -> Vec<Result<Option<Arc<Item>>, TableError>> {
        let gets = gets.into().into_owned();
        let ids: Vec<GetId> = {
            let mut interner = self.session.interner.lock().unwrap_or_else(PoisonError::into_inner);
            gets.into_iter().map(|get| interner.id(get)).collect()
        };
        let loader = self.gets.lock().unwrap_or_else(PoisonError::into_inner).clone();
        match loader.try_load_many(ids.clone()).await {
            Ok(outcomes) => ids.iter().map(|id| outcomes.get(id).cloned().unwrap_or_else(|| Err(lost()))).collect(),
            Err(_) => ids.iter().map(|_| Err(lost())).collect(),
        }
    }

    /// Adds the results of Gets that came by another call, so that they need none. An item must have all attributes of its Get.
    pub async fn prime(&self, known: Vec<(Get, Option<Arc<Item>>)>) {
        let outcomes: Vec<(GetId, GetResult)> = {
            let mut interner = self.session.interner.lock().unwrap_or_else(PoisonError::into_inner);
            known.into_iter().map(|(get, item)| (interner.id(get), Ok(item))).collect()
        };
        let eventual = outcomes.iter().map(|(id, outcome)| (id.eventual(), outcome.clone()));
        let all: Vec<(GetId, GetResult)> = eventual.chain(outcomes.iter().cloned()).collect();
        let loader = self.gets.lock().unwrap_or_else(PoisonError::into_inner).clone();
        loader.prime_many(all).await;
    }

    /// Reads one page. A page that can have no key (an empty partition key, an empty range) needs no call.
    pub async fn query(&self, query: &Query) -> Result<Page, TableError> {
        self.query_after(query, 0).await
    }

    /// Reads one page that had to wait for this many others: it belongs to a wave that many later.
    pub async fn query_after(&self, query: &Query, pages: usize) -> Result<Page, TableError> {
        let Some(query) = satisfiable(query) else { return Ok(Page::default()) };
        let session = &self.session;
        let operation = if query.partition.is_some() { "Query" } else { "Scan" };
        let slot = session.reserve_after(pages);
        let _permit = session.permit(query.limit as usize).await?;
        session.bytes.check()?;
        let begun = Instant::now();
        let answer = session.store.read_page(&query, session.deadline).await;
        if let Ok((page, capacity)) = &answer {
            session.bytes.add_page(&query, page, *capacity);
        }
        let (items, capacity) = answer.as_ref().map_or((0, 0.0), |(page, capacity)| (page.items.len(), *capacity));
        let (table, index) = (query.table.to_string(), query.index.as_deref().map(str::to_owned));
        session.record(
            slot,
            CallRecord { operation, table, index, keys: 1, items, capacity, write: false, ms: milliseconds(begun), start: 0.0, wave: 0 },
        );
        answer.map(|(page, _)| page)
    }

    /// Whether global indexes may be behind their tables.
    pub fn has_eventual_indexes(&self) -> bool {
        self.session.store.has_eventual_indexes()
    }

    /// The calls that are finished, in the order in which they began.
    pub fn calls(&self) -> Vec<CallRecord> {
        self.session.calls.lock().unwrap_or_else(PoisonError::into_inner).iter().filter_map(|(_, call)| call.clone()).collect()
    }
}

/// The right to make one call: one of the request's own, and a place among the calls of all requests.
pub(super) struct CallPermit<'s> {
    _own: SemaphorePermit<'s>,
    _place: CallPlace,
}

/// What all calls of a request share.
pub(super) struct Session {
    /// The store.
    pub(super) store: Arc<dyn DataStore>,
    /// When its execution began.
    begun: Instant,
    /// When the request ends.
    pub(super) deadline: Instant,
    permits: Semaphore,
    turnstile: Turnstile,
    bytes: ReadBytes,
    wave: AtomicUsize,
    /// The last wave with calls.
    last_wave: AtomicUsize,
    /// The wave of each call and, once it is finished, its record; in the order in which the calls began.
    calls: Mutex<Vec<(usize, Option<CallRecord>)>>,
    /// All Gets of the request, read or not. A write forgets none of them.
    interner: Mutex<Interner>,
}

impl Session {
    /// A loader that has read nothing yet. A loader runs its batches one after another, so it gets all keys at once, and [`Batches`] makes
    /// the chunks. One yield lets every Get of the same task join the batch.
    fn gets(self: &Arc<Self>) -> Gets {
        Loader::new(Batches { session: self.clone() }).with_max_batch_size(usize::MAX).with_yield_count(1)
    }

    /// Takes the next place in the list of calls. It happens before any waiting, so that the order depends on the plan alone.
    pub(super) fn reserve(&self) -> usize {
        self.reserve_after(0)
    }

    /// Takes the next place for a call that comes this many waves later.
    fn reserve_after(&self, waves: usize) -> usize {
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        calls.push((self.wave.load(Ordering::Relaxed) + waves, None));
        calls.len() - 1
    }

    /// Keeps the record of a finished call.
    pub(super) fn record(&self, slot: usize, call: CallRecord) {
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((wave, record)) = calls.get_mut(slot) {
            self.last_wave.fetch_max(*wave, Ordering::Relaxed);
            let start = (milliseconds(self.begun) - call.ms).max(0.0);
            *record = Some(CallRecord { wave: *wave, start, ..call });
        }
    }

    /// Waits until one more call may run, which reads or writes up to this many items.
    pub(super) async fn permit(&self, items: usize) -> Result<CallPermit<'_>, TableError> {
        let turn = async { Some(CallPermit { _own: self.permits.acquire().await.ok()?, _place: self.turnstile.place(items).await }) };
        match timeout_at(self.deadline, turn).await {
            Ok(Some(permit)) => Ok(permit),
            _ => {
                let detail = "the deadline passed before this call could start".to_owned();
                Err(TableError { kind: TableErrorKind::Timeout, detail })
            }
        }
    }

    /// Reads up to 100 distinct keys by one call.
    async fn read(&self, slot: usize, wanted: &[ItemRequest<'_>]) -> Vec<GetResult> {
        let _permit = match self.permit(wanted.len()).await.and_then(|permit| self.bytes.check().map(|()| permit)) {
            Ok(permit) => permit,
            Err(error) => return vec![Err(error); wanted.len()],
        };
        let begun = Instant::now();
        let operation = if wanted.len() == 1 { "GetItem" } else { "BatchGetItem" };
        let (outcomes, capacity) = self.store.get_items(wanted, self.deadline).await;
        let found = || outcomes.iter().filter_map(|outcome| outcome.as_ref().ok()?.as_deref());
        self.bytes.add_items(found());
        let items = found().count();
        let tables: BTreeSet<&str> = wanted.iter().map(|item| item.table).collect();
        let table = tables.into_iter().collect::<Vec<_>>().join(",");
        let ms = milliseconds(begun);
        self.record(
            slot,
            CallRecord { operation, table, index: None, keys: wanted.len(), items, capacity, write: false, ms, start: 0.0, wave: 0 },
        );
        outcomes
    }
}

/// Reads the keys that the loader has collected.
struct Batches {
    session: Arc<Session>,
}

/// A Get to read.
struct Asked<'a> {
    id: GetId,
    get: &'a Get,
    /// Its key with canonical numbers.
    key: Cow<'a, Key>,
}

impl Asked<'_> {
    /// What identifies its item.
    fn item(&self) -> (&str, &Key) {
        (&self.get.table, &self.key)
    }
}

impl BatchFn<GetId, GetResult> for Batches {
    async fn load(&mut self, ids: &[GetId]) -> HashMap<GetId, GetResult> {
        read_all(&self.session, ids).await
    }
}

async fn read_all(session: &Session, ids: &[GetId]) -> HashMap<GetId, GetResult> {
    let mut ids = ids.to_vec();
    // The loader gives them in any order; the plan's order is often sorted already.
    ids.sort_unstable();
    let gets: Vec<(GetId, Arc<Get>)> = {
        let interner = session.interner.lock().unwrap_or_else(PoisonError::into_inner);
        ids.into_iter().filter_map(|id| Some((id, interner.get(id)?))).collect()
    };
    // DynamoDB refuses a batch with an impossible key. No item has such a key, so it needs no call.
    let (possible, impossible): (Vec<_>, Vec<_>) = gets.iter().partition(|(_, get)| key_can_exist(&get.key));
    let mut asked: Vec<Asked<'_>> = possible.into_iter().map(|(id, get)| Asked { id: *id, get, key: canonical(&get.key) }).collect();
    asked.sort_by(|a, b| a.item().cmp(&b.item()).then_with(|| a.get.cmp(b.get)));
    let items: Vec<&[Asked<'_>]> = asked.chunk_by(|a, b| a.item() == b.item()).collect();
    let projections = projections(&asked);
    let wanted: Vec<ItemRequest<'_>> = items
        .iter()
        .filter_map(|item| {
            let Get { table, key, .. } = item.first()?.get;
            let projection = projections.get(&**table).map_or(&[][..], Vec::as_slice);
            Some(ItemRequest { table, key, projection, consistent: item.iter().any(|asked| asked.id.consistent()) })
        })
        .collect();
    let calls: Vec<_> = wanted.chunks(KEYS_PER_BATCH).map(|chunk| session.read(session.reserve(), chunk)).collect();
    let outcomes = join_all(calls).await.into_iter().flatten();

    let mut results: HashMap<GetId, GetResult> = HashMap::with_capacity(gets.len());
    results.extend(impossible.into_iter().map(|(id, _)| (*id, Ok(None))));
    for (item, outcome) in items.into_iter().zip(outcomes) {
        for asked in item {
            // A strong result also answers a later eventually consistent Get.
            if asked.id.consistent() {
                results.insert(asked.id.eventual(), outcome.clone());
            }
            results.insert(asked.id, outcome.clone());
        }
    }
    results
}

/// The attributes to read of each table. BatchGetItem takes one list for each table: the union, if the Gets differ.
fn projections<'a>(asked: &[Asked<'a>]) -> HashMap<&'a str, Vec<String>> {
    let mut attributes: BTreeMap<&str, BTreeSet<&String>> = BTreeMap::new();
    let mut last: Option<&Get> = None;
    for get in asked.iter().map(|asked| asked.get) {
        let key_names = |get: &'a Get| std::iter::once(&get.key.partition).chain(get.key.sort.as_ref()).map(|(name, _)| name);
        // The Gets of a table usually share one list, which is added once.
        let is_same_list = |other: &'a Get| {
            Arc::ptr_eq(&other.projection, &get.projection) && other.table == get.table && key_names(other).eq(key_names(get))
        };
        if last.replace(get).is_some_and(is_same_list) {
            continue;
        }
        let names = attributes.entry(&*get.table).or_default();
        names.extend(get.projection.iter());
        if !get.projection.is_empty() {
            // A returned item is identified by its key alone.
            names.extend(key_names(get));
        }
    }
    attributes.into_iter().map(|(table, names)| (table, names.into_iter().cloned().collect())).collect()
}

fn lost() -> TableError {
    TableError { kind: TableErrorKind::Unavailable, detail: "the batch with this key was dropped".to_owned() }
}

/// The time since then, in milliseconds.
pub(super) fn milliseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1e3
}
