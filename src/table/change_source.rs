//! What a store must do for those who want the changes of its tables: list the shards of a stream, and give their
//! records in order. Must not know who reads it.
//!
//! [`super::stream`] asks DynamoDB, a compatible server or the embedded engine, and reads what is given here.

use crate::table::data::attribute::{Attribute, Item};
use crate::table::data::item_size::item_size;
use futures_util::future::BoxFuture;
use std::cmp::Ordering;
use std::sync::Arc;
use thiserror::Error;

/// The streams of a store's tables.
pub trait ChangeSource: Send + Sync {
    /// The shards of a table's stream that can still be read, in any order.
    fn shards<'a>(&'a self, table: &'a str) -> BoxFuture<'a, Result<Vec<Shard>, StreamError>>;

    /// An iterator over a shard. It expires after 15 minutes.
    fn iterator<'a>(
        &'a self,
        table: &'a str,
        shard: &'a str,
        start: &'a ShardStart,
    ) -> BoxFuture<'a, Result<String, StreamError>>;

    /// The next records of a table's shard, and the iterator after them; `None` if the shard has ended. The records may
    /// be none although there are more.
    fn records<'a>(
        &'a self,
        of: (&'a Arc<str>, &'a Arc<str>),
        iterator: &'a str,
    ) -> BoxFuture<'a, Result<RecordPage, StreamError>>;

    /// Waits after an answer without records, until there may be some.
    fn pause(&self) -> BoxFuture<'_, ()>;
}

/// Records of a shard, and the iterator after them; `None` if the shard has ended.
pub type RecordPage = (Vec<ChangeRecord>, Option<String>);

/// A shard of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shard {
    /// Its id.
    pub id: Arc<str>,
    /// The shard that it follows.
    pub parent: Option<Arc<str>>,
}

/// The shards that a shard follows, as far as they are listed, and the one before. Their records precede its own.
pub fn ancestors<'s>(listed: &'s [Shard], shard: &str) -> impl Iterator<Item = Arc<str>> + use<'s> {
    let parent = |id: &str| listed.iter().find(|shard| *shard.id == *id).and_then(|shard| shard.parent.clone());
    std::iter::successors(parent(shard), move |id| parent(id))
}

/// Where to begin in a shard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ShardStart {
    /// With the first record that there still is.
    TrimHorizon,
    /// After all records so far.
    Latest,
    /// After this record.
    After(StreamPosition),
}

/// Why a stream does not answer.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum StreamError {
    /// The iterator is too old.
    #[error("the iterator has expired")]
    Expired,
    /// The records are older than the stream keeps them: 24 hours.
    #[error("the records are gone")]
    Trimmed,
    /// There is no such stream or shard.
    #[error("there is no such stream: {0}")]
    Missing(String),
    /// The server is too busy, or cannot be reached. The call may be repeated.
    #[error("{0}")]
    Unavailable(String),
}

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
        let image =
            |image: &Option<Arc<Item>>| image.as_ref().map_or(0, |item| 64 * (item.len() + 1) + item_size(item));
        256 + image(&self.old) + image(&self.new)
    }

    /// The value of an attribute that a change leaves as it is, such as one of the key.
    pub fn key_attribute(&self, name: &str) -> Option<&Attribute> {
        self.new.as_ref().or(self.old.as_ref())?.get(name)
    }
}

/// A position in a stream. The records of one item are in one shard and its descendants, in the order of their sequence
/// numbers.
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
