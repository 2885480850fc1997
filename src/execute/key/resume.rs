//! A position in the merged order of several key ranges in, what remains of each range after it out. Must not know
//! cursors or calls.
//!
//! The merged order is total: by the compared part of the sort key, then by the position of the range, then by the
//! order within the range. So one item determines where a list resumes. Its own range resumes after its key. Any other
//! range resumes after the sort keys that compare equal to the item's, or at them, depending on its position.

use super::bounds::{KeyBound, between, bounds};
use super::range::KeyRange;
use super::values::compare;
use crate::table::data::attribute::KeyValue;
use crate::table::data::limits::SORT_KEY_BYTES;
use crate::table::data::sort_range::last_with_prefix;
use std::cmp::Ordering;

/// The point in the merged order right after an item.
#[derive(Debug)]
pub struct ResumePoint {
    /// The position of the item's range.
    pub range: usize,
    /// The sort key attribute and the compared part of the item's key ([`KeyRange::compared`]). `None` if there is no
    /// sort key; then the ranges follow one another.
    pub key: Option<(String, KeyValue)>,
    /// Whether sort keys are read in ascending order.
    pub ascending: bool,
    /// Break ties by descending range position: for paging backward.
    pub last_first: bool,
}

impl ResumePoint {
    /// What remains of each of these ranges; `None` where nothing can. The item's own range stays as it is, since a
    /// Query itself resumes after the item's key.
    pub fn rest_of_all(&self, ranges: &[KeyRange]) -> Vec<Option<KeyRange>> {
        let rest = |(position, range): (usize, &KeyRange)| match position == self.range {
            true => Some(range.clone()),
            false => self.rest_of(position, range),
        };
        ranges.iter().enumerate().map(rest).collect()
    }

    /// What remains of the range at another position; `None` if nothing can.
    fn rest_of(&self, position: usize, range: &KeyRange) -> Option<KeyRange> {
        let same_key_follows = if self.last_first { position < self.range } else { position > self.range };
        let Some((attribute, key)) = &self.key else { return same_key_follows.then(|| range.clone()) };
        let (lower, upper) = bounds(range.sort.as_ref().map(|(_, condition)| condition));
        let end = self.within_limits(in_range(key, range.prefix, &lower), same_key_follows);
        let (lower, upper) = match self.ascending {
            true if cuts_off(&end, &lower, Ordering::Greater) => (Some(end), upper),
            false if cuts_off(&end, &upper, Ordering::Less) => (lower, Some(end)),
            _ => return Some(range.clone()),
        };
        let mut rest = range.clone();
        rest.sort = Some((attribute.clone(), between(lower, upper, &mut rest.excluded)?));
        Some(rest)
    }

    /// The bound at a key. A range with a long prefix may resume at a key that is longer than any key can be.
    fn within_limits(&self, key: KeyValue, inclusive: bool) -> (KeyValue, bool) {
        match key {
            // No item has such a key. It lies right after the last key that begins like it.
            KeyValue::S(text) if text.len() > SORT_KEY_BYTES => (KeyValue::S(last_with_prefix(&text)), !self.ascending),
            key => (key, inclusive),
        }
    }
}

/// A compared key with the prefix of a range, which its lower bound begins with.
fn in_range(key: &KeyValue, prefix: usize, lower: &KeyBound) -> KeyValue {
    match (key, lower) {
        (KeyValue::S(text), Some((KeyValue::S(low), _))) => {
            KeyValue::S(format!("{}{text}", low.get(..prefix).unwrap_or_default()))
        }
        _ => key.clone(),
    }
}

