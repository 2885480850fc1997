//! Attribute values and items as plain data.

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
