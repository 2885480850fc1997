//! The writes of one request as plain data in; what became of them out. Each is sent until it is done, refused, or the request's deadline
//! passes, counted among the request's calls, and makes later Gets of the request read anew.

use super::attribute::{Item, Key};
use super::batch_write::{BATCHES_AT_ONCE, ITEMS_PER_BATCH, write_batch};
use super::convert::{item_to_sdk, key_to_sdk};
use super::error::{TableError, TableErrorKind};
use super::key_range::{canonical, key_can_exist};
use super::loaders::{CallRecord, Loaders, milliseconds};
use super::retry::Backoff;
use super::single_write::{operation, write_one};
use super::transaction::{tables_of, write_all};
use super::write::{Unfit, WriteCall, WriteError};
use aws_sdk_dynamodb::types::{DeleteRequest, PutRequest, WriteRequest};
use futures_util::stream::{self, StreamExt};
use std::collections::HashSet;
use tokio::time::Instant;

impl Loaders {
    /// The waits before a write is sent again of which no answer came.
    pub fn backoff(&self) -> Backoff<'_> {
        Backoff::new(self.session.store.retries())
    }

    /// One write as PutItem, UpdateItem or DeleteItem. Gives the item as it is after an update (ALL_NEW), and as it was before a put or
    /// a delete (ALL_OLD); `None` if there was none. It is never sent again where it may have been carried out: that is
    /// [`WriteError::Uncertain`] at once.
    pub async fn write(&self, call: &WriteCall) -> Result<Option<Item>, WriteError> {
        let session = &self.session;
        let slot = session.reserve();
        let _permit = session.permit().await.map_err(WriteError::Failed)?;
        let begun = Instant::now();
        let answer = write_one(&session.store, call, session.deadline).await;
        self.forget();
        let (items, capacity) = answer.as_ref().map_or((0, 0.0), |(item, capacity)| (usize::from(item.is_some()), *capacity));
        if let Some(operation) = operation(&call.action) {
            session.record(slot, record(operation, call.table.to_string(), (1, items), capacity, begun));
        }
        answer.map(|(item, _)| item)
    }

    /// Several writes as one TransactWriteItems with an idempotency token of up to 36 bytes: all or none; none at all need no call. The
    /// token is the same in every attempt, so that an attempt whose fate is not known is repeated without a double effect.
    pub async fn transact(&self, calls: &[WriteCall], token: &str) -> Result<(), WriteError> {
        if calls.is_empty() {
            return Ok(());
        }
        let session = &self.session;
        let slot = session.reserve();
        let _permit = session.permit().await.map_err(WriteError::Failed)?;
        let begun = Instant::now();
        let answer = write_all(&session.store, calls, token, session.deadline).await;
        self.forget();
        if !matches!(answer, Err(WriteError::TooLarge(_) | WriteError::Unfit(_, Unfit::Twice))) {
            let capacity = *answer.as_ref().unwrap_or(&0.0);
            session.record(slot, record("TransactWriteItems", tables_of(calls), (calls.len(), 0), capacity, begun));
        }
        answer.map(|_| ())
    }

    /// Deletes items by BatchWriteItem, 25 a call, some calls side by side, each key once; keys that no item can have need no call. Safe to
    /// repeat: an [`WriteError::Uncertain`] leaves some deleted and others not, and the same call again completes it.
    pub async fn delete_batch(&self, table: &str, keys: Vec<Key>) -> Result<(), WriteError> {
        let mut seen = HashSet::new();
        let keys = keys.into_iter().filter(|key| key_can_exist(key) && seen.insert(canonical(key).into_owned()));
        let delete = |key: Key| {
            let delete = DeleteRequest::builder().set_key(Some(key_to_sdk(&key))).build().map_err(|error| unbuilt(table, &error))?;
            Ok(WriteRequest::builder().delete_request(delete).build())
        };
        self.batches(table, keys.map(delete).collect()).await
    }

    /// Puts items by BatchWriteItem over whatever is there, 25 a call, some calls side by side. No two may have one key. Safe to repeat, as
    /// [`Loaders::delete_batch`] is.
    pub async fn put_batch(&self, table: &str, items: Vec<Item>) -> Result<(), WriteError> {
        let put = |item: Item| {
            let put = PutRequest::builder().set_item(Some(item_to_sdk(item))).build().map_err(|error| unbuilt(table, &error))?;
            Ok(WriteRequest::builder().put_request(put).build())
        };
        self.batches(table, items.into_iter().map(put).collect()).await
    }

    async fn batches(&self, table: &str, requests: Result<Vec<WriteRequest>, TableError>) -> Result<(), WriteError> {
        let requests = requests.map_err(WriteError::Failed)?;
        let batches = requests.len().div_ceil(ITEMS_PER_BATCH);
        // The futures are listed before they are run: inside the stream, the compiler cannot see that they may cross threads.
        let asked: Vec<_> = requests.chunks(ITEMS_PER_BATCH).map(|batch| self.up_to_25(table, batch.to_vec())).collect();
        let mut answers = stream::iter(asked).buffer_unordered(BATCHES_AT_ONCE);
        while let Some(answer) = answers.next().await {
            if let Err(error) = answer {
                let refused = matches!(error.kind, TableErrorKind::Invalid | TableErrorKind::Denied | TableErrorKind::NoSuchTable);
                // Of several batches, others may be done.
                return Err(if refused && batches == 1 { WriteError::Failed(error) } else { WriteError::Uncertain(error) });
            }
        }
        Ok(())
    }

    async fn up_to_25(&self, table: &str, requests: Vec<WriteRequest>) -> Result<(), TableError> {
        let session = &self.session;
        let slot = session.reserve();
        let _permit = session.permit().await?;
        let (begun, keys) = (Instant::now(), requests.len());
        let answer = write_batch(&session.store, table, requests, session.deadline).await;
        self.forget();
        let capacity = *answer.as_ref().unwrap_or(&0.0);
        session.record(slot, record("BatchWriteItem", table.to_owned(), (keys, 0), capacity, begun));
        answer.map(|_| ())
    }
}

fn unbuilt(table: &str, error: &impl std::fmt::Display) -> TableError {
    TableError { kind: TableErrorKind::Invalid, detail: format!("BatchWriteItem {table}: {error}") }
}

/// The record of a write: how many keys it wrote and how many items came back.
fn record(operation: &'static str, table: String, (keys, items): (usize, usize), capacity: f64, begun: Instant) -> CallRecord {
    CallRecord { operation, table, index: None, keys, items, capacity, write: true, ms: milliseconds(begun), wave: 0 }
}
