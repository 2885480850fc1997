//! Up to 25 writes of one table in; the cost of their BatchWriteItems out. Unprocessed writes are sent again until the deadline. Writes
//! without conditions may be repeated, so every passing error is retried.

use super::convert::{item_to_sdk, key_to_sdk};
use super::store::SdkStore;
use crate::table::data::error::{TableError, TableErrorKind};
use crate::table::data::write::BatchWrite;
use crate::table::data_store::Metered;
use crate::table::retry::backoff::Backoff;
use aws_sdk_dynamodb::error::BuildError;
use aws_sdk_dynamodb::types::{DeleteRequest, PutRequest, ReturnConsumedCapacity, WriteRequest};
use std::collections::HashMap;
use tokio::time::Instant;

/// Makes up to 25 writes. After an error, some of them may have been made. Gives the capacity units consumed.
pub(in crate::table) async fn write_batch(
    store: &SdkStore,
    table: &str,
    writes: Vec<BatchWrite>,
    deadline: Instant,
) -> Result<Metered<()>, TableError> {
    let attempts = store.attempts("BatchWriteItem", table, deadline);
    let requests = writes.into_iter().map(request).collect::<Result<_, _>>();
    let requests = requests.map_err(|error| attempts.named(TableError { kind: TableErrorKind::Invalid, detail: error.to_string() }))?;
    let mut open: HashMap<String, Vec<WriteRequest>> = HashMap::from([(table.to_owned(), requests)]);
    let (mut backoff, mut capacity) = (Backoff::new(store.retries()), 0.0);
    loop {
        let request = store.client().batch_write_item().return_consumed_capacity(ReturnConsumedCapacity::Total);
        let output = attempts.send(|| request.clone().set_request_items(Some(open.clone())).send()).await?;
        capacity += output.consumed_capacity.iter().flatten().filter_map(|part| part.capacity_units).sum::<f64>();
        let count = |requests: &HashMap<String, Vec<WriteRequest>>| requests.values().map(Vec::len).sum::<usize>();
        let unprocessed = output.unprocessed_items.unwrap_or_default();
        let left = count(&unprocessed);
        if left == 0 {
            return Ok(((), capacity));
        }
        let progress = left < count(&open);
        open = unprocessed;
        if !backoff.wait_for_more(progress, deadline).await {
            let detail = format!("{left} items are still unprocessed");
            return Err(attempts.named(TableError { kind: TableErrorKind::Throttled, detail }));
        }
    }
}

fn request(write: BatchWrite) -> Result<WriteRequest, BuildError> {
    let request = WriteRequest::builder();
    Ok(match write {
        BatchWrite::Put(item) => request.put_request(PutRequest::builder().set_item(Some(item_to_sdk(item))).build()?).build(),
        BatchWrite::Delete(key) => request.delete_request(DeleteRequest::builder().set_key(Some(key_to_sdk(&key))).build()?).build(),
    })
}
