//! The reads of one request as plain data in, items out. Gets are batched and read once; calls are bounded, counted,
//! and ended by the deadline. Must not know plans or the AWS SDK.

use super::batches::{self, FoundGets, JoinedGets};
use super::cached_reads::{self, WantedPage};
use super::gate::CallGate;
use super::interner::GetId;
use super::known_items::KnownItems;
use super::room::{ReadRoom, ReadShare};
use super::session::{CALLS_IN_FLIGHT, CallRecord, Session, lost};
use crate::table::cache::table_cache::TableCache;
use crate::table::data::attribute::Item;
use crate::table::data::call::{Get, Page, Query};
use crate::table::data::error::TableError;
use crate::table::data::sort_range::satisfiable;
use crate::table::data_store::{DataStore, GetResult, Metered};
use dataloader::cached::Loader;
use std::borrow::Cow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::time::Instant;

/// The reads and writes of one request. Use it from any number of tasks at once; drop it with the request.
pub struct Loaders {
    /// What the reads and writes of the request share.
    pub(super) session: Arc<Session>,
    /// Replaced after each write.
    gets: Mutex<Gets>,
}

/// The Gets since the last write.
#[derive(Default)]
struct Gets {
    found: Arc<FoundGets>,
    /// Joins the Gets of several tasks. Most requests have one.
    loader: Option<Joining>,
}

/// Joins the Gets of several tasks.
type Joining = Loader<GetId, GetResult, JoinedGets>;

impl Loaders {
    /// Loaders on a store, for one request that ends at the deadline and shares its calls with no other.
    pub fn new(store: impl Into<Arc<dyn DataStore>>, deadline: Instant) -> Self {
        let alone = (&CallGate::new(CALLS_IN_FLIGHT), ReadRoom::new(u64::MAX).share(None));
        Self::through(alone, (store.into(), None), deadline)
    }

    /// Loaders whose calls take turns with those of all requests of a gate, which have a share of a room with them, and
    /// which share a cache with them.
    pub fn through(
        bounds: (&Arc<CallGate>, ReadShare),
        store: (Arc<dyn DataStore>, Option<Arc<TableCache>>),
        deadline: Instant,
    ) -> Self {
        let session = Arc::new(Session::new(bounds, store, deadline));
        Self { session, gets: Mutex::default() }
    }

    /// Sets how many bytes of items the request may read from now on, including those that filters and counts look at.
    /// `None` is no bound.
    pub fn bound_reads(&self, most: Option<u64>) {
        self.session.bytes.bound(most);
    }

    /// Waits until the request may read on, if it has read much and others have as well; until the deadline at most.
    #[inline]
    pub async fn may_read_on(&self) {
        let Session { bytes, deadline, .. } = &*self.session;
        if !bytes.share.may_read() {
            Box::pin(bytes.share.turn(*deadline)).await;
        }
    }

    /// The request has read everything: its share of the room is that of a response of this many bytes from now on.
    pub fn answered(&self, bytes: usize) -> Arc<ReadShare> {
        self.session.bytes.share.answered(bytes as u64);
        self.session.bytes.share.clone()
    }

    /// Begins a wave: the next calls come after all calls so far. A wave without calls does not count.
    pub fn begin_wave(&self) {
        self.session.begin_wave();
    }

    /// Forgets what was read, after a write: later Gets read again. Concurrent Gets keep their loader, whose results no
    /// later Get sees.
    pub fn forget(&self) {
        *self.gets() = Gets::default();
    }

