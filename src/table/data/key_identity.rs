//! Keys in; whether an item can have them, and what makes two of them equal, out. Must not know the AWS SDK.
//!
//! DynamoDB refuses a call with an impossible key (an empty one, one too long), and with it the other 99 keys of its
//! batch. Such a key needs no call: no item can have it.

use super::attribute::{Attribute, AttributeName, Item, Key, KeyValue};
use super::limits::{PARTITION_KEY_BYTES, SORT_KEY_BYTES};
use crate::schema::table::number::Number;
use std::borrow::Cow;
use std::hash::{Hash, Hasher};

/// Whether an item may have this key.
pub(in crate::table) fn key_can_exist(key: &Key) -> bool {
    partition_can_exist(&key.partition.1) && key.sort.as_ref().is_none_or(|(_, value)| sort_can_exist(value))
}

/// Whether an item may have this partition key.
pub(in crate::table) fn partition_can_exist(value: &KeyValue) -> bool {
    can_exist(value, PARTITION_KEY_BYTES)
}

/// Whether an item may have this sort key.
pub(in crate::table) fn sort_can_exist(value: &KeyValue) -> bool {
    can_exist(value, SORT_KEY_BYTES)
}

/// The same key with canonical numbers, so that equal keys compare as equal.
pub(in crate::table) fn canonical(key: &Key) -> Cow<'_, Key> {
    let is_number = |(_, value): &(AttributeName, KeyValue)| matches!(value, KeyValue::N(_));
    if !is_number(&key.partition) && !key.sort.as_ref().is_some_and(is_number) {
        return Cow::Borrowed(key);
    }
    let one = |(name, value): &(AttributeName, KeyValue)| (name.clone(), canonical_value(value).into_owned());
    Cow::Owned(Key { partition: one(&key.partition), sort: key.sort.as_ref().map(one) })
}

/// The same value of a key, as a canonical number if it is one.
pub(in crate::table) fn canonical_value(value: &KeyValue) -> Cow<'_, KeyValue> {
    match value {
        KeyValue::N(text) => Cow::Owned(KeyValue::N(canonical_number(text))),
        KeyValue::S(_) | KeyValue::B(_) => Cow::Borrowed(value),
    }
}

fn canonical_number(text: &str) -> String {
    Number::parse(text).map_or_else(|_| text.to_owned(), |number| number.canonical())
}

/// What makes two keys of one table equal: their values, with canonical numbers, borrowed.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::table) struct KeyIdentity<'a> {
    partition: Value<'a>,
    sort: Option<Value<'a>>,
}

#[derive(Debug, PartialEq, Eq)]
enum Value<'a> {
    S(&'a [u8]),
    N(String),
    B(&'a [u8]),
}

/// Hashes the bytes only: the keys of a table have values of the same types.
impl Hash for KeyIdentity<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        for value in std::iter::once(&self.partition).chain(&self.sort) {
            state.write(match value {
                Value::S(bytes) | Value::B(bytes) => bytes,
                Value::N(number) => number.as_bytes(),
            });
            // Where a value ends makes a difference, too.
            state.write_u8(0xff);
        }
    }
}

impl<'a> KeyIdentity<'a> {
    /// The identity of a key.
    pub(in crate::table) fn from_key(key: &'a Key) -> Self {
        let value = |(_, value): &'a (AttributeName, KeyValue)| match value {
            KeyValue::S(text) => Value::S(text.as_bytes()),
            KeyValue::N(text) => Value::N(canonical_number(text)),
            KeyValue::B(bytes) => Value::B(bytes),
        };
        Self { partition: value(&key.partition), sort: key.sort.as_ref().map(value) }
    }

    /// The identity of an item whose key has the attributes of `shape`; `None` if one of them is missing or cannot be a
    /// key.
    pub(in crate::table) fn from_item(item: &'a Item, shape: &Key) -> Option<Self> {
        let value = |(name, _): &(AttributeName, KeyValue)| match item.get(name)? {
            Attribute::S(text) => Some(Value::S(text.as_bytes())),
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

fn can_exist(value: &KeyValue, longest: usize) -> bool {
    match value {
        KeyValue::S(text) => (1..=longest).contains(&text.len()),
        KeyValue::B(bytes) => (1..=longest).contains(&bytes.len()),
        KeyValue::N(text) => Number::parse(text).is_ok(),
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
        assert!(
            key_can_exist(&key(s("a"), Some(s("b"))))
                && key_can_exist(&key(s(&"a".repeat(2048)), Some(s(&"b".repeat(1024)))))
        );
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
}
