//! `{shard:n}`, `{shard:01..10}` and `{replica:n}`: how items are spread over several keys. Must not know templates or
//! keys.
//!
//! All are placeholders in templates, with a name that no field can have (`shard:10`) and a type of their own
//! ([`super::value_type::ValueType::Spread`]). So they are written, read back and compared like any other placeholder.

use serde_json::Value;
use std::ops::Range;

/// How the items of a type are spread, and over how many keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spread {
    /// Whether the keys are shards or replicas.
    pub kind: SpreadKind,
    /// The number of keys, from [`MIN_SPREAD`] to [`MAX_SPREAD`].
    pub count: u8,
    /// Whether other programs assigned the numbers, and which.
    pub assigned: Option<AssignedNumbers>,
}

/// The numbers of shards that other programs assigned in a way of their own: `01..10`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AssignedNumbers {
    /// The first number.
    pub first: u32,
    /// How many digits each number has in a key.
    pub width: u8,
}

/// The ways to spread items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpreadKind {
    /// Each item has one of the keys; a read covers all of them (DynamoDB developer guide, "Using write sharding to
    /// distribute workloads evenly").
    Shard,
    /// Each item is copied to every key; a read uses one of them.
    Replica,
}

/// The smallest count: one key would not spread anything.
pub const MIN_SPREAD: u8 = 2;

/// The largest count: a transaction writes at most 100 items, and one field reads at most 100 ranges.
pub const MAX_SPREAD: u8 = 100;

impl SpreadKind {
    /// The word in the braces. An argument or `where:` binds the number by this word.
    pub fn word(self) -> &'static str {
        match self {
            SpreadKind::Shard => "shard",
            SpreadKind::Replica => "replica",
        }
    }

    /// The kind that a word names.
    pub fn named(word: &str) -> Option<Self> {
        [SpreadKind::Shard, SpreadKind::Replica].into_iter().find(|kind| kind.word() == word)
    }
}

impl Spread {
    /// The name of the number in templates and bindings: `shard:10`, `shard:01..10`.
    pub fn placeholder(self) -> String {
        let word = self.kind.word();
        match self.assigned {
            Some(AssignedNumbers { first, width }) => {
                let (last, width) = (self.numbers().end - 1, usize::from(width));
                format!("{word}:{first:0width$}..{last:0width$}")
            }
            None => format!("{word}:{}", self.count),
        }
    }

    /// The numbers, in order.
    pub fn numbers(self) -> Range<u64> {
        let first = self.assigned.map_or(0, |assigned| assigned.first.into());
        first..first + u64::from(self.count)
    }

    /// How many digits each number has in a key; `None` if as few as it needs.
    pub fn width(self) -> Option<u8> {
        self.assigned.map(|assigned| assigned.width)
    }

    /// The value as a number of this spread, if it is one.
    pub fn number(self, value: &Value) -> Option<u64> {
        value.as_u64().filter(|number| self.numbers().contains(number))
    }
}
