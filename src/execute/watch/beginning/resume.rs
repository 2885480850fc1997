//! A subscriber that comes back in, the changes that it has missed out: from the log, or from the stream until the log
//! has the rest.

use crate::execute::watch::feeds::{Feed, Feeds};
use crate::execute::watch::history::event_id::EventPosition;
use crate::execute::watch::history::log::is_after;
use crate::execute::watch::operation::WatchedOperation;
use crate::execute::watch::seen::DeliveredChanges;
use crate::execute::watch::subscriber::{Subscriber, SubscriptionEnd};
use crate::table::change_source::{ChangeRecord, Shard, ancestors};
use crate::table::stream::reader::{ChangeSink, StreamReader};
use futures_util::future::{BoxFuture, FutureExt};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use tokio::sync::{Mutex, Semaphore};

/// Sends a subscriber the changes after a position. Gives what it has had then, and all later changes of its group
/// wait. `catching_up` lets subscribers read the stream again.
pub async fn resume(
    (feeds, catching_up): (&Feeds, &Semaphore),
    operation: &Arc<WatchedOperation>,
    subscriber: &Arc<Subscriber>,
    from: EventPosition,
) -> Result<DeliveredChanges, SubscriptionEnd> {
    let table = operation.table();
    let mut progress = Progress {
        operation: operation.clone(),
        subscriber: subscriber.clone(),
        seen: DeliveredChanges::default(),
        last: from.clone(),
    };
    // What it has had does not come again: its item may have changed since.
    from.change().into_iter().for_each(|position| progress.seen.note(position));
    loop {
        // What comes from here on waits. If it becomes too much, it is in the log.
        subscriber.hold();
        let logged =
            feeds.state().feeds.get(&table).map(|feed| {
                (feed.log.after(&progress.last), feed.log.complete_after(&progress.last), over(feed, &from))
            });
        let Some((records, last, over)) = logged else { return Err(SubscriptionEnd::SchemaChanged) };
        progress.seen.over.extend(over);
        let is_current = match records {
            Some(records) => {
                for record in records {
                    progress.send(record).await?;
                }
                true
            }
            None => {
                let Ok(_turn) = catching_up.acquire().await else { return Err(SubscriptionEnd::Past) };
                catch_up(&mut progress, &table, last).await?
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

/// Reads the stream again for a subscriber, until it is current or the log has the rest, from this second on. True if
/// it is current.
async fn catch_up(progress: &mut Progress, table: &Arc<str>, last: i64) -> Result<bool, SubscriptionEnd> {
    let source = progress.operation.gateway.store().changes();
    let (Some(source), Some(position)) = (source, progress.last.change().cloned()) else {
        return Err(SubscriptionEnd::Past);
    };
    let (from, failed, is_past) = (progress.last.clone(), Mutex::default(), AtomicBool::new(false));
    let sink = CatchUp { from, progress: Mutex::new(progress.clone()), over: OnceLock::new(), failed, is_past };
    let sink = Arc::new(sink);
    let is_current = StreamReader::new(source, table.clone(), sink.clone()).catch_up(position, last).await;
    if sink.is_past.load(Ordering::Relaxed) {
        return Err(SubscriptionEnd::Past);
    }
    if let Some(end) = sink.failed.lock().await.take() {
        return Err(end);
    }
    *progress = sink.progress.lock().await.clone();
    progress.seen.over.extend(sink.over.get().into_iter().flatten().cloned());
    // Some shards may have been read further than others.
    progress.last.created = progress.last.created.min(last);
    Ok(is_current)
}

/// How far a subscriber has come.
#[derive(Clone)]
struct Progress {
    operation: Arc<WatchedOperation>,
    subscriber: Arc<Subscriber>,
    /// What it has had.
    seen: DeliveredChanges,
    /// The position after which it goes on.
    last: EventPosition,
}

impl Progress {
    /// Sends a change, as soon as there is room, unless the subscriber has had it.
    async fn send(&mut self, record: Arc<ChangeRecord>) -> Result<(), SubscriptionEnd> {
        if !self.seen.is_new(&record) {
            return Ok(());
        }
        self.subscriber.has_room().await;
        self.seen.note(&record.position);
        self.last = EventPosition::new(&record);
        let event = self.operation.event(record).await.map_err(SubscriptionEnd::Failed)?;
        event.into_iter().for_each(|event| self.subscriber.send(event.held(&self.operation.bounds)));
        Ok(())
    }
}

/// Takes the records for one subscriber.
struct CatchUp {
    /// Where it began.
    from: EventPosition,
    progress: Mutex<Progress>,
    /// The shards that precede it. Nothing is read of them.
    over: OnceLock<Vec<Arc<str>>>,
    failed: Mutex<Option<SubscriptionEnd>>,
    is_past: AtomicBool,
}

impl ChangeSink for CatchUp {
    fn take(&self, records: Vec<ChangeRecord>) -> BoxFuture<'_, ()> {
        async move {
            let mut progress = self.progress.lock().await;
            let mut failed = self.failed.lock().await;
            for record in records.into_iter().filter(|record| is_after(record, &self.from)) {
                if failed.is_none() {
                    *failed = progress.send(Arc::new(record)).await.err();
                }
            }
        }
        .boxed()
    }

    fn listed(&self, shards: &[Shard]) {
        if let Some(position) = self.from.change() {
            self.over.get_or_init(|| ancestors(shards, &position.shard).collect());
        }
    }

    fn begun(&self) {}

    fn lost(&self) {
        self.is_past.store(true, Ordering::Relaxed);
    }
}
