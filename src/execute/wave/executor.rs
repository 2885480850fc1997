//! Runs a plan wave by wave: what its reads ask for → one batch of Gets and the distinct queries side by side → results
//! → rows.

use super::resolved::{ResolvedCall, call_services};
use crate::execute::context::ExecutionContext;
use crate::execute::page::bound::PageBound;
use crate::execute::page::filler::PageFiller;
use crate::execute::read::apply::{apply_resolved, apply_results, end_wave, expand_rows, row_count};
use crate::execute::read::bind::read::Binder;
use crate::execute::read::query_cache::QueryCache;
use crate::execute::read::requests::{KnownQueries, ReadRequests, RowRequest, WaveRequests};
use crate::execute::read::results::WaveResults;
use crate::execute::read::row_results::{RowResult, row_results};
use crate::execute::read::shared::collection::shared_queries;
use crate::execute::read::shared::offers::offers;
use crate::execute::read::state::row_input::RowInput;
use crate::execute::read::state::{ItemState, ReadState};
use crate::plan::tree::ReadId;
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, join, ready};
use std::sync::Arc;

/// Runs every wave of a plan into its state. `joins` says whether other tasks of the request read at the same time, so
/// that their Gets and those of the waves share calls.
pub async fn run_waves(context: &ExecutionContext<'_>, state: &mut ReadState<'_>, joins: bool) {
    let plan = state.plan();
    let (mut cache, mut filler) = (QueryCache::default(), PageFiller::default());
    // Reads of the previous wave that a shared Query did not reach.
    let mut waiting: Vec<ReadId> = Vec::new();
    let mut wave = 0;
    if plan.keeps_gets {
        context.loaders.keep_gets();
    }
    expand_rows(state);
    while wave < plan.waves.len() || !waiting.is_empty() {
        let planned = plan.waves.get(wave).map(Vec::as_slice).unwrap_or_default();
        wave += 1;
        context.loaders.begin_wave();
        context.loaders.may_read_on().await;
        let mut binder = Binder {
            context,
            arguments: state.arguments(),
            known: KnownQueries { cache: &mut cache, filler: &filler },
            room: PageBound::new(context.max_nodes, row_count(state)),
            wave: WaveRequests::default(),
        };
        let reads = bind_reads(&mut binder, state, planned.iter().chain(&waiting).copied());
        let requests = binder.wave;
        let offers = offers(plan, &requests, &reads[..planned.len()], &cache);
        let gets = requests.gets.iter().map(Arc::as_ref).enumerate();
        let to_get = gets.filter(|(position, _)| !requests.is_known(*position));
        let shared = shared_queries(context.model, offers, to_get);
        let mut results = WaveResults::new(requests, &mut cache, joins);
        // Boxed, so that the type of a request's future stays shallow.
        let of_tables = async {
            results.call(context, &reads, &shared).await;
            Vec::new()
        };
        let of_tables = (!reads.is_empty()).then(|| of_tables.boxed());
        let has_calls = plan.calls.iter().any(|call| call.wave == wave);
        let of_services = has_calls.then(|| call_services(context, state, (wave, joins)).boxed());
        let resolved = side_by_side(of_tables, of_services).await;
        waiting = reads.iter().filter(|requests| results.needs_more(requests)).map(|requests| requests.id).collect();
        let known = reads.into_iter().filter(|requests| !waiting.contains(&requests.id));
        let found = known.map(|requests| (requests.id, row_results(context, requests, &results, &filler)));
        let found: Vec<(ReadId, Vec<RowResult>)> = found.collect();
        for (read, rows) in found {
            context.work.add(rows.len() + rows.iter().map(|row| row.items.len()).sum::<usize>());
            apply_results(state, read, rows, context.max_nodes);
        }
        for (call, values) in resolved {
            apply_resolved(state, call, values);
        }
        if let Some(again) = end_wave(state, &mut filler, &context.model.tables, wave) {
            // The waves that run again include them.
            waiting.clear();
            wave = again - 1;
        }
    }
}

/// Calls of a wave, under way. Those of services give what they computed.
type WaveCalls<'w> = BoxFuture<'w, Vec<ResolvedCall>>;

/// The calls of tables and those of services, as far as the wave has any.
fn side_by_side<'w>(of_tables: Option<WaveCalls<'w>>, of_services: Option<WaveCalls<'w>>) -> WaveCalls<'w> {
    match (of_tables, of_services) {
        (Some(of_tables), Some(of_services)) => join(of_tables, of_services).map(|(_, resolved)| resolved).boxed(),
        (of_tables, of_services) => of_tables.or(of_services).unwrap_or_else(|| ready(Vec::new()).boxed()),
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
        if outer.wave != read.wave || outer.opens().is_some() {
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
