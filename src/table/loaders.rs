//! The reads of one request as plain data in, items out: Gets batched and read once, calls bounded and counted, until the deadline.
//! Must not know plans, nor the AWS SDK.

use super::attribute::{Item, Key};
use super::call::{Get, Page, Query};
use super::error::{TableError, TableErrorKind};
use super::interner::{GetId, Interner};
use super::key_range::{canonical, key_can_exist};
use super::reads::{Outcome, Wanted, batch_get_items, get_item, read_page};
use super::store::Store;
use dataloader::BatchFn;
use dataloader::cached::Loader;
use futures_util::future::join_all;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout_at};

/// Most keys of a BatchGetItem (DynamoDB API reference, `BatchGetItem`).
const KEYS_PER_BATCH: usize = 100;

/// Most calls of one request that are under way at once. The rest wait their turn: one request must not take all connections.
pub const CALLS_IN_FLIGHT: usize = 32;

/// The loaders of one request. Use them from any number of tasks at once; drop them with the request.
pub struct Loaders {
    /// What the reads and the writes of the request share.
    pub(super) session: Arc<Session>,
    /// A new one after each write.
    gets: Mutex<Gets>,
}

type Gets = Loader<GetId, Outcome, Batches>;

/// A call that was made: what `extensions.keyfold.calls` shows.
#[derive(Debug, Clone, serde::Serialize)]
pub struct CallRecord {
    /// `GetItem`, `BatchGetItem`, `Query`, `Scan`, `PutItem`, `UpdateItem`, `DeleteItem`, `TransactWriteItems`, `BatchWriteItem`.
    pub operation: &'static str,
    /// The table, or the tables joined by a comma.
    pub table: String,
    /// The index; null for the table itself.
    pub index: Option<String>,
    /// How many keys it asked for or wrote; of a Query, 1.
    pub keys: usize,
    /// How many items came back.
    pub items: usize,
    /// Consumed capacity units, as the server told.
    pub capacity: f64,
    /// Whether those are write capacity units.
    #[serde(skip)]
    pub write: bool,
    /// Duration in milliseconds, retries included.
    pub ms: f64,
    /// The wave it belongs to, from 1: what has the same number runs side by side.
    pub wave: usize,
}

impl Loaders {
    /// Loaders on a store, for one request that ends at the deadline.
    pub fn new(store: &Store, deadline: Instant) -> Self {
        let session = Arc::new(Session {
            store: store.clone(),
            deadline,
            permits: Semaphore::new(CALLS_IN_FLIGHT),
            wave: AtomicUsize::new(1),
            last_wave: AtomicUsize::new(0),
            calls: Mutex::default(),
            interner: Mutex::default(),
        });
        let gets = Mutex::new(session.gets());
        Self { session, gets }
    }

