//! Up to 25 writes of one table in; what their BatchWriteItem by the SDK left over, and its cost, out.

use super::convert::{item_from_sdk, item_to_sdk, key_to_sdk};
use super::reads::{units, unknown_type};
use crate::table::attempt::failure::AttemptFailure;
use crate::table::data::error::TableErrorKind;
use crate::table::data::write::BatchWrite;
use crate::table::data_store::Metered;
use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::error::BuildError;
use aws_sdk_dynamodb::types::{DeleteRequest, PutRequest, ReturnConsumedCapacity, WriteRequest};
use std::collections::HashMap;

/// One BatchWriteItem. Gives the writes that were not made.
pub(super) async fn write_batch(client: &Client, table: &str, writes: &[BatchWrite]) -> Result<Metered<Vec<BatchWrite>>, AttemptFailure> {
    // What cannot be built is not sent.
    let unbuilt =
        |error: BuildError| AttemptFailure { uncertain: false, ..AttemptFailure::unusable(TableErrorKind::Invalid, error.to_string()) };
    let requests: Vec<WriteRequest> = writes.iter().map(request).collect::<Result<_, _>>().map_err(unbuilt)?;
    let request = client.batch_write_item().return_consumed_capacity(ReturnConsumedCapacity::Total);
    let output = request.set_request_items(Some(HashMap::from([(table.to_owned(), requests)]))).send().await?;
    let capacity = units(output.consumed_capacity());
    let unprocessed = output.unprocessed_items.unwrap_or_default().into_values().flatten();
    let left = unprocessed.map(|rest| write(rest, writes).ok_or_else(unknown_type)).collect::<Result<_, _>>()?;
    Ok((left, capacity))
}

fn request(write: &BatchWrite) -> Result<WriteRequest, BuildError> {
    let request = WriteRequest::builder();
    Ok(match write {
        BatchWrite::Put(item) => request.put_request(PutRequest::builder().set_item(Some(item_to_sdk(item.clone()))).build()?).build(),
        BatchWrite::Delete(key) => request.delete_request(DeleteRequest::builder().set_key(Some(key_to_sdk(key))).build()?).build(),
    })
}

/// A write that was not made, one of those that were sent.
fn write(request: WriteRequest, sent: &[BatchWrite]) -> Option<BatchWrite> {
    match (request.put_request, request.delete_request) {
        (Some(put), _) => Some(BatchWrite::Put(item_from_sdk(put.item)?)),
        (None, Some(delete)) => BatchWrite::delete_of(&item_from_sdk(delete.key)?, sent),
        (None, None) => None,
    }
}
