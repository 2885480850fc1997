//! The queries of a request and what they found so far, over all its waves: no query is made twice, and one that needs
//! more items reads on from where it stopped. Must not know which reads want a query.

use super::range_query::{QueryResult, RangeQuery};
use crate::execute::error::Failure;
use crate::table::data::attribute::AttributeNames;
use foldhash::quality::RandomState;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

/// A distinct query of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct QueryId(usize);

/// What the queries of a request found.
#[derive(Default)]
pub struct QueryCache {
    /// The queries by their identities.
    ids: HashMap<Vec<u8>, QueryId, RandomState>,
    /// The queries that give items from the beginning of their ranges, by the ranges. Only those that may have twins.
    of_ranges: HashMap<Vec<u8>, Vec<WholeQuery>, RandomState>,
    /// What each query found; `None` if it was not made.
    results: Vec<Option<Result<QueryResult, Arc<Failure>>>>,
}

/// A query that finds all items of its ranges, if it reads to their ends.
struct WholeQuery {
    id: QueryId,
    forward: bool,
    projection: AttributeNames,
}

impl QueryCache {
    /// The id of a query. Equal queries have one. If another one has read the same ranges to their ends, with all
    /// attributes, it is answered.
    pub fn id(&mut self, query: &RangeQuery) -> QueryId {
        let (identity, ranges) = query.identity();
        let id = QueryId(self.results.len());
        let new = match self.ids.entry(identity) {
            Entry::Occupied(known) => return *known.get(),
            Entry::Vacant(new) => new,
        };
        if query.has_twins && query.start.is_none() {
            let same = self.of_ranges.entry(new.key()[..ranges].to_vec()).or_default();
            let has_all = |whole: &&WholeQuery| {
                let wanted = query.projection.iter().flat_map(|names| names.iter());
                wanted.into_iter().all(|name| whole.projection.binary_search(name).is_ok())
            };
            let answer =
                same.iter().filter(has_all).find_map(|whole| match self.results.get(whole.id.0)?.as_ref()? {
                    Ok(result) if result.is_whole() => Some(query.answer(result, whole.forward != query.forward)),
                    _ => None,
                });
            let gives_items = query.projection.clone().filter(|_| query.wanted.is_some());
            same.extend(gives_items.map(|projection| WholeQuery { id, forward: query.forward, projection }));
            self.results.push(answer.map(Ok));
        } else {
            self.results.push(None);
        }
        *new.insert(id)
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
