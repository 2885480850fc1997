//! The queries of a request and what they found so far, over all its waves: no query is made twice, and one that needs
//! more items reads on from where it stopped. Must not know which reads want a query.

use super::range_query::{KnownRange, QueryResult, RangeQuery};
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
    /// The ranges that queries read from their beginnings. Only of those that may have twins.
    of_range: HashMap<Vec<u8>, Vec<NotedRange>, RandomState>,
    /// What each query found; `None` if it was not made.
    results: Vec<Option<Result<QueryResult, Arc<Failure>>>>,
}

/// A range that a query reads from its beginning.
struct NotedRange {
    id: QueryId,
    /// The position of the range among those of the query.
    position: usize,
    forward: bool,
    projection: AttributeNames,
}

impl NotedRange {
    /// Whether its items have all attributes that a query asks for.
    fn has_all(&self, query: &RangeQuery) -> bool {
        let mut wanted = query.projection.iter().flat_map(|names| names.iter());
        wanted.all(|name| self.projection.binary_search(name).is_ok())
    }
}

impl QueryCache {
    /// The id of a query. Equal queries have one. If others have read all of its ranges with all attributes, to their
    /// ends or as far as it wants, it is answered.
    pub fn id(&mut self, query: &RangeQuery) -> QueryId {
        let id = QueryId(self.results.len());
        match self.ids.entry(query.identity()) {
            Entry::Occupied(known) => return *known.get(),
            Entry::Vacant(new) => new.insert(id),
        };
        let answer = if query.has_twins && query.start.is_none() { self.answer(id, query) } else { None };
        self.results.push(answer.map(Ok));
        id
    }

    /// What a new query finds, if others have found it; notes its ranges for those that follow.
    fn answer(&mut self, id: QueryId, query: &RangeQuery) -> Option<QueryResult> {
        let ranges = query.range_identities();
        let mut known: Vec<KnownRange<'_>> = Vec::new();
        for (asked, range) in ranges.iter().enumerate() {
            let Some(range) = range else { continue };
            let same = self.of_range.get(range).into_iter().flatten();
            let is_answered = same.filter(|noted| noted.has_all(query)).find_map(|noted| {
                let result = self.results.get(noted.id.0)?.as_ref()?.as_ref().ok()?;
                let wanted = query.wanted.filter(|_| noted.forward == query.forward);
                let has_enough = || wanted.is_some_and(|wanted| result.read_of(noted.position) >= wanted as usize);
                let known = KnownRange { asked, result, position: noted.position, forward: noted.forward };
                (result.has_read_all(noted.position) || has_enough()).then_some(known)
            });
            match is_answered {
                Some(range) => known.push(range),
                None => {
                    known.clear();
                    break;
                }
            }
        }
        let answer = (!known.is_empty()).then(|| query.answer(&known));
        if let Some(projection) = query.projection.as_ref().filter(|_| query.wanted.is_some()) {
            for (position, range) in ranges.into_iter().enumerate() {
                let noted = NotedRange { id, position, forward: query.forward, projection: projection.clone() };
                if let Some(range) = range {
                    self.of_range.entry(range).or_default().push(noted);
                }
            }
        }
        answer
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
