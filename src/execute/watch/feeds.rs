//! The tables of a gateway in; the changes of each that somebody follows out, to the groups that they concern and to
//! what is cached. Must not know how subscribers begin.

use super::bounds::{DeliveryBounds, HeldChange};
use super::history::log::ChangeLog;
use super::registry::Registry;
use super::subscriber::SubscriptionEnd;
use crate::execute::gateway::Gateway;
use crate::execute::key::values::key_of;
use crate::schema::table::Table;
use crate::table::cache::change::{Image, ItemChange};
use crate::table::cache::table_cache::TableCache;
use crate::table::change_source::{ChangeRecord, Shard};
use crate::table::stream::reader::{ChangeSink, StreamReader};
use crate::table::stream::shared::source::SharedStreams;
use futures_util::future::{BoxFuture, FutureExt};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{SystemTime, UNIX_EPOCH};
use tokio::sync::watch;
use tokio::task::AbortHandle;

/// The tables that are followed, and the groups that receive their changes.
pub struct Feeds {
    state: Mutex<FeedsState>,
    /// The streams that copies share. If there are none, this copy reads all.
    shared: Option<SharedStreams>,
    /// What all subscriptions share.
    pub bounds: Arc<DeliveryBounds>,
}

/// What [`Feeds`] holds, while nobody else changes it.
#[derive(Default)]
pub struct FeedsState {
    /// Each table that is followed, by its name.
    pub feeds: HashMap<Arc<str>, Feed>,
    /// The groups that receive changes.
    pub registry: Registry,
    /// What the gateway keeps of reads. The changes of other copies drop what they touch.
    pub cache: Option<Arc<TableCache>>,
    /// Whether no table is followed any longer.
    pub is_closed: bool,
    /// The gateway on which subscriptions run now.
    pub gateway: Option<Gateway>,
}

/// A table that is followed until this is dropped.
pub struct Feed {
    table: Table,
    /// Its last changes.
    pub log: ChangeLog,
    /// The shards that its stream listed last.
    pub shards: Vec<Shard>,
    /// Whether every change from now on arrives.
    pub begun: watch::Sender<bool>,
    /// How many seconds the reading of a shard is behind its changes. A shard that is read to its end is not among
    /// them.
    lags: HashMap<Arc<str>, i64>,
    task: AbortHandle,
}

impl Feed {
    /// How many seconds the reading is behind the changes.
    pub fn lag(&self) -> i64 {
        self.lags.values().copied().max().unwrap_or_default()
    }
}

impl Drop for Feed {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Feeds {
    /// No table is followed yet.
    pub fn new(shared: Option<SharedStreams>) -> Self {
        Self { state: Mutex::default(), shared, bounds: Arc::default() }
    }

    /// What it holds. No change arrives meanwhile.
    pub fn state(&self) -> MutexGuard<'_, FeedsState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Follows a table, unless it is followed already. False if the store does not report changes.
    pub fn begin(self: &Arc<Self>, state: &mut FeedsState, gateway: &Gateway, table: &Table) -> bool {
        let name: Arc<str> = table.name.as_str().into();
        if state.feeds.contains_key(&name) {
            return true;
        }
        let Some(source) = gateway.store().changes().filter(|_| !state.is_closed) else { return false };
        let source = match &self.shared {
            Some(shared) => shared.share(source),
            None => source,
        };
        let sink = Arc::new(FeedSink { feeds: Arc::downgrade(self), table: name.clone() });
        let reader = StreamReader::new(source, name.clone(), sink);
        let task = tokio::spawn(async move { reader.follow().await }).abort_handle();
        let feed = Feed {
            table: table.clone(),
            log: ChangeLog::new(now()),
            shards: Vec::new(),
            begun: watch::Sender::new(false),
            lags: HashMap::new(),
            task,
        };
        state.feeds.insert(name, feed);
        true
    }
}

impl FeedsState {
    /// Drops what is cached and may be no longer right.
    fn invalidate(&self, record: &ChangeRecord) {
        let (Some(cache), Some(feed)) = (&self.cache, self.feeds.get(&record.table)) else { return };
        let image = record.new.as_ref().or(record.old.as_ref());
        if let Some(key) = image.and_then(|image| key_of(&feed.table, image)) {
            let (before, after) = (Image::new(record.old.as_deref()), Image::new(record.new.as_deref()));
            cache.invalidate(&ItemChange { table: &record.table, key: &key, before, after, attributes: None });
        }
    }
}

/// Takes the changes of a table.
struct FeedSink {
    feeds: Weak<Feeds>,
    table: Arc<str>,
}

impl ChangeSink for FeedSink {
    fn take(&self, records: Vec<ChangeRecord>) -> BoxFuture<'_, ()> {
        if let Some(feeds) = self.feeds.upgrade() {
            let (now, mut state) = (now(), feeds.state());
            for record in records.into_iter().map(Arc::new) {
                state.invalidate(&record);
                if let Some(feed) = state.feeds.get_mut(&self.table) {
                    feed.log.add(record.clone(), now);
                }
                let groups = state.registry.concerned(&record);
                if !groups.is_empty() {
                    let bytes = record.bytes();
                    let change = HeldChange::new(record, bytes, &feeds.bounds);
                    groups.iter().for_each(|group| group.push(change.clone()));
                }
            }
        }
        std::future::ready(()).boxed()
    }

    fn lag(&self, shard: &Arc<str>, seconds: i64) {
        let Some(feeds) = self.feeds.upgrade() else { return };
        let mut state = feeds.state();
        let Some(feed) = state.feeds.get_mut(&self.table) else { return };
        if seconds > 0 {
            feed.lags.insert(shard.clone(), seconds);
        } else if !feed.lags.is_empty() {
            feed.lags.remove(shard);
        }
    }

    fn listed(&self, shards: &[Shard]) {
        if let Some(feeds) = self.feeds.upgrade()
            && let Some(feed) = feeds.state().feeds.get_mut(&self.table)
        {
            feed.shards = shards.to_vec();
        }
    }

    fn begun(&self) {
        if let Some(feeds) = self.feeds.upgrade()
            && let Some(feed) = feeds.state().feeds.get_mut(&self.table)
        {
            // What changed before may be missing.
            feed.log.break_off(now());
            feed.begun.send_replace(true);
        }
    }

    fn lost(&self) {
        tracing::error!(table = &*self.table, "changes were lost: the stream no longer has them");
        self.end_all(true);
    }

    fn stopped(&self) {
        tracing::error!(
            table = &*self.table,
            "changes are lost: the stream was switched off, or the table has another one"
        );
        self.end_all(false);
    }
}

impl FeedSink {
    /// Ends the subscriptions of the table after a loss: each goes on after the id that its error has.
    fn end_all(&self, is_followed: bool) {
        let Some(feeds) = self.feeds.upgrade() else { return };
        let mut state = feeds.state();
        if let Some(cache) = &state.cache {
            cache.invalidate_all();
        }
        let Some(feed) = state.feeds.get_mut(&self.table) else { return };
        feed.log.break_off(now());
        if !is_followed {
            feed.begun.send_replace(false);
            feed.lags.clear();
        }
        let end = SubscriptionEnd::Lost(feed.log.end(now()).id().into());
        let groups = state.registry.groups().filter(|group| *group.operation().table() == *self.table);
        groups.for_each(|group| group.end(&end));
    }
}

/// Seconds since 1970.
pub fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}
