//! The reads of a wave in; those that need no call run at once. The others come out, with the reads of later waves that
//! nothing holds back any more. Must not make calls.

use super::reader::{WaveReader, apply, found};
use crate::execute::context::ExecutionContext;
use crate::execute::read::apply::expand_rows;
use crate::execute::read::results::WaveResults;
use crate::execute::read::state::ReadState;
use crate::plan::tree::{Holder, ReadId};

/// Runs the reads of a wave (from 1) that need no call, as far as others may then come earlier. Gives the reads that
/// the wave makes.
pub fn run_ahead(
    context: &ExecutionContext<'_>,
    state: &mut ReadState<'_>,
    reader: &mut WaveReader,
    (wave, planned): (usize, &[ReadId]),
) -> Vec<ReadId> {
    let plan = state.plan();
    let mut open: Vec<ReadId> = planned.iter().copied().filter(|id| !is_done(state, *id)).collect();
    let mut asked = 0;
    loop {
        open.extend(coming(state, wave, &open));
        let leading = open[asked..].iter().copied().filter(|id| plan.reads[*id].known.leads);
        let (reads, requests) = reader.bind(context, state, leading);
        let results = WaveResults::new(requests, &mut reader.cache, false);
        let known = reads.into_iter().filter(|requests| !results.needs_more(requests));
        let found = found(context, known, &results, &reader.filler);
        if found.is_empty() {
            return open;
        }
        apply(context, state, found);
        expand_rows(state);
        open.retain(|id| !is_done(state, *id));
        asked = open.len();
    }
}

/// The reads of later waves that may come in this one, if there are then fewer waves.
fn coming(state: &ReadState<'_>, wave: usize, open: &[ReadId]) -> Vec<ReadId> {
    let (reads, waves) = (&state.plan().reads, &state.plan().waves);
    // In how many waves each read is made: 1 in this one, 0 if it was made.
    let mut left = vec![0; reads.len()];
    for &id in waves.iter().flatten().filter(|id| !is_done(state, **id)) {
        left[id] = match reads[id].known.early_after.as_slice() {
            _ if open.contains(&id) => 1,
            [] => (reads[id].wave + 1).saturating_sub(wave),
            after => after.iter().map(|before| left[*before]).max().unwrap_or_default() + 1,
        };
    }
    let planned = reads.iter().enumerate().filter(|(id, _)| !is_done(state, *id)).map(|(_, read)| read.wave);
    let is_shorter = left.iter().max() < planned.max().map(|last| (last + 1).saturating_sub(wave)).as_ref();
    let comes = |id: &ReadId| is_shorter && left[*id] == 1 && reads[*id].wave > wave && !open.contains(id);
    (0..reads.len()).filter(comes).collect()
}

fn is_done(state: &ReadState<'_>, read: ReadId) -> bool {
    state.is_known(Holder::Read(read))
}
