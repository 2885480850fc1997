//! The outcomes of the attempts of each table's calls in; whether one more may be sent, and whether the table
//! throttles, out.
//!
//! A table that does not answer would hold every call until its deadline. So its circuit opens after five attempts
//! without an answer in three seconds. Calls then end at once, except one attempt a second that checks whether the
//! table answers again (M. Nygard, "Release It!", "Circuit Breaker"). Any answer closes the circuit. A refusal, a
//! throttle or a status of 500 is an answer.

use foldhash::quality::RandomState;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// The time without any answer after which the circuit opens.
const SILENCE: Duration = Duration::from_secs(3);
/// The number of attempts in that time that must have no answer.
const ATTEMPTS: u32 = 5;
/// The interval at which an open circuit lets an attempt through.
const PROBE_EVERY: Duration = Duration::from_secs(1);
/// An attempt that its caller gives up before this says nothing about the table.
const PATIENCE: Duration = Duration::from_secs(1);
/// The time after the last sign of silence during which the table is not ready. After it, calls may find out again.
const READY_AGAIN: Duration = Duration::from_secs(5);
/// The time after its last throttle during which a table counts as throttling.
const THROTTLED: Duration = Duration::from_secs(10);

/// The health of all tables that a store's calls named. Their names come from the schema, so the map does not grow.
#[derive(Debug, Default)]
pub(in crate::table) struct TableHealth {
    tables: Mutex<Tables>,
}

#[derive(Debug, Default)]
struct Tables {
    /// Counts attempts and answers, to know which came first.
    order: u64,
    by_name: HashMap<String, TableRecord, RandomState>,
}

/// The observations about a table.
#[derive(Debug, Default)]
struct TableRecord {
    /// The position of the last answer, in the order of [`Tables::order`].
    answered: u64,
    /// The time of the first attempt after the last answer.
    silent_since: Option<Instant>,
    /// Attempts after the last answer that still wait.
    waiting: u32,
    /// Attempts after the last answer that ended without one.
    failed: u32,
    /// Whether the circuit is open.
    open: bool,
    /// The time when an open circuit last let an attempt through.
    probed: Option<Instant>,
    /// The time when an attempt last ended without an answer, or was not sent because of that.
    missed: Option<Instant>,
    /// The calls that ended at once since the circuit is open.
    refused: u64,
    /// The time when a call was last throttled.
    throttled: Option<Instant>,
}

/// A table that does not answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::table) struct Silence {
    /// The table's name.
    pub(in crate::table) table: String,
    /// The time for which it has not answered.
    pub(in crate::table) time: Duration,
}

/// The outcome of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::table) enum Verdict {
    /// The table answered, with or without success.
    Answered,
    /// No answer came, or no connection was made.
    Silent,
    /// The attempt did not reach the table, for a reason in this process.
    Unknown,
}

/// An attempt under way. If it is dropped without an outcome, its caller gave it up.
#[derive(Debug)]
pub(in crate::table) struct PendingCall<'a> {
    health: &'a TableHealth,
    tables: &'a str,
    order: u64,
    begun: Instant,
    verdict: Option<Verdict>,
}

impl TableHealth {
    /// Starts an attempt on tables, joined by commas. The error names a table whose circuit is open. Then only an
    /// attempt that may `probe` is let through, once a second.
    pub(in crate::table) fn begin<'a>(&'a self, tables: &'a str, probe: bool) -> Result<PendingCall<'a>, Silence> {
        let now = Instant::now();
        let mut all = self.lock();
        for table in tables.split(',') {
            if let Some(seen) = all.by_name.get_mut(table)
                && seen.is_open(table, now)
                && !(probe && seen.probed.is_none_or(|at| now.saturating_duration_since(at) >= PROBE_EVERY))
            {
                seen.missed = Some(now);
                seen.refused += 1;
                return Err(seen.silence(table, now));
            }
        }
        all.order += 1;
        for table in tables.split(',') {
            all.note(table, |seen| seen.begin(now));
        }
        Ok(PendingCall { health: self, tables, order: all.order, begun: now, verdict: None })
    }

    /// Records that a call of these tables was throttled.
    pub(in crate::table) fn throttled(&self, tables: &str) {
        let mut all = self.lock();
        for table in tables.split(',') {
            all.note(table, |seen| seen.throttled = Some(Instant::now()));
        }
    }

    /// Whether a call of the table was throttled a moment ago.
    pub(in crate::table) fn throttles(&self, table: &str) -> bool {
        self.lock().by_name.get(table).and_then(|seen| seen.throttled).is_some_and(|at| at.elapsed() < THROTTLED)
    }

    /// The silence of a table whose circuit is open, as long as calls confirm it.
    pub(in crate::table) fn silence(&self, table: &str) -> Option<Silence> {
        let all = self.lock();
        let seen = all
            .by_name
            .get(table)
            .filter(|seen| seen.open && seen.missed.is_some_and(|at| at.elapsed() < READY_AGAIN))?;
        Some(seen.silence(table, Instant::now()))
    }

    fn lock(&self) -> MutexGuard<'_, Tables> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Tables {
    /// Changes what is known of a table.
    fn note(&mut self, table: &str, change: impl FnOnce(&mut TableRecord)) {
        match self.by_name.get_mut(table) {
            Some(seen) => change(seen),
            None => change(self.by_name.entry(table.to_owned()).or_default()),
        }
    }
}

impl TableRecord {
    fn begin(&mut self, now: Instant) {
        self.silent_since.get_or_insert(now);
        self.waiting = self.waiting.saturating_add(1);
        if self.open {
            self.probed = Some(now);
        }
    }

