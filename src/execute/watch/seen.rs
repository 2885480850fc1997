//! What a subscriber has had before it takes the events of its group in; out: which of those are new to it.

use crate::table::data::attribute::{AttributeName, AttributeNames, Item};
use crate::table::stream::record::{ChangeRecord, StreamPosition, compare_sequences};
use std::cmp;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// What a subscriber has had.
#[derive(Debug, Clone, Default)]
pub struct Seen {
    /// The last change of each shard.
    pub replayed: HashMap<Arc<str>, Arc<str>>,
    /// The item as it was when the subscription began.
    pub initial: Option<SeenItem>,
}

/// An item as a subscriber has seen it. Each subscriber keeps one until the first change, so it is the hash of the item only.
#[derive(Debug, Clone)]
pub struct SeenItem {
    /// The hash of the attributes; `None` if there was no item.
    hash: Option<u64>,
    attributes: AttributeNames,
}

impl SeenItem {
    /// An item of which these attributes were read; `None` if there was none.
    pub fn new(item: Option<&Item>, attributes: AttributeNames) -> Self {
        Self { hash: item.map(|item| hash_of(item, &attributes)), attributes }
    }

    /// Whether an image is the item as it was seen.
    fn is(&self, image: Option<&Arc<Item>>) -> bool {
        self.hash == image.map(|image| hash_of(image, &self.attributes))
    }
}

fn hash_of(item: &Item, attributes: &[AttributeName]) -> u64 {
    let mut hasher = DefaultHasher::new();
    attributes.iter().for_each(|name| item.get(name).hash(&mut hasher));
    hasher.finish()
}

impl Seen {
    /// Notes a change that the subscriber has had.
    pub fn note(&mut self, position: &StreamPosition) {
        self.replayed.insert(position.shard.clone(), position.sequence.clone());
    }

    /// Whether every change is new.
    pub fn is_nothing(&self) -> bool {
        self.replayed.is_empty() && self.initial.is_none()
    }

    /// Whether a change is new to the subscriber.
    pub fn is_new(&mut self, record: &ChangeRecord) -> bool {
        let StreamPosition { shard, sequence } = &record.position;
        if self.replayed.get(shard).is_some_and(|last| compare_sequences(sequence, last) != cmp::Ordering::Greater) {
            return false;
        }
        // The changes of an item follow each other. The first that is new changes the item as it was seen.
        if self.initial.as_ref().is_some_and(|seen| !seen.is(record.old.as_ref())) {
            return false;
        }
        self.initial = None;
        true
    }
}
