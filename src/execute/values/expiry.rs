//! The time of a request in; out: which times of items have passed then. Must not know where an item has its time.
//!
//! DynamoDB deletes an item some time after its time to live, usually within a few days. Until then, Keyfold leaves it
//! out by the same rule (DynamoDB developer guide, "How it works: DynamoDB Time to Live (TTL)"): the attribute is a
//! number of seconds since 1970, which has passed, and not longer than five years ago.

use crate::schema::table::number;
use crate::table::data::attribute::Attribute;
use std::cmp::Ordering;
use std::sync::atomic::{AtomicU64, Ordering as MemoryOrdering};
use std::time::Duration;

/// Five years in seconds. What expired longer ago stays: DynamoDB does not delete it.
pub const FIVE_YEARS: i64 = 1_826 * 24 * 60 * 60;

/// The times to live that have passed at a moment: from the first to the last, both included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PassedTimes {
    first: i64,
    last: i64,
}

impl PassedTimes {
    /// Those that have passed at this time, in whole seconds since 1970.
    pub fn at(seconds: i64) -> Self {
        Self { first: seconds.saturating_sub(FIVE_YEARS), last: seconds }
    }

    /// Whether an attribute is one of them.
    pub fn have(&self, time: Option<&Attribute>) -> bool {
        let Some(Attribute::N(number)) = time else { return false };
        match number.parse::<i64>() {
            Ok(seconds) => (self.first..=self.last).contains(&seconds),
            Err(_) => {
                let [first, last] = [self.first, self.last].map(|bound| bound.to_string());
                number::compare(&first, number) != Ordering::Greater
                    && number::compare(number, &last) != Ordering::Greater
            }
        }
    }

    /// The first and the last of them, as attributes.
    pub fn bounds(&self) -> [Attribute; 2] {
        [self.first, self.last].map(|bound| Attribute::N(bound.to_string().into()))
    }

    /// How many seconds an item has until this time; `None` if its time has passed, or if it has none.
    pub fn seconds_until(&self, time: Option<&Attribute>) -> Option<u64> {
        let Some(Attribute::N(number)) = time else { return None };
        let left = whole_seconds(number)?.checked_sub(self.last)?;
        u64::try_from(left).ok().filter(|left| *left > 0)
    }
}

/// The whole seconds of a time; `None` if it is no number.
fn whole_seconds(number: &str) -> Option<i64> {
    number.parse().ok().or_else(|| Some(number.parse::<f64>().ok()?.floor() as i64))
}

/// How many seconds are left to the first of the seen items that expires: so long may a response be kept.
#[derive(Debug)]
pub struct SecondsLeft(AtomicU64);

impl Default for SecondsLeft {
    /// Nothing expires.
    fn default() -> Self {
        Self(AtomicU64::new(u64::MAX))
    }
}

impl SecondsLeft {
    /// An item was seen that has so many seconds left.
    pub fn lower(&self, seconds: u64) {
        self.0.fetch_min(seconds, MemoryOrdering::Relaxed);
    }

    /// The time; `None` if none of the seen items expires.
    pub fn time(&self) -> Option<Duration> {
        Some(self.0.load(MemoryOrdering::Relaxed)).filter(|left| *left < u64::MAX).map(Duration::from_secs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_has_passed_for_five_years() {
        let now = 1_800_000_000;
        let passed = PassedTimes::at(now);
        let number = |text: String| Attribute::N(text.as_str().into());
        for (time, has_passed) in [
            (number((now - 1).to_string()), true),
            (number(now.to_string()), true),
            (number((now + 1).to_string()), false),
            (number(format!("{}.0", now - 1)), true),
            (number(format!("{now}.5")), false),
            (number("17E8".to_owned()), true),
            (number((now - FIVE_YEARS).to_string()), true),
            (number((now - FIVE_YEARS - 1).to_string()), false),
            (number("0".to_owned()), false),
            (number("-1".to_owned()), false),
            // A time in milliseconds lies far ahead.
            (number((now * 1_000).to_string()), false),
            (Attribute::S((now - 1).to_string().as_str().into()), false),
            (Attribute::Null, false),
        ] {
            assert_eq!(passed.have(Some(&time)), has_passed, "{time:?}");
        }
        assert!(!passed.have(None));
        assert_eq!(passed.seconds_until(Some(&number((now + 7).to_string()))), Some(7));
        assert_eq!(passed.seconds_until(Some(&number(format!("{}.5", now + 7)))), Some(7));
        assert_eq!(passed.seconds_until(Some(&number(now.to_string()))), None);
    }
}
