//! Keys and sort key conditions in; what is left of them once the limits of DynamoDB's keys are known out. Must not know the AWS SDK.
//!
//! DynamoDB refuses a call that holds an impossible key (an empty one, one too long), and with it the other 99 keys of its batch. Such a
//! key needs no call: no item can have it.

use super::attribute::{Attribute, Item, Key, KeyValue};
use super::call::SortCondition;
use super::key_limits::{MAX_PARTITION_BYTES, MAX_SORT_BYTES, first_after, is_too_long, last_before};
use super::number::Number;
use std::borrow::Cow;
use std::cmp::Ordering;

/// What a sort condition comes to.
#[derive(Debug, PartialEq)]
pub(super) enum Range {
    /// No key can meet it: there is nothing to read.
    Nothing,
    /// Every key meets it: the call needs no condition.
    Everything,
    /// It is to be sent.
    Condition(SortCondition),
}

/// Whether an item may have this key.
pub(super) fn key_can_exist(key: &Key) -> bool {
    partition_can_exist(&key.partition.1) && key.sort.as_ref().is_none_or(|(_, value)| can_exist(value, MAX_SORT_BYTES))
}

/// Whether an item may have this partition key value.
pub(super) fn partition_can_exist(value: &KeyValue) -> bool {
    can_exist(value, MAX_PARTITION_BYTES)
}

/// The same key with its numbers in one spelling, to tell whether two keys are one.
pub(super) fn canonical(key: &Key) -> Cow<'_, Key> {
    let is_number = |(_, value): &(String, KeyValue)| matches!(value, KeyValue::N(_));
    if !is_number(&key.partition) && !key.sort.as_ref().is_some_and(is_number) {
        return Cow::Borrowed(key);
    }
    let one = |(name, value): &(String, KeyValue)| {
        let value = match value {
            KeyValue::N(text) => KeyValue::N(canonical_number(text)),
            _ => value.clone(),
        };
        (name.clone(), value)
    };
    Cow::Owned(Key { partition: one(&key.partition), sort: key.sort.as_ref().map(one) })
}

fn canonical_number(text: &str) -> String {
    Number::parse(text).map_or_else(|| text.to_owned(), |number| number.canonical())
}

/// The values of a key, numbers in one spelling, borrowed from where they stand: tells apart the keys of one table.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Values<'a> {
    partition: Value<'a>,
    sort: Option<Value<'a>>,
}

#[derive(Debug, PartialEq, Eq, Hash)]
enum Value<'a> {
    S(&'a str),
    N(String),
    B(&'a [u8]),
}

impl<'a> Values<'a> {
    /// Those of a key.
    pub(super) fn of_key(key: &'a Key) -> Self {
        let value = |(_, value): &'a (String, KeyValue)| match value {
            KeyValue::S(text) => Value::S(text),
            KeyValue::N(text) => Value::N(canonical_number(text)),
            KeyValue::B(bytes) => Value::B(bytes),
        };
        Self { partition: value(&key.partition), sort: key.sort.as_ref().map(value) }
    }

    /// Those of an item whose key has the attributes of `shape`; `None` where one of them is missing or of no key type.
    pub(super) fn of_item(item: &'a Item, shape: &Key) -> Option<Self> {
        let value = |(name, _): &(String, KeyValue)| match item.get(name)? {
            Attribute::S(text) => Some(Value::S(text)),
            Attribute::N(text) => Some(Value::N(canonical_number(text))),
            Attribute::B(bytes) => Some(Value::B(bytes)),
            _ => None,
        };
        let sort = match &shape.sort {
            Some(sort) => Some(value(sort)?),
            None => None,
        };
        Some(Self { partition: value(&shape.partition)?, sort })
    }
}

/// Reduces a sort condition: every key is longer than the empty text, none is longer than the longest, and a range that ends before it
/// begins is empty. (DynamoDB answers all of these with a ValidationException.)
pub(super) fn reduce(condition: &SortCondition) -> Range {
    use SortCondition::{BeginsWith, Between, Equal, Greater, GreaterOrEqual, Less, LessOrEqual};
    match condition {
        Equal(value) if !can_exist(value, MAX_SORT_BYTES) => Range::Nothing,
        BeginsWith(value) if is_empty(value) => Range::Everything,
        BeginsWith(value) if !can_exist(value, MAX_SORT_BYTES) => Range::Nothing,
        Less(value) | LessOrEqual(value) if is_empty(value) => Range::Nothing,
        Greater(value) | GreaterOrEqual(value) if is_empty(value) => Range::Everything,
        Less(value) | LessOrEqual(value) if is_too_long(value) => Range::Condition(LessOrEqual(last_before(value))),
        Greater(value) | GreaterOrEqual(value) if is_too_long(value) => match first_after(value) {
            Some(first) => Range::Condition(GreaterOrEqual(first)),
            None => Range::Nothing,
        },
        Between(low, high) if is_too_long(low) => match first_after(low) {
            Some(first) => reduce(&Between(first, high.clone())),
            None => Range::Nothing,
        },
        Between(low, high) if is_too_long(high) => reduce(&Between(low.clone(), last_before(high))),
        Between(_, high) if is_empty(high) => Range::Nothing,
        Between(low, high) if is_empty(low) => Range::Condition(LessOrEqual(high.clone())),
        Between(low, high) if compare(low, high) == Some(Ordering::Greater) => Range::Nothing,
        other => Range::Condition(other.clone()),
    }
}

