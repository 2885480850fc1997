//! Reads in; out: which of them may come earlier than planned, because the reads that they wait for may turn out to be
//! known. Must not know which are known: the run decides that.

use super::alike::place;
use super::known::{MAX_NAMED, MAX_READS, has_all, lookups};
use crate::plan::tree::{DecidedBy, Guard, GuardId, Read, ReadAction, ReadId, ServiceCall, Space, SpaceId, Want};
use std::collections::BTreeSet;

/// Says of each read after which others it may come, however early that is. Gives whether any may come early. The calls
/// of services keep to their waves, so a plan with some has no such read.
pub fn mark(reads: &mut [Read], spaces: &[Space], guards: &[Guard], calls: &[ServiceCall]) -> bool {
    if !calls.is_empty() || reads.len() > MAX_READS {
        return false;
    }
    // If what guards look up were known sooner, less of their wave would be read, and a later wave might read it again.
    let of_guards: BTreeSet<ReadId> = guards.iter().flat_map(lookups).collect();
    let may_be_known: Vec<bool> =
        (0..reads.len()).map(|id| !of_guards.contains(&id) && may_be_known(reads, &reads[id])).collect();
    if !may_be_known.contains(&true) {
        return false;
    }
    let of_links: Vec<SpaceId> =
        reads.iter().filter(|read| !read.elements().is_empty()).filter_map(Read::opens).collect();
    // A read comes after those that it waits for: by their waves, not always by their places in the list.
    let mut ids: Vec<ReadId> = (0..reads.len()).collect();
    ids.sort_by_key(|id| reads[*id].wave);
    for id in ids {
        let read = &reads[id];
        let is_below_links = || is_within(read.space, &of_links, spaces);
        if read.wave == 1
            || of_guards.contains(&id)
            || keeps_to_wave(read)
            || is_below_links()
            || waits_for_rows(read.guard, guards)
        {
            continue;
        }
        let after: BTreeSet<ReadId> =
            read.after.iter().chain(&read.known.from).copied().chain(earlier_twins(reads, read)).collect();
        let last: Vec<ReadId> = after.iter().copied().filter(|other| reads[*other].wave + 1 == read.wave).collect();
        if last.iter().all(|other| may_be_known[*other] || !reads[*other].known.early_after.is_empty()) {
            last.into_iter().for_each(|other| reads[other].known.leads |= may_be_known[other]);
            reads[id].known.early_after = after.into_iter().collect();
        }
    }
    reads.iter().any(|read| read.known.leads)
}

/// Whether a read stays in its wave whatever is known: a page, since the pages of one wave share the room of the
/// response; what rules look up for, since reads of its own wave may bring that; and what so many reads may bring that
/// not all are named.
fn keeps_to_wave(read: &Read) -> bool {
    let is_page = matches!(&read.action, ReadAction::Query(query) if matches!(query.want, Want::Page { .. }));
    is_page || read.discriminator.lookups() > 0 || read.known.from.len() >= MAX_NAMED
}

/// Whether a space is one of these or lies within one. A page of links is filled up when its wave shows that links lead
/// nowhere, and what is below them is read again.
fn is_within(space: SpaceId, outer: &[SpaceId], spaces: &[Space]) -> bool {
    std::iter::successors(Some(space), |space| spaces[*space].parent).any(|space| outer.contains(&space))
}

/// Whether a read may need no call.
fn may_be_known(reads: &[Read], read: &Read) -> bool {
    let is_brought = || !read.known.from.is_empty() || earlier_twins(reads, read).next().is_some();
    read.wave > 1 && read.discriminator.lookups() == 0 && is_brought()
}

/// The Queries of earlier waves that may have read the ranges of a Query.
fn earlier_twins(reads: &[Read], read: &Read) -> impl Iterator<Item = ReadId> {
    let of = |read: &Read| (read.is_query(), read.consistent, read.max_age);
    let is_twin = move |other: &Read| {
        other.wave < read.wave
            && of(other) == of(read)
            && place(other) == place(read)
            && has_all(&other.projection, &read.projection)
    };
    let twins = reads.iter().enumerate().filter(move |(_, other)| read.known.has_twins && is_twin(other));
    twins.map(|(id, _)| id)
}

/// Whether items that are read decide a guard, or one around it.
fn waits_for_rows(guard: Option<GuardId>, guards: &[Guard]) -> bool {
    let mut around = std::iter::successors(guard, |id| guards[*id].within).map(|id| &guards[id]);
    around.any(|guard| guard.demands.iter().any(|demand| matches!(demand.decided, DecidedBy::Rows { .. })))
}
