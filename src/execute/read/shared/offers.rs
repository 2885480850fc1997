//! The requests of a wave in; out, for each of the plan's collections, the Gets and queries that may share a Query.
//! Must not know how they are grouped.

use super::collection::{CollectionOffers, Offer, SharedPart};
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
        let offers = of.flat_map(|of| of.rows.iter().filter_map(|row| offer(of.read, row, requests, cache)));
        let offers: Vec<Offer> = offers.collect();
        let read = collection.reads.first().map(|read| &plan.reads[*read]).filter(|_| offers.len() > 1)?;
        Some(CollectionOffers { collection, read, offers })
    };
    plan.collections.iter().filter_map(of_collection).collect()
}

/// The offer of a row to share a Query; `None` if the row is read by itself.
fn offer(read: &Read, row: &RowRequest, requests: &WaveRequests, cache: &QueryCache) -> Option<Offer> {
    let item = GroupMember::item(read.may_wait);
    match row {
        RowRequest::Gets(positions) => {
            let ([position], true) = (positions.as_slice(), read.yields.is_none()) else { return None };
            if requests.is_known(*position) {
                return None;
            }
            let Key { partition, sort } = &requests.gets.get(*position)?.key;
            let (part, span) = (SharedPart::Get(*position), KeySpan::single(&sort.as_ref()?.1));
            Some(Offer {
                part,
                partition: (partition.0.to_string(), partition.1.clone()),
                equal: Vec::new(),
                span,
                condition: None,
                member: item,
                need: 1,
            })
        }
        RowRequest::Query(position, page) => {
            let PendingQuery { id, query, needed, may_wait } = &requests.queries[*position];
            let (range, span) = query.span().filter(|_| cache.get(*id).is_none())?;
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
            Some(Offer {
                part: SharedPart::Query(*position),
                partition: range.partition.clone()?,
                equal: range.equal.clone(),
                span,
                condition,
                member,
                need,
            })
        }
        RowRequest::Absent | RowRequest::Failed(_) => None,
    }
}