    /// Begins a wave: the next calls come after all that were made. A wave without calls is not counted.
    pub fn begin_wave(&self) {
        self.session.wave.store(self.session.last_wave.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }

    /// Lets later Gets read anew what was read before: something was written. Gets that are under way keep their loader, and what they
    /// read is not kept for others.
    pub(super) fn forget(&self) {
        *self.gets.lock().unwrap_or_else(PoisonError::into_inner) = self.session.gets();
    }

    /// Reads items: distinct keys once per request and write, 100 a BatchGetItem, chunks side by side; a single key is a GetItem. The results are
    /// in the order of `gets`.
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

    /// Takes in what came of Gets by another way, so that they need no call. An item must hold all that its Get asks for.
    pub async fn know(&self, known: Vec<(Get, Option<Arc<Item>>)>) {
        let outcomes: Vec<(GetId, Outcome)> = {
            let mut interner = self.session.interner.lock().unwrap_or_else(PoisonError::into_inner);
            known.into_iter().map(|(get, item)| (interner.id(get), Ok(item))).collect()
        };
        let eventual = outcomes.iter().map(|(id, outcome)| (id.eventual(), outcome.clone()));
        let all: Vec<(GetId, Outcome)> = eventual.chain(outcomes.iter().cloned()).collect();
        let loader = self.gets.lock().unwrap_or_else(PoisonError::into_inner).clone();
        loader.prime_many(all).await;
    }

    /// Reads one page. A page that no key can be on (an empty partition key, a range that ends before it begins) needs no call.
    pub async fn query(&self, query: &Query) -> Result<Page, TableError> {
        self.query_after(query, 0).await
    }

    /// Reads one page after so many others, each of which had to come before it: it belongs to as many waves later.
    pub async fn query_after(&self, query: &Query, pages: usize) -> Result<Page, TableError> {
        let session = &self.session;
        let operation = if query.partition.is_some() { "Query" } else { "Scan" };
        let slot = session.reserve_after(pages);
        let _permit = session.permit().await?;
        let begun = Instant::now();
        let Some(answer) = read_page(&session.store, query, session.deadline).await else { return Ok(Page::default()) };
        let (items, capacity) = answer.as_ref().map_or((0, 0.0), |(page, capacity)| (page.items.len(), *capacity));
        let (table, index) = (query.table.to_string(), query.index.as_deref().map(str::to_owned));
        session
            .record(slot, CallRecord { operation, table, index, keys: 1, items, capacity, write: false, ms: milliseconds(begun), wave: 0 });
        answer.map(|(page, _)| page)
    }

    /// Whether global indexes may be behind their tables: on every store but the embedded one.
    pub fn has_eventual_indexes(&self) -> bool {
        self.session.store.engine().is_none()
    }

    /// The calls that were made so far, in the order in which they were begun; those still under way are not among them.
    pub fn calls(&self) -> Vec<CallRecord> {
        self.session.calls.lock().unwrap_or_else(PoisonError::into_inner).iter().filter_map(|(_, call)| call.clone()).collect()
    }
}

/// What all calls of a request share.
pub(super) struct Session {
    /// Where the tables are.
    pub(super) store: Store,
    /// When the request ends.
    pub(super) deadline: Instant,
    permits: Semaphore,
    wave: AtomicUsize,
    /// The last wave that has calls.
    last_wave: AtomicUsize,
    /// The wave of each call and, once it is over, its record; in the order in which the calls were begun.
    calls: Mutex<Vec<(usize, Option<CallRecord>)>>,
    /// The Gets that were asked for, read or not; a write forgets none of them.
    interner: Mutex<Interner>,
}

impl Session {
    /// A loader that has read nothing yet. It runs its own batches one after another, so it gets all keys at once and the chunks are made
    /// in `Batches`. One yield lets every Get that the same task has begun join the batch.
    fn gets(self: &Arc<Self>) -> Gets {
        Loader::new(Batches { session: self.clone() }).with_max_batch_size(usize::MAX).with_yield_count(1)
    }

    /// Takes the next place in the list of calls, before any waiting, so that the list's order depends on the plan alone.
    pub(super) fn reserve(&self) -> usize {
        self.reserve_after(0)
    }

    /// Takes the next place for a call that comes so many waves later than this one.
    fn reserve_after(&self, waves: usize) -> usize {
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        calls.push((self.wave.load(Ordering::Relaxed) + waves, None));
        calls.len() - 1
    }

    /// Keeps the record of a call that is over.
    pub(super) fn record(&self, slot: usize, call: CallRecord) {
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((wave, record)) = calls.get_mut(slot) {
            self.last_wave.fetch_max(*wave, Ordering::Relaxed);
            *record = Some(CallRecord { wave: *wave, ..call });
        }
    }

    /// Waits until one more call may be under way.
    pub(super) async fn permit(&self) -> Result<tokio::sync::SemaphorePermit<'_>, TableError> {
        match timeout_at(self.deadline, self.permits.acquire()).await {
            Ok(Ok(permit)) => Ok(permit),
            _ => {
                let detail = "the deadline passed while calls before this one were under way".to_owned();
                Err(TableError { kind: TableErrorKind::Timeout, detail })
            }
        }
    }

    /// Reads up to 100 distinct keys by one call.
    async fn read(&self, slot: usize, wanted: &[Wanted<'_>]) -> Vec<Outcome> {
        let _permit = match self.permit().await {
            Ok(permit) => permit,
            Err(error) => return vec![Err(error); wanted.len()],
        };
        let (begun, store) = (Instant::now(), &self.store);
        let (operation, (outcomes, capacity)) = match wanted {
            [only] => {
                let (outcome, capacity) = get_item(store, *only, self.deadline).await;
                ("GetItem", (vec![outcome], capacity))
            }
            _ => ("BatchGetItem", batch_get_items(store, wanted, self.deadline).await),
        };
        let items = outcomes.iter().filter(|outcome| matches!(outcome, Ok(Some(_)))).count();
        let tables: BTreeSet<&str> = wanted.iter().map(|item| item.table).collect();
        let table = tables.into_iter().collect::<Vec<_>>().join(",");
        let ms = milliseconds(begun);
        self.record(slot, CallRecord { operation, table, index: None, keys: wanted.len(), items, capacity, write: false, ms, wave: 0 });
        outcomes
    }
}

/// Makes calls of the keys that the loader has gathered.
struct Batches {
    session: Arc<Session>,
}

/// A Get that is to be read.
struct Asked<'a> {
    id: GetId,
    get: &'a Get,
    /// Its key with numbers in one spelling.
    key: Cow<'a, Key>,
}

