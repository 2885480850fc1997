//! A call in; its answer, or the trouble that was left at the deadline, out.
//!
//! The SDK's own retries are switched off: they give up after 4 attempts, which a table that scales up under load outlasts. Here an
//! attempt is repeated until the request's deadline, with exponential backoff and full jitter
//! (AWS Builders' Library, "Timeouts, retries, and backoff with jitter"), as far as the store's retry budget goes.

use super::error::{TableError, TableErrorKind};
use super::failure::{Failure, failure, never_connected};
use super::retry_budget::RetryBudget;
use aws_sdk_dynamodb::config::http::HttpResponse;
use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};
use std::error::Error;
use std::future::Future;
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout_at};

/// The longest that one attempt may take. DynamoDB answers in milliseconds; one that has not answered by then never will.
pub(super) const ATTEMPT_LIMIT: Duration = Duration::from_secs(5);
/// How long a server to which no connection can be made is tried: one that restarts is back by then, and a caller need not wait for one
/// that is not.
const AWAY_LIMIT: Duration = Duration::from_secs(3);
/// The upper bound of the first wait; each further failure doubles it.
const FIRST_WAIT: Duration = Duration::from_millis(25);
/// No wait is longer.
const LONGEST_WAIT: Duration = Duration::from_secs(2);

/// One call to be attempted until it is answered.
#[derive(Debug, Clone, Copy)]
pub(super) struct Attempts<'a> {
    /// The operation, for the error's detail.
    pub(super) operation: &'static str,
    /// The table, for the error's detail.
    pub(super) table: &'a str,
    /// When to give up.
    pub(super) deadline: Instant,
    /// The store's retry budget.
    pub(super) budget: &'a RetryBudget,
}

/// What a failed attempt means for its call.
pub(super) enum Next<X> {
    /// Another attempt may succeed, after this wait at least.
    Again(TableError, Duration),
    /// The call is over.
    Stop(X),
}

/// How a call ended without an answer to give.
pub(super) enum Ended<X> {
    /// A failure stopped it.
    Stopped(X),
    /// The deadline came first; the last trouble.
    Deadline(TableError),
}

impl Attempts<'_> {
    /// Makes attempts until one is answered, the trouble is one that stays, or the deadline is too near for another wait. For calls
    /// that may be carried out twice.
    pub(super) async fn send<T, E, F>(self, attempt: impl FnMut() -> F) -> Result<T, TableError>
    where
        F: Future<Output = Result<T, SdkError<E, HttpResponse>>>,
        E: ProvideErrorMetadata + Error + 'static,
    {
        let judge = |trouble: Option<SdkError<E, HttpResponse>>| {
            let Failure { error, again, .. } = trouble.as_ref().map_or_else(Failure::unanswered, failure);
            if again { Next::Again(error, Duration::ZERO) } else { Next::Stop(error) }
        };
        self.until_judged(attempt, judge).await.map_err(|ended| match ended {
            Ended::Stopped(error) => self.named(error),
            Ended::Deadline(error) => error,
        })
    }

    /// Makes attempts until one is answered, `judge` stops it, or the deadline is too near for another wait. `judge` is told every
    /// failure, and `None` of an attempt that was given up without an answer.
    pub(super) async fn until_judged<T, X, E, F>(
        self,
        mut attempt: impl FnMut() -> F,
        mut judge: impl FnMut(Option<SdkError<E, HttpResponse>>) -> Next<X>,
    ) -> Result<T, Ended<X>>
    where
        F: Future<Output = Result<T, SdkError<E, HttpResponse>>>,
        E: Error + 'static,
    {
        self.budget.first_attempt();
        let mut backoff = Backoff::new(self.budget);
        let mut last: Option<TableError> = None;
        let mut away: Option<Instant> = None;
        while Instant::now() < self.deadline {
            let limit = self.deadline.min(Instant::now() + ATTEMPT_LIMIT);
            let trouble = match timeout_at(limit, attempt()).await {
                Ok(Ok(answer)) => return Ok(answer),
                Ok(Err(error)) => Some(error),
                Err(_) => None,
            };
            let cut_short = trouble.is_none() && limit == self.deadline;
            let nobody = trouble.as_ref().is_some_and(|error| never_connected(error));
            away = if nobody { away.or(Some(Instant::now())) } else { None };
            let (error, at_least) = match judge(trouble) {
                Next::Again(error, at_least) => (error, at_least),
                Next::Stop(end) => {
                    tracing::debug!(operation = self.operation, table = self.table, "attempt failed for good");
                    return Err(Ended::Stopped(end));
                }
            };
            let (kind, detail) = (error.kind, &error.detail);
            tracing::debug!(operation = self.operation, table = self.table, ?kind, detail, "attempt failed");
            // Where only another write was under way, the server is well, and the budget is not touched.
            let free = kind == TableErrorKind::Condition;
            // What made the attempts before this one fail tells more than that the deadline cut it short.
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

    /// The error with the call's name in its detail.
    pub(super) fn named(self, error: TableError) -> TableError {
        TableError { kind: error.kind, detail: format!("{} {}: {}", self.operation, self.table, error.detail) }
    }
}

/// The waits between attempts: random, and growing to two seconds.
#[derive(Debug)]
pub struct Backoff<'a> {
    budget: &'a RetryBudget,
    failures: u32,
}

