//! First attempts and retries of all requests of a store in; whether one more retry may be sent out.
//!
//! Retries add load to a server that is already in trouble, and can keep it there. So retries are a bounded share of
//! first attempts, whatever the number of requests that want one, as in Finagle ("Retry Budgets") and in the AWS SDKs
//! ("Retry behavior", the retry quota). The numbers are Finagle's.

use std::sync::{Mutex, PoisonError};
use tokio::time::Instant;

/// Retries that each first attempt adds.
const SHARE: f64 = 0.2;
/// Retries that each second adds, so that a store with little traffic can retry, too.
const A_SECOND: f64 = 10.0;
/// Most retries that can be saved.
const MAX_TOKENS: f64 = 100.0;

/// The retries that a store's requests may still send.
#[derive(Debug)]
pub struct RetryBudget {
    saved: Mutex<Saved>,
}

#[derive(Debug)]
struct Saved {
    retries: f64,
    /// When the seconds were last counted.
    counted: Instant,
}

impl Default for RetryBudget {
    /// A full budget.
    fn default() -> Self {
        Self { saved: Mutex::new(Saved { retries: MAX_TOKENS, counted: Instant::now() }) }
    }
}

impl RetryBudget {
    /// Counts the first attempt of a call.
    pub(in crate::table) fn first_attempt(&self) {
        let mut saved = self.saved.lock().unwrap_or_else(PoisonError::into_inner);
        saved.retries = (saved.retries + SHARE).min(MAX_TOKENS);
    }

    /// Takes one retry; `false` if there is none left.
    pub(in crate::table) fn take(&self) -> bool {
        let mut saved = self.saved.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        let seconds = now.saturating_duration_since(saved.counted).as_secs_f64();
        saved.counted = now;
        saved.retries = (saved.retries + seconds * A_SECOND).min(MAX_TOKENS);
        let enough = saved.retries >= 1.0;
        if enough {
            saved.retries -= 1.0;
        }
        enough
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn taken(budget: &RetryBudget) -> usize {
        (0..10_000).take_while(|_| budget.take()).count()
    }

    #[tokio::test(start_paused = true)]
    async fn retries_are_a_share_of_first_attempts_and_a_few_a_second() {
        let budget = RetryBudget::default();
        assert_eq!(taken(&budget), 100, "what is saved up");
        (0..50).for_each(|_| budget.first_attempt());
        assert!((9..=10).contains(&taken(&budget)), "a fifth of fifty");
        tokio::time::advance(Duration::from_secs(3)).await;
        assert!((29..=30).contains(&taken(&budget)), "ten a second");
        tokio::time::advance(Duration::from_secs(3600)).await;
        (0..10_000).for_each(|_| budget.first_attempt());
        assert_eq!(taken(&budget), 100, "no more is saved up");
    }
}
