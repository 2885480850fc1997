//! What pages of a range have yielded in; how many items the next first page reads out, so that a second page is the
//! exception. Must not know how a page is read.
//!
//! Of a filter, of items of several types and of ranges with items of other types, nothing says before how many items
//! must be read for those that are wanted. This process counts how many it read and how many of them it found.

use foldhash::quality::RandomState;
use quick_cache::sync::Cache;
use std::hash::{BuildHasher, Hash};

/// How many kinds of ranges are kept, in less than 300 kB.
const KINDS: usize = 4_096;
/// A page counts once as much as all pages before it from this many on: what is found changes with time.
const REMEMBERED: f32 = 0.9;
/// With fewer items read, nothing is known.
const FEWEST: f32 = 100.0;
/// How many deviations a page reads beyond what is expected: 2 find enough in 49 pages of 50.
const DEVIATIONS: f32 = 2.0;
/// A first page reads at most so many times what one reads where few items are wanted and nothing is known.
const MOST: u32 = 4;
/// One of so many items is taken for wanted if a filter leaves items out or there are several types, and nothing is
/// known.
pub const FOUND_AMONG: u32 = 4;

/// What pages of each kind of range have yielded.
#[derive(Debug)]
pub struct PageYields {
    hasher: RandomState,
    /// `None` if nothing is learned.
    kinds: Option<Cache<u64, PageYield>>,
}

/// What pages have yielded; the last ones count most.
#[derive(Debug, Clone, Copy, Default)]
struct PageYield {
    read: f32,
    found: f32,
}

/// A kind of range: ranges of one kind yield alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RangeKind(u64);

/// How many items a first page reads while nothing is known.
#[derive(Debug, Clone, Copy)]
pub struct UsualPage {
    /// If all may be wanted.
    pub first: u32,
    /// If few are: enough where one of [`FOUND_AMONG`] is found. The plan's cost counts with it.
    pub sparse: u32,
    /// At least so many are read, since fewer cost the same.
    pub least: u32,
}

impl PageYields {
    /// Nothing is known. `learns` says whether anything ever will be.
    pub fn new(learns: bool) -> Self {
        Self { hasher: RandomState::default(), kinds: learns.then(|| Cache::new(KINDS)) }
    }

    /// Whether anything is learned.
    pub fn learns(&self) -> bool {
        self.kinds.is_some()
    }

    /// The kind of the ranges that have this in common.
    pub fn kind(&self, common: impl Hash) -> RangeKind {
        RangeKind(self.hasher.hash_one(common))
    }

    /// A page of this kind has read so many items, and found so many of those that are wanted.
    pub fn add(&self, kind: RangeKind, read: u32, found: usize) {
        let Some(kinds) = self.kinds.as_ref().filter(|_| read > 0) else { return };
        let PageYield { read: before, found: found_before } = kinds.get(&kind.0).unwrap_or_default();
        let next =
            PageYield { read: before * REMEMBERED + read as f32, found: found_before * REMEMBERED + found as f32 };
        kinds.insert(kind.0, next);
    }

    /// How many items a first page reads to find `open` of this kind.
    pub fn first_page(&self, kind: RangeKind, open: u32, usual: UsualPage) -> u32 {
        let known = self.kinds.as_ref().and_then(|kinds| kinds.get(&kind.0)).filter(|known| known.read >= FEWEST);
        let Some(PageYield { read, found }) = known else { return usual.first };
        // One item is found at least, or else the page would have no end.
        let share = (found.max(1.0) / read).min(1.0);
        // The number of items up to the last wanted one has a negative binomial distribution.
        let expected = open as f32 / share;
        let deviation = (open as f32 * (1.0 - share)).sqrt() / share;
        let needed = (expected + DEVIATIONS * deviation).ceil().min(u32::MAX as f32) as u32;
        let is_usual = share * FOUND_AMONG as f32 >= 1.0;
        let most = if is_usual { usual.sparse } else { usual.sparse.saturating_mul(MOST) };
        needed.max(open).max(usual.least).min(most.max(open))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const USUAL: UsualPage = UsualPage { first: 50, sparse: 50, least: 10 };

    #[test]
    fn a_first_page_reads_what_pages_before_it_needed() {
        let yields = PageYields::new(true);
        let [rare, usual, most] = ["rare", "usual", "most"].map(|name| yields.kind(name));
        assert_eq!(yields.first_page(rare, 10, USUAL), 50);
        for _ in 0..10 {
            yields.add(rare, 50, 5);
            yields.add(usual, 50, 20);
            yields.add(most, 50, 50);
        }
        assert_eq!(yields.first_page(rare, 10, USUAL), 160, "100 and two deviations of 30");
        assert_eq!(yields.first_page(usual, 10, USUAL), 38);
        assert_eq!(yields.first_page(usual, 10, UsualPage { first: 10, ..USUAL }), 38);
        assert_eq!(yields.first_page(most, 10, USUAL), 10);
        assert_eq!(yields.first_page(most, 1, USUAL), 10, "ten small items cost as much as one");
        assert_eq!(yields.first_page(rare, 1_000, UsualPage { sparse: 1_000, ..USUAL }), 4_000);
    }

    #[test]
    fn nothing_found_reads_a_bound_and_what_changes_is_learned() {
        let yields = PageYields::new(true);
        let kind = yields.kind(("table", 1));
        yields.add(kind, 99, 0);
        assert_eq!(yields.first_page(kind, 10, USUAL), 50, "too little is known");
        yields.add(kind, 99, 0);
        assert_eq!(yields.first_page(kind, 10, USUAL), 200);
        for _ in 0..40 {
            yields.add(kind, 50, 50);
        }
        assert_eq!(yields.first_page(kind, 10, USUAL), 11);
        let none = PageYields::new(false);
        none.add(none.kind(1), 500, 1);
        assert_eq!((none.learns(), none.first_page(none.kind(1), 10, USUAL)), (false, 50));
    }
}
