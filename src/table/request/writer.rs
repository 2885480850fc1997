//! The writes of one request as plain data in, their results out. Each is counted among the request's calls, and later
//! Gets of the request read again.

use super::loaders::Loaders;
use super::session::CallRecord;
use crate::table::cache::pending_write::PendingWrite;
use crate::table::data::attribute::{Item, Key};
use crate::table::data::key_identity::{canonical, key_can_exist};
use crate::table::data::transaction;
use crate::table::data::write::{BATCHES_AT_ONCE, BatchWrite, WriteCall, WriteError, batches};
use crate::table::retry::backoff::Backoff;
use futures_util::stream::{self, StreamExt};
use std::collections::HashSet;
use tokio::time::Instant;

impl Loaders {
    /// The waits before a write without an answer is sent again.
    pub fn backoff(&self) -> Backoff<'_> {
        Backoff::new(self.session.store.retries())
    }

    /// Makes one write by PutItem, UpdateItem or DeleteItem. Gives the item as it is after an update, and as it was
    /// before a put or a delete; `None` if there was none. A write that may have been made is never sent again: it is
    /// [`WriteError::Uncertain`].
    pub async fn write(&self, call: &WriteCall) -> Result<Option<Item>, WriteError> {
        let session = &self.session;
        let slot = session.reserve();
        let _permit = session.permit(1).await.map_err(WriteError::Failed)?;
        let (begun, tally) = (Instant::now(), session.tally());
        let writing = session.cache.as_deref().map(|cache| PendingWrite::for_calls(cache, std::slice::from_ref(call)));
        let answer = session.store.write(call, session.scope(&tally)).await;
        match (writing, &answer) {
            (Some(writing), Ok((item, _))) => writing.made(call, item.as_ref()),
            (Some(writing), Err(error)) => end(writing, error),
            (None, _) => {}
        }
        self.forget();
        let (items, capacity) =
            answer.as_ref().map_or((0, 0.0), |(item, capacity)| (usize::from(item.is_some()), *capacity));
        if let Some(operation) = call.action.operation() {
            let (table, ended) = (call.table.clone(), CallRecord::ended(begun, tally, has_failed(&answer)));
            session.record(slot, CallRecord { operation, table, keys: 1, items, capacity, write: true, ..ended });
        }
        answer.map(|(item, _)| item)
    }

    /// Makes all writes or none by TransactWriteItems; no writes need no call. The token of up to 36 bytes is the same
    /// in every attempt, so that repeating an attempt never writes twice.
    pub async fn transact(&self, calls: &[WriteCall], token: &str) -> Result<(), WriteError> {
        if calls.is_empty() {
            return Ok(());
        }
        transaction::check(calls)?;
        let session = &self.session;
        let slot = session.reserve();
        let _permit = session.permit(calls.len()).await.map_err(WriteError::Failed)?;
        let (begun, tally) = (Instant::now(), session.tally());
        let writing = session.cache.as_deref().map(|cache| PendingWrite::for_calls(cache, calls));
        let answer = session.store.transact(calls, token, session.scope(&tally)).await;
        if let (Some(writing), Err(error)) = (writing, &answer) {
            end(writing, error);
        }
        self.forget();
        let capacity = answer.as_ref().map_or(0.0, |(_, capacity)| *capacity);
        let (operation, table) = ("TransactWriteItems", transaction::tables_of(calls));
        let ended = CallRecord::ended(begun, tally, has_failed(&answer));
        session.record(slot, CallRecord { operation, table, keys: calls.len(), capacity, write: true, ..ended });
        answer.map(drop)
    }

    /// Deletes items by BatchWriteItem, 25 in each call, some calls side by side. Keys that no item can have need no
    /// call. After [`WriteError::Uncertain`], some items are deleted: repeat the call to delete the rest.
    pub async fn delete_batch(&self, table: &str, keys: Vec<Key>) -> Result<(), WriteError> {
        let mut seen = HashSet::new();
        let keys = keys.into_iter().filter(|key| key_can_exist(key) && seen.insert(canonical(key).into_owned()));
        self.batches(table, keys.map(BatchWrite::Delete)).await
    }

    /// Puts items by BatchWriteItem, 25 in each call, some calls side by side. They replace items with the same keys;
    /// no two may have one key. Repeat the call after [`WriteError::Uncertain`].
    pub async fn put_batch(&self, table: &str, items: Vec<Item>) -> Result<(), WriteError> {
        self.batches(table, items.into_iter().map(BatchWrite::Put)).await
    }

    async fn batches(&self, table: &str, writes: impl Iterator<Item = BatchWrite>) -> Result<(), WriteError> {
        let batches = batches(writes);
        let single = batches.len() == 1;
        // Collected before they run: inside the stream, the compiler cannot prove that the futures are `Send`.
        let sent: Vec<_> = batches.into_iter().map(|batch| self.batch(table, batch)).collect();
        let mut answers = stream::iter(sent).buffer_unordered(BATCHES_AT_ONCE);
        while let Some(answer) = answers.next().await {
            if let Err(error) = answer {
                return Err(match error {
                    // Other batches may have been written.
                    WriteError::Failed(error) if !single => WriteError::Uncertain(error),
                    error => error,
                });
            }
        }
        Ok(())
    }

    async fn batch(&self, table: &str, writes: Vec<BatchWrite>) -> Result<(), WriteError> {
        let session = &self.session;
        let slot = session.reserve();
        let _permit = session.permit(writes.len()).await.map_err(WriteError::Failed)?;
        let (begun, tally, keys) = (Instant::now(), session.tally(), writes.len());
        let writing = session.cache.as_deref().map(|cache| PendingWrite::for_batch(cache, table, &writes));
        let answer = session.store.write_batch(table, writes, session.scope(&tally)).await;
        drop(writing);
        self.forget();
        let capacity = answer.as_ref().map_or(0.0, |(_, capacity)| *capacity);
        let (operation, table) = ("BatchWriteItem", table.into());
        session.record(
            slot,
            CallRecord {
                operation,
                table,
                keys,
                capacity,
                write: true,
                ..CallRecord::ended(begun, tally, answer.is_err())
            },
        );
        answer.map(drop)
    }
}

/// Ends a write that has failed. It may have been made all the same.
fn end(writing: PendingWrite<'_>, error: &WriteError) {
    if !matches!(error, WriteError::Uncertain(_)) {
        writing.not_made();
    }
}

/// Whether a write ended without an answer to use. A condition that does not hold is an answer.
fn has_failed<T>(answer: &Result<T, WriteError>) -> bool {
    matches!(answer, Err(WriteError::Failed(_) | WriteError::Uncertain(_)))
}
