//! The reads of a wave in; those that need no call run at once. The others come out, with the reads of later waves that
//! nothing holds back any more. Must not make calls.

use super::reader::{WaveReader, apply, found};
use crate::execute::context::ExecutionContext;
use crate::execute::read::apply::expand_rows;
use crate::execute::read::results::WaveResults;
use crate::execute::read::state::ReadState;
use crate::plan::tree::{Holder, ReadId};

/// The reads of a wave.
#[derive(Clone, Copy)]
pub struct PlannedWave<'w> {
    /// Its number, from 1.
    pub number: usize,
    /// Those that are planned for it.
    pub reads: &'w [ReadId],
    /// Those of the wave before that its shared Queries did not reach. The wave makes them, too.
    pub waiting: &'w [ReadId],
}

/// Runs those reads of a wave that need no call and that let others come earlier. Gives the reads that the wave makes,
/// without those that wait.
pub fn run_ahead(
    context: &ExecutionContext<'_>,
    state: &mut ReadState<'_>,
    reader: &mut WaveReader,
    wave: PlannedWave<'_>,
) -> Vec<ReadId> {
    let plan = state.plan();
    let is_open = |id: &ReadId| !wave.waiting.contains(id);
    let mut open: Vec<ReadId> = wave.reads.iter().copied().filter(|id| is_open(id) && !is_done(state, *id)).collect();
    let mut asked = 0;
    loop {
        open.extend(coming(state, wave, &open));
        let leading = open[asked..].iter().copied().filter(|id| plan.reads[*id].known.leads);
        let (reads, requests) = reader.bind(context, state, leading);
        let results = WaveResults::new(requests, &mut reader.cache, false);
        let known = reads.into_iter().filter(|requests| !results.needs_more(requests));
        let rows = found(context, known, &results, &reader.filler);
        if rows.is_empty() {
            return open;
        }
        apply(context, state, rows);
        expand_rows(state);
        open.retain(|id| !is_done(state, *id));
        asked = open.len();
    }
}

/// The reads of later waves that have to come in this one, so that as few waves are left as can be.
fn coming(state: &ReadState<'_>, wave: PlannedWave<'_>, open: &[ReadId]) -> Vec<ReadId> {
    let (reads, waves) = (&state.plan().reads, &state.plan().waves);
    let is_in_wave = |id: &ReadId| open.contains(id) || wave.waiting.contains(id);
    // Waves are counted from this one, which is 1.
    let planned = |id: ReadId| (reads[id].wave + 1).saturating_sub(wave.number);
    // The first wave in which a read can be made; 0 if it was made.
    let mut first = vec![0; reads.len()];
    for &id in waves.iter().flatten().filter(|id| !is_done(state, **id)) {
        first[id] = match reads[id].known.early_after.as_slice() {
            _ if is_in_wave(&id) => 1,
            [] => planned(id),
            after => after.iter().map(|before| first[*before]).max().unwrap_or_default() + 1,
        };
    }
    // The last wave in which it may be made, if no more waves than that are left.
    let mut last = vec![first.iter().copied().max().unwrap_or_default(); reads.len()];
    for &id in waves.iter().flatten().rev() {
        for before in &reads[id].known.early_after {
            last[*before] = last[*before].min(last[id].saturating_sub(1));
        }
    }
    (0..reads.len()).filter(|id| first[*id] == 1 && planned(*id) > last[*id].max(1) && !is_in_wave(id)).collect()
}

fn is_done(state: &ReadState<'_>, read: ReadId) -> bool {
    state.is_known(Holder::Read(read))
}
