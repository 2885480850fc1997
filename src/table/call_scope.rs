//! How long a call may last, and the tally of what it took. Must not know what a call is.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::time::Instant;

/// What a call of a store gets beside its arguments.
#[derive(Debug, Clone, Copy)]
pub struct CallScope<'a> {
    /// When to give up.
    pub deadline: Instant,
    /// Where the call counts what it took; `None` if nobody asks.
    pub tally: Option<&'a CallTally>,
}

impl From<Instant> for CallScope<'_> {
    /// A call that nobody counts.
    fn from(deadline: Instant) -> Self {
        Self { deadline, tally: None }
    }
}

/// What one call took: attempts, throttles, second calls, and the name that the server gave to the last answer.
#[derive(Debug, Default)]
pub struct CallTally {
    sent: AtomicU32,
    attempts: AtomicU32,
    throttles: AtomicU32,
    /// `None` if it is not kept.
    request_id: Option<Mutex<Option<Arc<str>>>>,
}

impl CallTally {
    /// Nothing yet. `keeps_id` keeps the id that the server gives to the last answer.
    pub fn new(keeps_id: bool) -> Self {
        Self { request_id: keeps_id.then(Mutex::default), ..Self::default() }
    }

    /// Counts that the call is sent. A late read is sent a second time.
    pub(in crate::table) fn send(&self) {
        self.sent.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts an attempt of the call.
    pub(in crate::table) fn attempt(&self) {
        self.attempts.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts an answer that refuses all or a part of the call because too much is asked for.
    pub(in crate::table) fn throttle(&self) {
        self.throttles.fetch_add(1, Ordering::Relaxed);
    }

    /// Keeps the id of an answer (DynamoDB developer guide, "DynamoDB low-level API": `x-amzn-RequestId`), if it is
    /// wanted.
    pub(in crate::table) fn answered<'a>(&self, id: impl FnOnce() -> Option<&'a str>) {
        if let Some(kept) = &self.request_id
            && let Some(id) = id()
        {
            *kept.lock().unwrap_or_else(PoisonError::into_inner) = Some(id.into());
        }
    }

    /// Attempts after the first of each call.
    pub fn retries(&self) -> u32 {
        self.attempts.load(Ordering::Relaxed).saturating_sub(self.sent.load(Ordering::Relaxed))
    }

    /// Answers that refused all or a part of the call because too much was asked for.
    pub fn throttles(&self) -> u32 {
        self.throttles.load(Ordering::Relaxed)
    }

    /// Whether the call was late and sent a second time.
    pub fn is_hedged(&self) -> bool {
        self.sent.load(Ordering::Relaxed) > 1
    }

    /// The id that the server gave to the last answer.
    pub fn into_request_id(self) -> Option<Arc<str>> {
        self.request_id?.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}
