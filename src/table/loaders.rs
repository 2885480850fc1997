//! The reads of one request: Gets batched and deduplicated, Queries bounded, every call counted. To be written.

use super::attribute::Item;
use super::call::{Get, Page, Query};
use super::error::TableError;
use super::store::Store;
use std::sync::Arc;
use tokio::time::Instant;

/// The loaders of one request.
pub struct Loaders {}

/// A call that was made: what `extensions.keyfold.calls` shows.
#[derive(Debug, Clone, serde::Serialize)]
pub struct CallRecord {
    /// `GetItem`, `BatchGetItem`, `Query`, `Scan` …
    pub operation: &'static str,
    /// The table, or the tables joined by a comma.
    pub table: String,
    /// The index.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<String>,
    /// How many keys it asked for; of a Query, 1.
    pub keys: usize,
    /// How many items came back.
    pub items: usize,
    /// Consumed capacity units, as the server told.
    pub capacity: f64,
    /// Duration in milliseconds, retries included.
    pub ms: f64,
    /// The wave it belongs to, from 1.
    pub wave: usize,
}

impl Loaders {
    /// Loaders on a store, for one request that ends at the deadline.
    pub fn new(_store: &Store, _deadline: Instant) -> Self {
        todo!()
    }

    /// Names the wave that the next calls belong to, from 1.
    pub fn begin_wave(&self, _wave: usize) {
        todo!()
    }

    /// Reads items: distinct keys once per request, 100 a BatchGetItem, chunks side by side; a single key is a GetItem. The results are
    /// in the order of `gets`.
    pub async fn get(&self, _gets: &[Get]) -> Vec<Result<Option<Arc<Item>>, TableError>> {
        todo!()
    }

    /// Reads one page.
    pub async fn query(&self, _query: &Query) -> Result<Page, TableError> {
        todo!()
    }

    /// The calls that were made so far, in the order in which they were begun.
    pub fn calls(&self) -> Vec<CallRecord> {
        todo!()
    }
}
