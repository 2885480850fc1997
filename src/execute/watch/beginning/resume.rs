//! A subscriber that comes back in, the changes that it has missed out: from the log, or from the stream until the log
//! has the rest.

use crate::execute::watch::feeds::{Feed, Feeds};
use crate::execute::watch::history::event_id::EventPosition;
use crate::execute::watch::history::log::is_after;
use crate::execute::watch::operation::WatchedOperation;
use crate::execute::watch::seen::DeliveredChanges;
use crate::execute::watch::subscriber::{Subscriber, SubscriptionEnd};
use crate::table::change_source::{ChangeRecord, Shard, StreamPosition, ancestors};
use crate::table::stream::reader::{ChangeSink, StreamReader};
use futures_util::future::{BoxFuture, FutureExt};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use tokio::sync::{Mutex, Semaphore};

/// Sends a subscriber the changes after a position. Gives what it has had then, and all later changes of its group
/// wait. `catching_up` lets subscribers read the stream again.
pub async fn resume(
    (feeds, catching_up): (&Arc<Feeds>, &Semaphore),
    operation: &Arc<WatchedOperation>,
    subscriber: &Arc<Subscriber>,
    from: EventPosition,
) -> Result<DeliveredChanges, SubscriptionEnd> {
    let table = operation.table();
    let mut progress = Progress {
        operation: operation.clone(),
        subscriber: subscriber.clone(),
        seen: DeliveredChanges::default(),
        from: from.clone(),
        last: from.change().cloned(),
    };
    // What it has had does not come again: its item may have changed since.
    from.change().into_iter().for_each(|position| progress.seen.note(position));
    // The place in the log where it goes on.
    let mut place = from.clone();
    loop {
        // What comes from here on waits. If it becomes too much, it is in the log.
        subscriber.hold();
        let logged = feeds.state().feeds.get(&table).map(|feed| {
            let records = feed.log.after(&place);
            let next = if records.is_some() { feed.log.reached() } else { feed.log.lasting() };
            (records, next, over(feed, &from))
        });
        let Some((records, next, over)) = logged else { return Err(SubscriptionEnd::SchemaChanged) };
        place = next;
        progress.seen.over.extend(over);
        let is_current = match records {
            Some(records) => {
                for record in records.into_iter().filter(|record| may_follow(record, &from)) {
                    progress.send(record).await?;
                }
                true
            }
            None => {
                let Ok(_turn) = catching_up.acquire().await else { return Err(SubscriptionEnd::Past) };
                catch_up(&mut progress, (feeds, &table), &place).await?
            }
        };
        if is_current && subscriber.is_holding() {
            return Ok(progress.seen);
        }
    }
}

/// The shards that precede a position.
fn over(feed: &Feed, from: &EventPosition) -> Vec<Arc<str>> {
    from.change().into_iter().flat_map(|position| ancestors(&feed.shards, &position.shard)).collect()
}

/// Reads the stream again for a subscriber, until it is current or the log has the rest after a place. True if it is
/// current.
async fn catch_up(
    progress: &mut Progress,
    (feeds, table): (&Arc<Feeds>, &Arc<str>),
    place: &EventPosition,
) -> Result<bool, SubscriptionEnd> {
    let source = progress.operation.gateway.store().changes();
    let (Some(source), Some(last)) = (source, progress.last.clone()) else {
        return Err(SubscriptionEnd::Past);
    };
    let sink = Arc::new(CatchUp {
        feeds: feeds.clone(),
        table: table.clone(),
        last: last.clone(),
        place: place.clone(),
        progress: Mutex::new(progress.clone()),
        over: OnceLock::new(),
        failed: Mutex::default(),
        is_past: AtomicBool::new(false),
    });
    let is_current = StreamReader::new(source, table.clone(), sink.clone()).catch_up(last).await;
    if sink.is_past.load(Ordering::Relaxed) {
        return Err(SubscriptionEnd::Past);
    }
    if let Some(end) = sink.failed.lock().await.take() {
        return Err(end);
    }
    *progress = sink.progress.lock().await.clone();
    progress.seen.over.extend(sink.over.get().into_iter().flatten().cloned());
    Ok(is_current)
}

/// Whether a change may come after a position. A place in a log has another clock than the stream.
fn may_follow(record: &ChangeRecord, from: &EventPosition) -> bool {
    from.change().is_none() || is_after(record, from)
}

/// How far a subscriber has come.
#[derive(Clone)]
struct Progress {
    operation: Arc<WatchedOperation>,
    subscriber: Arc<Subscriber>,
    /// What it has had.
    seen: DeliveredChanges,
    /// After what it goes on: the change, or the first one that it was sent.
    from: EventPosition,
    /// The last change that it has had.
    last: Option<StreamPosition>,
}

impl Progress {
    /// Sends a change, as soon as there is room, unless the subscriber has had it.
    async fn send(&mut self, record: Arc<ChangeRecord>) -> Result<(), SubscriptionEnd> {
        if !self.seen.is_new(&record) {
            return Ok(());
        }
        self.subscriber.has_room().await;
        self.seen.note(&record.position);
        self.last = Some(record.position.clone());
        if self.from.change().is_none() {
            self.from = EventPosition::new(&record);
        }
        let event = self.operation.event(record).await.map_err(SubscriptionEnd::Failed)?;
        event.into_iter().for_each(|event| self.subscriber.send(event.held(&self.operation.bounds)));
        Ok(())
    }
}

/// Takes the records for one subscriber.
struct CatchUp {
    feeds: Arc<Feeds>,
    table: Arc<str>,
    /// The last change that it had before.
    last: StreamPosition,
    /// The place in the log after which nothing need be read.
    place: EventPosition,
    progress: Mutex<Progress>,
    /// The shards that precede that change. Nothing is read of them.
    over: OnceLock<Vec<Arc<str>>>,
    failed: Mutex<Option<SubscriptionEnd>>,
    is_past: AtomicBool,
}

impl ChangeSink for CatchUp {
    fn take(&self, records: Vec<ChangeRecord>) -> BoxFuture<'_, ()> {
        async move {
            let mut progress = self.progress.lock().await;
            let mut failed = self.failed.lock().await;
            for record in records {
                if failed.is_none() && may_follow(&record, &progress.from) {
                    *failed = progress.send(Arc::new(record)).await.err();
                }
            }
        }
        .boxed()
    }

    fn has_after(&self, record: &ChangeRecord) -> bool {
        let state = self.feeds.state();
        state.feeds.get(&self.table).is_some_and(|feed| feed.log.has_after(&self.place, &record.position))
    }

    fn listed(&self, shards: &[Shard]) {
        self.over.get_or_init(|| ancestors(shards, &self.last.shard).collect());
    }

    fn begun(&self) {}

    fn lost(&self) {
        self.is_past.store(true, Ordering::Relaxed);
    }
}
