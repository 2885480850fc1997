//! What is read, and what changes, in; out: the tags that join the two. Must not know what was kept or when.
//!
//! | what is read | its tags |
//! |---|---|
//! | an item | the item |
//! | a page of a table or of a local index | the partition: the key of each item names it |
//! | a page of a global index | the partition in the index, the whole index, and each item of the page; if it hides items, *unseen* in place of these |
//! | a Scan | the table |
//!
//! A change drops the item, the partitions of the table and of its indexes that the item was in or is in, and the
//! table. Of a global index, a partition may be unknown. Where the item may have entered any, it drops the whole index.
//! Where it may have left any, the pages that hold it are dropped with it, and those that hide items by *unseen*.

use super::change::{Image, ItemChange};
use super::key::{EntryKey, PageKey};
use super::watches::Tag;
use crate::schema::table::{Index, KeyAttribute, Table};
use crate::table::data::attribute::{Item, Key, KeyValue};
use crate::table::data::key_identity::{canonical, canonical_value};
use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::{BuildHasher, Hash, RandomState};
use std::sync::Arc;

/// The tables, and the hash of tags.
#[derive(Debug)]
pub(super) struct Tags {
    tables: HashMap<String, Table>,
    hash: RandomState,
}

/// What a tag stands for. It is hashed.
#[derive(Hash)]
enum Subject<'a> {
    Item(&'a KeyValue, Option<&'a KeyValue>),
    Partition(Option<&'a str>, &'a [KeyValue]),
    Index(&'a str),
    Unseen(&'a str),
    Table,
}

/// What is known of an item's partition in an index.
#[derive(PartialEq, Eq, Clone)]
enum Place {
    Unknown,
    /// The values of the partition key's attributes; `None` if the item is not in the index.
    Known(Option<Vec<KeyValue>>),
}

impl Tags {
    /// The tags of what is read of these tables.
    pub(super) fn new(tables: &[Table]) -> Self {
        Self {
            tables: tables.iter().map(|table| (table.name.clone(), table.clone())).collect(),
            hash: RandomState::new(),
        }
    }

    fn tag(&self, table: &str, subject: &Subject<'_>) -> Tag {
        Tag(self.hash.hash_one((table, subject)))
    }

    /// The tag of an item, whose key has canonical numbers.
    pub(super) fn item_tag(&self, table: &str, key: &Key) -> Tag {
        self.tag(table, &Subject::Item(&key.partition.1, key.sort.as_ref().map(|(_, value)| value)))
    }

    /// The tags of a page before it is read; `None` if the table or the index is unknown.
    pub(super) fn page_tags(&self, page: &PageKey) -> Option<Vec<Tag>> {
        let table = self.tables.get(&*page.table)?;
        let tag = |subject: Subject<'_>| self.tag(&table.name, &subject);
        let Some(partition) = &page.partition else { return Some(vec![tag(Subject::Table)]) };
        let Some(index) = page.index.as_deref() else {
            return Some(vec![tag(Subject::Partition(None, std::slice::from_ref(partition)))]);
        };
        let known = table.indexes.iter().find(|known| known.name == index)?;
        let values = match known.partition.len() {
            1 => Cow::Borrowed(std::slice::from_ref(partition)),
            several => {
                let further = page.equal.iter().take(several - 1);
                Cow::Owned(std::iter::once(partition).chain(further).cloned().collect::<Vec<_>>())
            }
        };
        let of_partition = tag(Subject::Partition(Some(index), &values));
        Some(match (is_in_key(table, known), page.hides_items) {
            (true, _) => vec![of_partition],
            (false, true) => vec![of_partition, tag(Subject::Index(index)), tag(Subject::Unseen(index))],
            (false, false) => vec![of_partition, tag(Subject::Index(index))],
        })
    }

    /// The tags of a page that are known when it is read: those of its items. `None` if an item has no key.
    pub(super) fn items_tags(&self, page: &PageKey, items: &[Arc<Item>]) -> Option<Vec<Tag>> {
        let table = self.tables.get(&*page.table)?;
        let index = page.index.as_deref().and_then(|name| table.indexes.iter().find(|index| index.name == name));
        if page.hides_items || page.partition.is_none() || index.is_none_or(|index| is_in_key(table, index)) {
            return Some(Vec::new());
        }
        let of_item = |item: &Arc<Item>| Some(self.item_tag(&table.name, &canonical(&key_of(table, item)?)));
        items.iter().map(of_item).collect()
    }

    /// The attribute with the times of a table's items, if they are not there from then on.
    pub(super) fn time_to_live(&self, key: &EntryKey) -> Option<&str> {
        let name = match key {
            EntryKey::Item(table, _) => table,
            EntryKey::Page(page) => &page.table,
        };
        let table = self.tables.get(&**name).filter(|table| !table.shows_expired)?;
        table.time_to_live.as_deref()
    }

    /// The key of an item in a table.
    pub(super) fn key_in(&self, table: &str, item: &Item) -> Option<Key> {
        key_of(self.tables.get(table)?, item)
    }

    /// The tags that a change drops.
    pub(super) fn change_tags(&self, change: &ItemChange<'_>) -> Vec<Tag> {
        let Some(table) = self.tables.get(change.table) else { return Vec::new() };
        let key = canonical(change.key);
        let tag = |subject: Subject<'_>| self.tag(&table.name, &subject);
        let mut tags = vec![
            self.item_tag(&table.name, &key),
            tag(Subject::Partition(None, std::slice::from_ref(&key.partition.1))),
            tag(Subject::Table),
        ];
        for index in &table.indexes {
            let name = index.name.as_str();
            let (before, after) = places(index, &key, change);
            for place in [&before, &after] {
                if let Place::Known(Some(partition)) = place {
                    tags.push(tag(Subject::Partition(Some(name), partition)));
                }
            }
            let stays = !may_move(index, change);
            match (before, after) {
                (_, Place::Unknown) if !stays => tags.push(tag(Subject::Index(name))),
                (Place::Unknown, _) | (_, Place::Unknown) => tags.push(tag(Subject::Unseen(name))),
                (Place::Known(_), Place::Known(_)) => {}
            }
        }
        tags
    }
}

/// Whether the table's own key has the partition of an index, as that of a local index.
fn is_in_key(table: &Table, index: &Index) -> bool {
    index.partition.iter().all(|key| table.is_primary_key(&key.name))
}

/// Whether a change may move an item to another place of an index.
fn may_move(index: &Index, change: &ItemChange<'_>) -> bool {
    let mut keys = index.keys().all();
    change.attributes.as_ref().is_none_or(|attributes| keys.any(|key| attributes.contains(&key.name.as_str())))
}

/// The partitions of an index that an item is in before and after a change.
fn places(index: &Index, key: &Key, change: &ItemChange<'_>) -> (Place, Place) {
    let in_key = |attribute: &KeyAttribute| {
        let mut own = std::iter::once(&key.partition).chain(key.sort.as_ref());
        own.find(|(name, _)| **name == *attribute.name).map(|(_, value)| value.clone())
    };
    if let Some(values) = index.partition.iter().map(in_key).collect::<Option<Vec<_>>>() {
        let place = Place::Known(Some(values));
        return (place.clone(), place);
    }
    let place = |image: Image<'_>| match image {
        Image::Unknown => Place::Unknown,
        Image::Missing => Place::Known(None),
        Image::Item(item) => {
            let value = |attribute: &KeyAttribute| {
                let stored = || Some(canonical_value(&KeyValue::new(item.get(&attribute.name)?)?).into_owned());
                in_key(attribute).or_else(stored)
            };
            Place::Known(index.partition.iter().map(value).collect())
        }
    };
    let (before, after) = (place(change.before), place(change.after));
    // What keeps its place in the index is in one partition, before and after.
    match (may_move(index, change), &before, &after) {
        (false, Place::Unknown, Place::Known(_)) => (after.clone(), after),
        (false, Place::Known(_), Place::Unknown) => (before.clone(), before),
        _ => (before, after),
    }
}

fn key_of(table: &Table, item: &Item) -> Option<Key> {
    Key::new(item, &table.partition.name, table.sort.as_ref().map(|key| key.name.as_str()))
}
