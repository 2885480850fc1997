//! The last changes of a table, for subscribers that come back. Bounded in bytes.

use super::event_id::{EventPlace, EventPosition};
use crate::table::change_source::{ChangeRecord, StreamPosition, compare_sequences};
use std::cmp::Ordering;
use std::collections::VecDeque;
use std::sync::Arc;

/// The most bytes of a table's last changes.
const LOG_BYTES: usize = 8 << 20;
/// How much later, in seconds, the changes of one shard may be read than those of another. A subscriber that comes back
/// gets the changes of other shards from this long before its last event, some of them again.
pub const SHARD_LAG: i64 = 30;

/// How many seconds the clocks of two copies of the gateway may be apart.
const COPY_SKEW: i64 = 30;

/// The last changes of a table, in the order in which they were read.
#[derive(Debug)]
pub struct ChangeLog {
    /// What distinguishes it from the logs of other copies.
    name: u32,
    /// How many changes were ever added or missed.
    count: u64,
    records: VecDeque<LogEntry>,
    bytes: usize,
    /// All changes of this second and later ones are here.
    since: i64,
}

/// A change.
#[derive(Debug)]
struct LogEntry {
    /// The second in which it was read, by the clock of this copy. The clock of the stream may be wrong, or show
    /// minutes.
    taken: i64,
    record: Arc<ChangeRecord>,
}

impl ChangeLog {
    /// No changes yet: those after this second will come.
    pub fn new(begun: i64) -> Self {
        Self { name: fastrand::u32(..), count: 0, records: VecDeque::new(), bytes: 0, since: begun + 1 }
    }

    /// Adds a change that was read in this second. The oldest ones leave when there are too many bytes.
    pub fn add(&mut self, record: Arc<ChangeRecord>, taken: i64) {
        self.bytes += record.bytes();
        self.count += 1;
        self.records.push_back(LogEntry { taken, record });
        while self.bytes > LOG_BYTES
            && let Some(oldest) = self.records.pop_front()
        {
            self.bytes -= oldest.record.bytes();
            self.since = self.since.max(oldest.taken.max(oldest.record.created) + 1);
        }
    }

    /// Forgets everything: changes are missing, and those after this second will come. Whoever goes on from before
    /// misses at least one.
    pub fn break_off(&mut self, now: i64) {
        *self = Self { name: self.name, count: self.count + 1, ..Self::new(now) };
    }

    /// The position after all changes so far.
    pub fn end(&self, now: i64) -> EventPosition {
        let place = EventPlace::Log { log: self.name, count: self.count };
        self.records.back().map_or(EventPosition { created: now, place }, |last| EventPosition::new(&last.record))
    }

    /// The changes after a position. `None` if they are not all here.
    pub fn after(&self, from: &EventPosition) -> Option<Vec<Arc<ChangeRecord>>> {
        match &from.place {
            EventPlace::Change(position) => {
                let own = self.records.iter().find(|logged| logged.record.position == *position)?;
                let is_since = own.taken.min(from.created) - SHARD_LAG >= self.since;
                (self.is_of_one_shard(position) || is_since)
                    .then(|| self.filtered(|logged| is_after(&logged.record, from)))
            }
            EventPlace::Log { log, count } if *log == self.name => {
                let had = usize::try_from(count.checked_sub(self.first())?).ok()?;
                Some(self.records.iter().skip(had).map(|logged| logged.record.clone()).collect())
            }
            // The place is in the log of another copy. Whatever was read here before that second, precedes it.
            EventPlace::Log { .. } => {
                let from = from.created - COPY_SKEW;
                (from >= self.since).then(|| self.filtered(|logged| logged.taken >= from))
            }
        }
    }

    /// The place after all changes so far.
    pub fn reached(&self) -> EventPosition {
        self.place(self.records.len())
    }

    /// A place from which on changes stay here for a while: the end, unless others were read long before.
    pub fn lasting(&self) -> EventPosition {
        let oldest = self.records.front().map_or(0, |oldest| oldest.taken);
        let lasts = |logged: &LogEntry| logged.taken >= oldest + SHARD_LAG;
        self.place(self.records.iter().position(lasts).unwrap_or(self.records.len()))
    }

    /// Whether all changes of a shard after a position follow a place here, or will: the change, or an earlier one of
    /// its shard, does.
    pub fn has_after(&self, place: &EventPosition, position: &StreamPosition) -> bool {
        let EventPlace::Log { log, count } = place.place else { return false };
        let had = usize::try_from(count.saturating_sub(self.first())).unwrap_or(usize::MAX);
        let mut of_shard = self.records.iter().skip(had).map(|logged| &logged.record.position);
        let first = of_shard.find(|one| one.shard == position.shard);
        log == self.name
            && first.is_some_and(|first| compare_sequences(&first.sequence, &position.sequence) != Ordering::Greater)
    }

