//! Up to 25 requests of one table in; one BatchWriteItem, sent again for what comes back unprocessed; what it cost out. Puts and deletes
//! without conditions may be repeated, so that any trouble that passes is tried again until the deadline.

use super::error::{TableError, TableErrorKind};
use super::retry::Backoff;
use super::store::Store;
use aws_sdk_dynamodb::types::{ReturnConsumedCapacity, WriteRequest};
use std::collections::HashMap;
use tokio::time::Instant;

/// Most items of a BatchWriteItem (DynamoDB API reference, `BatchWriteItem`).
pub(super) const ITEMS_PER_BATCH: usize = 25;
/// BatchWriteItems that are under way at once.
pub(super) const BATCHES_AT_ONCE: usize = 8;

/// Writes all of up to 25 requests, or says why not; then some of them may be done. Gives the capacity units consumed.
pub(super) async fn write_batch(store: &Store, table: &str, requests: Vec<WriteRequest>, deadline: Instant) -> Result<f64, TableError> {
    let mut open: HashMap<String, Vec<WriteRequest>> = HashMap::from([(table.to_owned(), requests)]);
    let attempts = store.attempts("BatchWriteItem", table, deadline);
    let (mut backoff, mut capacity) = (Backoff::new(store.retries()), 0.0);
    loop {
        let request = store.client().batch_write_item().return_consumed_capacity(ReturnConsumedCapacity::Total);
        let output = attempts.send(|| request.clone().set_request_items(Some(open.clone())).send()).await?;
        capacity += output.consumed_capacity.iter().flatten().filter_map(|part| part.capacity_units).sum::<f64>();
        let count = |requests: &HashMap<String, Vec<WriteRequest>>| requests.values().map(Vec::len).sum::<usize>();
        let unprocessed = output.unprocessed_items.unwrap_or_default();
        let left = count(&unprocessed);
        if left == 0 {
            return Ok(capacity);
        }
        let progress = left < count(&open);
        open = unprocessed;
        if !backoff.wait_for_more(progress, deadline).await {
            let detail = format!("{left} items stayed unprocessed");
            return Err(attempts.named(TableError { kind: TableErrorKind::Throttled, detail }));
        }
    }
}
