//! What must be read: a key or a range, and what that waits for. Must not know operations.

use keyfold::schema::table::Table;
use keyfold::table::data::attribute::{Attribute, Item};
use std::collections::BTreeSet;

/// Above every key that begins with a text.
pub const LAST: char = '\u{10FFFF}';

/// A key attribute's value as text.
pub type Key = String;

/// Something to read, after others.
#[derive(Debug, Clone)]
pub struct Need {
    pub what: What,
    /// The needs whose results its key is made of, or that make the row that it belongs to.
    pub after: Vec<usize>,
    /// Its first possible round trip, from 1.
    pub wave: usize,
}

/// The one partition of a table or an index, and how it is read.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Partition {
    pub table: usize,
    pub index: Option<usize>,
    pub consistent: bool,
    /// The values of the attributes that have one value each.
    pub values: Vec<Key>,
    /// Where these come from, in words: equal values of other origin are a coincidence.
    pub origin: String,
}

/// A key or a range.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum What {
    /// An item by its primary key: partition, then sort. And where the partition comes from.
    Get {
        table: usize,
        consistent: bool,
        key: Vec<Key>,
        origin: String,
    },
    Range(Range),
}

impl What {
    /// Where the values of its partition come from.
    pub fn origin(&self) -> &str {
        match self {
            Self::Get { origin, .. } => origin,
            Self::Range(range) => &range.partition.origin,
        }
    }
}

impl Range {
    /// Whether it finds all that another one looks for, wherever the partition comes from. A count brings no items.
    pub fn answers(&self, other: &Self) -> bool {
        let own = Partition { origin: other.partition.origin.clone(), ..self.partition.clone() };
        let is_same = (&own, &self.item, &self.low, &self.high, &self.alone)
            == (&other.partition, &other.item, &other.low, &other.high, &other.alone);
        let has_more = self.forward == other.forward && other.want != Wanted::All && self.want >= other.want;
        let has_all = self.want == Wanted::All || self.ends || has_more;
        is_same && has_all && (!self.counts || other.counts)
    }
}

/// A range of sort keys.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Range {
    pub partition: Partition,
    /// The types that it is for. It keeps no other items.
    pub item: String,
    /// The least and the greatest sort key.
    pub low: Key,
    pub high: Key,
    pub forward: bool,
    pub want: Wanted,
    /// Whether it has no more items than are wanted.
    pub ends: bool,
    /// Whether its items are only counted.
    pub counts: bool,
    /// Why no other read shares its Query: a filter with its values, a Scan, or a range of numbers.
    pub alone: Option<String>,
    /// The primary keys of what it finds.
    pub brings: BTreeSet<Vec<Key>>,
}

/// How much of a range is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Wanted {
    All,
    /// This many items from its beginning.
    First(usize),
}

/// The text of a key attribute.
pub fn key_text(attribute: &Attribute) -> Option<Key> {
    match attribute {
        Attribute::S(text) | Attribute::N(text) => Some(text.to_string()),
        Attribute::B(bytes) => Some(crate::naive::values::base64(bytes)),
        _ => None,
    }
}

/// The primary key of an item: partition, then sort.
pub fn primary_key(table: &Table, item: &Item) -> Vec<Key> {
    table.primary_key().filter_map(|key| key_text(item.get(&key.name)?)).collect()
}

/// The bytes of an item (developer guide, "DynamoDB item sizes and formats").
pub fn item_bytes(item: &Item) -> usize {
    item.members().map(|(name, value)| name.len() + value_bytes(value)).sum()
}

fn value_bytes(value: &Attribute) -> usize {
    match value {
        Attribute::S(text) => text.len(),
        Attribute::N(number) => number.trim_start_matches('-').len().div_ceil(2) + 1,
        Attribute::B(bytes) => bytes.len(),
        Attribute::Bool(_) | Attribute::Null => 1,
        Attribute::Ss(texts) => texts.iter().map(|text| text.len()).sum(),
        Attribute::Ns(numbers) => numbers.iter().map(|number| number.len().div_ceil(2) + 1).sum(),
        Attribute::Bs(all) => all.iter().map(|bytes| bytes.len()).sum(),
        Attribute::L(values) => 3 + values.iter().map(|value| 1 + value_bytes(value)).sum::<usize>(),
        Attribute::M(members) => 3 + members.len() + item_bytes(members),
    }
}

/// The units of reading so many bytes (developer guide, "DynamoDB throughput capacity").
pub fn read_units(bytes: usize, consistent: bool) -> f64 {
    f64::from(u32::try_from(bytes.div_ceil(4096).max(1)).unwrap()) * if consistent { 1.0 } else { 0.5 }
}
