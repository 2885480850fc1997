//! A draft of a plan in; out: the plan, with the time and the projection of each read, and the reads that share a
//! Query. Must not know the operation.
//!
//! [`finish`] lists the passes in their order. `cache_policy` then says how long the response may be kept.

pub mod alike;
pub mod cache_policy;
pub mod calls;
pub mod collections;
pub mod draft;
pub mod early;
pub mod known;
pub mod projection;
pub mod same_key;
pub mod shared_query;
pub mod waves;

use super::tree::{Collection, KnownFrom, Plan, Read};
use crate::schema::model::Model;
use collections::ReadGroup;
use draft::{DraftPlan, DraftRead};
use projection::ReadAttributes;
use std::collections::BTreeSet;
use std::sync::Arc;
use waves::ReadTime;

/// What the passes save. A plan without one of the savings takes more waves, calls or bytes, and gives the same
/// response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Passes {
    /// A read is made as soon as its key is known. Otherwise it waits for the read that shows whether its parent
    /// exists.
    pub early_waves: bool,
    /// Reads of one partition share a Query.
    pub shared_queries: bool,
    /// A read asks for the attributes that the operation needs. Otherwise it asks for all of its items' fields.
    pub projection: bool,
    /// An item that the operation has read is not asked for again in a later wave.
    pub known_items: bool,
}

impl Default for Passes {
    /// All savings, as the server plans.
    fn default() -> Self {
        Self { early_waves: true, shared_queries: true, projection: true, known_items: true }
    }
}

/// Makes the plan of a draft.
pub fn finish(model: &Model, passes: Passes, draft: DraftPlan<'_>) -> Plan {
    let DraftPlan { reads, spaces, arguments, guards, mut calls, root, as_stored, for_write } = draft;

    // First, because the passes that follow ask which reads are made at the same time, and which of them nothing waits
    // for.
    calls::find_needs(&mut calls, &spaces, &guards);
    let times = waves::times(&reads, &spaces, &mut calls, passes.early_waves);
    let waves = waves::waves(&times, &calls);

    // After the waves, because only reads of one wave can share a Query. Before the reads become strong, so that those
    // of a write are grouped as those of a query are.
    let groups =
        if passes.shared_queries { collections::groups(model, &reads, &times, &arguments) } else { Vec::new() };

    // While the drafts are there, because what a read must provide is known of them only.
    let projections = projection::projections(model, &reads, passes.projection, as_stored);

    // Now every read has its time and its projection, and a draft becomes a read.
    let found = reads.into_iter().zip(times).zip(projections);
    let mut reads: Vec<Read> =
        found.map(|((read, time), projection)| finish_read(model, read, time, projection, for_write)).collect();

    // Now that reads are strong or not. Before shared Queries, because a Query may ask for more.
    if passes.known_items {
        alike::widen(&mut reads, &arguments);
        alike::mark(&mut reads);
    }
    let keeps_gets = passes.known_items && known::connect(model, &mut reads, &guards, &arguments);
    // After what may be known. Before a wave is made, only what is remembered counts as known.
    let may_run_ahead = passes.early_waves && early::mark(&mut reads, &spaces, &guards, &calls);
    let keeps_gets = keeps_gets || reads.iter().any(|read| read.known.leads && !read.is_query());

    // Last, because a shared Query asks for what its reads ask for.
    let collections = groups.into_iter().map(|group| collection(&reads, group)).collect();

    Plan { reads, spaces, arguments, guards, waves, calls, collections, keeps_gets, may_run_ahead, root }
}

/// The read of a draft. Those of a write are strong, so that they see it, except on global indexes, which have no
/// strong reads; and the cache answers none.
fn finish_read(
    model: &Model,
    draft: DraftRead<'_>,
    time: ReadTime,
    projection: ReadAttributes,
    for_write: bool,
) -> Read {
    let has_strong = draft.index.is_none_or(|index| model.tables[draft.table].indexes[index].local);
    Read {
        coordinate: draft.coordinate,
        item: draft.item,
        discriminator: draft.discriminator,
        table: draft.table,
        index: draft.index,
        space: draft.space,
        yields: draft.yields,
        action: draft.action,
        parent: draft.parent,
        after: time.after,
        consistent: draft.consistent || (for_write && has_strong),
        max_age: draft.max_age.filter(|_| !for_write),
        projection: projection.asked,
        needs: projection.own,
        known: KnownFrom::default(),
        may_wait: time.may_wait,
        guard: draft.guard,
        wave: time.wave,
    }
}

/// A group of reads with the attributes that they ask for together.
fn collection(reads: &[Read], group: ReadGroup) -> Collection {
    let all: BTreeSet<&Arc<str>> = group.reads.iter().flat_map(|id| reads[*id].projection.iter()).collect();
    Collection { projection: all.into_iter().cloned().collect(), reads: group.reads, occupants: group.occupants }
}
