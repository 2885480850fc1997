//! The last changes of a table, for subscribers that come back. Bounded in bytes.

use super::event_id::EventPosition;
use crate::table::stream::record::{ChangeRecord, compare_sequences};
use std::cmp::Ordering;
use std::collections::VecDeque;
use std::sync::Arc;

/// The most bytes of a table's last changes.
const LOG_BYTES: usize = 8 << 20;
/// How much later, in seconds, the changes of one shard may be read than those of another. A subscriber that comes back gets the changes of
/// other shards from this long before its last event, some of them again.
pub const SHARD_LAG: i64 = 30;

/// The last changes of a table, in the order in which they were read.
#[derive(Debug)]
pub struct ChangeLog {
    records: VecDeque<Arc<ChangeRecord>>,
    bytes: usize,
    /// All changes of this second and later ones are here.
    since: i64,
}

impl ChangeLog {
    /// No changes yet: those after this second will come.
    pub fn new(begun: i64) -> Self {
        Self { records: VecDeque::new(), bytes: 0, since: begun + 1 }
    }

    /// Adds a change. The oldest ones leave when there are too many bytes.
    pub fn add(&mut self, record: Arc<ChangeRecord>) {
        self.bytes += record.bytes();
        self.records.push_back(record);
        while self.bytes > LOG_BYTES
            && let Some(oldest) = self.records.pop_front()
        {
            self.bytes -= oldest.bytes();
            self.since = self.since.max(oldest.created + 1);
        }
    }

    /// Forgets everything: changes are missing.
    pub fn break_off(&mut self, now: i64) {
        *self = Self::new(now);
    }

    /// The position after all changes so far.
    pub fn end(&self, now: i64) -> EventPosition {
        self.records.back().map_or(EventPosition { created: now, position: None }, |last| EventPosition::of(last))
    }

    /// The changes after a position. `None` if they are not all here.
    pub fn after(&self, from: &EventPosition) -> Option<Vec<Arc<ChangeRecord>>> {
        let has_own = from.position.as_ref().is_none_or(|position| {
            let is_it = |record: &Arc<ChangeRecord>| record.position == *position;
            self.records.iter().any(is_it)
        });
        let slack = if self.is_of_one_shard(from) { 0 } else { SHARD_LAG };
        if !has_own || (slack > 0 && from.created - slack < self.since) {
            return None;
        }
        Some(self.records.iter().filter(|record| is_after(record, from)).cloned().collect())
    }

    /// The second after whose changes the log surely has all, for a subscriber that goes on after a position.
    pub fn complete_after(&self, from: &EventPosition) -> i64 {
        self.since + if self.is_of_one_shard(from) { 0 } else { SHARD_LAG }
    }

    /// Whether all changes here are of the position's shard, so that its sequence number tells all.
    fn is_of_one_shard(&self, from: &EventPosition) -> bool {
        from.position.as_ref().is_some_and(|position| self.records.iter().all(|record| record.position.shard == position.shard))
    }
}

/// Whether a change may come after a position.
pub fn is_after(record: &ChangeRecord, from: &EventPosition) -> bool {
    match &from.position {
        Some(position) if position.shard == record.position.shard => {
            compare_sequences(&record.position.sequence, &position.sequence) == Ordering::Greater
        }
        _ => record.created >= from.created - SHARD_LAG,
    }
}
