//! What a request knows of its tables: what its own reads of them have brought since its last write. Items and pages
//! in; the item of a key, or that there is none, out. Must not know who asks.
//!
//! | what | is known |
//! |---|---|
//! | an item | from a Get, a Query or a Scan of the table, with the attributes that it asked for |
//! | that a key has no item | from a Get that found none, and from a page of a Query without a filter that the key lies in |
//!
//! A strong read tells what a strong one may know, and any read what an eventually consistent one may. What an index
//! holds, and what the cache or another request gave, is not known. A write begins anew: nothing that was read before
//! it is known after it.

use crate::schema::table::number;
use crate::table::data::attribute::{Attribute, AttributeName, AttributeNames, Item, Key, KeyValue};
use crate::table::data::call::{Page, Query, SortCondition};
use crate::table::data::item_size::item_size;
use crate::table::data::key_identity::{canonical, canonical_value};
use crate::table::data_store::{GetResult, ItemRequest};
use foldhash::quality::RandomState;
use smallvec::{SmallVec, smallvec};
use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, Ordering as MemoryOrdering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The most bytes of items that a request knows. Mostly its response holds the same items. What comes in addition is
/// read again where it is asked for.
const KNOWN_BYTES: usize = 8 << 20;
/// The bytes that one item or page takes besides its items, about.
const ENTRY_BYTES: usize = 200;
/// The most pages of one partition. A look-up passes through all of them.
const PAGES_A_PARTITION: usize = 32;

/// What a request knows of its tables since its last write.
#[derive(Debug, Default)]
pub struct KnownItems {
    /// Whether what Gets find is kept.
    keeps_gets: AtomicBool,
    /// Whether there is anything.
    is_some: AtomicBool,
    kept: Mutex<KnownTables>,
}

#[derive(Debug, Default)]
struct KnownTables {
    /// Each with its name. There are few.
    tables: Vec<(Arc<str>, KnownTable)>,
    bytes: usize,
}

#[derive(Debug, Default)]
struct KnownTable {
    /// The items of Scans. They go to their partitions when the first key is looked up, which shows the names of the
    /// key's attributes.
    scanned: Vec<(ReadForm, Vec<Arc<Item>>)>,
    partitions: HashMap<KeyValue, KnownPartition, RandomState>,
}

#[derive(Debug, Default)]
struct KnownPartition {
    pages: Vec<KnownPage>,
    /// What Gets and Scans found, by sort key.
    items: BTreeMap<Option<KeyValue>, SmallVec<[KnownItem; 1]>>,
}

/// How something was read.
#[derive(Debug, Clone)]
struct ReadForm {
    /// The attributes, sorted; none are all.
    attributes: AttributeNames,
    consistent: bool,
}

/// What one read found for a key.
#[derive(Debug)]
struct KnownItem {
    form: ReadForm,
    item: Option<Arc<Item>>,
}

/// A page of a partition, in the order in which it was read.
#[derive(Debug)]
struct KnownPage {
    form: ReadForm,
    items: Vec<Arc<Item>>,
    forward: bool,
    /// What it holds all items of; `None` if a filter left some out.
    whole: Option<PageRange>,
}

/// The keys that a page covers.
#[derive(Debug)]
struct PageRange {
    condition: Option<SortCondition>,
    /// The key after which it begins.
    start: Option<Item>,
    /// The key with which it ends.
    last: Option<Item>,
}

impl KnownItems {
    /// Keeps what Gets find from now on, too.
    pub(super) fn keep_gets(&self) {
        self.keeps_gets.store(true, MemoryOrdering::Relaxed);
    }

    /// Whether nothing is known.
    pub(super) fn is_empty(&self) -> bool {
        !self.is_some.load(MemoryOrdering::Relaxed)
    }

