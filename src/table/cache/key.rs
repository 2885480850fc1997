//! A Get or a Query in; out: the key under which its answer is kept. Attributes are no part of it: a wider answer
//! serves a narrower request.

use crate::table::data::attribute::{Item, Key, KeyValue};
use crate::table::data::call::{Expression, Query, SortCondition};
use crate::table::data::key_identity::canonical_value;
use quick_cache::Equivalent;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// The key of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::table) enum EntryKey {
    /// An item: its table, and its key with canonical numbers.
    Item(Arc<str>, Key),
    /// A page.
    Page(Arc<PageKey>),
}

/// All of a Query but its attributes.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(in crate::table) struct PageKey {
    /// The table's name.
    pub table: Arc<str>,
    /// The index's name.
    pub index: Option<Arc<str>>,
    /// The partition's value, with canonical numbers; `None` is a Scan.
    pub partition: Option<KeyValue>,
    /// The values of the other attributes of an index's key that have one value each, with canonical numbers.
    pub equal: Box<[KeyValue]>,
    /// Whether a filter drops items of the page, or it only counts them.
    pub hides_items: bool,
    sort: Option<SortCondition>,
    filter: Option<Expression>,
    counts: bool,
    forward: bool,
    limit: u32,
    start: Option<Item>,
}

/// The key of an item, borrowed.
pub(in crate::table) struct BorrowedItemKey<'a> {
    /// The table's name.
    pub table: &'a str,
    /// The item's key, with canonical numbers.
    pub key: &'a Key,
}

impl PageKey {
    /// The key of a Query's page. It keeps nothing of an answer.
    pub(in crate::table) fn new(query: &Query) -> Self {
        let counts = query.projection.is_none();
        Self {
            table: query.table.clone(),
            index: query.index.clone(),
            partition: query.partition.as_ref().map(|(_, value)| canonical_value(value).into_owned()),
            equal: query.equal.iter().map(|(_, value)| canonical_value(value).into_owned()).collect(),
            hides_items: counts || query.filter.is_some(),
            sort: query.sort.as_ref().map(|(_, condition)| condition.clone()),
            filter: query.filter.as_ref().map(Expression::detached),
            counts,
            forward: query.forward,
            limit: query.limit,
            start: query.start.as_ref().map(Item::detached),
        }
    }

    /// What may be large in it: its filter and its start.
    pub(super) fn large_parts(&self) -> (Option<&Expression>, Option<&Item>) {
        (self.filter.as_ref(), self.start.as_ref())
    }
}

impl Hash for BorrowedItemKey<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.table.hash(state);
        self.key.partition.1.hash(state);
        self.key.sort.as_ref().map(|(_, value)| value).hash(state);
    }
}

/// An item's key has the hash of the borrowed one.
impl Hash for EntryKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self {
            Self::Item(table, key) => BorrowedItemKey { table, key }.hash(state),
            Self::Page(page) => page.hash(state),
        }
    }
}

impl Equivalent<EntryKey> for BorrowedItemKey<'_> {
    fn equivalent(&self, other: &EntryKey) -> bool {
        matches!(other, EntryKey::Item(table, key) if **table == *self.table && key == self.key)
    }
}
