//! What the rows of a wave's reads need in, the Gets and the distinct queries of the wave out. Must not know results or the response.

use super::arguments::FieldArguments;
use super::bind::{item_keys, page_of, range_query};
use super::collection::{self, Offer, SharedPart, SharedQuery};
use super::query_cache::QueryCache;
use super::range_query::RangeQuery;
use super::state::{ItemState, RowInput};
use crate::execute::context::ExecutionContext;
use crate::execute::error::Failure;
use crate::execute::key::bound::BoundKey;
use crate::execute::key::span::KeySpan;
use crate::execute::key::values::key_of;
use crate::execute::page::filler::PageFiller;
use crate::execute::page::result::PageRequest;
use crate::plan::passes::shared_query::GroupMember;
use crate::plan::tree::{KeyBinding, Plan, QueryBinding, Read, ReadAction, ReadId};
use crate::schema::model::Model;
use crate::table::data::attribute::Key;
use crate::table::data::call::{Get, Query};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// A position without a Get, for a key that no item can have.
const NOTHING: usize = usize::MAX;

/// How many items a shared Query reads for a count. A longer count continues by itself, which transfers no items.
const COUNTED: u32 = 100;

/// What one row of a read requests of the wave.
pub enum RowRequest {
    /// Nothing: it is not there.
    Absent,
    /// Nothing: it cannot be read.
    Failed(Arc<Failure>),
    /// Positions among the wave's Gets.
    Gets(Vec<usize>),
    /// A position among the wave's queries, and what the field wants of its items.
    Query(usize, Box<PageRequest>),
}

/// What the rows of a read request of a wave.
pub struct ReadRequests {
    /// The read.
    pub read: ReadId,
    /// The request of each row of its space.
    pub rows: Vec<RowRequest>,
}

/// A query of a wave and how many items of it are needed.
pub struct PendingQuery {
    /// Its key in the request's cache.
    pub cache_key: String,
    /// The query.
    pub query: RangeQuery,
    /// How many items are needed; `None` counts all.
    pub needed: Option<u32>,
    /// Whether no read that makes it is waited for.
    pub may_wait: bool,
}

/// What requests are made from, beside the inputs of their rows.
pub struct Sources<'a> {
    /// The request's context.
    pub context: &'a ExecutionContext<'a>,
    /// The arguments of the plan's fields.
    pub arguments: &'a FieldArguments<'a>,
    /// What the request has queried before.
    pub cache: &'a QueryCache,
    /// The dangling links of the request's pages.
    pub filler: &'a PageFiller,
}

/// The Gets and the distinct queries of a wave.
#[derive(Default)]
pub struct WaveRequests {
    /// The Gets.
    pub gets: Vec<Get>,
    /// The queries.
    pub queries: Vec<PendingQuery>,
    positions: HashMap<String, usize>,
}

/// Why a read's arguments are refused, whatever its rows hold: even where nothing is there to be read.
fn unfit_arguments(sources: &Sources<'_>, read: &Read) -> Option<Arc<Failure>> {
    let filter = sources.arguments.item_filter(sources.context, read).err();
    let page = || match &read.action {
        ReadAction::Query(query) => page_of(sources.arguments, query).err(),
        ReadAction::Get(_) | ReadAction::FetchMissing(_) => None,
    };
    filter.or_else(page)
}

impl WaveRequests {
    /// Adds what the rows of a read need.
    pub fn add(&mut self, sources: &Sources<'_>, (id, read): (ReadId, &Read), inputs: Vec<RowInput>) -> ReadRequests {
        let unfit = unfit_arguments(sources, read);
        let rows = inputs.into_iter().map(|input| match (input, &unfit) {
            (RowInput::Known(ItemState::Failed(why)), _) => RowRequest::Failed(why),
            (_, Some(why)) => RowRequest::Failed(why.clone()),
            (RowInput::Known(_), None) => RowRequest::Absent,
            (RowInput::Failed(why), None) => RowRequest::Failed(why),
            (RowInput::Rest(item), None) => match key_of(&sources.context.model.tables[read.table], &item) {
                Some(key) => RowRequest::Gets(vec![self.get(sources.context.model, read, key)]),
                None => RowRequest::Absent,
            },
            (RowInput::Key(key), None) => {
                let request = match &read.action {
                    ReadAction::Get(binding) => self.gets(sources.context.model, read, binding, key),
                    ReadAction::Query(query) => self.query(sources, (id, read), query, key),
                    ReadAction::FetchMissing(_) => Ok(RowRequest::Absent),
                };
                request.unwrap_or_else(RowRequest::Failed)
            }
        });
        ReadRequests { read: id, rows: rows.collect() }
    }

    fn gets(&mut self, model: &Model, read: &Read, binding: &KeyBinding, key: BoundKey) -> Result<RowRequest, Arc<Failure>> {
        let keys = item_keys(read, binding, key)?;
        let positions = keys.into_iter().map(|key| key.map_or(NOTHING, |key| self.get(model, read, key)));
        Ok(RowRequest::Gets(positions.collect()))
    }

