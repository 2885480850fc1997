//! A change of an item, and its position in the stream. Plain data.

use crate::table::data::attribute::{Attribute, Item};
use crate::table::data::item_size::item_size;
use std::cmp::Ordering;
use std::sync::Arc;

/// A change of one item.
#[derive(Debug, Clone, PartialEq)]
pub struct ChangeRecord {
    /// The table's name.
    pub table: Arc<str>,
    /// The position in the stream.
    pub position: StreamPosition,
    /// The second in which the item changed, since 1970.
    pub created: i64,
    /// The item before the change; `None` if there was none.
    pub old: Option<Arc<Item>>,
    /// The item after the change; `None` if it is gone.
    pub new: Option<Arc<Item>>,
}

impl ChangeRecord {
    /// The approximate memory of the record, in bytes.
    pub fn bytes(&self) -> usize {
        let image = |image: &Option<Arc<Item>>| image.as_ref().map_or(0, |item| 64 * (item.len() + 1) + item_size(item));
        256 + image(&self.old) + image(&self.new)
    }

    /// The value of an attribute that a change leaves as it is, such as one of the key.
    pub fn key_attribute(&self, name: &str) -> Option<&Attribute> {
        self.new.as_ref().or(self.old.as_ref())?.get(name)
    }
}

/// A position in a stream. The records of one item are in one shard and its descendants, in the order of their sequence numbers.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct StreamPosition {
    /// The shard.
    pub shard: Arc<str>,
    /// The sequence number: up to 40 digits.
    pub sequence: Arc<str>,
}

/// The order of two sequence numbers.
pub fn compare_sequences(one: &str, other: &str) -> Ordering {
    let (one, other) = (one.trim_start_matches('0'), other.trim_start_matches('0'));
    one.len().cmp(&other.len()).then_with(|| one.cmp(other))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequence_numbers_are_numbers() {
        assert_eq!(compare_sequences("9", "10"), Ordering::Less);
        assert_eq!(compare_sequences("0000000000000000000010", "9"), Ordering::Greater);
        assert_eq!(compare_sequences("000123", "123"), Ordering::Equal);
    }
}
