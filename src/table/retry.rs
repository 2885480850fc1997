//! A call in; its answer, or the trouble that was left at the deadline, out.
//!
//! The SDK's own retries are switched off: they give up after 4 attempts, which a table that scales up under load outlasts. Here an
//! attempt is repeated until the request's deadline, with exponential backoff and full jitter
//! (AWS Builders' Library, "Timeouts, retries, and backoff with jitter").

use super::error::{TableError, TableErrorKind};
use super::failure::{Failure, failure};
use aws_sdk_dynamodb::config::http::HttpResponse;
use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};
use std::error::Error;
use std::future::Future;
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout_at};

/// The longest that one attempt may take. DynamoDB answers in milliseconds; one that has not answered by then never will.
pub(super) const ATTEMPT_LIMIT: Duration = Duration::from_secs(5);
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
}

impl Attempts<'_> {
    /// Makes attempts until one is answered, the trouble is one that stays, or the deadline is too near for another wait.
    pub(super) async fn send<T, E, F>(self, mut attempt: impl FnMut() -> F) -> Result<T, TableError>
    where
        F: Future<Output = Result<T, SdkError<E, HttpResponse>>>,
        E: ProvideErrorMetadata + Error + 'static,
    {
        let mut backoff = Backoff::default();
        let mut last: Option<TableError> = None;
        while Instant::now() < self.deadline {
            let limit = self.deadline.min(Instant::now() + ATTEMPT_LIMIT);
            let Failure { error, again } = match timeout_at(limit, attempt()).await {
                Ok(Ok(answer)) => return Ok(answer),
                Ok(Err(error)) => failure(&error),
                // What made the attempts before this one fail tells more than that the deadline cut it short.
                Err(_) if limit == self.deadline && last.is_some() => break,
                Err(_) => {
                    let detail = "no answer in time".to_owned();
                    Failure { error: TableError { kind: TableErrorKind::Timeout, detail }, again: true }
                }
            };
            let (kind, detail) = (error.kind, &error.detail);
            tracing::debug!(operation = self.operation, table = self.table, ?kind, detail, again, "attempt failed");
            last = Some(error);
            if !again || !backoff.wait(self.deadline).await {
                break;
            }
        }
        let error = last.unwrap_or(TableError { kind: TableErrorKind::Timeout, detail: "the deadline has passed".to_owned() });
        Err(TableError { kind: error.kind, detail: format!("{} {}: {}", self.operation, self.table, error.detail) })
    }
}

/// The waits between attempts.
#[derive(Debug, Default)]
pub(super) struct Backoff {
    failures: u32,
}

impl Backoff {
    /// Waits; or says `false` at once where the wait would end after the deadline.
    pub(super) async fn wait(&mut self, deadline: Instant) -> bool {
        let bound = FIRST_WAIT.saturating_mul(1 << self.failures.min(16)).min(LONGEST_WAIT);
        self.failures += 1;
        let wait = bound.mul_f64(fastrand::f64());
        if Instant::now() + wait >= deadline {
            return false;
        }
        sleep(wait).await;
        true
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
        let mut backoff = Backoff::default();
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