impl Asked<'_> {
    /// What makes it the same item as another.
    fn item(&self) -> (&str, &Key) {
        (&self.get.table, &self.key)
    }
}

impl BatchFn<GetId, Outcome> for Batches {
    async fn load(&mut self, ids: &[GetId]) -> HashMap<GetId, Outcome> {
        read_all(&self.session, ids).await
    }
}

async fn read_all(session: &Session, ids: &[GetId]) -> HashMap<GetId, Outcome> {
    let mut ids = ids.to_vec();
    // The loader gives them in any order; in that of the plan they are often sorted already.
    ids.sort_unstable();
    let gets: Vec<(GetId, Arc<Get>)> = {
        let interner = session.interner.lock().unwrap_or_else(PoisonError::into_inner);
        ids.into_iter().filter_map(|id| Some((id, interner.get(id)?))).collect()
    };
    // An impossible key would have its whole batch refused; that no item has it is known without a call.
    let (possible, impossible): (Vec<_>, Vec<_>) = gets.iter().partition(|(_, get)| key_can_exist(&get.key));
    let mut asked: Vec<Asked<'_>> = possible.into_iter().map(|(id, get)| Asked { id: *id, get, key: canonical(&get.key) }).collect();
    asked.sort_by(|a, b| a.item().cmp(&b.item()).then_with(|| a.get.cmp(b.get)));
    let items: Vec<&[Asked<'_>]> = asked.chunk_by(|a, b| a.item() == b.item()).collect();
    let projections = projections(&asked);
    let wanted: Vec<Wanted<'_>> = items
        .iter()
        .filter_map(|item| {
            let Get { table, key, .. } = item.first()?.get;
            let projection = projections.get(&**table).map_or(&[][..], Vec::as_slice);
            Some(Wanted { table, key, projection, consistent: item.iter().any(|asked| asked.id.consistent()) })
        })
        .collect();
    let calls: Vec<_> = wanted.chunks(KEYS_PER_BATCH).map(|chunk| session.read(session.reserve(), chunk)).collect();
    let outcomes = join_all(calls).await.into_iter().flatten();

    let mut results: HashMap<GetId, Outcome> = HashMap::with_capacity(gets.len());
    results.extend(impossible.into_iter().map(|(id, _)| (*id, Ok(None))));
    for (item, outcome) in items.into_iter().zip(outcomes) {
        for asked in item {
            // What was read strongly also answers a later Get that would do with less.
            if asked.id.consistent() {
                results.insert(asked.id.eventual(), outcome.clone());
            }
            results.insert(asked.id, outcome.clone());
        }
    }
    results
}

/// The attributes to read of each table: one list a table is all that BatchGetItem takes. The plan gives each Get the same; if not, all get
/// them all.
fn projections<'a>(asked: &[Asked<'a>]) -> HashMap<&'a str, Vec<String>> {
    let mut attributes: BTreeMap<&str, BTreeSet<&String>> = BTreeMap::new();
    let mut last: Option<&Get> = None;
    for get in asked.iter().map(|asked| asked.get) {
        let key_names = |get: &'a Get| std::iter::once(&get.key.partition).chain(get.key.sort.as_ref()).map(|(name, _)| name);
        // The Gets of a table share one list, so that it is looked at once.
        let alike = |other: &'a Get| {
            Arc::ptr_eq(&other.projection, &get.projection) && other.table == get.table && key_names(other).eq(key_names(get))
        };
        if last.replace(get).is_some_and(alike) {
            continue;
        }
        let names = attributes.entry(&*get.table).or_default();
        names.extend(get.projection.iter());
        if !get.projection.is_empty() {
            // An item that comes back in a batch is known by nothing but its key.
            names.extend(key_names(get));
        }
    }
    attributes.into_iter().map(|(table, names)| (table, names.into_iter().cloned().collect())).collect()
}

fn lost() -> TableError {
    TableError { kind: TableErrorKind::Unavailable, detail: "the batch that held this key was given up".to_owned() }
}

/// The time since then, in milliseconds.
pub(super) fn milliseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1e3
}
