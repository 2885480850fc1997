//! `{shard:n}` and `{replica:n}`: what they are, and which of their keys an access path reads. Must not know how a key's number is found.
//!
//! Both stand in templates as placeholders whose name no field can have (`shard:10`), with a type of their own
//! ([`super::value_type::ValueType::Spread`]), so that they are written, read back and compared like any other. They are no fields:
//! [`Template::fields`] leaves them out, and reading a key does not give their number.

use super::model::{Access, AccessPath, ItemKeys, SortAccess};
use super::table::Table;
use super::template::{Part, Template};
use super::value_type::ValueType;
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

/// Which keys of a spread an access path reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reading {
    /// The spread.
    pub spread: Spread,
    /// Which.
    pub which: Which,
}

/// Which keys of a spread are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which {
    /// All shards, side by side.
    Every,
    /// The shard that the rest of the primary key tells; the replica that the rest of the bound key chooses.
    OfKey,
    /// The shards that the caller numbers; the replicas that the bound values choose.
    Bound,
}

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

impl Template {
    /// The spread of the template, if it has one.
    pub fn spread(&self) -> Option<Spread> {
        self.spreads().next()
    }

    /// Every spread that stands in the template.
    pub fn spreads(&self) -> impl Iterator<Item = Spread> {
        self.parts.iter().filter_map(spread_of)
    }
}

/// The spread of which a part is the number.
pub fn spread_of(part: &Part) -> Option<Spread> {
    match part {
        Part::Placeholder { value: ValueType::Spread(spread), .. } => Some(*spread),
        _ => None,
    }
}

impl ItemKeys {
    /// How the items of the type are spread; the checker sees to it that there is one way at most.
    pub fn spread(&self) -> Option<Spread> {
        self.keys.values().flatten().find_map(Template::spread)
    }

    /// How the items are copied, if they are.
    pub fn replicas(&self) -> Option<Spread> {
        self.spread().filter(|spread| spread.kind == SpreadKind::Replica)
    }
}

impl AccessPath {
    /// How the path takes the shards or replicas of the items that it reads; `None` where what it binds of the key has none.
    pub fn reading(&self, table: &Table, keys: &ItemKeys) -> Option<Reading> {
        let (partition, sort) = match &self.access {
            Access::Scan => return None,
            Access::Get { partition, sort } => (*partition, sort.map_or(SortAccess::All, |template| SortAccess::Equal { template })),
            Access::Query { partition, sort } => (*partition, sort.clone()),
        };
        let (partition_key, sort_key) = table.keys_of(self.index);
        let template = |attribute: &str, position: usize| keys.keys.get(attribute)?.get(position);
        let bound = sort_key.and_then(|key| match &sort {
            SortAccess::All => None,
            SortAccess::Equal { template: position } => Some(template(&key.name, *position)?.parts.as_slice()),
            SortAccess::Prefix { template: position, parts } | SortAccess::Range { template: position, parts, .. } => {
                template(&key.name, *position)?.parts.get(..*parts)
            }
        });
        let spread = template(&partition_key.name, partition)?.spread().or_else(|| bound?.iter().find_map(spread_of))?;
        let whole = self.index.is_none() && (sort_key.is_none() || matches!(sort, SortAccess::Equal { .. }));
        let which = match spread.kind {
            _ if self.bindings.contains_key(&spread.placeholder()) => Which::Bound,
            SpreadKind::Shard if !whole => Which::Every,
            _ => Which::OfKey,
        };
        Some(Reading { spread, which })
    }
}

impl std::fmt::Display for Reading {
    /// For people: `10 shards`, `1 of 10 shards, by its key`, `those bound of 10 shards`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Spread { kind, count } = self.spread;
        match self.which {
            Which::Every => write!(f, "{count} {}s", kind.word()),
            Which::OfKey => write!(f, "1 of {count} {}s, by its key", kind.word()),
            Which::Bound => write!(f, "those bound of {count} {}s", kind.word()),
        }
    }
}