    /// How many changes came before those that are here.
    fn first(&self) -> u64 {
        self.count - self.records.len() as u64
    }

    /// The place after so many of the changes that are here.
    fn place(&self, had: usize) -> EventPosition {
        let count = self.first() + had as u64;
        EventPosition { created: self.since, place: EventPlace::Log { log: self.name, count } }
    }

    /// Whether all changes here are of the position's shard, so that its sequence number determines all.
    fn is_of_one_shard(&self, position: &StreamPosition) -> bool {
        self.records.iter().all(|logged| logged.record.position.shard == position.shard)
    }

    fn filtered(&self, is_wanted: impl Fn(&LogEntry) -> bool) -> Vec<Arc<ChangeRecord>> {
        self.records.iter().filter(|logged| is_wanted(logged)).map(|logged| logged.record.clone()).collect()
    }
}

/// Whether a change may come after that of a position. Both have the clock of the stream.
pub fn is_after(record: &ChangeRecord, from: &EventPosition) -> bool {
    match from.change() {
        Some(position) if position.shard == record.position.shard => {
            compare_sequences(&record.position.sequence, &position.sequence) == Ordering::Greater
        }
        _ => record.created >= from.created - SHARD_LAG,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn record(sequence: u64, created: i64) -> Arc<ChangeRecord> {
        let position = StreamPosition { shard: "s".into(), sequence: sequence.to_string().into() };
        Arc::new(ChangeRecord { table: "t".into(), position, created, old: None, new: None })
    }

    fn after(log: &ChangeLog, from: &EventPosition) -> Option<Vec<String>> {
        log.after(from).map(|records| records.iter().map(|record| record.position.sequence.to_string()).collect())
    }

    #[test]
    fn who_has_had_no_change_goes_on_whatever_the_clock_of_the_stream_shows() {
        for created in [0, 940, 1_000, 9_000] {
            let mut log = ChangeLog::new(1_000);
            let begun = log.end(1_000);
            assert_eq!(after(&log, &begun), Some(vec![]));
            (1..4).for_each(|sequence| log.add(record(sequence, created), 1_001));
            assert_eq!(after(&log, &begun).unwrap(), ["1", "2", "3"]);
            // After a loss, too.
            log.break_off(1_002);
            assert_eq!(after(&log, &begun), None);
            let lost = log.end(1_002);
            assert_eq!(after(&log, &lost), Some(vec![]));
            log.break_off(1_002);
            assert_eq!(after(&log, &lost), None);
            let lost = log.end(1_002);
            log.add(record(4, created), 1_003);
            assert_eq!(after(&log, &lost).unwrap(), ["4"]);
        }
    }

    #[test]
    fn another_copy_knows_what_it_has_read_since() {
        let begun = ChangeLog::new(2_000).end(2_000);
        let mut other = ChangeLog::new(1_000);
        for (sequence, taken) in [(1, 1_900), (2, 1_990), (3, 2_100)] {
            other.add(record(sequence, 5), taken);
        }
        assert_eq!(after(&other, &begun).unwrap(), ["2", "3"]);
        // It may have begun later.
        assert_eq!(after(&ChangeLog::new(1_970), &begun), None);
    }

    #[test]
    fn what_has_left_is_missed() {
        let mut log = ChangeLog::new(1_000);
        let begun = log.end(1_000);
        (0..40_000).for_each(|sequence| log.add(record(sequence, 1), 1_001));
        assert_eq!(after(&log, &begun), None);
    }

    #[test]
    fn who_catches_up_stops_where_changes_stay_for_a_while() {
        let position =
            |shard: &str, sequence: u64| StreamPosition { shard: shard.into(), sequence: sequence.to_string().into() };
        let mut log = ChangeLog::new(1_000);
        assert_eq!(log.lasting(), log.reached());
        // The clock of the stream decides nothing.
        for (sequence, taken) in [(8, 1_001), (9, 1_030), (10, 1_031), (11, 1_032)] {
            log.add(record(sequence, 9_000), taken);
            assert_eq!(log.lasting() == log.reached(), taken < 1_031, "after {taken}");
        }
        let place = log.lasting();
        assert_eq!(after(&log, &place).unwrap(), ["10", "11"]);
        for (shard, sequence, has) in [("s", 9, false), ("s", 10, true), ("s", 11, true), ("other", 11, false)] {
            assert_eq!(log.has_after(&place, &position(shard, sequence)), has, "{sequence} of {shard}");
        }
        assert!(!log.has_after(&log.reached(), &position("s", 11)));
        let other = ChangeLog { name: log.name.wrapping_add(1), ..ChangeLog::new(1_000) };
        assert!(!log.has_after(&other.lasting(), &position("s", 11)));
        (12..40_000).for_each(|sequence| log.add(record(sequence, 9_000), 1_033));
        assert_eq!(after(&log, &place), None);
        assert!(log.has_after(&place, &position("s", 39_999)));
    }
}
