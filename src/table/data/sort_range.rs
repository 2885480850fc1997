//! Sort key conditions in; what is left of them within the limits of DynamoDB's keys out. Must not know the AWS SDK.
//!
//! DynamoDB refuses a bound that is longer than any key, and a range that ends before it begins.

use super::attribute::KeyValue;
use super::call::{Query, SortCondition};
use super::key_identity::{partition_can_exist, sort_can_exist};
use super::limits::SORT_KEY_BYTES;
use crate::schema::table::number::Number;
use std::borrow::Cow;
use std::cmp::Ordering;

/// The query with a condition that DynamoDB accepts, or without one if every key meets it; `None` if no key can meet
/// it.
pub(in crate::table) fn satisfiable(query: &Query) -> Option<Cow<'_, Query>> {
    let Some((_, partition)) = &query.partition else { return Some(Cow::Borrowed(query)) };
    if !partition_can_exist(partition) || !query.equal.iter().all(|(_, value)| partition_can_exist(value)) {
        return None;
    }
    let Some((name, condition)) = &query.sort else { return Some(Cow::Borrowed(query)) };
    let sort = match reduce(condition) {
        Range::Nothing => return None,
        Range::Everything => None,
        Range::Unchanged => return Some(Cow::Borrowed(query)),
        Range::Condition(reduced) => Some((name.clone(), reduced)),
    };
    Some(Cow::Owned(Query { sort, ..query.clone() }))
}

/// What is left of a sort condition.
#[derive(Debug, PartialEq)]
enum Range {
    /// No key meets it: there is nothing to read.
    Nothing,
    /// Every key meets it: the call needs no condition.
    Everything,
    /// The condition as it is.
    Unchanged,
    /// Another condition to send.
    Condition(SortCondition),
}

/// Reduces a sort condition: every key is longer than the empty text, none is longer than the longest, and a range that
/// ends before it begins is empty. (DynamoDB answers all of these with a ValidationException.)
fn reduce(condition: &SortCondition) -> Range {
    use SortCondition::{BeginsWith, Between, Equal, Greater, GreaterOrEqual, Less, LessOrEqual};
    match condition {
        Equal(value) if !sort_can_exist(value) => Range::Nothing,
        BeginsWith(value) if is_empty(value) => Range::Everything,
        BeginsWith(value) if !sort_can_exist(value) => Range::Nothing,
        Less(value) | LessOrEqual(value) if is_empty(value) => Range::Nothing,
        Greater(value) | GreaterOrEqual(value) if is_empty(value) => Range::Everything,
        Less(value) | LessOrEqual(value) if is_too_long(value) => Range::Condition(LessOrEqual(last_before(value))),
        Greater(value) | GreaterOrEqual(value) if is_too_long(value) => match first_after(value) {
            Some(first) => Range::Condition(GreaterOrEqual(first)),
            None => Range::Nothing,
        },
        Between(low, high) if is_too_long(low) => match first_after(low) {
            Some(first) => reduced(Between(first, high.clone())),
            None => Range::Nothing,
        },
        Between(low, high) if is_too_long(high) => reduced(Between(low.clone(), last_before(high))),
        Between(_, high) if is_empty(high) => Range::Nothing,
        Between(low, high) if is_empty(low) => Range::Condition(LessOrEqual(high.clone())),
        Between(low, high) if compare(low, high) == Some(Ordering::Greater) => Range::Nothing,
        _ => Range::Unchanged,
    }
}

/// What is left of a condition that took the place of another.
fn reduced(condition: SortCondition) -> Range {
    match reduce(&condition) {
        Range::Unchanged => Range::Condition(condition),
        other => other,
    }
}

fn is_empty(value: &KeyValue) -> bool {
    match value {
        KeyValue::S(text) => text.is_empty(),
        KeyValue::B(bytes) => bytes.is_empty(),
        KeyValue::N(_) => false,
    }
}

