//! Reads and calls of services in, their waves out: a read belongs to the wave after the last read or call that gives
//! it a value or a row, wherever its parent is.

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

/// What a read or a call of a service waits for.
#[derive(Default)]
pub struct Sources {
    /// Reads, in order.
    pub reads: Vec<ReadId>,
    /// Calls of services, in order.
    pub calls: Vec<ServiceCallId>,
}

/// The time of every read, and of the calls of services. Unless `early`, every read waits for its parent.
pub fn times(reads: &[DraftRead<'_>], spaces: &[Space], calls: &mut [ServiceCall], early: bool) -> Vec<ReadTime> {
    let sources: Vec<Sources> = reads.iter().map(|read| sources(read, spaces, early)).collect();
    let of_reads = sources.iter().map(|of| of.reads.as_slice()).chain(reads.iter().map(DraftRead::elements));
    let awaited: HashSet<ReadId> = of_reads.chain(calls.iter().map(|call| &*call.after)).flatten().copied().collect();
    let mut times: Vec<ReadTime> = Vec::with_capacity(reads.len());
    let mut timed = 0;
    for (id, Sources { reads: after, calls: called }) in sources.into_iter().enumerate() {
        // A read comes after its sources in the list, and what a call waits for before the reads that wait for it.
        timed = time_calls(calls, timed, &times);
        let last = after.iter().filter_map(|source| times.get(*source)).map(|source| source.wave).max();
        let last_call = called.iter().filter_map(|call| calls.get(*call)).map(|call| call.wave).max();
        times.push(ReadTime { wave: last.max(last_call).unwrap_or(0) + 1, after, may_wait: !awaited.contains(&id) });
    }
    time_calls(calls, timed, &times);
    times
}

/// Gives the next calls their wave, as far as the reads that they wait for have one. Gives how many calls have one.
fn time_calls(calls: &mut [ServiceCall], mut timed: usize, times: &[ReadTime]) -> usize {
    while let Some(call) = calls.get(timed) {
        let reads: Option<Vec<usize>> = call.after.iter().map(|read| times.get(*read).map(|time| time.wave)).collect();
        let Some(reads) = reads else { break };
        let called = call.after_calls.iter().filter_map(|call| calls.get(*call)).map(|call| call.wave);
        calls[timed].wave = reads.into_iter().chain(called).max().unwrap_or(0) + 1;
        timed += 1;
    }
    timed
}

/// The reads of each wave.
pub fn waves(times: &[ReadTime], calls: &[ServiceCall]) -> Vec<Vec<ReadId>> {
    let all = times.iter().map(|time| time.wave).chain(calls.iter().map(|call| call.wave));
    let mut waves = vec![Vec::new(); all.max().unwrap_or(0)];
    for (id, time) in times.iter().enumerate() {
        waves[time.wave - 1].push(id);
    }
    waves
}

/// Whose results a read needs: for its rows and for its key.
fn sources(read: &DraftRead<'_>, spaces: &[Space], early: bool) -> Sources {
    let mut found = Sources::default();
    add_space(read.space, spaces, &mut found);
    found.reads.extend(read.parent.filter(|_| read.awaits_parent || !early));
    if let Some(key) = read.action.key() {
        key.fields.values().for_each(|source| add_source(source, spaces, &mut found));
    }
    match &read.action {
        ReadAction::Get(_) => {}
        ReadAction::FetchMissing(read) => found.reads.push(*read),
        ReadAction::Query(query) => match &query.range {
            Some(BoundRange::BeginsWith(source)) => add_source(source, spaces, &mut found),
            Some(BoundRange::Between(lower, upper)) => {
                lower.iter().chain(upper).for_each(|(source, _)| add_source(source, spaces, &mut found));
            }
            None => {}
        },
    }
    found.in_order()
}

impl Sources {
    /// Each once, in order.
    pub fn in_order(mut self) -> Self {
        for ids in [&mut self.reads, &mut self.calls] {
            ids.sort_unstable();
            ids.dedup();
        }
        self
    }
}

/// Adds what gives a space its rows.
pub fn add_space(space: SpaceId, spaces: &[Space], found: &mut Sources) {
    match &spaces[space].origin {
        Origin::Operation | Origin::Seed | Origin::SeedVariant(..) | Origin::Ids(_) | Origin::OfId(..) => {}
        Origin::Read(read) | Origin::Variant(read, _) => found.reads.push(*read),
        Origin::Elements(holder, _) => add_holder(*holder, spaces, found),
    }
}

/// Adds what gives a holder its content.
pub fn add_holder(holder: Holder, spaces: &[Space], found: &mut Sources) {
    match holder {
        Holder::Read(read) => found.reads.push(read),
        Holder::Element(space) => add_space(space, spaces, found),
        Holder::Resolved(call) => found.calls.push(call),
    }
}

/// Adds what gives a source its value.
pub fn add_source(source: &ValueSource, spaces: &[Space], found: &mut Sources) {
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
