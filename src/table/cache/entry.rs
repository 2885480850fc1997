//! An answer of a table in; out: what is kept of it, for how long it is good, and its weight in bytes. Must not know
//! why it is dropped.

use super::key::EntryKey;
use super::watches::WatchedTags;
use crate::table::data::attribute::{Attribute, AttributeName, AttributeNames, Item, Key, KeyValue};
use crate::table::data::call::{Expression, Page};
use crate::table::data::text::Text;
use quick_cache::Weighter;
use std::mem::size_of;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::time::Instant;

/// For how long it is kept that there is no item: an item that somebody has looked for is often made soon.
pub const ABSENCE: Duration = Duration::from_secs(1);
/// What an entry weighs besides its content: its place in the cache, and what its allocations round up.
const ENTRY_BYTES: u64 = 256;
/// What an allocation costs besides its bytes.
const ALLOCATION: usize = 16;
/// What a tag weighs: its flag, and its place among the watched tags, of which up to half may be dead.
const TAG_BYTES: u64 = 128;

/// What a read found.
#[derive(Debug, Clone)]
pub(in crate::table) enum CacheAnswer {
    /// The item of a key; `None` where there is none.
    Item(Option<Arc<Item>>),
    /// A page, and the capacity units that it has cost.
    Page(Arc<Page>, f64),
}

impl CacheAnswer {
    /// The same answer as it is kept: its items keep nothing of the JSON that they came in.
    pub(super) fn detached(&self) -> Self {
        let item = |item: &Arc<Item>| Arc::new(item.detached());
        match self {
            Self::Item(found) => Self::Item(found.as_ref().map(item)),
            Self::Page(page, units) => {
                let Page { items, count, scanned, last_key } = &**page;
                let (items, last_key) = (items.iter().map(item).collect(), last_key.as_ref().map(Item::detached));
                Self::Page(Arc::new(Page { items, count: *count, scanned: *scanned, last_key }), *units)
            }
        }
    }
}

/// An answer that is kept.
#[derive(Debug)]
pub(super) struct Entry {
    /// What was found.
    pub(super) found: CacheAnswer,
    /// The attributes that were asked for, sorted; none are all.
    pub(super) projection: AttributeNames,
    /// When it was asked for, and whether it is still right.
    pub(super) watch: WatchedTags,
    /// When the first of its items expires; `None` if none does.
    pub(super) ends: Option<Instant>,
}

impl Entry {
    /// Whether it answers a request for these attributes that takes answers of this age.
    pub(super) fn serves(&self, projection: &[AttributeName], max_age: Duration, now: Instant) -> bool {
        let max_age = if matches!(self.found, CacheAnswer::Item(None)) { max_age.min(ABSENCE) } else { max_age };
        let is_over = self.ends.is_some_and(|ends| ends <= now);
        !is_over
            && self.watch.is_current()
            && self.watch.is_younger(max_age, now)
            && covers(&self.projection, projection)
    }
}

impl CacheAnswer {
    /// When the first of its items expires that has not yet, by its time in this attribute.
    pub(super) fn ends(&self, time_to_live: &str) -> Option<Instant> {
        let items = match self {
            Self::Item(item) => item.as_slice(),
            Self::Page(page, _) => page.items.as_slice(),
        };
        let time = |item: &Arc<Item>| match item.get(time_to_live) {
            // A fraction ends with its second.
            Some(Attribute::N(number)) => number.parse::<f64>().ok().map(|time| time.floor() as u64),
            _ => None,
        };
        let mut times = items.iter().filter_map(time).peekable();
        times.peek()?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let left = times.filter_map(|time| time.checked_sub(now)).filter(|left| *left > 0).min()?;
        Instant::now().checked_add(Duration::from_secs(left))
    }
}

/// Whether a list of attributes has all of another. Both are sorted; an empty one is all attributes.
pub(super) fn covers(list: &[AttributeName], wanted: &[AttributeName]) -> bool {
    if list.is_empty() || std::ptr::eq(list, wanted) {
        return true;
    }
    let mut rest = list.iter();
    !wanted.is_empty() && wanted.iter().all(|name| rest.any(|known| known == name))
}

