//! What the stream of a table answers. Must not know who reads it.

use super::record::{ChangeRecord, StreamPosition};
use futures_util::future::BoxFuture;
use std::sync::Arc;
use thiserror::Error;

/// The streams of a store's tables.
pub trait ChangeSource: Send + Sync {
    /// The shards of a table's stream that can still be read, in any order.
    fn shards<'a>(&'a self, table: &'a str) -> BoxFuture<'a, Result<Vec<Shard>, StreamError>>;

    /// An iterator over a shard. It expires after 15 minutes.
    fn iterator<'a>(&'a self, table: &'a str, shard: &'a str, start: &'a ShardStart) -> BoxFuture<'a, Result<String, StreamError>>;

    /// The next records of a table's shard, and the iterator after them; `None` if the shard has ended. The records may be none although there are more.
    fn records<'a>(&'a self, of: (&'a Arc<str>, &'a Arc<str>), iterator: &'a str) -> BoxFuture<'a, Result<RecordPage, StreamError>>;

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
