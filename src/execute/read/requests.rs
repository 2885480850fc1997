//! What the rows of a wave's reads request in, the calls of the wave out: its Gets and its distinct queries. Must not
//! know results or the response.

use super::admit::ItemGate;
use super::query_cache::{QueryCache, QueryId};
use super::range_query::RangeQuery;
use crate::execute::context::ExecutionContext;
use crate::execute::error::Failure;
use crate::execute::expression::filter::ItemFilter;
use crate::execute::key::values::key_of;
use crate::execute::page::filler::PageFiller;
use crate::execute::page::result::PageRequest;
use crate::plan::tree::{Read, ReadId};
use crate::table::data::attribute::{Item, Key};
use crate::table::data::call::Get;
use crate::table::data_store::ItemRequest;
use crate::table::request::known_items::KnownItems;
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

impl RowRequest {
    /// Whether nothing is read, because nothing can be there.
    pub fn is_absent(&self) -> bool {
        match self {
            Self::Absent => true,
            Self::Gets(gets) => gets.iter().all(|get| *get == NOTHING),
            Self::Failed(_) | Self::Query(..) => false,
        }
    }
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

/// What a request knows of its queries before a wave.
pub struct KnownQueries<'w> {
    /// What it has queried before.
    pub cache: &'w mut QueryCache,
    /// The dangling links of its pages.
    pub filler: &'w PageFiller,
}

/// What a wave calls for.
#[derive(Default)]
pub struct WaveRequests {
    /// The Gets.
    pub gets: Vec<Arc<Get>>,
    /// The Gets that need no call, with their items.
    pub known: Vec<(usize, Option<Arc<Item>>)>,
    /// The distinct queries.
    pub queries: Vec<PendingQuery>,
    positions: BTreeMap<QueryId, usize>,
}

impl WaveRequests {
    /// Adds a Get of a read's table, and gives its position. There is no Get for a key that no item can have. `known`
    /// is what the request knows of its tables.
    pub fn get(&mut self, read: &Read, table: &Arc<str>, key: Option<Key>, known: Option<&KnownItems>) -> usize {
        let Some(key) = key else { return NOTHING };
        let Read { consistent, max_age, projection, needs, .. } = read;
        let wanted = ItemRequest { table, key: &key, projection: needs, consistent: *consistent };
        let found = known.and_then(|known| known.item(wanted));
        self.known.extend(found.map(|item| (self.gets.len(), item)));
        let get = Get {
            table: table.clone(),
            key,
            projection: projection.clone(),
            consistent: *consistent,
            max_age: *max_age,
        };
        self.gets.push(Arc::new(get));
        self.gets.len() - 1
    }

    /// Whether the Get at a position needs no call.
    pub fn is_known(&self, get: usize) -> bool {
        self.known.binary_search_by_key(&get, |(position, _)| *position).is_ok()
    }

    /// Adds a query unless it is there already, and gives its position.
    pub fn query(
        &mut self,
        context: &ExecutionContext<'_>,
        queried: &mut KnownQueries<'_>,
        (read_id, read): (ReadId, &Read),
        query: RangeQuery,
    ) -> Result<usize, Arc<Failure>> {
        let id = queried.cache.id(&query);
        let needed = match (query.wanted, queried.cache.get(id)) {
            (Some(wanted), Some(Ok(known))) => {
                let table = &context.model.tables[read.table];
                let links = known.items.iter().map(|item| key_of(table, item));
                Some(queried.filler.needed(read_id, wanted, links, context.max_nodes)?)
            }
            (wanted, _) => wanted,
        };
        let may_wait = read.may_wait;
        Ok(match self.positions.get(&id) {
            Some(known) => {
                let pending = &mut self.queries[*known];
                pending.needed = pending.needed.max(needed);
                pending.may_wait &= may_wait;
                pending.query.keeps |= query.keeps;
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
