//! A subscription that begins in, the item as it is out.

use super::delivery::{Images, deliver, watched};
use super::group::WatchedOperation;
use super::subscriber::{Event, SeenItem};
use crate::execute::error::Failure;
use crate::execute::read::executor::run_waves;
use crate::execute::read::state::{Present, ReadState};
use crate::plan::tree::WriteLookup;
use crate::table::data::attribute::Item;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// How long the read may take.
const READ_LIMIT: Duration = Duration::from_secs(10);

/// Reads the item that an operation watches. Gives its event, which has this id, and the item as it was seen.
pub async fn begin(operation: &WatchedOperation, id: Arc<str>) -> Result<Option<(Option<Event>, SeenItem)>, Arc<Failure>> {
    let WatchedOperation { gateway, prepared, interest } = operation;
    let Some(lookup) = watched(prepared).and_then(|(_, watch)| watch.initial.as_ref()) else { return Ok(None) };
    let item = read(operation, lookup).await?;
    let images = Images { old: None, new: item.as_ref(), is_initial: true };
    let body = deliver(gateway, prepared, interest, images, &id).await?;
    let attributes = lookup.plan.reads.last().map(|read| read.projection.clone()).unwrap_or_default();
    let event = body.map(|body| Event { id, body, record: None });
    Ok(Some((event, SeenItem { item, attributes })))
}

async fn read(operation: &WatchedOperation, lookup: &WriteLookup) -> Result<Option<Arc<Item>>, Arc<Failure>> {
    let run = operation.gateway.begin(Instant::now() + READ_LIMIT);
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