/// The order of two values of one type in DynamoDB: texts by their UTF-8 bytes, numbers by size; `None` for different
/// types.
fn compare(a: &KeyValue, b: &KeyValue) -> Option<Ordering> {
    match (a, b) {
        (KeyValue::S(a), KeyValue::S(b)) => Some(a.as_bytes().cmp(b.as_bytes())),
        (KeyValue::B(a), KeyValue::B(b)) => Some(a.cmp(b)),
        (KeyValue::N(a), KeyValue::N(b)) => Some(Number::parse(a).ok()?.cmp(&Number::parse(b).ok()?)),
        _ => None,
    }
}

/// Whether a value is longer than any sort key.
fn is_too_long(value: &KeyValue) -> bool {
    match value {
        KeyValue::S(text) => text.len() > SORT_KEY_BYTES,
        KeyValue::B(bytes) => bytes.len() > SORT_KEY_BYTES,
        KeyValue::N(_) => false,
    }
}

/// The last sort key before a value that is longer than any sort key.
fn last_before(value: &KeyValue) -> KeyValue {
    match value {
        KeyValue::S(text) => KeyValue::S(last_with_prefix(text)),
        KeyValue::B(bytes) => KeyValue::B(bytes[..bytes.len().min(SORT_KEY_BYTES)].to_vec()),
        KeyValue::N(_) => value.clone(),
    }
}

/// The first sort key after a value that is longer than any sort key; `None` if there is none.
fn first_after(value: &KeyValue) -> Option<KeyValue> {
    match value {
        KeyValue::S(text) => first_text_after(text).map(KeyValue::S),
        KeyValue::B(bytes) => {
            let start = &bytes[..bytes.len().min(SORT_KEY_BYTES)];
            let last = start.iter().rposition(|byte| *byte < u8::MAX)?;
            let mut next = start[..=last].to_vec();
            next[last] += 1;
            Some(KeyValue::B(next))
        }
        KeyValue::N(_) => Some(value.clone()),
    }
}

/// The last sort key with this prefix.
pub fn last_with_prefix(start: &str) -> String {
    let mut text = start[..start.floor_char_boundary(SORT_KEY_BYTES)].to_owned();
    // The last letters of four bytes, of three, of two and of one.
    for letter in [char::MAX, '\u{FFFF}', '\u{7FF}', '\u{7F}'] {
        while text.len() + letter.len_utf8() <= SORT_KEY_BYTES {
            text.push(letter);
        }
    }
    text
}

