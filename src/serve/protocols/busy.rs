//! A worker's runtime in; whether the worker is busy out. Must not know what it runs.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;

/// How long a worker is measured.
const WINDOW: Duration = Duration::from_millis(50);
/// The share of its time for which a busy worker works, in percent.
const BUSY: u64 = 90;

/// The share of its time for which a worker works, as it was in the last window that somebody looked at.
#[derive(Debug)]
pub struct BusyShare {
    began: Instant,
    /// When the window began, in nanoseconds since `began`.
    window: AtomicU64,
    /// For how long the worker had worked by then, in nanoseconds.
    worked: AtomicU64,
    is_busy: AtomicBool,
}

impl Default for BusyShare {
    fn default() -> Self {
        Self {
            began: Instant::now(),
            window: AtomicU64::new(0),
            worked: AtomicU64::new(0),
            is_busy: AtomicBool::new(false),
        }
    }
}

impl BusyShare {
    /// Whether the only worker of a runtime was busy.
    pub fn is_busy(&self, runtime: &Runtime) -> bool {
        self.look(self.began.elapsed(), || runtime.metrics().worker_total_busy_duration(0))
    }

    fn look(&self, now: Duration, worked: impl FnOnce() -> Duration) -> bool {
        let (now, window) = (nanoseconds(now), self.window.load(Ordering::Relaxed));
        let passed = now.saturating_sub(window);
        if passed >= nanoseconds(WINDOW)
            && self.window.compare_exchange(window, now, Ordering::Relaxed, Ordering::Relaxed).is_ok()
        {
            let worked = nanoseconds(worked());
            let worked = worked.saturating_sub(self.worked.swap(worked, Ordering::Relaxed));
            self.is_busy.store(worked > passed / 100 * BUSY, Ordering::Relaxed);
        }
        self.is_busy.load(Ordering::Relaxed)
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
impl BusyShare {
    /// That of a worker that is always busy, or never.
    pub fn fixed(is_busy: bool) -> Self {
        Self { window: AtomicU64::new(u64::MAX), is_busy: AtomicBool::new(is_busy), ..Self::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_is_busy_if_it_worked_for_most_of_the_last_window() {
        let busy = BusyShare::default();
        let look = |now, worked| busy.look(Duration::from_millis(now), || Duration::from_millis(worked));
        assert!(!look(49, 49), "no window has ended");
        assert!(look(50, 46));
        assert!(look(99, 46), "the window has not ended");
        assert!(!look(150, 136), "90 of 100 milliseconds");
        assert!(look(200, 182));
        assert!(!look(10_200, 300), "a long time without a look");
    }
}
