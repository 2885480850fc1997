//! Reads as plain data: the calls that the layers above make, and the pages that they get.

use super::attribute::{Attribute, Item, Key, KeyValue};
use crate::table::data::attribute::AttributeNames;
use smallvec::SmallVec;
use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// One item by its key. The loader batches them.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Get {
    /// The table's name.
    pub table: Arc<str>,
    /// The item's key.
    pub key: Key,
    /// The attributes to read, sorted, including the key attributes. All Gets of one table in one request have the same
    /// list.
    pub projection: AttributeNames,
    /// Whether to read strongly.
    pub consistent: bool,
    /// The greatest age in seconds of what the cache may answer; `None` if it may not.
    pub max_age: Option<u32>,
}

/// Hashes the bytes of the key's values only: Gets of one request rarely differ in anything else.
impl Hash for Get {
    fn hash<H: Hasher>(&self, state: &mut H) {
        for (_, value) in std::iter::once(&self.key.partition).chain(&self.key.sort) {
            match value {
                KeyValue::S(text) | KeyValue::N(text) => text.hash(state),
                KeyValue::B(bytes) => bytes.hash(state),
            }
        }
    }
}

/// The names of the tables of a call's items, each once, in their order, joined by commas.
pub(in crate::table) fn joined_tables<'t>(of_items: impl IntoIterator<Item = &'t str>) -> Arc<str> {
    let mut tables: SmallVec<[&str; 4]> = SmallVec::new();
    for table in of_items {
        // Most calls have items of one table.
        if tables.last() != Some(&table) {
            tables.push(table);
        }
    }
    tables.sort_unstable();
    tables.dedup();
    match tables.as_slice() {
        [only] => Arc::from(*only),
        several => several.join(",").into(),
    }
}

/// One page of one partition of a table or an index (or of a whole one, by Scan).
#[derive(Debug, Clone, PartialEq)]
pub struct Query {
    /// The table's name.
    pub table: Arc<str>,
    /// The index's name.
    pub index: Option<Arc<str>>,
    /// The partition key attribute and its value; `None` is a Scan.
    pub partition: Option<(String, KeyValue)>,
    /// The other attributes of an index's key that have one value each: the rest of the partition key, and what of the
    /// sort key comes before `sort`. Empty for keys of one attribute each.
    pub equal: Vec<(String, KeyValue)>,
    /// The sort key attribute and its condition.
    pub sort: Option<(String, SortCondition)>,
    /// The filter that DynamoDB applies after it has read, and charged for, the items.
    pub filter: Option<Expression>,
    /// The attributes to read, sorted; `None` only counts (`Select: COUNT`).
    pub projection: Option<AttributeNames>,
    /// Ascending order of the sort key.
    pub forward: bool,
    /// Most items to read, before the filter. It is always sent: without it, a server may read the whole partition.
    pub limit: u32,
    /// The key after which to start: the last key of the page before.
    pub start: Option<Item>,
    /// Whether to read strongly.
    pub consistent: bool,
    /// The greatest age in seconds of what the cache may answer; `None` if it may not.
    pub max_age: Option<u32>,
}

/// A condition on a sort key (DynamoDB developer guide, "Key condition expressions for the Query operation").
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum SortCondition {
    /// `= v`
    Equal(KeyValue),
    /// `< v`
    Less(KeyValue),
    /// `<= v`
    LessOrEqual(KeyValue),
    /// `> v`
    Greater(KeyValue),
    /// `>= v`
    GreaterOrEqual(KeyValue),
    /// `BETWEEN a AND b`
    Between(KeyValue, KeyValue),
    /// `begins_with(v)`
    BeginsWith(KeyValue),
}

/// A condition or filter expression with its placeholders.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Expression {
    /// The text, with `#n0` and `:v0` placeholders.
    pub text: String,
    /// `#n0` → attribute name.
    pub names: BTreeMap<String, String>,
    /// `:v0` → value.
    pub values: BTreeMap<String, Attribute>,
}

impl Expression {
    /// The same expression, which keeps nothing of an answer that its values came in.
    pub(in crate::table) fn detached(&self) -> Self {
        let values = self.values.iter().map(|(placeholder, value)| (placeholder.clone(), value.detached())).collect();
        Self { text: self.text.clone(), names: self.names.clone(), values }
    }
}

/// The result of a Query or Scan.
#[derive(Debug, Clone, Default)]
pub struct Page {
    /// The items that pass the filter, in order; empty for a count.
    pub items: Vec<Arc<Item>>,
    /// How many items pass the filter.
    pub count: u32,
    /// How many items were read. Fewer than the limit if a page's megabyte or the data ends.
    pub scanned: u32,
    /// The start of the next page; `None` at the end of the data.
    pub last_key: Option<Item>,
}
