//! The requests of a wave in; out, for each of the plan's collections, the Gets and queries that may share a Query.
//! Must not know how they are grouped.

use super::collection::{CollectionOffers, Offer, QueryForm, SharedPart};
use crate::execute::key::range::KeyRange;
use crate::execute::key::span::KeySpan;
use crate::execute::read::query_cache::QueryCache;
use crate::execute::read::requests::{PendingQuery, ReadRequests, RowRequest, WaveRequests};
use crate::plan::passes::shared_query::GroupMember;
use crate::plan::tree::{Collection, Plan, Read};
use crate::table::data::attribute::Key;

/// How many items a shared Query reads for a count. A longer count continues by itself, which transfers no items.
const COUNTED: u32 = 100;

/// The offers of each collection of which several reads may share a Query.
pub fn offers<'p>(
    plan: &'p Plan,
    requests: &WaveRequests,
    reads: &[ReadRequests<'_>],
    cache: &QueryCache,
) -> Vec<CollectionOffers<'p>> {
    let of_collection = |collection: &'p Collection| {
        let of = reads.iter().filter(|requests| collection.reads.contains(&requests.id));
        let offers =
            of.flat_map(|of| of.rows.iter().flat_map(|row| offers_of_row((plan, of.read), row, requests, cache)));
        let offers: Vec<Offer> = offers.collect();
        let read = collection.reads.first().map(|read| &plan.reads[*read]).filter(|_| offers.len() > 1)?;
        Some(CollectionOffers { collection, read, offers })
    };
    plan.collections.iter().filter_map(of_collection).collect()
}

/// What a row offers to share a Query: its Get, or each range of its query; nothing if it is read by itself.
fn offers_of_row(
    (plan, read): (&Plan, &Read),
    row: &RowRequest,
    requests: &WaveRequests,
    cache: &QueryCache,
) -> Vec<Offer> {
    let item = GroupMember::item(read.may_wait);
    let form = |keeps: bool| QueryForm { projection: read.projection.clone(), max_age: read.max_age, keeps };
    match row {
        // A list keeps the order of its keys, because each Get has its own result.
        RowRequest::Gets(positions) => {
            let form = form(plan.keeps_gets);
            positions.iter().filter_map(|position| get_offer(*position, requests, (&item, &form))).collect()
        }
        RowRequest::Query(position, page) => {
            let PendingQuery { id, query, needed, may_wait } = &requests.queries[*position];
            if cache.get(*id).is_some() {
                return Vec::new();
            }
            let member = GroupMember {
                forward: Some(query.forward),
                wants_all: page.wants_all(),
                reaches: page.reaches(),
                may_wait: *may_wait,
                resumes: query.start.is_some(),
                is_item: false,
                ..item
            };
            let need = needed.map_or(COUNTED, |needed| query.limit(needed, false));
            let form = form(read.known.is_kept || query.keeps);
            let offer = |(at, (range, span)): (usize, (&KeyRange, KeySpan))| {
                Some(Offer {
                    part: SharedPart::Range(*position, at),
                    partition: range.partition.clone()?,
                    equal: range.equal.clone(),
                    span,
                    condition: range.sort.as_ref().map(|(_, condition)| condition.clone()),
                    member: member.clone(),
                    need: need.saturating_add(range.excluded_first(query.forward)),
                    ranges: query.ranges.len(),
                    form: form.clone(),
                })
            };
            query.spans().enumerate().filter_map(offer).collect()
        }
        RowRequest::Absent | RowRequest::Failed(_) => Vec::new(),
    }
}

/// The offer of a Get; `None` if it needs no call.
fn get_offer(position: usize, requests: &WaveRequests, (member, form): (&GroupMember, &QueryForm)) -> Option<Offer> {
    if requests.is_known(position) {
        return None;
    }
    let Key { partition, sort } = &requests.gets.get(position)?.key;
    Some(Offer {
        part: SharedPart::Get(position),
        partition: (partition.0.to_string(), partition.1.clone()),
        equal: Vec::new(),
        // A partition without a sort key has one item at most.
        span: sort.as_ref().map_or_else(KeySpan::everything, |(_, sort)| KeySpan::single(sort)),
        condition: None,
        member: member.clone(),
        need: 1,
        ranges: 0,
        form: form.clone(),
    })
}
