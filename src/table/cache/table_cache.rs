//! The cache of a store's answers: a read in; the answer that is kept, a call of another to wait for, or the right to
//! make the call, out.
//!
//! An answer is kept unless something that it hangs on has changed. A cold item that many ask for at once is read by
//! one call: the first makes it, the others wait. Must not know requests.

use super::change::ItemChange;
use super::counts::{CacheCounter, CacheCounts};
use super::entry::{Bytes, CacheAnswer, Entry, covers};
use super::flight::{Flight, FlightWaiter, Outcome};
use super::key::{BorrowedItemKey, EntryKey, PageKey};
use super::touched::Tags;
use super::watches::{Tag, Watches};
use crate::schema::table::Table;
use crate::table::data::attribute::{AttributeName, AttributeNames, Item, Key};
use crate::table::data::call::Query;
use quick_cache::DefaultHashBuilder;
use quick_cache::sync::Cache;
use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// The size of a usual large entry, in bytes: the cache is divided so that 32 such entries fit into each part. What is
/// larger than a part is not kept.
const USUAL_BYTES: u64 = 64 * 1024;
/// The share of the memory that remembers changes.
const CHANGES_SHARE: u64 = 32;

/// For how long an eventually consistent read may give what was there before a change (DynamoDB developer guide, "Read
/// consistency": usually one second or less).
pub const HOLD_OFF: Duration = Duration::from_secs(1);

/// Answers of a store's tables, for all requests.
#[derive(Debug)]
pub struct TableCache {
    entries: Cache<EntryKey, Arc<Entry>, Bytes, DefaultHashBuilder, CacheCounter>,
    counter: CacheCounter,
    /// The calls that are being made.
    flights: Mutex<HashMap<EntryKey, Arc<Flight>>>,
    watches: Watches,
    tags: Tags,
    /// The cache that took this one's place.
    successor: OnceLock<Arc<TableCache>>,
}

/// What the cache has for a read.
#[derive(Debug)]
pub(in crate::table) enum Claim {
    /// The answer.
    Hit(CacheAnswer),
    /// Another makes the call.
    Join(FlightWaiter),
    /// Whoever asks makes the call.
    Fill(Fill),
}

/// The right to make a call whose answer is kept. If it is dropped, those who wait for the answer ask again.
#[derive(Debug)]
pub(in crate::table) struct Fill {
    cache: Arc<TableCache>,
    key: EntryKey,
    flight: Arc<Flight>,
}

/// A read that the cache may answer.
struct CacheLookup<'a> {
    projection: &'a [AttributeName],
    max_age: Duration,
}

impl TableCache {
    /// An empty cache for these tables, of up to this many bytes. After a change, nothing is kept that was asked for
    /// before the hold-off has passed.
    pub fn new(tables: &[Table], bytes: u64, hold_off: Duration) -> Self {
        let changes = bytes / CHANGES_SHARE;
        let counter = CacheCounter::default();
        let entries = usize::try_from(bytes / USUAL_BYTES).unwrap_or(usize::MAX).max(1);
        Self {
            entries: Cache::with(entries, bytes - changes, Bytes, DefaultHashBuilder::default(), counter.clone()),
            counter,
            flights: Mutex::default(),
            watches: Watches::new(changes, hold_off),
            tags: Tags::new(tables),
            successor: OnceLock::new(),
        }
    }

    /// Drops what a change touches, at once: the item, the pages that hold it, and the pages of every partition that it
    /// may have entered or left. What is being read is answered but not kept, and what is asked for within the hold-off
    /// is not kept either.
    pub fn invalidate(&self, change: &ItemChange<'_>) {
        self.drop_tags(&self.tags_of(change));
    }

    /// Drops everything, at once: nobody knows what has changed.
    pub fn invalidate_all(&self) {
        self.watches.change_all();
        self.entries.clear();
    }

    /// Another cache takes this one's place. Writes that have begun on this one drop everything from that one when they
    /// end: what they touch there, this one does not know.
    pub fn hand_over(&self, successor: &Arc<Self>) {
        // There is one successor, so the place is free.
        let _ = self.successor.set(successor.clone());
        // A write that has just ended counts as a change of the successor, too.
        successor.invalidate_all();
    }

    /// The bytes of what is kept, about.
    pub fn bytes(&self) -> u64 {
        self.entries.weight()
    }

    /// What it has done so far. Who waits for the call of another counts as not answered.
    pub fn counts(&self) -> CacheCounts {
        self.counter.counts(self.bytes())
    }

    pub(super) fn tags_of(&self, change: &ItemChange<'_>) -> Vec<Tag> {
        self.tags.change_tags(change)
    }

    pub(super) fn drop_tags(&self, tags: &[Tag]) {
        if tags.is_empty() {
            return;
        }
        self.watches.change(tags);
        let mut last = self.successor.get();
        while let Some(cache) = last {
            cache.invalidate_all();
            last = cache.successor.get();
        }
    }

