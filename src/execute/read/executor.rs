//! Runs a plan wave by wave: the requests of all its reads → one batch of Gets and the distinct queries side by side → results → rows.

use super::apply::{apply_results, expand_rows, record_dangling, reset_to_wave};
use super::query_cache::QueryCache;
use super::requests::{ReadRequests, Sources, WaveRequests};
use super::results::WaveResults;
use super::state::ReadState;
use crate::execute::context::ExecutionContext;
use crate::execute::page::filler::PageFiller;
use crate::plan::tree::ReadId;
use futures_util::FutureExt;

/// Runs every wave of a plan into its state.
pub async fn run_waves(context: &ExecutionContext<'_>, state: &mut ReadState<'_>) {
    let plan = state.plan;
    let (mut cache, mut filler) = (QueryCache::default(), PageFiller::default());
    // Reads of the previous wave that a shared Query did not reach.
    let mut waiting: Vec<ReadId> = Vec::new();
    let mut wave = 0;
    while wave < plan.waves.len() || !waiting.is_empty() {
        let planned = plan.waves.get(wave).map(Vec::as_slice).unwrap_or_default();
        wave += 1;
        context.loaders.begin_wave();
        expand_rows(state);
        let mut requests = WaveRequests::default();
        let sources = Sources { context, arguments: &state.arguments, cache: &cache, filler: &filler };
        let reads = planned.iter().chain(&waiting);
        let reads: Vec<ReadRequests> = reads.map(|read| requests.add(&sources, (*read, &plan.reads[*read]), state.inputs(*read))).collect();
        let shared = match context.share_queries {
            true => requests.shared(context.model, plan, &reads[..planned.len()], &cache),
            false => Vec::new(),
        };
        let mut results = WaveResults::new(requests, &mut cache);
        // Boxed, so that the type of a request's future stays shallow.
        results.call(&shared, &reads, plan, context.loaders).boxed().await;
        waiting.clear();
        for requests in reads {
            match results.needs_more(&requests) {
                true => waiting.push(requests.read),
                false => apply_results(context, state, requests, &results, &filler),
            }
        }
        if let Some(again) = record_dangling(&mut filler, state, &context.model.tables, wave) {
            reset_to_wave(state, again);
            // The waves that run again include them.
            waiting.clear();
            wave = again - 1;
        }
    }
    expand_rows(state);
}
