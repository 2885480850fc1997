//! The part of a partition that a read covers: the sort keys between two bounds. Must not know reads or calls.

use super::bounds::{KeyBound, bounds};
use super::values::{LAST, compare, compare_stored};
use crate::plan::tree::Occupant;
use crate::table::data::attribute::{Attribute, KeyValue};
use crate::table::data::call::SortCondition;
use std::cmp::Ordering;

/// Sort keys between two bounds.
#[derive(Debug, Clone, PartialEq)]
pub struct KeySpan {
    /// The lower bound.
    pub low: KeyBound,
    /// The upper bound.
    pub high: KeyBound,
}

/// On which side of a span a sort key lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpanSide {
    /// Below it.
    Below,
    /// In it.
    Within,
    /// Above it.
    Above,
}

impl KeySpan {
    /// The keys that meet a condition.
    pub fn new(condition: Option<&SortCondition>) -> Self {
        let (low, high) = bounds(condition);
        Self { low, high }
    }

    /// A single key.
    pub fn single(key: &KeyValue) -> Self {
        Self { low: Some((key.clone(), true)), high: Some((key.clone(), true)) }
    }

    /// Every key, and items without a sort key.
    pub fn everything() -> Self {
        Self { low: None, high: None }
    }

    /// On which side of the span a key lies.
    pub fn side(&self, key: &KeyValue) -> SpanSide {
        self.side_of(|end| compare(key, end))
    }

    /// On which side of the span a key lies, by its order to a bound.
    fn side_of(&self, order: impl Fn(&KeyValue) -> Ordering) -> SpanSide {
        let beyond = |end: &KeyBound, side: Ordering| {
            end.as_ref().is_some_and(|(end, inclusive)| match order(end) {
                Ordering::Equal => !inclusive,
                order => order == side,
            })
        };
        match (beyond(&self.low, Ordering::Less), beyond(&self.high, Ordering::Greater)) {
            (true, _) => SpanSide::Below,
            (false, true) => SpanSide::Above,
            (false, false) => SpanSide::Within,
        }
    }

    /// Whether an item's sort key lies in the span. An item without a sort key lies in the unbounded span only.
    pub fn holds(&self, sort: Option<&Attribute>) -> bool {
        match sort.filter(|sort| matches!(sort, Attribute::S(_) | Attribute::N(_) | Attribute::B(_))) {
            Some(sort) => self.side_of(|end| compare_stored(sort, end).unwrap_or(Ordering::Equal)) == SpanSide::Within,
            None => self.low.is_none() && self.high.is_none(),
        }
    }

    /// Whether the span is a single key with this prefix.
    fn is_key_like(&self, start: &str) -> bool {
        match (&self.low, &self.high) {
            (Some((KeyValue::S(low), true)), Some((KeyValue::S(high), true))) => low == high && low.starts_with(start),
            _ => false,
        }
    }

    /// How many items that the schema knows may lie between this span and another above it; `None` if there may be
    /// many.
    pub fn until(&self, above: &Self, occupants: &[Occupant]) -> Option<u32> {
        let (Some((from, with_from)), Some((to, with_to))) = (&self.high, &above.low) else { return Some(0) };
        match compare(from, to) {
            Ordering::Greater => return Some(0),
            Ordering::Equal if *with_from || *with_to => return Some(0),
            _ => {}
        }
        let (KeyValue::S(from), KeyValue::S(to)) = (from, to) else { return None };
        let mut items = 0;
        for Occupant { start, is_all, is_single } in occupants {
            let is_below = match is_all {
                true => start < from || start == from && *with_from,
                // A range without an upper bound ends with the last character.
                false => start < from && (!from.starts_with(start.as_str()) || from.strip_suffix(LAST) == Some(start)),
            };
            let is_above = start > to || start == to && *with_to;
            // The only such item is the one that is read.
            let is_own = *is_single && [self, above].iter().any(|span| span.is_key_like(start));
            match (is_below || is_above || is_own, is_single) {
                (true, _) => {}
                (false, true) => items += 1,
                (false, false) => return None,
            }
        }
        Some(items)
    }
}

/// The order of lower bounds: a lower bound lets in more.
pub fn compare_lows(left: &KeyBound, right: &KeyBound) -> Ordering {
    match (left, right) {
        (None, None) => Ordering::Equal,
        (None, Some(_)) => Ordering::Less,
        (Some(_), None) => Ordering::Greater,
        (Some((left, with_left)), Some((right, with_right))) => compare(left, right).then(with_right.cmp(with_left)),
    }
}

/// The order of upper bounds: a higher bound lets in more.
pub fn compare_highs(left: &KeyBound, right: &KeyBound) -> Ordering {
    match (left, right) {
        (None, None) => Ordering::Equal,
        (None, Some(_)) => Ordering::Greater,
        (Some(_), None) => Ordering::Less,
        (Some((left, with_left)), Some((right, with_right))) => compare(left, right).then(with_left.cmp(with_right)),
    }
}
