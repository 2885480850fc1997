//! What all calls of one request share: the store, the deadline, the places for calls, the bytes read, and the record
//! of each call.

use super::gate::{CallGate, CallPlace, Turnstile};
use super::interner::Interner;
use super::known_items::KnownItems;
use super::read_bytes::ReadBytes;
use super::room::ReadShare;
use crate::table::cache::table_cache::TableCache;
use crate::table::call_scope::{CallScope, CallTally};
use crate::table::data::call::joined_tables;
use crate::table::data::error::{TableError, TableErrorKind};
use crate::table::data_store::{DataStore, GetResult, ItemRequest};
use futures_util::FutureExt;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::{Instant, timeout_at};

/// Most concurrent calls of one request. Further calls wait, even if the gate of all requests has places.
pub const CALLS_IN_FLIGHT: usize = 32;

/// A call that was made, as `extensions.keyfold.calls` shows it.
#[derive(Debug, Clone, Default, serde::Serialize)]
pub struct CallRecord {
    /// `GetItem`, `BatchGetItem`, `Query`, `Scan`, `PutItem`, `UpdateItem`, `DeleteItem`, `TransactWriteItems`,
    /// `BatchWriteItem`.
    pub operation: &'static str,
    /// The table, or the tables joined by a comma.
    pub table: Arc<str>,
    /// The index; null for the table itself.
    pub index: Option<Arc<str>>,
    /// How many keys it read or wrote; 1 for a Query.
    pub keys: usize,
    /// How many items it returned.
    pub items: usize,
    /// Consumed capacity units, as the server reports them.
    pub capacity: f64,
    /// Whether the cache answered, so that no call was made.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub cached: bool,
    /// Whether those are write capacity units.
    #[serde(skip)]
    pub write: bool,
    /// Duration in milliseconds, retries included.
    pub ms: f64,
    /// When it was first sent, in milliseconds since the execution of the request began.
    pub start: f64,
    /// Its wave, from 1. Calls of one wave run side by side.
    pub wave: usize,
    /// Whether it ended without an answer to use.
    #[serde(skip)]
    pub failed: bool,
    /// How many attempts followed the first.
    #[serde(skip)]
    pub retries: u32,
    /// How many answers refused all or a part of it because too much was asked for.
    #[serde(skip)]
    pub throttles: u32,
    /// Whether it was late and sent a second time.
    #[serde(skip)]
    pub hedged: bool,
    /// The id that the server gave to the last answer, if such ids are kept.
    #[serde(skip)]
    pub request_id: Option<Arc<str>>,
}

impl CallRecord {
    /// The record of a call that began then, by what was counted of it. Its name and its items are to be added.
    pub(super) fn ended(begun: Instant, tally: CallTally, failed: bool) -> Self {
        let (retries, throttles, hedged) = (tally.retries(), tally.throttles(), tally.is_hedged());
        Self {
            ms: milliseconds(begun),
            failed,
            retries,
            throttles,
            hedged,
            request_id: tally.into_request_id(),
            ..Self::default()
        }
    }
}

/// The right to make one call: one of the request's own, and a place among the calls of all requests.
pub(super) struct CallPermit<'s> {
    _own: SemaphorePermit<'s>,
    _place: CallPlace,
}

/// What all calls of a request share.
pub(super) struct Session {
    /// The store.
    pub(super) store: Arc<dyn DataStore>,
    /// What the reads of all requests found, if anything may be kept.
    pub(super) cache: Option<Arc<TableCache>>,
    /// When its execution began.
    pub(super) begun: Instant,
    /// When the request ends.
    pub(super) deadline: Instant,
    permits: Semaphore,
    turnstile: Turnstile,
    /// The bytes that it has read.
    pub(super) bytes: ReadBytes,
    /// Whether the ids are kept that the server gives to answers.
    keeps_ids: AtomicBool,
    wave: AtomicUsize,
    /// The last wave with calls.
    last_wave: AtomicUsize,
    /// The wave of each call and, once it is finished, its record; in the order in which the calls began.
    calls: Mutex<Vec<(usize, Option<CallRecord>)>>,
    /// All Gets of the request, read or not. A write forgets none of them.
    pub(super) interner: Mutex<Interner>,
}

impl Session {
    /// A session that has made no call.
    pub(super) fn new(
        (gate, share): (&Arc<CallGate>, ReadShare),
        (store, cache): (Arc<dyn DataStore>, Option<Arc<TableCache>>),
        deadline: Instant,
    ) -> Self {
        Self {
            store,
            cache,
            begun: Instant::now(),
            deadline,
            permits: Semaphore::new(CALLS_IN_FLIGHT),
            turnstile: gate.turnstile(),
            bytes: ReadBytes::new(share),
            keeps_ids: AtomicBool::new(false),
            wave: AtomicUsize::new(1),
            last_wave: AtomicUsize::new(0),
            calls: Mutex::default(),
            interner: Mutex::default(),
        }
    }