    /// Reads items, each distinct key once until the next write: 100 in each BatchGetItem, side by side, or a single
    /// one by GetItem. Gets of other tasks join the batch. The results are in the order of `gets`.
    pub async fn get<'a>(&self, gets: impl Into<Cow<'a, [Get]>>) -> Vec<GetResult> {
        self.get_shared(gets.into().into_owned().into_iter().map(Arc::new).collect(), true).await
    }

    /// Reads items as [`Self::get`] does. Where `joins` is false, the caller knows that no other task of the request
    /// reads now.
    pub async fn get_shared(&self, gets: Vec<Arc<Get>>, joins: bool) -> Vec<GetResult> {
        let ids = self.ids(gets);
        if !joins {
            let found = self.gets().found.clone();
            return batches::read(&self.session, &found, &ids).await;
        }
        let (found, loader) = self.joining();
        if let Some(results) = found.all(&ids) {
            return results;
        }
        // Boxed, as most requests have one task.
        let mut outcomes = Box::pin(loader.try_load_many(ids.clone())).await.unwrap_or_default();
        ids.iter()
            .map(|id| outcomes.remove(id).or_else(|| found.all(&[*id])?.pop()).unwrap_or_else(|| Err(lost())))
            .collect()
    }

    /// Adds the results of Gets that came by another call, so that they need none. An item must have all attributes of
    /// its Get.
    pub fn prime(&self, known: Vec<(Arc<Get>, Option<Arc<Item>>)>) {
        let (gets, items): (Vec<Arc<Get>>, Vec<_>) = known.into_iter().unzip();
        let (ids, found) = (self.ids(gets), self.gets().found.clone());
        found.keep(ids.into_iter().zip(items.into_iter().map(Ok)));
    }

    /// What the request knows of its tables since its last write; `None` if that is nothing.
    pub fn known(&self) -> Option<Arc<KnownItems>> {
        let gets = self.gets();
        let known = &gets.found.known;
        (!known.is_empty()).then(|| known.clone())
    }

    /// From now on, until the next write, what Gets find is known, too.
    pub fn keep_gets(&self) {
        self.gets().found.known.keep_gets();
    }

    fn ids(&self, gets: Vec<Arc<Get>>) -> Vec<GetId> {
        let mut interner = self.session.interner.lock().unwrap_or_else(PoisonError::into_inner);
        interner.reserve(gets.len());
        gets.into_iter().map(|get| interner.id(get)).collect()
    }

    fn gets(&self) -> MutexGuard<'_, Gets> {
        self.gets.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The Gets since the last write, and what joins those of several tasks. That runs its batches one after another,
    /// so it gets all keys at once, and [`batches`] makes the chunks. One yield lets every Get of the same task join
    /// the batch.
    fn joining(&self) -> (Arc<FoundGets>, Joining) {
        let Gets { found, loader } = &mut *self.gets();
        let new = || {
            let joined = JoinedGets { session: self.session.clone(), found: found.clone() };
            Loader::new(joined).with_max_batch_size(usize::MAX).with_yield_count(1)
        };
        (found.clone(), loader.get_or_insert_with(new).clone())
    }

    /// Reads one page. A page that can have no key (an empty partition key, an empty range) needs no call.
    pub async fn query(&self, query: &Query) -> Result<Page, TableError> {
        self.query_after(query, 0, false).await
    }

    /// Reads one page that had to wait for this many others: it belongs to a wave that many later. `keeps` says whether
    /// the items that a call brings are known from then on.
    pub async fn query_after(&self, query: &Query, pages: usize, keeps: bool) -> Result<Page, TableError> {
        // Most conditions stay as they are.
        let reduced: Box<Query>;
        let query = match satisfiable(query) {
            None => return Ok(Page::default()),
            Some(Cow::Borrowed(query)) => query,
            Some(Cow::Owned(query)) => {
                reduced = Box::new(query);
                &reduced
            }
        };
        let session = &self.session;
        let slot = session.reserve_after(pages);
        // A write that is made meanwhile leaves the page unknown.
        let known = keeps.then(|| self.gets().found.known.clone());
        let known = known.as_deref();
        match (query.max_age, &session.cache) {
            (Some(max_age), Some(cache)) => {
                let read = async |query: &Query| self.read_page(query, slot, known).await;
                // Its future is large, and most reads need none.
                Box::pin(cached_reads::read_page(session, cache, WantedPage { query, max_age, slot }, read)).await
            }
            _ => self.read_page(query, slot, known).await.map(|(page, _)| page),
        }
    }

    /// Reads one page by a call.
    async fn read_page(
        &self,
        query: &Query,
        slot: usize,
        known: Option<&KnownItems>,
    ) -> Result<Metered<Page>, TableError> {
        let session = &self.session;
        let operation = if query.partition.is_some() { "Query" } else { "Scan" };
        let _permit = session.permit(query.limit as usize).await?;
        session.bytes.check()?;
        let begun = Instant::now();
        let tally = session.tally();
        let answer = session.store.read_page(query, session.scope(&tally)).await;
        if let Ok((page, capacity)) = &answer {
            session.bytes.add_page(query, page, *capacity);
            known.into_iter().for_each(|known| known.keep_page(query, page));
        }
        let (items, capacity) = answer.as_ref().map_or((0, 0.0), |(page, capacity)| (page.items.len(), *capacity));
        let (table, index) = (query.table.clone(), query.index.clone());
        let ended = CallRecord::ended(begun, tally, answer.is_err());
        session.record(slot, CallRecord { operation, table, index, keys: 1, items, capacity, ..ended });
        answer
    }

    /// Whether global indexes may be behind their tables.
    pub fn has_eventual_indexes(&self) -> bool {
        self.session.store.has_eventual_indexes()
    }

    /// Keeps the ids that the server gives to answers from now on.
    pub fn keep_request_ids(&self) {
        self.session.keep_ids();
    }

    /// When the request's execution began.
    pub fn begun(&self) -> Instant {
        self.session.begun
    }

    /// The calls that are finished, in the order in which they began.
    pub fn calls(&self) -> Vec<CallRecord> {
        self.session.calls()
    }

    /// The calls that are finished, in the order in which they began. They are then forgotten.
    pub fn take_calls(&self) -> Vec<CallRecord> {
        self.session.take_calls()
    }
}
