//! The queries of a request and what they found so far, over all its waves: no query is made twice, and one that needs more items reads on
//! from where it stopped. Must not know which reads want a query.

use super::range_query::{QueryResult, RangeQuery};
use crate::execute::error::Failure;
use std::collections::HashMap;
use std::sync::Arc;

/// What the queries of a request found, by their cache keys.
#[derive(Default)]
pub struct QueryCache {
    results: HashMap<String, Result<QueryResult, Arc<Failure>>>,
}

impl QueryCache {
    /// What a query found so far; `None` where it was not made.
    pub fn get(&self, cache_key: &str) -> Option<&Result<QueryResult, Arc<Failure>>> {
        self.results.get(cache_key)
    }

    /// Keeps what a query found.
    pub fn insert(&mut self, cache_key: String, result: Result<QueryResult, Arc<Failure>>) {
        self.results.insert(cache_key, result);
    }

    /// Takes out what a query found, to fetch more.
    pub fn resume(&mut self, cache_key: &str, query: &RangeQuery) -> QueryResult {
        self.results.remove(cache_key).and_then(Result::ok).unwrap_or_else(|| query.begin())
    }

    /// Whether a query has yet to be made, or to fetch more, to have as many items as are needed (`None`: all, counted).
    pub fn needs_more(&self, cache_key: &str, needed: Option<u32>) -> bool {
        match self.results.get(cache_key) {
            None => true,
            Some(Ok(result)) => needed.is_none_or(|needed| result.items.len() < needed as usize) && !result.has_ended(),
            Some(Err(_)) => false,
        }
    }
}
