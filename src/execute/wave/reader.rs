//! The reads of a wave in, the requests of their rows out. It also stores what the reads found. Must not make calls.

use crate::execute::context::ExecutionContext;
use crate::execute::page::bound::PageBound;
use crate::execute::page::filler::PageFiller;
use crate::execute::read::apply::{apply_results, row_count};
use crate::execute::read::bind::read::Binder;
use crate::execute::read::query_cache::QueryCache;
use crate::execute::read::requests::{KnownQueries, ReadRequests, RowRequest, WaveRequests};
use crate::execute::read::results::WaveResults;
use crate::execute::read::row_results::{RowResult, row_results};
use crate::execute::read::state::row_input::RowInput;
use crate::execute::read::state::{ItemState, ReadState};
use crate::plan::tree::{Holder, ReadId};

/// What the waves of a plan know of those before.
#[derive(Default)]
pub struct WaveReader {
    /// What the request has queried.
    pub cache: QueryCache,
    /// The dangling links of its pages.
    pub filler: PageFiller,
}

impl WaveReader {
    /// What reads of a wave request, in this order.
    pub fn bind<'a>(
        &mut self,
        context: &'a ExecutionContext<'a>,
        state: &'a ReadState<'_>,
        ids: impl Iterator<Item = ReadId>,
    ) -> (Vec<ReadRequests<'a>>, WaveRequests) {
        let mut binder = Binder {
            context,
            arguments: state.arguments(),
            known: KnownQueries { cache: &mut self.cache, filler: &self.filler },
            room: PageBound::new(context.max_nodes, row_count(state)),
            wave: WaveRequests::default(),
        };
        let reads = bind_reads(&mut binder, state, ids);
        (reads, binder.wave)
    }
}

/// What each read found.
pub type FoundRows = Vec<(ReadId, Vec<RowResult>)>;

/// What reads found for the rows of their spaces.
pub fn found<'a>(
    context: &ExecutionContext<'_>,
    reads: impl Iterator<Item = ReadRequests<'a>>,
    results: &WaveResults<'_>,
    filler: &PageFiller,
) -> FoundRows {
    reads.map(|requests| (requests.id, row_results(context, requests, results, filler))).collect()
}

/// Stores what reads found.
pub fn apply(context: &ExecutionContext<'_>, state: &mut ReadState<'_>, found: FoundRows) {
    for (read, rows) in found {
        context.work.add(rows.len() + rows.iter().map(|row| row.items.len()).sum::<usize>());
        apply_results(state, read, rows, context.max_nodes);
    }
}

/// What reads of a wave request, in this order.
fn bind_reads<'a>(
    binder: &mut Binder<'a, '_>,
    state: &'a ReadState<'_>,
    ids: impl Iterator<Item = ReadId>,
) -> Vec<ReadRequests<'a>> {
    let mut reads = Vec::with_capacity(ids.size_hint().0);
    for id in ids {
        let absent = below_absent(state, &reads, id);
        let inputs = state.inputs(id).enumerate().map(|(row, input)| match &absent {
            Some(rows) if rows[row] => RowInput::Known(ItemState::Absent),
            _ => input,
        });
        reads.push(binder.bind((id, &state.plan().reads[id]), inputs));
    }
    reads
}

/// For each row of a read, whether its object is below one that reads of the same wave cannot find, because a value of
/// their keys is missing. `None` if there is no such object.
fn below_absent(state: &ReadState<'_>, bound: &[ReadRequests<'_>], id: ReadId) -> Option<Vec<bool>> {
    let read = &state.plan().reads[id];
    let (mut above, mut found) = (read.parent, None);
    while let Some(parent) = above {
        let outer = &state.plan().reads[parent];
        above = outer.parent;
        if outer.opens().is_some() || state.is_known(Holder::Read(parent)) {
            continue;
        }
        let requests = bound.iter().find(|requests| requests.id == parent);
        let Some(requests) = requests.filter(|requests| requests.rows.iter().any(RowRequest::is_absent)) else {
            continue;
        };
        let rows = found.get_or_insert_with(|| vec![false; state.len(read.space)]);
        for (row, is_absent) in rows.iter_mut().enumerate() {
            let own = state.climb(read.space, row, outer.space).and_then(|own| requests.rows.get(own));
            *is_absent |= own.is_some_and(RowRequest::is_absent);
        }
    }
    found
}
