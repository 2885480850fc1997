//! A call that is being made in, its answer for all who wait for it out. Must not know who makes it.

use super::entry::{CacheAnswer, covers};
use super::watches::WatchedTags;
use crate::table::data::attribute::{AttributeName, AttributeNames};
use crate::table::data::error::TableError;
use tokio::sync::watch;

/// What a call found.
pub(in crate::table) type Outcome = Result<CacheAnswer, TableError>;

/// A call that others may wait for.
#[derive(Debug)]
pub(super) struct Flight {
    /// The attributes that it asks for at least.
    pub(super) projection: AttributeNames,
    /// What its answer hangs on.
    pub(super) watch: WatchedTags,
    outcome: watch::Sender<Option<Outcome>>,
}

impl Flight {
    /// A call that begins.
    pub(super) fn new(projection: AttributeNames, watch: WatchedTags) -> Self {
        Self { projection, watch, outcome: watch::Sender::new(None) }
    }

    /// Whether a request for these attributes may wait for it: nothing has changed since it began.
    pub(super) fn serves(&self, projection: &[AttributeName]) -> bool {
        self.watch.is_current() && covers(&self.projection, projection)
    }

    /// Waits for it from now on.
    pub(super) fn join(&self) -> FlightWaiter {
        FlightWaiter(self.outcome.subscribe())
    }

    /// Gives the answer to all who wait.
    pub(super) fn end(&self, outcome: Outcome) {
        self.outcome.send_replace(Some(outcome));
    }
}

/// The place of one who waits for another's call.
#[derive(Debug)]
pub(in crate::table) struct FlightWaiter(watch::Receiver<Option<Outcome>>);

impl FlightWaiter {
    /// Waits for the answer; `None` if the call was dropped.
    pub(in crate::table) async fn outcome(mut self) -> Option<Outcome> {
        self.0.wait_for(Option::is_some).await.ok()?.clone()
    }
}