    /// Whether the circuit is open. Opens it if it is time.
    fn is_open(&mut self, table: &str, now: Instant) -> bool {
        let lasts = self.silent_since.is_some_and(|since| now.saturating_duration_since(since) >= SILENCE);
        if !self.open && lasts && self.waiting.saturating_add(self.failed) >= ATTEMPTS {
            self.open = true;
            tracing::warn!(table, "the table does not answer: its calls end at once, but for one a second");
        }
        self.open
    }

    fn silence(&self, table: &str, now: Instant) -> Silence {
        Silence { table: table.to_owned(), time: now.saturating_duration_since(self.silent_since.unwrap_or(now)) }
    }

    /// Ends an attempt that began before the last answer or after it.
    fn end(&mut self, sent: &PendingCall<'_>, (table, order): (&str, u64)) {
        let given_up = || if sent.begun.elapsed() < PATIENCE { Verdict::Unknown } else { Verdict::Silent };
        match sent.verdict.unwrap_or_else(given_up) {
            Verdict::Answered => {
                if self.open {
                    let seconds = self.silence(table, Instant::now()).time.as_secs();
                    tracing::info!(table, seconds, refused = self.refused, "the table answers again");
                }
                *self = Self { answered: order, throttled: self.throttled, ..Self::default() };
            }
            _ if sent.order < self.answered => {}
            verdict => {
                self.waiting = self.waiting.saturating_sub(1);
                if verdict == Verdict::Silent {
                    self.failed = self.failed.saturating_add(1);
                    self.missed = Some(Instant::now());
                }
                if self.waiting == 0 && self.failed == 0 {
                    self.silent_since = None;
                }
            }
        }
    }
}

impl PendingCall<'_> {
    /// Records the outcome of the attempt.
    pub(in crate::table) fn end(mut self, verdict: Verdict) {
        self.verdict = Some(verdict);
    }
}

impl Drop for PendingCall<'_> {
    fn drop(&mut self) {
        let mut all = self.health.lock();
        all.order += 1;
        let order = all.order;
        for table in self.tables.split(',') {
            if let Some(seen) = all.by_name.get_mut(table) {
                seen.end(self, (table, order));
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
mod tests {
    use super::*;
    use tokio::time::advance;

    fn miss(health: &TableHealth, times: u32) {
        (0..times).for_each(|_| health.begin("t", true).unwrap().end(Verdict::Silent));
    }

    #[tokio::test(start_paused = true)]
    async fn a_silence_of_many_attempts_opens_the_circuit_and_an_answer_closes_it() {
        let health = TableHealth::default();
        miss(&health, ATTEMPTS);
        advance(SILENCE - Duration::from_millis(1)).await;
        let last = health.begin("t", true).expect("it has not been silent for long enough");
        advance(Duration::from_millis(1)).await;
        let probe = health.begin("t", true).expect("the first attempt of an open circuit is the probe");
        assert_eq!(health.begin("t", true).unwrap_err(), Silence { table: "t".into(), time: SILENCE });
        assert_eq!(health.begin("s,t", true).unwrap_err().table, "t", "a call of several tables needs them all");
        assert!(health.begin("s", false).is_ok(), "another table has its own circuit");
        assert!(health.silence("t").is_some() && health.silence("s").is_none());
        advance(PROBE_EVERY).await;
        assert!(health.begin("t", false).is_err(), "a call that has failed before does not probe");
        let second = health.begin("t", true).expect("one a second");
        assert!(health.begin("t", true).is_err());
        second.end(Verdict::Silent);
        assert!(health.begin("t", true).is_err());
        last.end(Verdict::Answered);
        assert!(health.silence("t").is_none());
        (0..100).for_each(|_| health.begin("t", true).unwrap().end(Verdict::Silent));
        drop(probe);
    }

    #[tokio::test(start_paused = true)]
    async fn few_attempts_and_attempts_that_are_given_up_early_open_nothing() {
        let health = TableHealth::default();
        miss(&health, ATTEMPTS - 1);
        advance(SILENCE * 10).await;
        assert!(health.begin("t", true).is_ok());
        let health = TableHealth::default();
        for _ in 0..100 {
            let sent = health.begin("t", true).unwrap();
            advance(PATIENCE / 2).await;
            drop(sent);
        }
        let late: Vec<PendingCall<'_>> = (0..ATTEMPTS).map(|_| health.begin("t", true).unwrap()).collect();
        advance(SILENCE).await;
        drop(late);
        assert!(
            health.begin("t", true).is_ok() && health.begin("t", true).is_err(),
            "those that were given up late count"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_table_that_nobody_asks_any_more_may_be_ready() {
        let health = TableHealth::default();
        miss(&health, ATTEMPTS);
        advance(SILENCE).await;
        miss(&health, 1);
        assert!(health.silence("t").is_some());
        advance(READY_AGAIN).await;
        assert!(health.silence("t").is_none());
        miss(&health, 1);
        assert!(health.silence("t").is_some(), "until the next call finds it silent");
    }

    #[tokio::test(start_paused = true)]
    async fn a_throttle_is_remembered_for_a_moment() {
        let health = TableHealth::default();
        health.throttled("s,t");
        assert!(health.throttles("s") && health.throttles("t") && !health.throttles("u"));
        health.begin("t", true).unwrap().end(Verdict::Answered);
        assert!(health.throttles("t"), "an answer does not end it");
        advance(THROTTLED).await;
        assert!(!health.throttles("t"));
    }
}
