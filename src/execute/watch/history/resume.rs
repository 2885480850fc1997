//! A subscriber that comes back in, the changes that it has missed out: from the log, or from the stream.

use super::event_id::EventPosition;
use super::log::is_after;
use crate::execute::watch::operation::WatchedOperation;
use crate::execute::watch::seen::Seen;
use crate::execute::watch::subscriber::{Subscriber, SubscriptionEnd};
use crate::table::stream::reader::{ChangeSink, StreamReader};
use crate::table::stream::record::ChangeRecord;
use crate::table::stream::source::ChangeSource;
use futures_util::future::{BoxFuture, FutureExt};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Sends a subscriber these changes. Gives what it has had.
pub async fn replay(
    operation: &WatchedOperation,
    subscriber: &Subscriber,
    records: Vec<Arc<ChangeRecord>>,
) -> Result<Seen, SubscriptionEnd> {
    let mut seen = Seen::default();
    for record in records {
        send(operation, subscriber, &mut seen, record).await?;
    }
    Ok(seen)
}

/// Reads the stream again for a subscriber, until it is current.
pub async fn catch_up(
    operation: Arc<WatchedOperation>,
    subscriber: Arc<Subscriber>,
    (source, table): (Arc<dyn ChangeSource>, Arc<str>),
    from: EventPosition,
) -> Result<Seen, SubscriptionEnd> {
    let Some(position) = from.position.clone() else { return Err(SubscriptionEnd::Past) };
    let sink = Arc::new(CatchUp { operation, subscriber, from, seen: Mutex::default(), is_past: AtomicBool::new(false) });
    StreamReader::new(source, table, sink.clone()).catch_up(position).await;
    if sink.is_past.load(Ordering::Relaxed) {
        return Err(SubscriptionEnd::Past);
    }
    Ok(std::mem::take(&mut *sink.seen.lock().unwrap_or_else(PoisonError::into_inner)))
}

async fn send(
    operation: &WatchedOperation,
    subscriber: &Subscriber,
    seen: &mut Seen,
    record: Arc<ChangeRecord>,
) -> Result<(), SubscriptionEnd> {
    subscriber.has_room().await;
    seen.note(&record.position);
    let event = operation.event(record).await.map_err(SubscriptionEnd::Failed)?;
    event.into_iter().for_each(|event| subscriber.send(event.held(&operation.bounds)));
    Ok(())
}

/// Takes the records for one subscriber.
struct CatchUp {
    operation: Arc<WatchedOperation>,
    subscriber: Arc<Subscriber>,
    from: EventPosition,
    seen: Mutex<Seen>,
    is_past: AtomicBool,
}

impl ChangeSink for CatchUp {
    fn take(&self, records: Vec<ChangeRecord>) -> BoxFuture<'_, ()> {
        async move {
            let mut seen = std::mem::take(&mut *self.seen.lock().unwrap_or_else(PoisonError::into_inner));
            for record in records.into_iter().filter(|record| is_after(record, &self.from)) {
                if let Err(end) = send(&self.operation, &self.subscriber, &mut seen, Arc::new(record)).await {
                    self.subscriber.end(end);
                    return;
                }
            }
            let mut all = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
            all.replayed.extend(seen.replayed);
        }
        .boxed()
    }

    fn begun(&self) {}

    fn lost(&self) {
        self.is_past.store(true, Ordering::Relaxed);
    }
}
