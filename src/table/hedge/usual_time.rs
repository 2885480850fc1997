//! The times of calls of one kind in; the time after which such a call is late out.
//!
//! A histogram counts the times. Its counts are halved again and again, so that old times fade. It has a fixed size and
//! no lock.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

/// The number of counters: four for each doubling of the time, from 64 µs to 16 s. So a time is exact to a quarter.
const COUNTERS: usize = 18 * 4;
/// The binary logarithm of the shortest time that is distinguished from shorter ones, in microseconds.
const SHORTEST: u32 = 6;
/// The number of times after which all counts are halved.
const FADE_AFTER: u32 = 1024;
/// The number of times after which the usual time is computed again.
const COMPUTE_AFTER: u32 = 16;
/// The number of times that must be known before any call is late.
const ENOUGH: u32 = 32;
/// The usual time: this percentage of calls is faster. If a server is late in 2 % or 8 % of its calls, it is a time
/// without trouble.
const USUAL_OF_HUNDRED: u32 = 90;
/// A late call takes this many times the usual time.
const LATE: u64 = 2;
/// A call is never late before this. A second call costs more than the wait.
const NEVER_BEFORE: Duration = Duration::from_millis(5);

/// The times of one kind of call.
#[derive(Debug)]
pub(super) struct UsualTime {
    counters: [AtomicU32; COUNTERS],
    counted: AtomicU32,
    /// The time after which a call is late, in microseconds; 0 while too little is known.
    late: AtomicU64,
}

impl Default for UsualTime {
    fn default() -> Self {
        Self {
            counters: std::array::from_fn(|_| AtomicU32::new(0)),
            counted: AtomicU32::new(0),
            late: AtomicU64::new(0),
        }
    }
}

impl UsualTime {
    /// Counts the time of a call that was answered.
    pub(super) fn record(&self, time: Duration) {
        let micros = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        if let Some(counter) = self.counters.get(place(micros)) {
            counter.fetch_add(1, Ordering::Relaxed);
        }
        let counted = self.counted.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
        if counted.is_multiple_of(COMPUTE_AFTER) {
            self.compute();
        }
    }

    /// The time after which such a call is late; `None` while too little is known.
    pub(super) fn late_after(&self) -> Option<Duration> {
        match self.late.load(Ordering::Relaxed) {
            0 => None,
            micros => Some(Duration::from_micros(micros).max(NEVER_BEFORE)),
        }
    }

    /// Computes when a call is late. Calls that end meanwhile may be counted or not.
    fn compute(&self) {
        let counts = self.counters.each_ref().map(|counter| counter.load(Ordering::Relaxed));
        let all: u32 = counts.iter().sum();
        if all < ENOUGH {
            return;
        }
        let wanted = u64::from(all) * u64::from(USUAL_OF_HUNDRED) / 100;
        let mut faster = 0;
        for (place, count) in counts.iter().enumerate() {
            faster += u64::from(*count);
            if faster >= wanted {
                self.late.store(LATE * end(place), Ordering::Relaxed);
                break;
            }
        }
        if all >= FADE_AFTER {
            for (counter, count) in self.counters.iter().zip(counts) {
                counter.fetch_sub(count / 2, Ordering::Relaxed);
            }
        }
    }
}

/// The counter of a time.
fn place(micros: u64) -> usize {
    let micros = micros.max(1 << SHORTEST);
    let doubling = micros.ilog2();
    let quarter = (micros >> (doubling - 2)) & 3;
    (((doubling - SHORTEST) as usize) * 4 + quarter as usize).min(COUNTERS - 1)
}

/// The time that is above all times of a counter, in microseconds.
fn end(place: usize) -> u64 {
    let (doubling, quarter) = (place / 4, place % 4);
    (5 + quarter as u64) << (doubling + SHORTEST as usize - 2)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn millis(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn a_time_is_known_to_a_quarter() {
        for micros in (0..24).map(|power| (1u64 << power) + 3).filter(|micros| (64..16_000_000).contains(micros)) {
            let end = end(place(micros));
            assert!(micros < end && end <= micros * 5 / 4 + 16, "{micros} {end}");
        }
        assert_eq!((place(0), place(u64::MAX)), (0, COUNTERS - 1));
    }

    #[test]
    fn a_call_is_late_when_it_takes_far_longer_than_nine_in_ten() {
        let usual = UsualTime::default();
        (0..16).for_each(|_| usual.record(millis(20)));
        assert_eq!(usual.late_after(), None, "too little is known");
        (0..960).for_each(|i| usual.record(if i % 12 == 0 { millis(4000) } else { millis(20) }));
        let late = usual.late_after().unwrap();
        assert!(late >= millis(40) && late <= millis(50), "{late:?}");
    }

    #[test]
    fn old_times_fade() {
        let usual = UsualTime::default();
        (0..100_000).for_each(|_| usual.record(millis(1)));
        assert_eq!(usual.late_after(), Some(NEVER_BEFORE));
        (0..2_000).for_each(|_| usual.record(millis(100)));
        assert!(usual.late_after().unwrap() >= millis(200));
    }
}