fn can_exist(value: &KeyValue, longest: usize) -> bool {
    match value {
        KeyValue::S(text) => (1..=longest).contains(&text.len()),
        KeyValue::B(bytes) => (1..=longest).contains(&bytes.len()),
        KeyValue::N(text) => Number::parse(text).is_some(),
    }
}

fn is_empty(value: &KeyValue) -> bool {
    match value {
        KeyValue::S(text) => text.is_empty(),
        KeyValue::B(bytes) => bytes.is_empty(),
        KeyValue::N(_) => false,
    }
}

/// The order of two values of one type, as DynamoDB sorts them: text by its UTF-8 bytes, numbers by size.
fn compare(a: &KeyValue, b: &KeyValue) -> Option<Ordering> {
    match (a, b) {
        (KeyValue::S(a), KeyValue::S(b)) => Some(a.as_bytes().cmp(b.as_bytes())),
        (KeyValue::B(a), KeyValue::B(b)) => Some(a.cmp(b)),
        (KeyValue::N(a), KeyValue::N(b)) => Some(Number::parse(a)?.cmp(&Number::parse(b)?)),
        _ => None,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
mod tests {
    use super::*;

    fn s(text: &str) -> KeyValue {
        KeyValue::S(text.to_owned())
    }

    fn key(partition: KeyValue, sort: Option<KeyValue>) -> Key {
        Key { partition: ("PK".into(), partition), sort: sort.map(|value| ("SK".into(), value)) }
    }

    #[test]
    fn impossible_keys_are_known() {
        assert!(key_can_exist(&key(s("a"), Some(s("b")))) && key_can_exist(&key(s(&"a".repeat(2048)), Some(s(&"b".repeat(1024))))));
        assert!(key_can_exist(&key(KeyValue::N("1e5".into()), None)));
        for (partition, sort) in [
            (s(""), None),
            (s("a"), Some(s(""))),
            (s(&"a".repeat(2049)), None),
            (s("a"), Some(s(&"ü".repeat(513)))),
            (KeyValue::B(vec![]), None),
            (KeyValue::N("one".into()), None),
            (KeyValue::N(String::new()), None),
        ] {
            assert!(!key_can_exist(&key(partition.clone(), sort.clone())), "{partition:?} {sort:?}");
        }
    }

    #[test]
    fn two_spellings_of_a_number_are_one_key() {
        let spelled = |text: &str| canonical(&key(s("a"), Some(KeyValue::N(text.into())))).into_owned();
        assert_eq!(spelled("1.50"), spelled("15e-1"));
        assert_ne!(spelled("1.50"), spelled("1.51"));
        assert_ne!(canonical(&key(s("1.0"), None)), canonical(&key(s("1"), None)), "text is no number");
    }

    #[test]
    fn conditions_are_reduced() {
        use SortCondition::*;
        let n = |text: &str| KeyValue::N(text.into());
        let (long, longest) = (|letter: &str| s(&letter.repeat(1025)), |letter: &str| s(&letter.repeat(1024)));
        for (condition, range) in [
            (Equal(s("")), Range::Nothing),
            (Equal(s("a")), Range::Condition(Equal(s("a")))),
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
            (Between(long("b"), long("c")), Range::Condition(Between(s(&format!("{}c", "b".repeat(1023))), longest("c")))),
            (Between(long("b"), long("b")), Range::Nothing),
            (Between(long("b"), s("b")), Range::Nothing),
            (Between(s("b"), s("a")), Range::Nothing),
            (Between(s("a"), s("")), Range::Nothing),
            (Between(s(""), s("z")), Range::Condition(LessOrEqual(s("z")))),
            (Between(s("a"), s("a")), Range::Condition(Between(s("a"), s("a")))),
            (Between(n("87"), n("350")), Range::Condition(Between(n("87"), n("350")))),
            (Between(n("350"), n("87")), Range::Nothing),
            (Between(s("\u{ffff}"), s("\u{10000}")), Range::Condition(Between(s("\u{ffff}"), s("\u{10000}")))),
        ] {
            assert_eq!(reduce(&condition), range, "{condition:?}");
        }
    }
}
