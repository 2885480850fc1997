//! BatchWriteItem: up to 25 writes of one table in; their cost out. Unprocessed writes are sent again until the
//! deadline. Writes without conditions may be repeated, so every passing error is retried.

use super::call_means::CallMeans;
use crate::table::attempt::attempts::{Ended, Next};
use crate::table::attempt::failure::AttemptFailure;
use crate::table::data::error::{TableError, TableErrorKind};
use crate::table::data::item_size::{item_size, key_size};
use crate::table::data::write::{BatchWrite, WriteError};
use crate::table::data_store::Metered;
use crate::table::embedded::engine::SHORT_BYTES;
use crate::table::embedded::run::EngineRun;
use crate::table::embedded::turns::Length;
use crate::table::embedded::values as engine;
use crate::table::json::decode::{AnswerJson, AnswerReader, JsonItem};
use crate::table::json::encode::BodyWriter;
use crate::table::json::reader::JsonResult;
use crate::table::makers::call::{Call, EngineAnswer};
use crate::table::retry::backoff::Backoff;
use crate::table::sdk::convert::{self, item_from_sdk, item_to_sdk, key_to_sdk, unknown_type};
use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::error::BuildError;
use aws_sdk_dynamodb::types::{DeleteRequest, PutRequest, ReturnConsumedCapacity, WriteRequest};
use dynoxide::DynoxideError;
use dynoxide::actions::batch_write_item as typed;
use serde::Deserialize;
use std::collections::HashMap;
use tokio::time::Instant;

/// Why the writes of a batch were not all made.
pub(in crate::table) struct BatchFailure {
    /// The error.
    pub(in crate::table) error: TableError,
    /// Whether some of them may have been made.
    pub(in crate::table) uncertain: bool,
}

impl From<BatchFailure> for WriteError {
    fn from(BatchFailure { error, uncertain }: BatchFailure) -> Self {
        if uncertain { Self::Uncertain(error) } else { Self::Failed(error) }
    }
}

/// Makes up to 25 writes. Gives the capacity units consumed.
pub(in crate::table) async fn write_batch(
    caller: CallMeans<'_>,
    table: &str,
    writes: Vec<BatchWrite>,
    deadline: Instant,
) -> Result<Metered<()>, BatchFailure> {
    let mut call = BatchWriteItem { table, writes };
    let attempts = caller.attempts(call.operation(), table, deadline);
    let (mut backoff, mut capacity, mut uncertain) = (Backoff::new(caller.budget), 0.0, false);
    loop {
        let classify = |failure: AttemptFailure| {
            uncertain |= failure.uncertain;
            if failure.again { Next::Again(failure.error.into()) } else { Next::Stop(attempts.named(failure.error)) }
        };
        let (unprocessed, units) = match attempts.until_stopped(|| caller.make(&call), classify).await {
            Ok(answer) => answer,
            Err(Ended::Stopped(error) | Ended::Deadline(error)) => return Err(BatchFailure { error, uncertain }),
        };
        capacity += units;
        let left = unprocessed.len();
        if left == 0 {
            return Ok(((), capacity));
        }
        let progress = left < call.writes.len();
        uncertain |= progress;
        call.writes = unprocessed;
        caller.throttled(table);
        if !backoff.wait_for_more(progress, deadline).await {
            let detail = format!("{left} items are still unprocessed");
            let error = attempts.named(TableError { kind: TableErrorKind::Throttled, detail });
            return Err(BatchFailure { error, uncertain });
        }
    }
}

/// A BatchWriteItem.
struct BatchWriteItem<'a> {
    table: &'a str,
    writes: Vec<BatchWrite>,
}

/// The JSON of its answer.
#[derive(Default)]
struct Answer {
    unprocessed: Option<HashMap<String, Vec<Unprocessed>>>,
    units: f64,
}

