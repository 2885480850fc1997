//! Sort key conditions ↔ their lower and upper bounds. Must not know pages or cursors.

use super::values::compare;
use crate::table::data::attribute::KeyValue;
use crate::table::data::call::SortCondition;
use crate::table::data::limits::SORT_KEY_BYTES;
use crate::table::data::sort_range::last_with_prefix;
use std::cmp::Ordering;

/// A bound of a range of keys, and whether it is inclusive; `None` is open.
pub type KeyBound = Option<(KeyValue, bool)>;

/// The bounds of the keys that meet a condition.
pub fn bounds(condition: Option<&SortCondition>) -> (KeyBound, KeyBound) {
    use SortCondition::{BeginsWith, Between, Equal, Greater, GreaterOrEqual, Less, LessOrEqual};
    let with = |value: &KeyValue| Some((value.clone(), true));
    let without = |value: &KeyValue| Some((value.clone(), false));
    match condition {
        None => (None, None),
        Some(Equal(value)) => (with(value), with(value)),
        Some(Less(value)) => (None, without(value)),
        Some(LessOrEqual(value)) => (None, with(value)),
        Some(Greater(value)) => (without(value), None),
        Some(GreaterOrEqual(value)) => (with(value), None),
        Some(Between(low, high)) => (with(low), with(high)),
        Some(BeginsWith(start)) => (with(start), behind(start)),
    }
}

/// The condition of the keys between two bounds, at least one of which is given; `None` if no key meets it. BETWEEN
/// includes its bounds, so exclusive ones are added to `excluded`.
pub fn between(lower: KeyBound, upper: KeyBound, excluded: &mut Vec<KeyValue>) -> Option<SortCondition> {
    Some(match (lower, upper) {
        (Some((low, with_low)), Some((high, with_high))) => {
            let out = |key: &KeyValue, inclusive: bool| {
                !inclusive || excluded.iter().any(|end| compare(end, key) == Ordering::Equal)
            };
            match compare(&low, &high) {
                Ordering::Greater => return None,
                Ordering::Equal if out(&low, with_low) || out(&high, with_high) => return None,
                _ => {}
            }
            excluded.extend((!with_low).then(|| low.clone()));
            excluded.extend((!with_high).then(|| high.clone()));
            SortCondition::Between(low, high)
        }
        (Some((low, true)), None) => SortCondition::GreaterOrEqual(low),
        (Some((low, false)), None) => SortCondition::Greater(low),
        (None, Some((high, true))) => SortCondition::LessOrEqual(high),
        (None, Some((high, false))) => SortCondition::Less(high),
        (None, None) => return None,
    })
}

/// The upper bound of all keys that begin with a text or with bytes.
fn behind(start: &KeyValue) -> KeyBound {
    match start {
        KeyValue::S(start) => match next_text(start) {
            Some(next) if next.len() > SORT_KEY_BYTES => Some((KeyValue::S(last_with_prefix(start)), true)),
            next => next.map(|next| (KeyValue::S(next), false)),
        },
        KeyValue::B(start) => {
            let last = start.iter().rposition(|byte| *byte < u8::MAX)?;
            let mut next = start[..=last].to_vec();
            next[last] += 1;
            Some((KeyValue::B(next), false))
        }
        KeyValue::N(_) => None,
    }
}

/// The first text after all that begin with this one (by UTF-8 bytes, which is by code points).
fn next_text(start: &str) -> Option<String> {
    let (last, letter) = start.char_indices().rfind(|(_, letter)| *letter < char::MAX)?;
    let next = (letter..=char::MAX).nth(1)?;
    Some(format!("{}{next}", &start[..last]))
}
