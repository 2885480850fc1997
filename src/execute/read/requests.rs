//! What the reads of a wave ask for in, the calls of the wave out: its Gets and its distinct queries. Must not know which of them share a
//! Query, nor results.

use super::admit::ItemGate;
use super::bind::read::{BoundRead, BoundRow};
use super::query_cache::{QueryCache, QueryId};
use super::range_query::RangeQuery;
use crate::execute::context::ExecutionContext;
use crate::execute::error::Failure;
use crate::execute::expression::filter::ItemFilter;
use crate::execute::key::values::key_of;
use crate::execute::page::filler::PageFiller;
use crate::execute::page::result::PageRequest;
use crate::plan::tree::{Read, ReadId};
use crate::table::data::attribute::Key;
use crate::table::data::call::Get;
use smallvec::SmallVec;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A position without a Get, for a key that no item can have.
const NOTHING: usize = usize::MAX;

/// What one row of a read requests of the wave.
pub enum RowRequest {
    /// Nothing: it is not there.
    Absent,
    /// Nothing: it cannot be read.
    Failed(Arc<Failure>),
    /// Positions among the wave's Gets, mostly one.
    Gets(SmallVec<[usize; 1]>),
    /// A position among the wave's queries, and what the field wants of its items.
    Query(usize, Box<PageRequest>),
}

/// What the rows of a read request of a wave.
pub struct ReadRequests<'a> {
    /// The position of the read in the plan.
    pub id: ReadId,
    /// The read.
    pub read: &'a Read,
    /// What the caller may see of its items.
    pub gate: ItemGate,
    /// The filter that the gateway applies to its items.
    pub filter: Option<ItemFilter<'a>>,
    /// The request of each row of its space.
    pub rows: Vec<RowRequest>,
}

/// A query of a wave and how many items of it are needed.
pub struct PendingQuery {
    /// Its id in the request's cache.
    pub id: QueryId,
    /// The query.
    pub query: RangeQuery,
    /// How many items are needed; `None` counts all.
    pub needed: Option<u32>,
    /// Whether nothing waits for the reads that make it.
    pub may_wait: bool,
}

/// The inputs of requests, in addition to what their rows ask for.
pub struct Sources<'a> {
    /// The request's context.
    pub context: &'a ExecutionContext<'a>,
    /// What the request has queried before.
    pub cache: &'a mut QueryCache,
    /// The dangling links of the request's pages.
    pub filler: &'a PageFiller,
}

/// What a wave calls for.
#[derive(Default)]
pub struct WaveRequests {
    /// The Gets.
    pub gets: Vec<Arc<Get>>,
    /// The distinct queries.
    pub queries: Vec<PendingQuery>,
    positions: BTreeMap<QueryId, usize>,
}

impl WaveRequests {
    /// Adds what the rows of a read ask for.
    pub fn add<'a>(&mut self, sources: &mut Sources<'_>, bound: BoundRead<'a>) -> ReadRequests<'a> {
        let BoundRead { id, read, gate, filter, rows } = bound;
        let table: Arc<str> = sources.context.model.tables[read.table].name.as_str().into();
        let rows = rows.into_iter().map(|row| match row {
            BoundRow::Absent => RowRequest::Absent,
            BoundRow::Failed(why) => RowRequest::Failed(why),
            BoundRow::Keys(keys) => {
                let Read { consistent, max_age, projection, .. } = read;
                let get = |key: Key| Get {
                    table: table.clone(),
                    key,
                    projection: projection.clone(),
                    consistent: *consistent,
                    max_age: *max_age,
                };
                // To collect them would take longer, as most rows have one.
                let mut gets = SmallVec::with_capacity(keys.len());
                for key in keys {
                    gets.push(key.map_or(NOTHING, |key| self.get(get(key))));
                }
                RowRequest::Gets(gets)
            }
            BoundRow::Query(query, page) => match self.query(sources, (id, read), *query) {
                Ok(position) => RowRequest::Query(position, page),
                Err(why) => RowRequest::Failed(why),
            },
        });
        let rows = rows.collect();
        ReadRequests { id, read, gate, filter, rows }
    }

    /// Adds a Get, and gives its position.
    fn get(&mut self, get: Get) -> usize {
        self.gets.push(Arc::new(get));
        self.gets.len() - 1
    }

    /// Adds a query unless it is there already, and gives its position.
    fn query(&mut self, sources: &mut Sources<'_>, (read_id, read): (ReadId, &Read), query: RangeQuery) -> Result<usize, Arc<Failure>> {
        let id = sources.cache.id(&query);
        let needed = match (query.wanted, sources.cache.get(id)) {
            (Some(wanted), Some(Ok(known))) => {
                let table = &sources.context.model.tables[read.table];
                let links = known.items.iter().map(|item| key_of(table, item));
                Some(sources.filler.needed(read_id, wanted, links, sources.context.max_nodes)?)
            }
            (wanted, _) => wanted,
        };
        let may_wait = read.may_wait;
        Ok(match self.positions.get(&id) {
            Some(known) => {
                let pending = &mut self.queries[*known];
                pending.needed = pending.needed.max(needed);
                pending.may_wait &= may_wait;
                *known
            }
            None => {
                self.positions.insert(id, self.queries.len());
                self.queries.push(PendingQuery { id, query, needed, may_wait });
                self.queries.len() - 1
            }
        })
    }
}
