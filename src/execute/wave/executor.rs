//! Runs a plan wave by wave: what its reads ask for → one batch of Gets and the distinct queries side by side → results
//! → rows.

use super::ahead::{PlannedWave, run_ahead};
use super::reader::{WaveReader, apply, found};
use super::resolved::{ResolvedCall, call_services};
use crate::execute::context::ExecutionContext;
use crate::execute::read::apply::{apply_resolved, end_wave, expand_rows};
use crate::execute::read::results::WaveResults;
use crate::execute::read::shared::collection::shared_queries;
use crate::execute::read::shared::offers::offers;
use crate::execute::read::state::ReadState;
use crate::plan::tree::ReadId;
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, join, ready};
use std::borrow::Cow;
use std::sync::Arc;

/// Runs every wave of a plan into its state. `joins` says whether other tasks of the request read at the same time, so
/// that their Gets and those of the waves share calls.
pub async fn run_waves(context: &ExecutionContext<'_>, state: &mut ReadState<'_>, joins: bool) {
    let plan = state.plan();
    let mut reader = WaveReader::default();
    // Reads of the previous wave that a shared Query did not reach.
    let mut waiting: Vec<ReadId> = Vec::new();
    let mut wave = 0;
    if plan.keeps_gets {
        context.loaders.keep_gets();
    }
    expand_rows(state);
    while wave < plan.waves.len() || !waiting.is_empty() {
        let mut planned = Cow::from(plan.waves.get(wave).map(Vec::as_slice).unwrap_or_default());
        wave += 1;
        context.loaders.begin_wave();
        context.loaders.may_read_on().await;
        if plan.may_run_ahead {
            let of_wave = PlannedWave { number: wave, reads: &planned, waiting: &waiting };
            planned = run_ahead(context, state, &mut reader, of_wave).into();
        }
        let (reads, requests) = reader.bind(context, state, planned.iter().chain(&waiting).copied());
        let offers = offers(plan, &requests, &reads[..planned.len()], &reader.cache);
        let gets = requests.gets.iter().map(Arc::as_ref).enumerate();
        let to_get = gets.filter(|(position, _)| !requests.is_known(*position));
        let shared = shared_queries(context.model, offers, to_get);
        let mut results = WaveResults::new(requests, &mut reader.cache, joins);
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
        let rows = found(context, known, &results, &reader.filler);
        apply(context, state, rows);
        for (call, values) in resolved {
            apply_resolved(state, call, values);
        }
        if let Some(again) = end_wave(state, &mut reader.filler, &context.model.tables, wave) {
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
