//! Failures so far in; a wait before the next attempt out: random, growing to a bound, and never past the deadline.
//!
//! Exponential backoff with full jitter (AWS Builders' Library, "Timeouts, retries, and backoff with jitter").

use super::budget::RetryBudget;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// Bounds of the waits: that of the first one, which each further failure doubles, and that of all.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    /// The upper bound of the first wait.
    pub first: Duration,
    /// The upper bound of every wait.
    pub longest: Duration,
}

/// The pace after an attempt that failed.
const FAILED: Pace = Pace { first: Duration::from_millis(25), longest: Duration::from_secs(2) };

/// The waits between the attempts of one call.
#[derive(Debug)]
pub struct Backoff<'a> {
    /// What bounds the retries of all requests; `None` where an attempt is no retry.
    budget: Option<&'a RetryBudget>,
    pace: Pace,
    failures: u32,
}

impl<'a> Backoff<'a> {
    /// Waits before retries, which this budget bounds.
    pub fn new(budget: &'a RetryBudget) -> Self {
        Self { budget: Some(budget), pace: FAILED, failures: 0 }
    }

    /// Waits before attempts that are no retries: the server is well, and another writer was faster.
    pub fn unbounded(pace: Pace) -> Self {
        Self { budget: None, pace, failures: 0 }
    }

    /// Waits before the next attempt, and goes on waiting while the budget is empty; `false` where that would end after
    /// the deadline.
    pub async fn wait(&mut self, deadline: Instant) -> bool {
        self.wait_at_least(Duration::ZERO, deadline, false).await
    }

    /// Waits before another call that is no retry: the last one was answered well, and more is to come.
    pub(in crate::table) async fn pause(&mut self, deadline: Instant) -> bool {
        self.wait_at_least(Duration::ZERO, deadline, true).await
    }

    /// Waits before asking for what an answer left over: as a retry if the answer brought nothing, otherwise shortly
    /// and without the budget.
    pub(in crate::table) async fn wait_for_more(&mut self, progress: bool, deadline: Instant) -> bool {
        if progress {
            self.failures = 0;
        }
        self.wait_at_least(Duration::ZERO, deadline, progress).await
    }

    /// As [`Backoff::wait`], but no shorter than `at_least`; a `free` wait does not ask the budget.
    pub(in crate::table) async fn wait_at_least(&mut self, at_least: Duration, deadline: Instant, free: bool) -> bool {
        loop {
            let bound = self.pace.first.saturating_mul(1 << self.failures.min(16)).min(self.pace.longest);
            self.failures = self.failures.saturating_add(1);
            let wait = bound.mul_f64(fastrand::f64()).max(at_least);
            if Instant::now() + wait >= deadline {
                return false;
            }
            sleep(wait).await;
            if free || self.budget.is_none_or(RetryBudget::take) {
                return true;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn waits_grow_to_a_bound_and_end_before_the_deadline() {
        let deadline = Instant::now() + Duration::from_secs(30);
        let budget = RetryBudget::default();
        let mut backoff = Backoff::new(&budget);
        let mut waits = 0;
        loop {
            let before = Instant::now();
            if !backoff.wait(deadline).await {
                break;
            }
            // The timer of tokio counts whole milliseconds and rounds up.
            let bound = FAILED.longest.min(FAILED.first * (1 << waits.min(16))) + Duration::from_millis(1);
            assert!(before.elapsed() <= bound, "wait {waits} took {:?}", before.elapsed());
            waits += 1;
        }
        assert!(Instant::now() <= deadline && waits > 15, "{waits}");
        assert!(
            backoff.wait_for_more(true, Instant::now() + Duration::from_millis(30)).await,
            "progress makes the next wait short"
        );
    }
}
