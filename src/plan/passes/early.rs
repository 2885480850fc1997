//! Reads in; out: which of them may come earlier than planned, because the reads that they wait for may turn out to be
//! known. Must not know which are known: the run decides that.

use super::alike::place;
use super::known::MAX_READS;
use crate::plan::tree::{DecidedBy, Guard, GuardId, Read, ReadAction, ReadId, ServiceCall};
use std::collections::BTreeSet;

/// Says of each read after which others it may come, however early that is. Gives whether any may come early. The calls
/// of services keep to their waves, so a plan with some has no such read.
pub fn mark(reads: &mut [Read], guards: &[Guard], calls: &[ServiceCall]) -> bool {
    if !calls.is_empty() || reads.len() > MAX_READS {
        return false;
    }
    let may_be_known: Vec<bool> = reads.iter().map(|read| may_be_known(reads, read)).collect();
    if !may_be_known.contains(&true) {
        return false;
    }
    // What a read waits for is in an earlier wave, but perhaps behind it in the list.
    let mut ids: Vec<ReadId> = (0..reads.len()).collect();
    ids.sort_by_key(|id| reads[*id].wave);
    for id in ids {
        let read = &reads[id];
        // What rules look up for its items, or for the field, may come from reads of its own wave.
        if read.wave == 1 || read.discriminator.lookups() > 0 || waits_for_rows(read.guard, guards) {
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

/// Whether a read may need no call.
fn may_be_known(reads: &[Read], read: &Read) -> bool {
    let is_brought = || !read.known.from.is_empty() || earlier_twins(reads, read).next().is_some();
    read.wave > 1 && read.discriminator.lookups() == 0 && is_brought()
}

/// The Queries of earlier waves that may read the ranges of a Query.
fn earlier_twins(reads: &[Read], read: &Read) -> impl Iterator<Item = ReadId> {
    let is_query = |read: &Read| matches!(read.action, ReadAction::Query(_));
    let is_twin =
        move |other: &Read| other.wave < read.wave && is_query(read) && is_query(other) && place(other) == place(read);
    let twins = reads.iter().enumerate().filter(move |(_, other)| read.known.has_twins && is_twin(other));
    twins.map(|(id, _)| id)
}

/// Whether items that are read decide a guard, or one around it.
fn waits_for_rows(guard: Option<GuardId>, guards: &[Guard]) -> bool {
    let mut around = std::iter::successors(guard, |id| guards[*id].within).map(|id| &guards[id]);
    around.any(|guard| guard.demands.iter().any(|demand| matches!(demand.decided, DecidedBy::Rows { .. })))
}