    /// Begins a wave: the next calls come after all calls so far.
    pub(super) fn begin_wave(&self) {
        self.wave.store(self.last_wave.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }

    /// Keeps the ids that the server gives to answers from now on.
    pub(super) fn keep_ids(&self) {
        self.keeps_ids.store(true, Ordering::Relaxed);
    }

    /// A tally of the next call.
    pub(super) fn tally(&self) -> CallTally {
        CallTally::new(self.keeps_ids.load(Ordering::Relaxed))
    }

    /// What a call gets that counts by this tally.
    pub(super) fn scope<'a>(&self, tally: &'a CallTally) -> CallScope<'a> {
        CallScope { deadline: self.deadline, tally: Some(tally) }
    }

    /// The calls that are finished, in the order in which they began.
    pub(super) fn calls(&self) -> Vec<CallRecord> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).iter().filter_map(|(_, call)| call.clone()).collect()
    }

    /// The calls that are finished, which are then forgotten.
    pub(super) fn take_calls(&self) -> Vec<CallRecord> {
        let calls = std::mem::take(&mut *self.calls.lock().unwrap_or_else(PoisonError::into_inner));
        calls.into_iter().filter_map(|(_, call)| call).collect()
    }

    /// Takes the next place in the list of calls. It happens before any waiting, so that the order depends on the plan
    /// alone.
    pub(super) fn reserve(&self) -> usize {
        self.reserve_after(0)
    }

    /// Takes the next place for a call that comes this many waves later.
    pub(super) fn reserve_after(&self, waves: usize) -> usize {
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        calls.push((self.wave.load(Ordering::Relaxed) + waves, None));
        calls.len() - 1
    }

    /// Keeps the record of a finished call.
    pub(super) fn record(&self, slot: usize, call: CallRecord) {
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((wave, record)) = calls.get_mut(slot) {
            self.last_wave.fetch_max(*wave, Ordering::Relaxed);
            let start = (milliseconds(self.begun) - call.ms).max(0.0);
            *record = Some(CallRecord { wave: *wave, start, ..call });
        }
    }

    /// Waits until one more call may run, which reads or writes up to this many items.
    pub(super) async fn permit(&self, items: usize) -> Result<CallPermit<'_>, TableError> {
        let turn = async {
            Some(CallPermit { _own: self.permits.acquire().await.ok()?, _place: self.turnstile.place(items).await })
        };
        let mut turn = pin!(turn);
        // Mostly there is room at once, and no need for a timer.
        let ended = match turn.as_mut().now_or_never() {
            Some(permit) => Ok(permit),
            None => timeout_at(self.deadline, turn).await,
        };
        match ended {
            Ok(Some(permit)) => Ok(permit),
            _ => {
                let detail = "the deadline passed before this call could start".to_owned();
                Err(TableError { kind: TableErrorKind::Timeout, detail })
            }
        }
    }

    /// Reads up to 100 distinct keys by one call. What it finds is known from then on.
    pub(super) async fn read(&self, slot: usize, known: &KnownItems, wanted: &[ItemRequest<'_>]) -> Vec<GetResult> {
        let _permit = match self.permit(wanted.len()).await.and_then(|permit| self.bytes.check().map(|()| permit)) {
            Ok(permit) => permit,
            Err(error) => return vec![Err(error); wanted.len()],
        };
        let begun = Instant::now();
        let operation = if wanted.len() == 1 { "GetItem" } else { "BatchGetItem" };
        let tally = self.tally();
        let (outcomes, capacity) = self.store.get_items(wanted, self.scope(&tally)).await;
        known.keep_items(wanted, &outcomes);
        let found = || outcomes.iter().filter_map(|outcome| outcome.as_ref().ok()?.as_deref());
        self.bytes.add_items(found());
        let items = found().count();
        let table = joined_tables(wanted.iter().map(|item| item.table));
        let failed = outcomes.iter().any(Result::is_err);
        let keys = wanted.len();
        self.record(
            slot,
            CallRecord { operation, table, keys, items, capacity, ..CallRecord::ended(begun, tally, failed) },
        );
        outcomes
    }
}

/// The time since then, in milliseconds.
pub(super) fn milliseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1e3
}

/// The error of a Get whose batch nobody has read.
pub(super) fn lost() -> TableError {
    TableError { kind: TableErrorKind::Unavailable, detail: "the batch with this key was dropped".to_owned() }
}
