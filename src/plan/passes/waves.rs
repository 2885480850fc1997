//! Reads in, their waves out: a read belongs to the wave after the last read that gives it a value or a row, wherever
//! its parent is.

use super::draft::DraftRead;
use crate::plan::tree::*;
use std::collections::HashSet;

/// When a read is made.
pub struct ReadTime {
    /// Its wave, from 1.
    pub wave: usize,
    /// The reads that it waits for, in order.
    pub after: Vec<ReadId>,
    /// Whether it may be made a wave later, because only the response uses it.
    pub may_wait: bool,
}

/// The time of every read. Unless `early`, every read waits for its parent.
pub fn times(reads: &[DraftRead<'_>], spaces: &[Space], early: bool) -> Vec<ReadTime> {
    let after: Vec<Vec<ReadId>> = reads.iter().map(|read| dependencies(read, spaces, early)).collect();
    let awaited: HashSet<ReadId> =
        after.iter().map(Vec::as_slice).chain(reads.iter().map(DraftRead::elements)).flatten().copied().collect();
    let mut times: Vec<ReadTime> = Vec::with_capacity(reads.len());
    for (id, after) in after.into_iter().enumerate() {
        // A read comes after its sources in the list, so their waves are known.
        let last = after.iter().filter_map(|source| times.get(*source)).map(|source| source.wave).max();
        times.push(ReadTime { wave: last.unwrap_or(0) + 1, after, may_wait: !awaited.contains(&id) });
    }
    times
}

/// The reads of each wave.
pub fn waves(times: &[ReadTime]) -> Vec<Vec<ReadId>> {
    let mut waves = vec![Vec::new(); times.iter().map(|time| time.wave).max().unwrap_or(0)];
    for (id, time) in times.iter().enumerate() {
        waves[time.wave - 1].push(id);
    }
    waves
}

/// The reads whose results a read needs: for its rows and for its key.
fn dependencies(read: &DraftRead<'_>, spaces: &[Space], early: bool) -> Vec<ReadId> {
    let mut found = Vec::new();
    add_space(read.space, spaces, &mut found);
    found.extend(read.parent.filter(|_| read.awaits_parent || !early));
    if let Some(key) = read.action.key() {
        key.fields.values().for_each(|source| add_source(source, spaces, &mut found));
    }
    match &read.action {
        ReadAction::Get(_) => {}
        ReadAction::FetchMissing(read) => found.push(*read),
        ReadAction::Query(query) => match &query.range {
            Some(BoundRange::BeginsWith(source)) => add_source(source, spaces, &mut found),
            Some(BoundRange::Between(lower, upper)) => {
                lower.iter().chain(upper).for_each(|(source, _)| add_source(source, spaces, &mut found));
            }
            None => {}
        },
    }
    found.sort_unstable();
    found.dedup();
    found
}

fn add_space(space: SpaceId, spaces: &[Space], found: &mut Vec<ReadId>) {
    match &spaces[space].origin {
        Origin::Operation | Origin::Seed | Origin::SeedVariant(..) | Origin::Ids(_) | Origin::OfId(..) => {}
        Origin::Read(read) | Origin::Variant(read, _) => found.push(*read),
        Origin::Elements(holder, _) => add_holder(*holder, spaces, found),
    }
}

fn add_holder(holder: Holder, spaces: &[Space], found: &mut Vec<ReadId>) {
    match holder {
        Holder::Read(read) => found.push(read),
        Holder::Element(space) => add_space(space, spaces, found),
    }
}

fn add_source(source: &ValueSource, spaces: &[Space], found: &mut Vec<ReadId>) {
    match source {
        ValueSource::Argument(..) | ValueSource::Claim(_) => {}
        ValueSource::Field(holder, _) => add_holder(*holder, spaces, found),
        ValueSource::Text(parts) => parts.iter().for_each(|part| {
            if let SourceText::Value(source) = part {
                add_source(source, spaces, found);
            }
        }),
    }
}