impl<'a> Backoff<'a> {
    pub(super) fn new(budget: &'a RetryBudget) -> Self {
        Self { budget, failures: 0 }
    }

    /// Waits before a retry, and goes on waiting as long as the budget has none; `false` where that would end after the deadline.
    pub async fn wait(&mut self, deadline: Instant) -> bool {
        self.wait_at_least(Duration::ZERO, deadline, false).await
    }

    /// Waits before another call that is no retry: the one before was answered well, and more is to come.
    pub(super) async fn pause(&mut self, deadline: Instant) -> bool {
        self.wait_at_least(Duration::ZERO, deadline, true).await
    }

    /// Waits before what an answer left over is asked for: as a retry if it brought nothing, else with a short wait that is none.
    pub(super) async fn wait_for_more(&mut self, progress: bool, deadline: Instant) -> bool {
        if progress {
            self.reset();
        }
        self.wait_at_least(Duration::ZERO, deadline, progress).await
    }

    /// As [`Backoff::wait`], but no shorter than this; if it is `free`, without asking the budget.
    async fn wait_at_least(&mut self, at_least: Duration, deadline: Instant, free: bool) -> bool {
        loop {
            let bound = FIRST_WAIT.saturating_mul(1 << self.failures.min(16)).min(LONGEST_WAIT);
            self.failures = self.failures.saturating_add(1);
            let wait = bound.mul_f64(fastrand::f64()).max(at_least);
            if Instant::now() + wait >= deadline {
                return false;
            }
            sleep(wait).await;
            if free || self.budget.take() {
                return true;
            }
        }
    }

    /// Begins anew with short waits: something went through.
    pub(super) fn reset(&mut self) {
        self.failures = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn waits_grow_to_a_bound_and_end_before_the_deadline() {
        let deadline = Instant::now() + Duration::from_secs(30);
        let budget = RetryBudget::new();
        let mut backoff = Backoff::new(&budget);
        let mut waits = 0;
        loop {
            let before = Instant::now();
            if !backoff.wait(deadline).await {
                break;
            }
            // The timer of tokio counts whole milliseconds and rounds up.
            let bound = LONGEST_WAIT.min(FIRST_WAIT * (1 << waits.min(16))) + Duration::from_millis(1);
            assert!(before.elapsed() <= bound, "wait {waits} took {:?}", before.elapsed());
            waits += 1;
        }
        assert!(Instant::now() <= deadline && waits > 15, "{waits}");
        backoff.reset();
        assert!(backoff.wait(Instant::now() + Duration::from_millis(30)).await, "a reset makes the next wait short");
    }
}