/// Whether a bound leaves less of a range than its own bound on that side.
fn cuts_off((key, inclusive): &(KeyValue, bool), end: &KeyBound, beyond: Ordering) -> bool {
    end.as_ref().is_none_or(|(known, known_inclusive)| match compare(key, known) {
        Ordering::Equal => *known_inclusive && !inclusive,
        order => order == beyond,
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
mod tests {
    use super::*;
    use crate::table::data::call::SortCondition;
    use proptest::prelude::*;

    /// Whether a key is in a range, by DynamoDB's rules.
    fn holds(range: &KeyRange, key: &KeyValue) -> bool {
        use SortCondition::*;
        let is = |value: &KeyValue| compare(key, value);
        let met = range.sort.as_ref().is_none_or(|(_, condition)| match condition {
            Equal(value) => is(value).is_eq(),
            Less(value) => is(value).is_lt(),
            LessOrEqual(value) => is(value).is_le(),
            Greater(value) => is(value).is_gt(),
            GreaterOrEqual(value) => is(value).is_ge(),
            Between(low, high) => is(low).is_ge() && is(high).is_le(),
            BeginsWith(start) => match (start, key) {
                (KeyValue::S(start), KeyValue::S(text)) => text.starts_with(start.as_str()),
                (KeyValue::B(start), KeyValue::B(bytes)) => bytes.starts_with(start),
                _ => false,
            },
        });
        met && !range.excludes(&key.clone().into())
    }

    /// Keys of one kind: short ones of few letters, so that many are equal or prefixes of others, and some of the
    /// longest texts.
    fn keys() -> impl Strategy<Value = Vec<KeyValue>> {
        const LETTERS: [&str; 9] =
            ["a", "b", "\u{7F}", "\u{80}", "\u{D7FF}", "\u{E000}", "\u{FFFF}", "\u{10000}", "\u{10FFFF}"];
        let text = (
            proptest::collection::vec(proptest::sample::select(&LETTERS[..]), 1..4),
            prop_oneof![4 => Just(0), 1 => 1015usize..1024],
        );
        let text = text.prop_map(|(letters, fill)| {
            let text = format!("{}{}", "a".repeat(fill), letters.concat());
            KeyValue::S(text[..text.floor_char_boundary(SORT_KEY_BYTES)].to_owned())
        });
        let number = prop_oneof![Just("1.0"), Just("1"), Just("-2"), Just("10"), Just("9"), Just("0")]
            .prop_map(|text| KeyValue::N(text.into()));
        let bytes = proptest::collection::vec(prop_oneof![Just(0u8), Just(7), Just(255)], 1..4).prop_map(KeyValue::B);
        prop_oneof![
            3 => proptest::collection::vec(text, 6..30),
            1 => proptest::collection::vec(number, 6..30),
            1 => proptest::collection::vec(bytes, 6..30)
        ]
    }

    fn condition(kind: usize, low: &KeyValue, high: &KeyValue) -> Option<SortCondition> {
        use SortCondition::*;
        let (low, high) = (low.clone(), high.clone());
        Some(match kind {
            0 => return None,
            1 => Equal(low),
            2 => Less(low),
            3 => LessOrEqual(low),
            4 => Greater(low),
            5 => GreaterOrEqual(low),
            6 if compare(&low, &high).is_le() => Between(low, high),
            6 => Between(high, low),
            _ if matches!(low, KeyValue::N(_)) => return None,
            _ => BeginsWith(low),
        })
    }

    fn range(sort: Option<SortCondition>, prefix: usize, excluded: Vec<KeyValue>) -> KeyRange {
        KeyRange {
            partition: None,
            equal: vec![],
            sort: sort.map(|sort| ("sk".to_owned(), sort)),
            excluded,
            prefix,
            begins_with: None,
            values: vec![],
        }
    }

    fn cut(at: &KeyValue, position: usize, ascending: bool, last_first: bool) -> ResumePoint {
        ResumePoint { range: position, key: Some(("sk".to_owned(), at.clone())), ascending, last_first }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn the_rest_of_a_range_is_what_of_it_comes_after_the_cut(
            keys in keys(), kind in 0usize..8, excludes: bool, position in 0usize..3, ascending: bool, last_first: bool
        ) {
            let [at, low, high, keys @ ..] = keys.as_slice() else { panic!() };
            let range = range(condition(kind, low, high), 0, if excludes { vec![low.clone()] } else { vec![] });
            let rest = cut(at, 1, ascending, last_first).rest_of(position, &range);
            for key in keys.iter().chain([at, low, high]) {
                let after = match compare(key, at) {
                    Ordering::Equal => if last_first { position < 1 } else { position > 1 },
                    Ordering::Greater => ascending,
                    Ordering::Less => !ascending,
                };
                let is = rest.as_ref().is_some_and(|rest| holds(rest, key));
                let expected = after && holds(&range, key);
                prop_assert_eq!(is, expected, "{:?} of {:?} behind {:?}: {:?}", key, range, at, rest);
            }
            if let Some(KeyRange { sort: Some((_, SortCondition::Between(low, high))), .. }) = &rest {
                prop_assert!(compare(low, high).is_le(), "DynamoDB refuses it");
            }
        }

        #[test]
        fn ranges_that_begin_differently_are_cut_at_the_same_place(
            (start, at, key) in ("[ab]{0,4}", "[ab]{1,3}", "[ab]{0,3}"), long: bool, ascending: bool, last_first: bool
        ) {
            // With a long beginning, the place itself is beyond the longest sort key.
            let start = if long { format!("{}{start}#", "a".repeat(1017)) } else { format!("{start}#") };
            let range = range(Some(SortCondition::BeginsWith(KeyValue::S(start.clone()))), start.len(), vec![]);
            let rest = cut(&KeyValue::S(at.clone()), 0, ascending, last_first).rest_of(1, &range);
            let whole = format!("{start}{key}");
            prop_assume!(whole.len() <= SORT_KEY_BYTES);
            let after = if key == at { !last_first } else { (key > at) == ascending };
            prop_assert_eq!(rest.as_ref().is_some_and(|rest| holds(rest, &KeyValue::S(whole))), after, "{:?}", rest);
            let sort = rest.and_then(|rest| rest.sort);
            if let Some((_, SortCondition::Between(KeyValue::S(low), KeyValue::S(high)))) = sort {
                prop_assert!(low.len() <= SORT_KEY_BYTES && high.len() <= SORT_KEY_BYTES, "DynamoDB refuses it");
            }
        }
    }

    #[test]
    fn without_sort_keys_the_ranges_follow_one_another() {
        let after = |position: usize, last_first: bool| {
            ResumePoint { range: 1, key: None, ascending: true, last_first }
                .rest_of(position, &range(None, 0, vec![]))
                .is_some()
        };
        assert_eq!([after(0, false), after(2, false), after(0, true), after(2, true)], [false, true, true, false]);
    }
}
