//! Attribute values, items and keys as plain data.

use std::collections::HashMap;

/// An attribute value (DynamoDB API reference, `AttributeValue`). Numbers stay text: 38 digits, never through a float.
#[derive(Debug, Clone, PartialEq)]
pub enum Attribute {
    /// String.
    S(String),
    /// Number, in decimal text.
    N(String),
    /// Binary.
    B(Vec<u8>),
    /// Boolean.
    Bool(bool),
    /// Null.
    Null,
    /// String set.
    Ss(Vec<String>),
    /// Number set.
    Ns(Vec<String>),
    /// Binary set.
    Bs(Vec<Vec<u8>>),
    /// List.
    L(Vec<Attribute>),
    /// Map.
    M(Item),
}

/// Attribute name → value.
pub type Item = HashMap<String, Attribute>;

/// The value of a key attribute. Ordered as DynamoDB orders sort keys only within strings (UTF-8 bytes) and binaries.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum KeyValue {
    /// String.
    S(String),
    /// Number, in decimal text.
    N(String),
    /// Binary.
    B(Vec<u8>),
}

/// A primary key: attribute name and value of the partition key, and of the sort key if the table has one.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key {
    /// The partition key attribute.
    pub partition: (String, KeyValue),
    /// The sort key attribute.
    pub sort: Option<(String, KeyValue)>,
}

impl KeyValue {
    /// An attribute as the value of a key attribute; `None` if its type cannot be a key.
    pub fn of(attribute: &Attribute) -> Option<Self> {
        match attribute {
            Attribute::S(text) => Some(Self::S(text.clone())),
            Attribute::N(number) => Some(Self::N(number.clone())),
            Attribute::B(bytes) => Some(Self::B(bytes.clone())),
            _ => None,
        }
    }
}

impl From<KeyValue> for Attribute {
    fn from(key: KeyValue) -> Self {
        match key {
            KeyValue::S(text) => Self::S(text),
            KeyValue::N(number) => Self::N(number),
            KeyValue::B(bytes) => Self::B(bytes),
        }
    }
}

impl Key {
    /// The key of an item with these key attributes; `None` if one of them is missing or cannot be a key.
    pub fn of(item: &Item, partition: &str, sort: Option<&str>) -> Option<Self> {
        let read = |name: &str| Some((name.to_owned(), KeyValue::of(item.get(name)?)?));
        let sort = match sort {
            Some(name) => Some(read(name)?),
            None => None,
        };
        Some(Self { partition: read(partition)?, sort })
    }
}
