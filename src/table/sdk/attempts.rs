//! A call in; its answer, or the last error before the deadline, out.
//!
//! The SDK's own retries are off: they give up after 4 attempts, while a table that scales up takes longer. Here a call is repeated until
//! the request's deadline, with the waits of [`Backoff`], as far as the store's retry budget goes.

use super::attempt_error::{AttemptError, classify_error, never_connected};
use crate::table::data::error::{TableError, TableErrorKind};
use crate::table::retry::backoff::Backoff;
use crate::table::retry::budget::RetryBudget;
use aws_sdk_dynamodb::config::http::HttpResponse;
use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};
use std::error::Error;
use std::future::Future;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// Longest time of one attempt. DynamoDB answers in milliseconds: an attempt without an answer by then never gets one.
pub(in crate::table) const ATTEMPT_LIMIT: Duration = Duration::from_secs(5);
/// How long a server that refuses connections is tried. A server that restarts is back by then; callers need not wait for one that is down.
const AWAY_LIMIT: Duration = Duration::from_secs(3);

/// One call that is attempted until it is answered.
#[derive(Debug, Clone, Copy)]
pub(in crate::table) struct Attempts<'a> {
    /// The operation, for the error's detail.
    pub(in crate::table) operation: &'static str,
    /// The table, for the error's detail.
    pub(in crate::table) table: &'a str,
    /// When to give up.
    pub(in crate::table) deadline: Instant,
    /// The store's retry budget.
    pub(in crate::table) budget: &'a RetryBudget,
}

/// What a failed attempt means for its call.
pub(in crate::table) enum Next<X> {
    /// Another attempt may succeed, after this wait at least.
    Again(TableError, Duration),
    /// The call is over.
    Stop(X),
}

/// How a call ended without an answer to give.
pub(in crate::table) enum Ended<X> {
    /// An error stopped it.
    Stopped(X),
    /// The deadline came first; the last error.
    Deadline(TableError),
}

impl Attempts<'_> {
    /// Makes attempts until one is answered, an error is permanent, or the deadline is too near for another wait. For calls that may be
    /// carried out twice.
    pub(in crate::table) async fn send<T, E, F>(self, attempt: impl FnMut() -> F) -> Result<T, TableError>
    where
        F: Future<Output = Result<T, SdkError<E, HttpResponse>>>,
        E: ProvideErrorMetadata + Error + 'static,
    {
        let classify = |trouble: Option<SdkError<E, HttpResponse>>| {
            let AttemptError { error, again, .. } = trouble.as_ref().map_or_else(AttemptError::unanswered, classify_error);
            if again { Next::Again(error, Duration::ZERO) } else { Next::Stop(error) }
        };
        self.until_stopped(attempt, classify).await.map_err(|ended| match ended {
            Ended::Stopped(error) => self.named(error),
            Ended::Deadline(error) => error,
        })
    }

    /// Makes attempts until one is answered, `classify` stops the call, or the deadline is too near for another wait. `classify` gets every
    /// error, and `None` for an attempt without an answer in time.
    pub(in crate::table) async fn until_stopped<T, X, E, F>(
        self,
        mut attempt: impl FnMut() -> F,
        mut classify: impl FnMut(Option<SdkError<E, HttpResponse>>) -> Next<X>,
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
            let (error, at_least) = match classify(trouble) {
                Next::Again(error, at_least) => (error, at_least),
                Next::Stop(end) => {
                    tracing::debug!(operation = self.operation, table = self.table, "attempt failed for good");
                    return Err(Ended::Stopped(end));
                }
            };
            let (kind, detail) = (error.kind, &error.detail);
            tracing::debug!(operation = self.operation, table = self.table, ?kind, detail, "attempt failed");
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

    /// The error with the call's name in its detail.
    pub(in crate::table) fn named(self, error: TableError) -> TableError {
        TableError { kind: error.kind, detail: format!("{} {}: {}", self.operation, self.table, error.detail) }
    }
}