    /// Keeps what a call found for these keys, if Gets are to be kept.
    pub(super) fn keep_items(&self, asked: &[ItemRequest<'_>], found: &[GetResult]) {
        if !self.keeps_gets.load(MemoryOrdering::Relaxed) {
            return;
        }
        let mut kept = self.kept();
        for (ItemRequest { table, key, projection, consistent }, found) in asked.iter().zip(found) {
            let Ok(item) = found else { continue };
            if !kept.has_room(item.iter()) {
                return;
            }
            let Key { partition, sort } = canonical(key).into_owned();
            let form = ReadForm { attributes: (*projection).into(), consistent: *consistent };
            let partition = kept.table(table).partitions.entry(partition.1).or_default();
            partition.keep(sort.map(|(_, value)| value), KnownItem { form, item: item.clone() });
        }
        self.is_some.store(true, MemoryOrdering::Relaxed);
    }

    /// Keeps the items of a page that a call read. A count has none, and an index may be behind its table.
    pub(super) fn keep_page(&self, query: &Query, page: &Page) {
        let (Some(attributes), None) = (&query.projection, &query.index) else { return };
        let mut kept = self.kept();
        if !kept.has_room(page.items.iter()) {
            return;
        }
        let form = ReadForm { attributes: attributes.clone(), consistent: query.consistent };
        let table = kept.table(&query.table);
        match &query.partition {
            None => table.scanned.push((form, page.items.clone())),
            Some((_, value)) => {
                let whole = query.filter.is_none().then(|| PageRange {
                    condition: query.sort.as_ref().map(|(_, condition)| condition.clone()),
                    start: query.start.clone(),
                    last: page.last_key.clone(),
                });
                let partition = table.partitions.entry(canonical_value(value).into_owned()).or_default();
                if partition.pages.len() < PAGES_A_PARTITION {
                    partition.pages.push(KnownPage { form, items: page.items.clone(), forward: query.forward, whole });
                }
            }
        }
        self.is_some.store(true, MemoryOrdering::Relaxed);
    }

    /// What is known of a key: its item with at least these attributes, or that there is none; `None` if it must be
    /// read.
    pub fn item(&self, wanted: ItemRequest<'_>) -> Option<Option<Arc<Item>>> {
        let mut kept = self.kept();
        let (_, table) = kept.tables.iter_mut().find(|(name, _)| **name == *wanted.table)?;
        let key = canonical(wanted.key);
        table.place_scanned(&key);
        let partition = table.partitions.get(&key.partition.1)?;
        let sort = key.sort.as_ref();
        let by_key = partition.items.get(&sort.map(|(_, value)| value.clone()));
        let by_key = by_key.into_iter().flatten().rev().find(|known| known.form.serves(&wanted));
        if let Some(KnownItem { item, .. }) = by_key {
            return Some(item.clone());
        }
        let serving = partition.pages.iter().rev().filter(|page| page.form.serves(&wanted));
        serving.filter_map(|page| page.item(sort)).next()
    }

    fn kept(&self) -> MutexGuard<'_, KnownTables> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl KnownTables {
    /// Counts items that are to be kept. False if there is no room for them.
    fn has_room<'i>(&mut self, items: impl Iterator<Item = &'i Arc<Item>>) -> bool {
        let more = ENTRY_BYTES + items.map(|item| item_size(item)).sum::<usize>();
        let has_room = self.bytes + more <= KNOWN_BYTES;
        if has_room {
            self.bytes += more;
        }
        has_room
    }

    fn table(&mut self, name: &str) -> &mut KnownTable {
        let position = self.tables.iter().position(|(known, _)| **known == *name).unwrap_or_else(|| {
            self.tables.push((name.into(), KnownTable::default()));
            self.tables.len() - 1
        });
        &mut self.tables[position].1
    }
}

impl KnownTable {
    /// Puts the items of Scans to their partitions, by the attributes of a key of the table.
    fn place_scanned(&mut self, shape: &Key) {
        for (form, items) in std::mem::take(&mut self.scanned) {
            for item in items {
                let value = |(name, _): &(AttributeName, KeyValue)| KeyValue::new(item.get(name)?);
                let canonical = |value: KeyValue| canonical_value(&value).into_owned();
                let Some(partition) = value(&shape.partition).map(canonical) else { continue };
                let sort = shape.sort.as_ref().map(value);
                if sort == Some(None) {
                    continue;
                }
                let sort = sort.flatten().map(canonical);
                let known = KnownItem { form: form.clone(), item: Some(item) };
                self.partitions.entry(partition).or_default().keep(sort, known);
            }
        }
    }
}

