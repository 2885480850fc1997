//! `{shard:n}` and `{replica:n}`: over how many keys items are spread, and how. Must not know templates or keys.
//!
//! Both stand in templates as placeholders whose name no field can have (`shard:10`), with a type of their own
//! ([`super::value_type::ValueType::Spread`]), so that they are written, read back and compared like any other.

use serde_json::Value;

/// Over how many keys the items of a type are spread, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spread {
    /// How.
    pub kind: SpreadKind,
    /// Over how many: [`FEWEST`] to [`MOST`].
    pub count: u8,
}

/// How items are spread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpreadKind {
    /// Each item has one of the keys; all of them are read (DynamoDB developer guide, "Using write sharding to distribute workloads evenly").
    Shard,
    /// Each item is copied to all of the keys; one of them is read.
    Replica,
}

/// One key is no spreading.
pub const FEWEST: u8 = 2;

/// As many as a transaction writes, and as the ranges of one field.
pub const MOST: u8 = 100;

impl SpreadKind {
    /// The word in the braces, under which an argument or `where:` binds it.
    pub fn word(self) -> &'static str {
        match self {
            SpreadKind::Shard => "shard",
            SpreadKind::Replica => "replica",
        }
    }

    /// The kind of a word.
    pub fn named(word: &str) -> Option<Self> {
        [SpreadKind::Shard, SpreadKind::Replica].into_iter().find(|kind| kind.word() == word)
    }
}

impl Spread {
    /// The name under which the number stands in templates and bindings: `shard:10`.
    pub fn placeholder(self) -> String {
        format!("{}:{}", self.kind.word(), self.count)
    }

    /// The number that a value is, if it is one of the spread.
    pub fn number(self, value: &Value) -> Option<u64> {
        value.as_u64().filter(|number| *number < u64::from(self.count))
    }
}