/// The first sort key after a text: its longest prefix whose last letter has a next one, with that letter. Texts are
/// ordered by their UTF-8 bytes, which is the order of code points.
fn first_text_after(text: &str) -> Option<String> {
    let within = |(at, _): &(usize, char)| *at < SORT_KEY_BYTES;
    text.char_indices().take_while(within).collect::<Vec<_>>().into_iter().rev().find_map(|(at, letter)| {
        let next = (letter..=char::MAX).nth(1)?;
        (at + next.len_utf8() <= SORT_KEY_BYTES).then(|| format!("{}{next}", &text[..at]))
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn s(text: &str) -> KeyValue {
        KeyValue::S(text.to_owned())
    }

    #[test]
    fn conditions_are_reduced() {
        use SortCondition::*;
        let n = |text: &str| KeyValue::N(text.into());
        let (long, longest) = (|letter: &str| s(&letter.repeat(1025)), |letter: &str| s(&letter.repeat(1024)));
        for (condition, range) in [
            (Equal(s("")), Range::Nothing),
            (Equal(s("a")), Range::Unchanged),
            (Equal(n("many")), Range::Nothing),
            (BeginsWith(s("")), Range::Everything),
            (BeginsWith(s(&"a".repeat(1025))), Range::Nothing),
            (Less(s("")), Range::Nothing),
            (LessOrEqual(s("")), Range::Nothing),
            (Greater(s("")), Range::Everything),
            (GreaterOrEqual(s("")), Range::Everything),
            (Less(long("b")), Range::Condition(LessOrEqual(longest("b")))),
            (LessOrEqual(long("b")), Range::Condition(LessOrEqual(longest("b")))),
            (Greater(long("b")), Range::Condition(GreaterOrEqual(s(&format!("{}c", "b".repeat(1023)))))),
            (GreaterOrEqual(long("b")), Range::Condition(GreaterOrEqual(s(&format!("{}c", "b".repeat(1023)))))),
            (Greater(long("\u{10FFFF}")), Range::Nothing),
            (Between(s("a"), long("b")), Range::Condition(Between(s("a"), longest("b")))),
            (Between(s(""), long("b")), Range::Condition(LessOrEqual(longest("b")))),
            (
                Between(long("b"), long("c")),
                Range::Condition(Between(s(&format!("{}c", "b".repeat(1023))), longest("c"))),
            ),
            (Between(long("b"), long("b")), Range::Nothing),
            (Between(long("b"), s("b")), Range::Nothing),
            (Between(s("b"), s("a")), Range::Nothing),
            (Between(s("a"), s("")), Range::Nothing),
            (Between(s(""), s("z")), Range::Condition(LessOrEqual(s("z")))),
            (Between(s("a"), s("a")), Range::Unchanged),
            (Between(n("87"), n("350")), Range::Unchanged),
            (Between(n("350"), n("87")), Range::Nothing),
            (Between(s("\u{ffff}"), s("\u{10000}")), Range::Unchanged),
        ] {
            assert_eq!(reduce(&condition), range, "{condition:?}");
        }
    }

    const LETTERS: [&str; 10] =
        ["\u{0}", "a", "\u{7F}", "\u{80}", "\u{7FF}", "\u{800}", "\u{D7FF}", "\u{FFFF}", "\u{10000}", "\u{10FFFF}"];

    /// Texts around the longest key, which begin alike and go on with letters of any length.
    fn text() -> impl Strategy<Value = String> {
        let letters = proptest::collection::vec(proptest::sample::select(&LETTERS[..]), 0..6);
        (1015usize..1024, letters).prop_map(|(fill, letters)| format!("{}{}", "m".repeat(fill), letters.concat()))
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 4_000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn the_keys_on_either_side_of_a_long_text_are_those_on_either_side_of_its_neighbours(
            long in text(), key in text()
        ) {
            let long = if long.len() > SORT_KEY_BYTES { long } else { format!("{long}{}", "b".repeat(10)) };
            let long = KeyValue::S(long);
            let key = KeyValue::S(key[..key.floor_char_boundary(SORT_KEY_BYTES)].to_owned());
            let (before, after) = (last_before(&long), first_after(&long));
            prop_assert!(!is_too_long(&before) && !after.as_ref().is_some_and(is_too_long));
            prop_assert_eq!(key < long, key <= before);
            prop_assert_eq!(key > long, after.is_some_and(|after| key >= after));
        }

        #[test]
        fn likewise_of_bytes(
            long in proptest::collection::vec(254u8.., 3..5), key in proptest::collection::vec(253u8.., 0..4)
        ) {
            let filled = |start: usize, end: &[u8]| KeyValue::B([vec![255; start], end.to_vec()].concat());
            let (long, key) = (filled(1022, &long), filled(1021, &key));
            prop_assert!(is_too_long(&long) && !is_too_long(&key));
            prop_assert_eq!(key < long, key <= last_before(&long));
            prop_assert_eq!(key > long, first_after(&long).is_some_and(|after| key >= after));
        }
    }

    #[test]
    fn after_the_last_text_there_is_none() {
        assert_eq!(first_after(&KeyValue::S("\u{10FFFF}".repeat(300))), None);
        assert_eq!(first_after(&KeyValue::B(vec![255; 1025])), None);
    }
}
