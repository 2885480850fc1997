//! The queries of a request and what they found so far, over all its waves: no query is made twice, and one that needs
//! more items reads on from where it stopped. Must not know which reads want a query.

use super::range_query::{QueryResult, RangeQuery};
use crate::execute::error::Failure;
use foldhash::quality::RandomState;
use std::collections::HashMap;
use std::sync::Arc;

/// A distinct query of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct QueryId(usize);

/// What the queries of a request found.
#[derive(Default)]
pub struct QueryCache {
    /// The queries by their identities.
    ids: HashMap<Vec<u8>, QueryId, RandomState>,
    /// What each query found; `None` if it was not made.
    results: Vec<Option<Result<QueryResult, Arc<Failure>>>>,
}

impl QueryCache {
    /// The id of a query. Equal queries have one.
    pub fn id(&mut self, query: &RangeQuery) -> QueryId {
        *self.ids.entry(query.identity()).or_insert_with(|| {
            self.results.push(None);
            QueryId(self.results.len() - 1)
        })
    }

    /// What a query found so far; `None` where it was not made.
    pub fn get(&self, id: QueryId) -> Option<&Result<QueryResult, Arc<Failure>>> {
        self.results.get(id.0)?.as_ref()
    }

    /// Keeps what a query found.
    pub fn insert(&mut self, id: QueryId, result: Result<QueryResult, Arc<Failure>>) {
        if let Some(known) = self.results.get_mut(id.0) {
            *known = Some(result);
        }
    }

    /// Takes out what a query found, to fetch more.
    pub fn resume(&mut self, id: QueryId, query: &RangeQuery) -> QueryResult {
        self.results.get_mut(id.0).and_then(Option::take).and_then(Result::ok).unwrap_or_else(|| query.begin())
    }

    /// Whether a query has yet to be made, or to fetch more, to have as many items as are needed (`None`: all,
    /// counted).
    pub fn needs_more(&self, id: QueryId, needed: Option<u32>) -> bool {
        match self.get(id) {
            None => true,
            Some(Ok(result)) => needed.is_none_or(|needed| result.items.len() < needed as usize) && !result.has_ended(),
            Some(Err(_)) => false,
        }
    }
}
