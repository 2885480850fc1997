//! Reads in, their waves out: a read belongs to the wave after the last read that gives it a value or a row, wherever its parent is.

use crate::plan::tree::*;

/// Gives every read its wave, and lists the reads of each wave. Unless `early`, every read waits for its parent.
pub fn assign(reads: &mut [Read], spaces: &[Space], early: bool) -> Vec<Vec<ReadId>> {
    let mut waves: Vec<Vec<ReadId>> = Vec::new();
    reads.iter_mut().for_each(|read| read.awaits_parent |= !early);
    for id in 0..reads.len() {
        // A read comes after its sources in the list, so their waves are known.
        let after = dependencies(&reads[id], spaces).into_iter().map(|source| reads[source].wave).max().unwrap_or(0);
        reads[id].wave = after + 1;
        if waves.len() <= after {
            waves.resize_with(after + 1, Vec::new);
        }
        waves[after].push(id);
    }
    waves
}

/// The reads whose results a read needs: for its rows and for its key.
pub fn dependencies(read: &Read, spaces: &[Space]) -> Vec<ReadId> {
    let mut found = Vec::new();
    of_space(read.space, spaces, &mut found);
    found.extend(read.parent.filter(|_| read.awaits_parent));
    match &read.action {
        ReadAction::Get(key) => key.fields.values().for_each(|source| of_source(source, spaces, &mut found)),
        ReadAction::FetchMissing(read) => found.push(*read),
        ReadAction::Query(query) => {
            query.key.fields.values().for_each(|source| of_source(source, spaces, &mut found));
            match &query.range {
                Some(BoundRange::BeginsWith(source)) => of_source(source, spaces, &mut found),
                Some(BoundRange::Between(lower, upper)) => {
                    lower.iter().chain(upper).for_each(|(source, _)| of_source(source, spaces, &mut found));
                }
                None => {}
            }
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

fn of_space(space: SpaceId, spaces: &[Space], found: &mut Vec<ReadId>) {
    match &spaces[space].origin {
        Origin::Operation | Origin::Seed | Origin::Ids(_) | Origin::OfId(..) => {}
        Origin::Read(read) | Origin::Variant(read, _) => found.push(*read),
        Origin::Elements(holder, _) => of_holder(*holder, spaces, found),
    }
}

fn of_holder(holder: Holder, spaces: &[Space], found: &mut Vec<ReadId>) {
    match holder {
        Holder::Read(read) => found.push(read),
        Holder::Element(space) => of_space(space, spaces, found),
    }
}

fn of_source(source: &ValueSource, spaces: &[Space], found: &mut Vec<ReadId>) {
    match source {
        ValueSource::Argument(..) | ValueSource::Claim(_) => {}
        ValueSource::Field(holder, _) => of_holder(*holder, spaces, found),
        ValueSource::Text(parts) => parts.iter().for_each(|part| {
            if let SourceText::Value(source) = part {
                of_source(source, spaces, found);
            }
        }),
    }
}
