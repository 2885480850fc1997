//! A call in; its answer, or the last error before the deadline, out.
//!
//! The SDK's retries give up after 4 attempts, while a table that scales up takes longer. Here a call is repeated until
//! the request's deadline, with the waits of [`Backoff`], as far as the store's retry budget goes and the table answers
//! at all.

use super::failure::AttemptFailure;
use crate::table::call_scope::CallTally;
use crate::table::data::error::{TableError, TableErrorKind};
use crate::table::retry::backoff::Backoff;
use crate::table::retry::budget::RetryBudget;
use crate::table::retry::table_health::{PendingCall, Silence, TableHealth, Verdict};
use std::future::Future;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// Longest time of one attempt. DynamoDB answers in milliseconds: an attempt without an answer by then never gets one.
pub(in crate::table) const ATTEMPT_LIMIT: Duration = Duration::from_secs(5);
/// How long a server that refuses connections is tried. A server that restarts is back by then; callers need not wait
/// for one that is down.
const AWAY_LIMIT: Duration = Duration::from_secs(3);

/// One call that is attempted until it is answered.
#[derive(Debug, Clone, Copy)]
pub(in crate::table) struct Attempts<'a> {
    /// The operation, for the error's detail.
    pub(in crate::table) operation: &'static str,
    /// The table, or the tables joined by commas.
    pub(in crate::table) table: &'a str,
    /// When to give up.
    pub(in crate::table) deadline: Instant,
    /// The store's retry budget.
    pub(in crate::table) budget: &'a RetryBudget,
    /// The health of the tables that requests read and write; `None` where no circuit ends a call.
    pub(in crate::table) health: Option<&'a TableHealth>,
    /// Where the call counts what it takes.
    pub(in crate::table) tally: Option<&'a CallTally>,
}

/// What a failed attempt means for its call.
pub(in crate::table) enum Next<X> {
    /// Another attempt may succeed.
    Again(Retry),
    /// The call is over.
    Stop(X),
}

/// Why and how a call is attempted again.
pub(in crate::table) struct Retry {
    /// The error of the last attempt.
    pub(in crate::table) error: TableError,
    /// The shortest wait.
    pub(in crate::table) at_least: Duration,
    /// Whether to continue until the deadline even if the table does not answer, because the call may have been
    /// applied.
    pub(in crate::table) patient: bool,
}

/// How a call ended without an answer to give.
pub(in crate::table) enum Ended<X> {
    /// An error stopped it.
    Stopped(X),
    /// The deadline came first; the last error.
    Deadline(TableError),
}

impl Attempts<'_> {
    /// Makes attempts until one is answered, an error is permanent, or the deadline is too near for another wait. For
    /// calls that may be carried out twice.
    pub(in crate::table) async fn send<T, E, F>(self, attempt: impl FnMut() -> F) -> Result<T, TableError>
    where
        F: Future<Output = Result<T, E>>,
        E: Into<AttemptFailure>,
    {
        let classify = |failure: AttemptFailure| match failure.again {
            true => Next::Again(failure.error.into()),
            false => Next::Stop(failure.error),
        };
        self.until_stopped(attempt, classify).await.map_err(|ended| match ended {
            Ended::Stopped(error) => self.named(error),
            Ended::Deadline(error) => error,
        })
    }

    /// Makes attempts until one is answered, `classify` stops the call, or the deadline is too near for another wait.
    pub(in crate::table) async fn until_stopped<T, X, E, F>(
        &self,
        mut attempt: impl FnMut() -> F,
        mut classify: impl FnMut(AttemptFailure) -> Next<X>,
    ) -> Result<T, Ended<X>>
    where
        F: Future<Output = Result<T, E>>,
        E: Into<AttemptFailure>,
    {
        self.budget.first_attempt();
        let mut backoff = Backoff::new(self.budget);
        let mut last: Option<TableError> = None;
        let (mut away, mut patient): (Option<Instant>, bool) = (None, false);
        while Instant::now() < self.deadline {
            // A call that has failed once stops if the table does not answer, so that its caller gets an error.
            let probe = last.is_none() || patient;
            let sent = match self.health.map(|health| health.begin(self.table, probe)).transpose() {
                Ok(sent) => sent,
                Err(silence) => {
                    last.get_or_insert_with(|| silence.into());
                    if patient && backoff.pause(self.deadline).await {
                        continue;
                    }
                    break;
                }
            };
            let (outcome, cut_short) = self.once(attempt(), sent).await;
            let failure = match outcome {
                Ok(answer) => return Ok(answer),
                Err(failure) => failure,
            };
            away = if failure.never_connected { away.or(Some(Instant::now())) } else { None };
            let Retry { error, at_least, patient: goes_on } = match classify(failure) {
                Next::Again(retry) => retry,
                Next::Stop(end) => {
                    tracing::debug!(operation = self.operation, table = self.table, "attempt failed for good");
                    return Err(Ended::Stopped(end));
                }
            };
            let (kind, detail) = (error.kind, &error.detail);
            tracing::debug!(operation = self.operation, table = self.table, %kind, detail, "attempt failed");
            patient = goes_on;
            if kind == TableErrorKind::Throttled {
                self.health.inspect(|health| health.throttled(self.table));
                self.tally.inspect(|tally| tally.throttle());
            }
            // A conflict with another write is no sign of overload, so it does not use the budget.
            let free = kind == TableErrorKind::Condition;
            // The error of an earlier attempt says more than that the deadline ended this one.
            if !cut_short || last.is_none() {
                last = Some(error);
            }
            let given_up = away.is_some_and(|since| since.elapsed() >= AWAY_LIMIT);
            if cut_short || given_up || !backoff.wait_at_least(at_least, self.deadline, free).await {
                break;
            }
        }
        let passed = || TableError { kind: TableErrorKind::Timeout, detail: "the deadline has passed".to_owned() };
        Err(Ended::Deadline(self.named(last.unwrap_or_else(passed))))
    }

    /// Makes one attempt. Gives its outcome, and whether the deadline has cut it short.
    async fn once<T, E: Into<AttemptFailure>>(
        &self,
        attempt: impl Future<Output = Result<T, E>>,
        sent: Option<PendingCall<'_>>,
    ) -> (Result<T, AttemptFailure>, bool) {
        let limit = self.deadline.min(Instant::now() + ATTEMPT_LIMIT);
        self.tally.inspect(|tally| tally.attempt());
        let outcome = timeout_at(limit, attempt).await;
        let cut_short = outcome.is_err() && limit == self.deadline;
        let outcome = outcome.map_or_else(|_| Err(AttemptFailure::unanswered()), |answer| answer.map_err(Into::into));
        // An attempt that the deadline interrupts counts as given up.
        if let Some(sent) = sent.filter(|_| !cut_short) {
            sent.end(outcome.as_ref().map_or_else(|failure| failure.verdict, |_| Verdict::Answered));
        }
        (outcome, cut_short)
    }

    /// The error with the call's name in its detail.
    pub(in crate::table) fn named(self, error: TableError) -> TableError {
        TableError { kind: error.kind, detail: format!("{} {}: {}", self.operation, self.table, error.detail) }
    }
}

impl From<TableError> for Retry {
    /// Soon again, and not beyond an open circuit.
    fn from(error: TableError) -> Self {
        Self { error, at_least: Duration::ZERO, patient: false }
    }
}

impl From<Silence> for TableError {
    fn from(Silence { table, time }: Silence) -> Self {
        let detail =
            format!("table {table} has not answered for {} seconds and is asked once a second", time.as_secs());
        Self { kind: TableErrorKind::Unavailable, detail }
    }
}