    /// Adds a Get, and gives its position.
    fn get(&mut self, model: &Model, read: &Read, key: Key) -> usize {
        let table = model.tables[read.table].name.as_str().into();
        self.gets.push(Get { table, key, projection: read.projection.clone(), consistent: read.consistent });
        self.gets.len() - 1
    }

    fn query(
        &mut self,
        sources: &Sources<'_>,
        (id, read): (ReadId, &Read),
        binding: &QueryBinding,
        key: BoundKey,
    ) -> Result<RowRequest, Arc<Failure>> {
        let Some((query, page)) = range_query(sources.context, sources.arguments, read, binding, key)? else {
            return Ok(RowRequest::Absent);
        };
        let cache_key = query.cache_key();
        let needed = match (query.wanted, sources.cache.get(&cache_key)) {
            (Some(wanted), Some(Ok(known))) => {
                let table = &sources.context.model.tables[read.table];
                let links = known.items.iter().map(|item| key_of(table, item));
                Some(sources.filler.needed(id, wanted, links, sources.context.max_nodes)?)
            }
            (wanted, _) => wanted,
        };
        let may_wait = read.may_wait;
        let position = match self.positions.get(&cache_key) {
            Some(known) => {
                let pending = &mut self.queries[*known];
                pending.needed = pending.needed.max(needed);
                pending.may_wait &= may_wait;
                *known
            }
            None => {
                self.positions.insert(cache_key.clone(), self.queries.len());
                self.queries.push(PendingQuery { cache_key, query, needed, may_wait });
                self.queries.len() - 1
            }
        };
        Ok(RowRequest::Query(position, Box::new(page)))
    }

    /// The Queries that reads of the wave share.
    pub fn shared(&self, model: &Model, plan: &Plan, requests: &[ReadRequests], cache: &QueryCache) -> Vec<SharedQuery> {
        let mut taken: HashSet<SharedPart> = HashSet::new();
        let mut shared: Vec<SharedQuery> = Vec::new();
        for collection in &plan.collections {
            let of = requests.iter().filter(|requests| collection.reads.contains(&requests.read));
            let offers = of.flat_map(|of| of.rows.iter().filter_map(|row| self.offer(&plan.reads[of.read], row, cache)));
            let offers: Vec<Offer> = offers.collect();
            let Some(read) = collection.reads.first().map(|read| &plan.reads[*read]).filter(|_| offers.len() > 1) else { continue };
            let table = &model.tables[read.table];
            let call = Query {
                table: table.name.as_str().into(),
                index: read.index.map(|index| table.indexes[index].name.as_str().into()),
                partition: None,
                sort: None,
                filter: None,
                projection: None,
                forward: true,
                limit: 0,
                start: None,
                consistent: read.consistent,
            };
            let sort = table.keys_of(read.index).1.map(|key| key.name.as_str());
            shared.extend(collection::shared(collection, (&call, sort), offers, &mut taken));
        }
        // If the wave makes a batch of Gets anyway, another key in it costs no call and delays nothing.
        if (0..self.gets.len()).any(|get| !taken.contains(&SharedPart::Get(get))) {
            shared.retain_mut(SharedQuery::leave_to_batch);
        }
        shared
    }

    /// What a row may share a Query for; `None` if it is read by itself.
    fn offer(&self, read: &Read, request: &RowRequest, cache: &QueryCache) -> Option<Offer> {
        let item = GroupMember::item(read.may_wait);
        match request {
            RowRequest::Gets(positions) => {
                let ([position], true) = (positions.as_slice(), read.yields.is_none()) else { return None };
                let Key { partition, sort } = &self.gets.get(*position)?.key;
                let (part, span) = (SharedPart::Get(*position), KeySpan::of_key(&sort.as_ref()?.1));
                Some(Offer { part, partition: partition.clone(), span, condition: None, member: item, need: 1 })
            }
            RowRequest::Query(position, page) => {
                let PendingQuery { cache_key, query, needed, may_wait } = &self.queries[*position];
                let (range, span) = query.span().filter(|_| cache.get(cache_key).is_none())?;
                let member = GroupMember {
                    forward: Some(query.forward),
                    wants_all: page.wants_all(),
                    reaches: page.reaches(),
                    may_wait: *may_wait,
                    resumes: query.start.is_some(),
                    is_item: false,
                    ..item
                };
                let condition = range.sort.as_ref().map(|(_, condition)| condition.clone());
                let need = needed.map_or(COUNTED, |needed| query.limit(needed, false));
                Some(Offer { part: SharedPart::Query(*position), partition: range.partition.clone()?, span, condition, member, need })
            }
            RowRequest::Absent | RowRequest::Failed(_) => None,
        }
    }
}
