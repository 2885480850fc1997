//! Tags in; out: whether what hangs on them has changed since it was read. Must not know what a tag stands for.
//!
//! An answer hangs on tags, and a change drops tags. Each watched tag has a flag, which all answers on the tag share; a
//! change raises it and forgets it, so the next answer gets a new one. Whether an answer is still right is then read
//! without a lock.
//!
//! An answer of several items learns only at its end on which items it hangs. And an eventually consistent read may
//! give what was there a moment ago. So the latest changes are remembered: what was asked for before a change, or less
//! than the *hold-off* after it, is not kept.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// For how long changes are remembered beyond the hold-off. What is read for longer is not kept.
const REMEMBERED: Duration = Duration::from_secs(5);
/// The memory of a remembered change: two places, each with a tag and a time, of which a fifth may be empty.
const CHANGE_BYTES: u64 = 80;
/// Dead flags are swept when there are twice as many as after the last time, and at least this many more.
const SWEPT: usize = 1024;

/// A hash of what an answer hangs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Tag(pub(super) u64);

type Flag = Arc<AtomicBool>;

/// What an answer hangs on, from the moment when it is asked for.
#[derive(Debug, Clone)]
pub(super) struct WatchedTags {
    begun: Instant,
    tags: Vec<(Tag, Flag)>,
}

impl WatchedTags {
    /// Whether nothing that it hangs on has changed.
    pub(super) fn is_current(&self) -> bool {
        !self.tags.iter().any(|(_, changed)| changed.load(Ordering::Acquire))
    }

    /// Whether it was asked for less than this time ago.
    pub(super) fn is_younger(&self, age: Duration, now: Instant) -> bool {
        now.saturating_duration_since(self.begun) < age
    }

    /// How many tags it has.
    pub(super) fn tags(&self) -> usize {
        self.tags.len()
    }
}

/// The tags that answers hang on, and the latest changes.
#[derive(Debug)]
pub(super) struct Watches {
    known: Mutex<TagFlags>,
    hold_off: Duration,
    /// How many changes are remembered.
    most: usize,
}

#[derive(Debug, Default)]
struct TagFlags {
    /// The flags of tags, of which none is raised.
    flags: HashMap<Tag, Flag>,
    /// The last change of each remembered tag.
    changed: HashMap<Tag, Instant>,
    /// The remembered changes, the oldest first.
    order: VecDeque<(Tag, Instant)>,
    /// The time up to which changes may be forgotten.
    forgotten: Option<Instant>,
    /// How many flags there may be before the dead ones are swept.
    sweep_at: usize,
}

impl Watches {
    /// Nothing is watched. The latest changes take up to this many bytes.
    pub(super) fn new(bytes: u64, hold_off: Duration) -> Self {
        let most = usize::try_from(bytes / CHANGE_BYTES).unwrap_or(usize::MAX);
        Self { known: Mutex::default(), hold_off, most }
    }

    /// Watches tags from now on.
    pub(super) fn watch(&self, tags: Vec<Tag>) -> WatchedTags {
        let mut known = self.known();
        // The clock is read under the lock: changes and answers then have one order.
        WatchedTags { begun: Instant::now(), tags: tags.into_iter().map(|tag| (tag, known.flag(tag))).collect() }
    }

    /// Adds the tags that are known only now. `None` if the answer must not be kept: it hangs on something that has
    /// changed since it was asked for, or shortly before.
    pub(super) fn keep(&self, watch: &WatchedTags, more: Vec<Tag>) -> Option<WatchedTags> {
        let mut known = self.known();
        let is_late = |changed: Instant| changed + self.hold_off >= watch.begun;
        let has_changed = |tag: &Tag| known.changed.get(tag).is_some_and(|changed| is_late(*changed));
        let of_watch = watch.tags.iter().map(|(tag, _)| tag);
        if known.forgotten.is_some_and(is_late) || !watch.is_current() || of_watch.chain(&more).any(has_changed) {
            return None;
        }
        let mut tags = watch.tags.clone();
        tags.extend(more.into_iter().map(|tag| (tag, known.flag(tag))));
        tags.shrink_to_fit();
        Some(WatchedTags { begun: watch.begun, tags })
    }

    /// Drops what hangs on these tags.
    pub(super) fn change(&self, tags: &[Tag]) {
        let mut known = self.known();
        let now = Instant::now();
        for tag in tags {
            if let Some(flag) = known.flags.remove(tag) {
                flag.store(true, Ordering::Release);
            }
            known.changed.insert(*tag, now);
            known.order.push_back((*tag, now));
        }
        known.forget(self.most, now.checked_sub(self.hold_off + REMEMBERED));
    }

    /// Drops everything.
    pub(super) fn change_all(&self) {
        let mut known = self.known();
        known.flags.drain().for_each(|(_, flag)| flag.store(true, Ordering::Release));
        known.changed.clear();
        known.order.clear();
        known.forgotten = Some(Instant::now());
    }

    fn known(&self) -> MutexGuard<'_, TagFlags> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl TagFlags {
    fn flag(&mut self, tag: Tag) -> Flag {
        if self.flags.len() >= self.sweep_at.max(SWEPT) {
            self.flags.retain(|_, flag| Arc::strong_count(flag) > 1);
            self.sweep_at = 2 * self.flags.len() + SWEPT;
        }
        self.flags.entry(tag).or_default().clone()
    }

    /// Forgets what was changed until then, and the oldest changes beyond this many.
    fn forget(&mut self, most: usize, until: Option<Instant>) {
        while let Some((tag, changed)) = self.order.front().copied() {
            if self.order.len() <= most && until.is_none_or(|until| changed > until) {
                break;
            }
            self.order.pop_front();
            if self.changed.get(&tag) == Some(&changed) {
                self.changed.remove(&tag);
            }
            self.forgotten = Some(changed);
        }
    }
}
