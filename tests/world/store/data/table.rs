//! Changes of items in; what an item is, or was at a time, out. A table forgets nothing.

use crate::store::data::attribute::{Attribute, Item};
use crate::store::data::definition::Definition;
use crate::store::data::key::Key;
use crate::store::stream::Stream;
use std::collections::BTreeMap;

/// A table with all that its items ever were.
#[derive(Debug, Clone)]
pub struct Table {
    pub definition: Definition,
    /// The attribute that says when an item expires, in seconds since the epoch.
    pub time_to_live: Option<String>,
    pub stream: Option<Stream>,
    items: BTreeMap<Key, Vec<Version>>,
}

/// What an item was from a time on.
#[derive(Debug, Clone)]
pub struct Version {
    /// Milliseconds since the epoch.
    pub since: u64,
    /// `None`: it was not there.
    pub item: Option<Item>,
}

/// Who changed an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Writer {
    Client,
    /// The item had expired.
    TimeToLive,
}

impl Table {
    pub fn new(definition: Definition, now: u64) -> Self {
        let stream = definition.has_stream().then(|| Stream::new(&definition.name, now));
        Self { definition, time_to_live: None, stream, items: BTreeMap::new() }
    }

    /// The item now.
    pub fn item(&self, key: &Key) -> Option<&Item> {
        self.items.get(key)?.last()?.item.as_ref()
    }

    /// The item as it was at a time, with all changes of that millisecond.
    pub fn item_at(&self, key: &Key, time: u64) -> Option<&Item> {
        self.items.get(key)?.iter().rfind(|version| version.since <= time)?.item.as_ref()
    }

    /// When the item changed last.
    pub fn changed(&self, key: &Key) -> Option<u64> {
        Some(self.items.get(key)?.last()?.since)
    }

    /// All keys that ever had an item, in their order.
    pub fn keys(&self) -> impl Iterator<Item = &Key> {
        self.items.keys()
    }

    /// The keys of a partition, in the order of the sort key.
    pub fn keys_in<'a>(&'a self, partition: &'a Attribute) -> impl Iterator<Item = &'a Key> {
        let first = Key { partition: partition.clone(), sort: None };
        self.items.range(first..).map(|(key, _)| key).take_while(move |key| key.partition == *partition)
    }

    /// All that an item ever was, for those who check histories.
    pub fn versions(&self, key: &Key) -> &[Version] {
        self.items.get(key).map_or(&[], Vec::as_slice)
    }

    /// Replaces an item, or removes it. A change that changes nothing is none, and the stream does not have it.
    pub fn set(&mut self, key: &Key, item: Option<Item>, now: u64, writer: Writer) {
        let old = self.item(key).cloned();
        if old == item {
            return;
        }
        if let Some(stream) = &mut self.stream {
            stream.append((key, &self.definition.keys), (old.as_ref(), item.as_ref()), now, writer);
        }
        self.items.entry(key.clone()).or_default().push(Version { since: now, item });
    }
}