/// Weighs entries by their bytes.
#[derive(Debug, Clone)]
pub(super) struct Bytes;

impl Weighter<EntryKey, Arc<Entry>> for Bytes {
    fn weight(&self, key: &EntryKey, entry: &Arc<Entry>) -> u64 {
        let of_key = match key {
            EntryKey::Item(_, key) => key_bytes(key),
            EntryKey::Page(page) => {
                let (filter, start) = page.large_parts();
                size_of_val(&**page) + filter.map_or(0, expression_bytes) + start.map_or(0, item_bytes)
            }
        };
        let found = match &entry.found {
            CacheAnswer::Item(item) => item.as_deref().map_or(0, item_bytes),
            CacheAnswer::Page(page, _) => {
                let pointers = page.items.capacity() * size_of::<Arc<Item>>();
                let last = page.last_key.as_ref().map_or(0, item_bytes);
                page.items.iter().map(|item| item_bytes(item)).sum::<usize>() + pointers + last
            }
        };
        let names: usize = entry.projection.iter().map(|name| size_of::<String>() + ALLOCATION + name.len()).sum();
        ENTRY_BYTES + (of_key + found + names) as u64 + TAG_BYTES * entry.watch.tags() as u64
    }
}

/// The memory of an item. Its names are counted although the items of a page share them: any of the items may be the
/// last.
fn item_bytes(item: &Item) -> usize {
    let one = |(name, value): (&Arc<str>, &Attribute)| {
        size_of::<(Arc<str>, Attribute)>() + ALLOCATION + name.len() + attribute_bytes(value)
    };
    size_of::<Item>() + ALLOCATION + item.members().map(one).sum::<usize>()
}

/// The memory of a value besides its own size.
fn attribute_bytes(value: &Attribute) -> usize {
    let text = |text: &Text| size_of::<Text>() + ALLOCATION + text.allocated();
    match value {
        Attribute::S(text) | Attribute::N(text) => ALLOCATION + text.allocated(),
        Attribute::B(bytes) => ALLOCATION + bytes.capacity(),
        Attribute::Bool(_) | Attribute::Null => 0,
        Attribute::Ss(texts) | Attribute::Ns(texts) => texts.iter().map(text).sum(),
        Attribute::Bs(all) => all.iter().map(|bytes| size_of::<Vec<u8>>() + ALLOCATION + bytes.capacity()).sum(),
        Attribute::L(values) => values.iter().map(|value| size_of::<Attribute>() + attribute_bytes(value)).sum(),
        Attribute::M(item) => item_bytes(item),
    }
}

fn key_bytes(key: &Key) -> usize {
    let value = |value: &KeyValue| match value {
        KeyValue::S(text) | KeyValue::N(text) => text.len(),
        KeyValue::B(bytes) => bytes.len(),
    };
    let parts = std::iter::once(&key.partition).chain(key.sort.as_ref());
    parts.map(|(name, held)| 2 * ALLOCATION + name.len() + value(held)).sum()
}

fn expression_bytes(expression: &Expression) -> usize {
    let names = expression.names.iter().map(|(short, name)| 4 * ALLOCATION + short.len() + name.len());
    let values = expression.values.iter().map(|(short, value)| 4 * ALLOCATION + short.len() + attribute_bytes(value));
    expression.text.len() + names.chain(values).sum::<usize>()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(list: &[&str]) -> Vec<AttributeName> {
        list.iter().map(|name| (*name).into()).collect()
    }

    #[test]
    fn a_wider_answer_serves_a_narrower_request() {
        let has = |list: &[&str], wanted: &[&str]| covers(&names(list), &names(wanted));
        assert!(has(&["a", "b", "c"], &["a", "c"]) && has(&["a"], &["a"]) && has(&[], &["a"]) && has(&[], &[]));
        assert!(!has(&["a", "c"], &["b"]) && !has(&["a"], &["a", "b"]) && !has(&["a"], &[]));
    }
}