impl AnswerJson for Answer {
    fn member(&mut self, name: &str, answer: &mut AnswerReader<'_>) -> JsonResult<()> {
        match name {
            "UnprocessedItems" => self.unprocessed = answer.value()?,
            "ConsumedCapacity" => self.units = answer.units()?,
            _ => answer.ignore()?,
        }
        Ok(())
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Unprocessed {
    put_request: Option<UnprocessedPut>,
    delete_request: Option<UnprocessedDelete>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct UnprocessedPut {
    item: JsonItem,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct UnprocessedDelete {
    key: JsonItem,
}

/// The answer is the writes that were not made.
impl Call for BatchWriteItem<'_> {
    type Answer = Vec<BatchWrite>;
    type Json = Answer;

    fn operation(&self) -> &'static str {
        "BatchWriteItem"
    }

    fn body(&self, body: &mut BodyWriter) {
        body.object("RequestItems", |body| {
            body.list(self.table, &self.writes, |body, write| match write {
                BatchWrite::Put(item) => body.object("PutRequest", |body| body.item("Item", item)),
                BatchWrite::Delete(key) => body.object("DeleteRequest", |body| body.key("Key", key)),
            });
        });
    }

    fn answer(&self, answer: Answer) -> Result<Metered<Vec<BatchWrite>>, AttemptFailure> {
        let write = |rest: Unprocessed| match (rest.put_request, rest.delete_request) {
            (Some(put), _) => Some(BatchWrite::Put(put.item.0)),
            (None, Some(delete)) => BatchWrite::delete_of(&delete.key.0, &self.writes),
            (None, None) => None,
        };
        let strange =
            || AttemptFailure::unusable(TableErrorKind::Invalid, "a write that was not made cannot be read".to_owned());
        let unprocessed = answer.unprocessed.into_iter().flatten().flat_map(|(_, rest)| rest);
        let left = unprocessed.map(write).collect::<Option<_>>().ok_or_else(strange)?;
        Ok((left, answer.units))
    }

    async fn by_sdk(&self, client: &Client) -> Result<Metered<Vec<BatchWrite>>, AttemptFailure> {
        let requests: Vec<WriteRequest> = self.writes.iter().map(write_request).collect::<Result<_, _>>()?;
        let request = client.batch_write_item().return_consumed_capacity(ReturnConsumedCapacity::Total);
        let output = request.set_request_items(Some(HashMap::from([(self.table.to_owned(), requests)]))).send().await?;
        let capacity = convert::units(output.consumed_capacity());
        let write = |rest: WriteRequest| match (rest.put_request, rest.delete_request) {
            (Some(put), _) => item_from_sdk(put.item).map(BatchWrite::Put),
            (None, Some(delete)) => BatchWrite::delete_of(&item_from_sdk(delete.key)?, &self.writes),
            (None, None) => None,
        };
        let unprocessed = output.unprocessed_items.unwrap_or_default().into_values().flatten();
        Ok((unprocessed.map(write).collect::<Option<_>>().ok_or_else(unknown_type)?, capacity))
    }

    fn length(&self) -> Length {
        let size = |write: &BatchWrite| match write {
            BatchWrite::Put(item) => item_size(item),
            BatchWrite::Delete(key) => key_size(key),
        };
        Length::short_if(self.writes.iter().map(size).sum::<usize>() <= SHORT_BYTES)
    }

    fn by_engine(&self) -> impl FnOnce(&EngineRun<'_>) -> EngineAnswer<Vec<BatchWrite>> + Send + 'static {
        let writes: Result<_, DynoxideError> = self.writes.iter().map(engine_write).collect();
        let table = self.table.to_owned();
        move |run| {
            let request = typed::BatchWriteItemRequest {
                request_items: HashMap::from([(table, writes?)]),
                return_consumed_capacity: engine::total(),
                ..typed::BatchWriteItemRequest::default()
            };
            let answer = run.database.batch_write_item(request)?;
            if !answer.unprocessed_items.is_empty() {
                return Err(DynoxideError::InternalServerError("the engine has left writes over".to_owned()));
            }
            Ok((Vec::new(), engine::units(answer.consumed_capacity.iter().flatten())))
        }
    }
}

fn write_request(write: &BatchWrite) -> Result<WriteRequest, BuildError> {
    let request = WriteRequest::builder();
    Ok(match write {
        BatchWrite::Put(item) => {
            request.put_request(PutRequest::builder().set_item(Some(item_to_sdk(item.clone()))).build()?).build()
        }
        BatchWrite::Delete(key) => {
            request.delete_request(DeleteRequest::builder().set_key(Some(key_to_sdk(key))).build()?).build()
        }
    })
}

fn engine_write(write: &BatchWrite) -> Result<typed::WriteRequest, DynoxideError> {
    let mut request = typed::WriteRequest::default();
    match write {
        BatchWrite::Put(item) => request.put_request = Some(typed::PutRequest { item: engine::item(item)? }),
        BatchWrite::Delete(key) => request.delete_request = Some(typed::DeleteRequest { key: engine::key(key)? }),
    }
    Ok(request)
}