    /// The key of an item in a table.
    pub(super) fn key_in(&self, table: &str, item: &Item) -> Option<Key> {
        self.tags.key_in(table, item)
    }

    /// Asks for an item. Its key has canonical numbers; `projection` is sorted, and no attributes are all.
    pub(in crate::table) fn item(
        self: &Arc<Self>,
        table: &str,
        key: &Key,
        projection: &[AttributeName],
        max_age: Duration,
    ) -> Claim {
        let wanted = CacheLookup { projection, max_age };
        let entry = self.entries.get(&BorrowedItemKey { table, key });
        let served = wanted.served(entry.as_deref());
        self.counter.look_up(served.is_some());
        if let Some(found) = served {
            return Claim::Hit(found);
        }
        let own = EntryKey::Item(table.into(), key.clone());
        self.claim(own, &wanted, || vec![self.tags.item_tag(table, key)])
    }

    /// Asks for a page; `None` if pages of its table are not kept.
    pub(in crate::table) fn page(self: &Arc<Self>, query: &Query, max_age: Duration) -> Option<Claim> {
        let wanted = CacheLookup { projection: query.projection.as_deref().unwrap_or_default(), max_age };
        let page = Arc::new(PageKey::new(query));
        let key = EntryKey::Page(page.clone());
        let served = wanted.served(self.entries.get(&key).as_deref());
        self.counter.look_up(served.is_some());
        if let Some(found) = served {
            return Some(Claim::Hit(found));
        }
        let tags = self.tags.page_tags(&page)?;
        Some(self.claim(key, &wanted, || tags))
    }

    /// Joins the call that is being made, or begins one.
    fn claim(self: &Arc<Self>, key: EntryKey, wanted: &CacheLookup<'_>, tags: impl FnOnce() -> Vec<Tag>) -> Claim {
        let mut flights = self.flights();
        if let Some(flight) = flights.get(&key).filter(|flight| flight.serves(wanted.projection)) {
            return Claim::Join(flight.join());
        }
        // A call may have ended just now: its answer is kept before it is no longer listed.
        let entry = self.entries.get(&key);
        if let Some(found) = wanted.served(entry.as_deref()) {
            return Claim::Hit(found);
        }
        let projection = wanted.and_those_of(entry.as_deref());
        let flight = Arc::new(Flight::new(projection, self.watches.watch(tags())));
        flights.insert(key.clone(), flight.clone());
        Claim::Fill(Fill { cache: self.clone(), key, flight })
    }

    fn flights(&self) -> MutexGuard<'_, HashMap<EntryKey, Arc<Flight>>> {
        self.flights.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CacheLookup<'_> {
    fn served(&self, entry: Option<&Entry>) -> Option<CacheAnswer> {
        entry
            .filter(|entry| entry.serves(self.projection, self.max_age, Instant::now()))
            .map(|entry| entry.found.clone())
    }

    /// The attributes to ask for: those of the known answer, too. Otherwise, two requests for different attributes
    /// would replace each other's answers for ever.
    fn and_those_of(&self, entry: Option<&Entry>) -> AttributeNames {
        match entry {
            Some(entry) if covers(&entry.projection, self.projection) => entry.projection.clone(),
            Some(entry) if !self.projection.is_empty() => {
                let all: BTreeSet<&AttributeName> = self.projection.iter().chain(entry.projection.iter()).collect();
                all.into_iter().cloned().collect()
            }
            _ => self.projection.into(),
        }
    }
}

impl Fill {
    /// The attributes to ask for at least, sorted; none are all.
    pub(in crate::table) fn projection(&self) -> &AttributeNames {
        &self.flight.projection
    }

    /// Ends the call with its answer, which has these attributes: all who wait get it, and it is kept.
    pub(in crate::table) fn end(self, outcome: Outcome, projection: AttributeNames) {
        if let Ok(found) = &outcome {
            self.keep(found, projection);
        }
        self.flight.end(outcome);
    }

    fn keep(&self, found: &CacheAnswer, projection: AttributeNames) {
        let TableCache { entries, watches, tags, .. } = &*self.cache;
        let of_items = match (found, &self.key) {
            (CacheAnswer::Page(answer, _), EntryKey::Page(page)) => tags.items_tags(page, &answer.items),
            _ => Some(Vec::new()),
        };
        if let Some(watch) = of_items.and_then(|of_items| watches.keep(&self.flight.watch, of_items)) {
            let ends = tags.time_to_live(&self.key).and_then(|attribute| found.ends(attribute));
            entries.insert(self.key.clone(), Arc::new(Entry { found: found.detached(), projection, watch, ends }));
        }
    }
}

impl Drop for Fill {
    fn drop(&mut self) {
        let mut flights = self.cache.flights();
        if flights.get(&self.key).is_some_and(|flight| Arc::ptr_eq(flight, &self.flight)) {
            flights.remove(&self.key);
        }
    }
}
