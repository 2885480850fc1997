//! What a subscriber has had before it takes the events of its group in; out: which of those are new to it.

use crate::table::change_source::{ChangeRecord, StreamPosition, compare_sequences};
use crate::table::data::attribute::{Attribute, AttributeName, AttributeNames, Item};
use std::cmp;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// What a subscriber has had.
#[derive(Debug, Clone, Default)]
pub struct DeliveredChanges {
    /// The last change of each shard.
    pub replayed: HashMap<Arc<str>, Arc<str>>,
    /// Shards that one of these follows. An older change of an item would come after a newer one.
    pub over: HashSet<Arc<str>>,
    /// The item as the subscriber has it from the beginning. Without one, every change is new: it may concern an item
    /// that was there and not for this subscriber.
    pub initial: Option<SeenItem>,
}

/// An item as a subscriber has seen it. Each subscriber keeps one until the first change, so it is the hash of the item
/// only.
#[derive(Debug, Clone)]
pub struct SeenItem {
    /// The hash of the attributes.
    hash: u64,
    attributes: AttributeNames,
}

impl SeenItem {
    /// An item of which these attributes were read.
    pub fn new(item: &Item, attributes: AttributeNames) -> Self {
        Self { hash: hash_of(item, &attributes), attributes }
    }

    /// Whether an image is the item as it was seen.
    fn is(&self, image: Option<&Arc<Item>>) -> bool {
        image.is_some_and(|image| hash_of(image, &self.attributes) == self.hash)
    }
}

fn hash_of(item: &Item, attributes: &[AttributeName]) -> u64 {
    let mut hasher = DefaultHasher::new();
    attributes.iter().for_each(|name| hash_value(item.get(name), &mut hasher));
    hasher.finish()
}

/// A set has no order: a read may give its elements in another one than the stream does.
fn hash_value(value: Option<&Attribute>, hasher: &mut DefaultHasher) {
    value.map(std::mem::discriminant).hash(hasher);
    match value {
        Some(Attribute::Ss(texts) | Attribute::Ns(texts)) => hash_set(texts, hasher),
        Some(Attribute::Bs(all)) => hash_set(all, hasher),
        Some(Attribute::L(values)) => {
            values.len().hash(hasher);
            values.iter().for_each(|value| hash_value(Some(value), hasher));
        }
        Some(Attribute::M(members)) => members.iter().for_each(|(name, value)| {
            name.hash(hasher);
            hash_value(Some(value), hasher);
        }),
        other => other.hash(hasher),
    }
}

fn hash_set<T: Hash + Ord>(elements: &[T], hasher: &mut DefaultHasher) {
    elements.iter().collect::<BTreeSet<_>>().hash(hasher);
}

impl DeliveredChanges {
    /// Notes a change that the subscriber has had.
    pub fn note(&mut self, position: &StreamPosition) {
        self.replayed.insert(position.shard.clone(), position.sequence.clone());
    }

    /// Whether every change is new.
    pub fn is_nothing(&self) -> bool {
        self.replayed.is_empty() && self.initial.is_none()
    }

    /// Whether a change is new to the subscriber. Asks about every change of the item, also if it makes no event.
    pub fn is_new(&mut self, record: &ChangeRecord) -> bool {
        let StreamPosition { shard, sequence } = &record.position;
        let is_had = |last| compare_sequences(sequence, last) != cmp::Ordering::Greater;
        if self.over.contains(shard) || self.replayed.get(shard).is_some_and(|last| is_had(last)) {
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

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn item(texts: &[&str]) -> Arc<Item> {
        let set = || Attribute::Ss(texts.iter().map(|text| (*text).into()).collect());
        let members =
            [("tags", set()), ("deep", Attribute::L(vec![Attribute::M([("tags", set())].into_iter().collect())]))];
        Arc::new(members.into_iter().collect())
    }

    #[test]
    fn an_item_is_the_same_whatever_the_order_of_its_sets() {
        let record = |old| {
            let position = StreamPosition { shard: "s".into(), sequence: "1".into() };
            ChangeRecord { table: "t".into(), position, created: 0, old: Some(old), new: None }
        };
        let seen = || DeliveredChanges {
            initial: Some(SeenItem::new(&item(&["a", "b"]), ["deep".into(), "tags".into()].into())),
            ..DeliveredChanges::default()
        };
        assert!(seen().is_new(&record(item(&["a", "b"]))));
        assert!(seen().is_new(&record(item(&["b", "a"]))));
        assert!(!seen().is_new(&record(item(&["b", "c"]))));
    }
}
