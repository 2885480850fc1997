//! A subscriber in; what it gets before the changes of its group out: the changes that it has missed, or the item as it
//! is.

use super::resume::resume;
use crate::execute::error::{ErrorCode, Failure};
use crate::execute::read::state::{Present, ReadState};
use crate::execute::watch::delivery::{Images, deliver};
use crate::execute::watch::event::Event;
use crate::execute::watch::feeds::{Feeds, now};
use crate::execute::watch::history::event_id::EventPosition;
use crate::execute::watch::operation::WatchedOperation;
use crate::execute::watch::seen::{DeliveredChanges, SeenItem};
use crate::execute::watch::subscriber::{Subscriber, SubscriptionEnd};
use crate::execute::wave::executor::run_waves;
use crate::plan::tree::WriteLookup;
use crate::table::data::attribute::Item;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout};

/// How long a subscription waits until the stream of its table is followed.
const BEGIN_LIMIT: Duration = Duration::from_secs(10);
/// How long the read of the item as it is may take.
const READ_LIMIT: Duration = Duration::from_secs(10);

/// Begins a subscription: sends what comes before the changes of its group, and gives what the subscriber has had then.
/// `catching_up` lets subscribers that come back read the stream again.
pub async fn begin(
    (feeds, catching_up): (&Arc<Feeds>, &Semaphore),
    operation: &Arc<WatchedOperation>,
    subscriber: &Arc<Subscriber>,
    after: Option<EventPosition>,
) -> Result<DeliveredChanges, SubscriptionEnd> {
    let table = operation.table();
    let begun = feeds.state().feeds.get(&table).map(|feed| feed.begun.subscribe());
    let Some(mut begun) = begun else { return Err(SubscriptionEnd::SchemaChanged) };
    let silent = || {
        SubscriptionEnd::Failed(Failure::new(
            ErrorCode::Unavailable,
            "The stream of the table cannot be read. Try again later.",
        ))
    };
    match timeout(BEGIN_LIMIT, begun.wait_for(|begun| *begun)).await {
        Ok(Ok(_)) => {}
        _ => return Err(silent()),
    }
    if let Some(from) = after {
        subscriber.go_on_from(from.id().into());
        return resume((feeds, catching_up), operation, subscriber, from).await;
    }
    let end = feeds.state().feeds.get(&table).map(|feed| feed.log.end(now()));
    let id: Arc<str> = end.map(|position| position.id()).unwrap_or_default().into();
    subscriber.go_on_from(id.clone());
    let (event, initial) = initial(operation, id).await.map_err(SubscriptionEnd::Failed)?;
    event.into_iter().for_each(|event| subscriber.send(event.held(&operation.bounds)));
    Ok(DeliveredChanges { initial, ..DeliveredChanges::default() })
}

/// Reads the item that an operation watches, if it begins with it. Gives its event, which has this id, and the item as
/// it was seen.
async fn initial(
    operation: &WatchedOperation,
    id: Arc<str>,
) -> Result<(Option<Event>, Option<SeenItem>), Arc<Failure>> {
    let WatchedOperation { gateway, prepared, interest, .. } = operation;
    let Some(lookup) = operation.initial() else { return Ok((None, None)) };
    let item = read(operation, lookup).await?;
    let images = Images { old: None, new: item.as_ref(), changed: None };
    let body = deliver(gateway, prepared, interest, images, &id).await?;
    let attributes = lookup.plan.reads.last().map(|read| read.projection.clone()).unwrap_or_default();
    let event = body.map(|body| Event { id, body: body.into(), record: None });
    Ok((event, item.map(|item| SeenItem::new(&item, attributes))))
}

async fn read(operation: &WatchedOperation, lookup: &WriteLookup) -> Result<Option<Arc<Item>>, Arc<Failure>> {
    let run = operation.gateway.begin(None, Instant::now() + READ_LIMIT);
    let context = operation.gateway.context(&run, &operation.prepared);
    let mut state = ReadState::new(&lookup.plan, &context);
    run_waves(&context, &mut state, true).await;
    let space = lookup.target.space;
    for row in 0..state.len(space) {
        match state.present(&lookup.target, space, row) {
            Present::No => {}
            Present::Failed(failure) => return Err(failure),
            Present::Yes => return Ok(state.item(&lookup.target, space, row)),
        }
    }
    Ok(None)
}