impl KnownPartition {
    /// Keeps what a read found for a sort key. A later read takes the place of one that asked for the same.
    fn keep(&mut self, sort: Option<KeyValue>, known: KnownItem) {
        let all = self.items.entry(sort).or_insert_with(|| smallvec![]);
        all.retain(|before| {
            before.form.consistent != known.form.consistent || before.form.attributes != known.form.attributes
        });
        all.push(known);
    }
}

impl ReadForm {
    /// Whether what was read so has all that is wanted.
    fn serves(&self, wanted: &ItemRequest<'_>) -> bool {
        (self.consistent || !wanted.consistent) && self.has(wanted.projection)
    }

    /// Whether the attributes are among those that were read. Both are sorted.
    fn has(&self, names: &[AttributeName]) -> bool {
        let mut own = self.attributes.iter();
        self.attributes.is_empty() || (!names.is_empty() && names.iter().all(|name| own.any(|own| own == name)))
    }
}

impl KnownPage {
    /// What the page says of a sort key; `None` if it says nothing.
    fn item(&self, sort: Option<&(AttributeName, KeyValue)>) -> Option<Option<Arc<Item>>> {
        let Some((name, key)) = sort else {
            // Its partition has one item at most.
            let is_whole = self.whole.as_ref().is_some_and(|range| range.start.is_none() && range.last.is_none());
            return match self.items.first() {
                None => is_whole.then_some(None),
                found => Some(found.cloned()),
            };
        };
        let order = |item: &Item| {
            let order = order(item.get(name)?, key)?;
            Some(if self.forward { order } else { order.reverse() })
        };
        // An item without an order to the key is none that the page can be searched by.
        let found = self.items.binary_search_by(|item| order(item).unwrap_or(Ordering::Less));
        if let Ok(position) = found {
            return self.items.get(position).cloned().map(Some);
        }
        let PageRange { condition, start, last } = self.whole.as_ref()?;
        let begins = start.as_ref().is_none_or(|start| order(start) == Some(Ordering::Less));
        let ends = last.as_ref().is_none_or(|last| matches!(order(last), Some(Ordering::Greater | Ordering::Equal)));
        // The items of a page have the same attributes in their keys.
        let is_ordered = self.items.first().is_none_or(|item| order(item).is_some());
        let covers = condition.as_ref().is_none_or(|condition| admits(condition, key) == Some(true));
        (begins && ends && is_ordered && covers).then_some(None)
    }
}

/// The order of a stored sort key and a key value; `None` if they are of different types.
fn order(stored: &Attribute, key: &KeyValue) -> Option<Ordering> {
    match (stored, key) {
        (Attribute::S(stored), KeyValue::S(key)) => Some(stored.as_str().as_bytes().cmp(key.as_bytes())),
        (Attribute::N(stored), KeyValue::N(key)) => Some(number::compare(stored, key)),
        (Attribute::B(stored), KeyValue::B(key)) => Some(stored.cmp(key)),
        _ => None,
    }
}

/// Whether a sort key meets a condition; `None` if the condition is about keys of another type.
fn admits(condition: &SortCondition, key: &KeyValue) -> Option<bool> {
    let order = |bound: &KeyValue| match (key, bound) {
        (KeyValue::S(key), KeyValue::S(bound)) => Some(key.as_bytes().cmp(bound.as_bytes())),
        (KeyValue::N(key), KeyValue::N(bound)) => Some(number::compare(key, bound)),
        (KeyValue::B(key), KeyValue::B(bound)) => Some(key.cmp(bound)),
        _ => None,
    };
    Some(match condition {
        SortCondition::Equal(bound) => order(bound)?.is_eq(),
        SortCondition::Less(bound) => order(bound)?.is_lt(),
        SortCondition::LessOrEqual(bound) => order(bound)?.is_le(),
        SortCondition::Greater(bound) => order(bound)?.is_gt(),
        SortCondition::GreaterOrEqual(bound) => order(bound)?.is_ge(),
        SortCondition::Between(low, high) => order(low)?.is_ge() && order(high)?.is_le(),
        SortCondition::BeginsWith(start) => match (key, start) {
            (KeyValue::S(key), KeyValue::S(start)) => key.starts_with(start.as_str()),
            (KeyValue::B(key), KeyValue::B(start)) => key.starts_with(start),
            _ => return None,
        },
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::table::data::call::Expression;
    use SortCondition::{BeginsWith, Between};

    fn s(text: &str) -> KeyValue {
        KeyValue::S(text.to_owned())
    }

    fn key(partition: &str, sort: &str) -> Key {
        Key { partition: ("pk".into(), s(partition)), sort: Some(("sk".into(), s(sort))) }
    }

    fn item(partition: &str, sort: &str) -> Item {
        [("pk", partition), ("sk", sort)]
            .map(|(name, text)| (name.to_owned(), Attribute::S(text.into())))
            .into_iter()
            .collect()
    }

    fn names(list: &[&str]) -> AttributeNames {
        list.iter().map(|name| AttributeName::from(*name)).collect()
    }

    fn query(sort: Option<SortCondition>) -> Query {
        Query {
            table: "t".into(),
            index: None,
            partition: Some(("pk".to_owned(), s("p"))),
            equal: Vec::new(),
            sort: sort.map(|sort| ("sk".to_owned(), sort)),
            filter: None,
            projection: Some(names(&["a", "pk", "sk"])),
            forward: true,
            limit: 10,
            start: None,
            consistent: false,
            max_age: None,
        }
    }

    fn page(sorts: &[&str], last: Option<&str>) -> Page {
        let items: Vec<Arc<Item>> = sorts.iter().map(|sort| Arc::new(item("p", sort))).collect();
        let count = u32::try_from(items.len()).unwrap();
        Page { items, count, scanned: count, last_key: last.map(|last| item("p", last)) }
    }

    /// What is known of a key in the partition: whether it has an item.
    fn known(known: &KnownItems, sort: &str) -> Option<bool> {
        ask(known, &key("p", sort), &["pk", "sk"], false)
    }

    fn ask(known: &KnownItems, key: &Key, needs: &[&str], consistent: bool) -> Option<bool> {
        let request = ItemRequest { table: "t", key, projection: &names(needs), consistent };
        known.item(request).map(|item| item.is_some())
    }

    #[test]
    fn a_page_tells_of_the_keys_that_it_passes() {
        for (query, page, expected) in [
            (query(None), page(&["b", "d"], None), [Some(false), Some(true), Some(false), Some(true), Some(false)]),
            (query(None), page(&["b", "d"], Some("d")), [Some(false), Some(true), Some(false), Some(true), None]),
            (query(None), page(&["b"], Some("c")), [Some(false), Some(true), Some(false), None, None]),
            (query(None), page(&[], Some("c")), [Some(false), Some(false), Some(false), None, None]),
            (
                Query { forward: false, ..query(None) },
                page(&["d", "b"], Some("b")),
                [None, Some(true), Some(false), Some(true), Some(false)],
            ),
            (
                Query { start: Some(item("p", "b")), ..query(None) },
                page(&["d"], None),
                [None, None, Some(false), Some(true), Some(false)],
            ),
            (query(Some(Between(s("b"), s("c")))), page(&["b"], None), [None, Some(true), Some(false), None, None]),
            (query(Some(BeginsWith(s("c")))), page(&[], None), [None, None, Some(false), None, None]),
            (
                Query {
                    filter: Some(Expression { text: String::new(), names: BTreeMap::new(), values: BTreeMap::new() }),
                    ..query(None)
                },
                page(&["b", "d"], None),
                [None, Some(true), None, Some(true), None],
            ),
            (Query { index: Some("i".into()), ..query(None) }, page(&["b"], None), [None; 5]),
            (Query { projection: None, ..query(None) }, page(&[], None), [None; 5]),
        ] {
            let items = KnownItems::default();
            items.keep_page(&query, &page);
            let is = ["a", "b", "c", "d", "e"].map(|sort| known(&items, sort));
            assert_eq!(is, expected, "{query:?} {page:?}");
            assert_eq!(ask(&items, &key("q", "b"), &["pk"], false), None, "another partition");
        }
    }

    #[test]
    fn a_read_knows_what_was_read_as_strongly_with_all_that_it_needs() {
        for (consistent, needs, strong, expected) in [
            (false, &["a", "pk", "sk"][..], false, Some(true)),
            (false, &["a"], true, None),
            (true, &["a"], true, Some(true)),
            (true, &["pk"], false, Some(true)),
            (true, &["b"], false, None),
            (true, &["a", "b"], false, None),
            (true, &[], false, None),
        ] {
            let items = KnownItems::default();
            assert!(items.is_empty());
            items.keep_page(&Query { consistent, ..query(None) }, &page(&["b"], None));
            assert!(!items.is_empty());
            assert_eq!(ask(&items, &key("p", "b"), needs, strong), expected, "{consistent} {needs:?} {strong}");
        }
    }

    #[test]
    fn gets_are_kept_if_they_are_to_be_and_scans_are_placed_by_their_keys() {
        let items = KnownItems::default();
        let (here, gone) = (key("p", "b"), key("p", "c"));
        let asked = [&here, &gone].map(|key| ItemRequest { table: "t", key, projection: &[], consistent: true });
        let found = [Ok(Some(Arc::new(item("p", "b")))), Ok(None)];
        items.keep_items(&asked, &found);
        assert!(items.is_empty());
        items.keep_gets();
        items.keep_items(&asked, &found);
        assert_eq!([ask(&items, &here, &[], true), ask(&items, &gone, &["x"], true)], [Some(true), Some(false)]);
        items.keep_page(&Query { partition: None, ..query(None) }, &page(&["x", "y"], None));
        assert_eq!([known(&items, "x"), known(&items, "z")], [Some(true), None]);
    }

    #[test]
    fn numbers_are_one_key_however_they_are_written() {
        let number = |text: &str| KeyValue::N(text.to_owned());
        let items = KnownItems::default();
        let found: Item = [("pk", "1.0"), ("sk", "10")]
            .map(|(name, text)| (name.to_owned(), Attribute::N(text.into())))
            .into_iter()
            .collect();
        let asked = Query { partition: Some(("pk".to_owned(), number("1.0"))), ..query(None) };
        items.keep_page(&asked, &Page { items: vec![Arc::new(found)], count: 1, scanned: 1, last_key: None });
        let of = |partition: &str, sort: &str| {
            let key = Key { partition: ("pk".into(), number(partition)), sort: Some(("sk".into(), number(sort))) };
            ask(&items, &key, &["pk"], false)
        };
        assert_eq!([of("1", "10.0"), of("1", "9"), of("2", "10")], [Some(true), Some(false), None]);
    }

    #[test]
    fn what_does_not_fit_is_not_known() {
        let items = KnownItems::default();
        let large: Item = item("p", "b")
            .into_iter()
            .chain([(AttributeName::from("a"), Attribute::S("x".repeat(KNOWN_BYTES).as_str().into()))])
            .collect();
        items.keep_page(&query(None), &Page { items: vec![Arc::new(large)], count: 1, scanned: 1, last_key: None });
        assert!(items.is_empty());
        for _ in 0..=PAGES_A_PARTITION {
            items.keep_page(&query(Some(BeginsWith(s("c")))), &page(&[], None));
        }
        items.keep_page(&query(None), &page(&["b"], None));
        assert_eq!([known(&items, "b"), known(&items, "c")], [None, Some(false)]);
    }
}
