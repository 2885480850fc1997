//! A gateway for one schema on one store: operation text in, response bytes out. Must not know HTTP.

use super::caller::Caller;
use super::context::{ExecutionContext, GRACE};
use super::error::{ErrorCode, GraphqlError};
use super::expression::request_time::RequestTime;
use super::heavy_work::{HeavyFuture, HeavyWork, WorkDone};
use super::item::strays::Strays;
use super::keyed_locks::KeyedLocks;
use super::operation_cache::{self, OperationCache, PlannedOperation, plan_once};
use super::page::cursor::CursorKey;
use super::page::yields::PageYields;
use super::report::{
    GatewayLoad, OperationReport, Phases, Preparation, RunObserver, RunOutcome, TraceContext, counted, waited,
};
use super::request::{Request, Settings};
use super::response::body::{ResponseBody, ResponseLimits};
use super::response::explain;
use super::service::session::{ServiceSession, Services};
use super::steps::run_steps;
use super::values::expiry::SecondsLeft;
use crate::plan::cost::operation::{OperationCost, cost_of_operation};
use crate::plan::tree::{CachePolicy, OperationPlan, SingleWrites};
use crate::schema::model::Model;
use crate::table::cache::entry::ABSENCE;
use crate::table::cache::table_cache::{HOLD_OFF, TableCache};
use crate::table::data_store::DataStore;
use crate::table::request::gate::CallGate;
use crate::table::request::loaders::Loaders;
use crate::table::request::room::{ReadRoom, ReadShare};
use apollo_compiler::ast::OperationType;
use bytes::Bytes;
use serde_json::{Map, Value};
use std::future::Future;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;
use tokio::time::Instant;

/// A schema on a store.
#[derive(Clone)]
pub struct Gateway {
    inner: Arc<Inner>,
}

struct Inner {
    model: Arc<Model>,
    store: Arc<dyn DataStore>,
    /// `None` if nothing may be kept.
    cache: Option<Arc<TableCache>>,
    operations: OperationCache,
    heavy_work: Arc<HeavyWork>,
    limits: ResponseLimits,
    max_read_bytes: u64,
    cursor_key: CursorKey,
    single_writes: SingleWrites,
    keyed_locks: KeyedLocks,
    strays: Strays,
    calls: Arc<CallGate>,
    reads: Arc<ReadRoom>,
    yields: PageYields,
    services: Arc<Services>,
    observer: Option<Arc<dyn RunObserver>>,
}

/// An operation that passed validation.
pub struct PreparedOperation {
    caller: Caller,
    client: Option<IpAddr>,
    idempotency_key: Option<String>,
    trace: Option<TraceContext>,
    planned: PlannedOperation,
}

impl PreparedOperation {
    /// Its name, if it has one.
    pub fn name(&self) -> Option<&Arc<str>> {
        self.planned.name.as_ref()
    }

    /// `query`, `mutation` or `subscription`.
    pub fn kind_name(&self) -> &'static str {
        self.planned.kind.name()
    }

    /// Whether it is a mutation.
    pub fn writes(&self) -> bool {
        self.planned.kind == OperationType::Mutation
    }

    /// Whether it is a subscription.
    pub fn watches(&self) -> bool {
        self.planned.kind == OperationType::Subscription
    }

    /// Its plan.
    pub(super) fn plan(&self) -> &OperationPlan {
        &self.planned.plan
    }

    /// Its variables, coerced.
    pub(super) fn variables(&self) -> &Map<String, Value> {
        &self.planned.variables
    }

    /// Who sent it.
    pub(super) fn caller(&self) -> &Caller {
        &self.caller
    }
}

/// What one run of an operation needs.
pub(super) struct OperationRun {
    loaders: Loaders,
    services: Option<ServiceSession>,
    work: WorkDone,
    misses: AtomicBool,
    left: Arc<SecondsLeft>,
    lost_races: AtomicU32,
    now: RequestTime,
    deadline: Instant,
}

/// The response to a request.
#[derive(Debug, Default)]
pub struct Response {
    /// The response map, as JSON. The subscribers of one operation share it.
    pub body: Bytes,
    /// How long it may be kept.
    pub policy: CachePolicy,
    /// The code of a request that failed before execution: its body has no `data` (GraphQL spec section 7.1.2, "Request
    /// errors").
    pub refused: Option<ErrorCode>,
    /// The code of a mutation all of whose fields failed with one that HTTP has a status for: the idempotency key of
    /// another request, or of one in flight.
    pub failed: Option<ErrorCode>,
    /// Of a subscription: the id of the event, with which the client goes on after it.
    pub event: Option<Arc<str>>,
    /// What the run took; `None` if the operation did not run, and of a subscription.
    pub report: Option<Arc<OperationReport>>,
    /// Its share of the room for what operations read, until it has room where responses wait for their clients.
    pub held: Option<Arc<ReadShare>>,
}

impl Gateway {
    /// A gateway for a schema on a store.
    pub fn new(model: Arc<Model>, store: impl Into<Arc<dyn DataStore>>, settings: Settings) -> Self {
        let store = store.into();
        let heavy_work = Arc::<HeavyWork>::default();
        let operations = OperationCache::new(&settings, heavy_work.clone());
        let cursor_key = CursorKey::from_secret(&settings.cursor_key);
        let (keyed_locks, strays) = (KeyedLocks::default(), Strays::new(&model));
        let calls = CallGate::new(settings.max_calls_in_flight.unwrap_or_else(|| store.usual_calls_in_flight()));
        let limits = ResponseLimits { bytes: settings.max_response_bytes, objects: settings.max_nodes };
        let (reads, yields) = (ReadRoom::new(settings.read_memory), PageYields::new(settings.learned_pages));
        let services = Arc::new(Services::new(&model, settings.services.as_ref()));
        let Settings { max_read_bytes, cache_bytes, single_writes, observer, .. } = settings;
        let hold_off = if store.has_eventual_indexes() { HOLD_OFF } else { Duration::ZERO };
        let keeps = cache_bytes > 0 && !model.cache.is_empty();
        let cache = keeps.then(|| Arc::new(TableCache::new(&model.tables, cache_bytes, hold_off)));
        Self {
            inner: Arc::new(Inner {
                model,
                store,
                cache,
                operations,
                heavy_work,
                limits,
                max_read_bytes,
                cursor_key,
                single_writes,
                keyed_locks,
                strays,
                calls,
                reads,
                yields,
                services,
                observer,
            }),
        }
    }

    /// The schema's model.
    pub fn model(&self) -> &Arc<Model> {
        &self.inner.model
    }

    /// The store.
    pub fn store(&self) -> &Arc<dyn DataStore> {
        &self.inner.store
    }

    /// What reads found, kept for later requests; `None` if nothing is kept.
    pub fn cache(&self) -> Option<&Arc<TableCache>> {
        self.inner.cache.as_ref()
    }

    /// What it holds now.
    pub fn load(&self) -> GatewayLoad {
        let Inner { operations, cache, calls, reads, .. } = &*self.inner;
        let [documents, plans] = operations.counts();
        let items = cache.iter().map(|cache| ("items", cache.counts()));
        let caches = [("documents", documents), ("plans", plans)].into_iter().chain(items).collect();
        GatewayLoad { caches, calls: calls.taken(), most_calls: calls.places(), reads: reads.load() }
    }

    /// The bytes that large operations have held and freed, about.
    pub fn freed_bytes(&self) -> u64 {
        self.inner.reads.freed()
    }

    /// Parses, validates and plans an operation. The plan is cached for requests with the same text.
    pub async fn prepare(&self, request: &Request) -> Result<PreparedOperation, Vec<GraphqlError>> {
        let mut preparation = Preparation::begin();
        match self.inner.operations.plan(&self.inner.model, request, &mut preparation).await {
            Ok(planned) => {
                let Request { caller, client, idempotency_key, trace, .. } = request;
                let (mut caller, idempotency_key) = (caller.clone(), idempotency_key.clone());
                if planned.kind == OperationType::Subscription {
                    // Its changes come later, and subscribers with other tokens share its run.
                    caller = caller.without_token();
                }
                if caller.is_explained() {
                    warn_of_undeclared(&planned, caller.request_id());
                }
                Ok(PreparedOperation { caller, client: *client, idempotency_key, trace: *trace, planned })
            }
            Err(errors) => {
                let codes = errors.iter().map(|error| error.code);
                self.inner
                    .observer
                    .as_ref()
                    .inspect(|observer| observer.ran(&OperationReport::refused(&preparation, codes, request.trace)));
                Err(errors)
            }
        }
    }

    /// The bounds of a response.
    pub(super) fn limits(&self) -> ResponseLimits {
        self.inner.limits
    }

    /// Begins a run for a client, which ends at the deadline.
    pub(super) fn begin(&self, client: Option<IpAddr>, deadline: Instant) -> OperationRun {
        let Inner { calls, reads, store, cache, services, max_read_bytes, .. } = &*self.inner;
        let loaders = Loaders::through((calls, reads.share(client)), (store.clone(), cache.clone()), deadline);
        let (misses, lost_races) = (AtomicBool::new(false), AtomicU32::new(0));
        let (work, left, now) = (WorkDone::default(), Arc::default(), RequestTime::now());
        let session = || ServiceSession::new(services.clone(), deadline, *max_read_bytes);
        let services = (!services.is_empty()).then(session);
        OperationRun { loaders, services, work, misses, left, lost_races, now, deadline }
    }

    /// The context of a run of an operation.
    pub(super) fn context<'a>(
        &'a self,
        run: &'a OperationRun,
        prepared: &'a PreparedOperation,
    ) -> ExecutionContext<'a> {
        let Inner { model, limits, max_read_bytes, cursor_key, single_writes, keyed_locks, yields, strays, .. } =
            &*self.inner;
        ExecutionContext {
            model,
            loaders: &run.loaders,
            trace: prepared.trace,
            services: run.services.as_ref(),
            variables: &prepared.planned.variables,
            caller: &prepared.caller,
            now: &run.now,
            deadline: run.deadline,
            max_nodes: limits.objects,
            max_read_bytes: *max_read_bytes,
            work: &run.work,
            misses: &run.misses,
            left: &run.left,
            lost_races: &run.lost_races,
            cursor_key,
            single_writes: *single_writes,
            idempotency_key: prepared.idempotency_key.as_deref(),
            keyed_locks,
            yields,
            strays,
        }
    }

    /// Does the work of a run, beside the workers if it takes long.
    pub(super) fn share<'r, F: Future>(
        &self,
        prepared: &'r PreparedOperation,
        run: &'r OperationRun,
        work: F,
    ) -> HeavyFuture<'r, F> {
        self.inner.heavy_work.share(&prepared.planned.heavy, &run.work, work)
    }

    /// Ends a run whose response has been written: its report, which the observer has received. `arrived` is when its
    /// preparation began.
    pub(super) fn end(
        &self,
        prepared: &PreparedOperation,
        run: OperationRun,
        body: &ResponseBody,
        arrived: &Preparation,
    ) -> Arc<OperationReport> {
        let prepared_after = run.loaders.begun().into_std().saturating_duration_since(arrived.clock);
        let (lasted, calls, write) = (arrived.clock.elapsed(), run.loaders.take_calls(), body.writing());
        let services = run.services.as_ref().map(ServiceSession::take_reports).unwrap_or_default();
        let wait = waited(&calls, &services);
        let decode = lasted.saturating_sub(prepared_after + wait + write);
        let report = Arc::new(OperationReport {
            name: prepared.planned.name.clone(),
            kind: Some(prepared.planned.kind),
            outcome: if body.has_errors() { RunOutcome::WithErrors } else { RunOutcome::Complete },
            began: arrived.began,
            lasted,
            prepared_after,
            phases: Phases { parse: arrived.parse, plan: arrived.plan, wait, decode, write },
            was_new: (arrived.has_parsed, arrived.has_planned),
            calls,
            services,
            lost_races: run.lost_races.into_inner(),
            errors: counted(body.codes()),
            plan: Some((self.inner.model.clone(), prepared.planned.plan.clone())),
            trace: prepared.trace,
        });
        self.inner.observer.as_ref().inspect(|observer| observer.ran(&report));
        report
    }

    /// Runs a prepared operation until its deadline. With `explain`, `extensions.keyfold` holds the plan and the calls.
    pub async fn run(&self, prepared: &PreparedOperation, deadline: Instant, explain: bool) -> Response {
        let Inner { model, limits, .. } = &*self.inner;
        let PlannedOperation { plan, variables, undeclared, .. } = &prepared.planned;
        if prepared.watches() {
            let message = "A subscription is answered over a WebSocket, or as text/event-stream.";
            return Response::refused(&[GraphqlError::new(ErrorCode::GraphqlValidationFailed, message)]);
        }
        let introspection = match prepared.planned.introspect(model) {
            Ok(values) => values,
            Err(errors) => return Response::refused(&errors),
        };
        let run = self.begin(prepared.client, deadline);
        if prepared.trace.is_some_and(|trace| trace.is_sampled) {
            run.loaders.keep_request_ids();
        }
        let context = self.context(&run, prepared);
        let mut body = ResponseBody::new(*limits);
        let steps = self.share(prepared, &run, run_steps(&context, plan, &introspection, &mut body));
        let ended = tokio::time::timeout_at(deadline + GRACE, steps).await;
        let refused = body.refused();
        let has_data = match ended {
            Ok(written) => written.is_ok(),
            Err(_) => {
                body = ResponseBody::new(*limits);
                body.error(&GraphqlError::new(ErrorCode::Timeout, "The request took too long."));
                false
            }
        };
        // Another time, an error may be gone; and whoever asks for an explanation wants that of now.
        let policy = if has_data && !body.has_errors() && !explain { plan.policy } else { CachePolicy::NONE };
        let policy = if run.misses.load(Ordering::Relaxed) { policy.at_most(ABSENCE) } else { policy };
        // What expires is not kept beyond its time.
        let policy = run.left.time().map_or(policy, |left| policy.at_most(left));
        let failed = common_failure(&body, if has_data { plan.steps.len() } else { 1 });
        let held = run.loaders.answered(body.bytes());
        let report = self.end(prepared, run, &body, &prepared.planned.preparation);
        let cost = || cost_of_operation(model, plan, variables, self.inner.single_writes);
        let extensions = explain.then(|| {
            let explained = explain::extensions((model, plan), &cost(), &report, refused);
            explain::with_warnings(explained, undeclared)
        });
        let body = body.finish(has_data, extensions).into();
        Response { body, policy, refused: None, failed, event: None, report: Some(report), held: Some(held) }
    }
}

/// Names the variables that have no meaning, for who develops a client.
fn warn_of_undeclared(planned: &PlannedOperation, request_id: Option<&str>) {
    for reason in &planned.undeclared {
        tracing::warn!(
            operation = planned.name.as_deref(),
            reason,
            request_id,
            "the operation declares no such variable"
        );
    }
}

/// The code with which all of these steps failed, if it is one of an idempotency key.
fn common_failure(body: &ResponseBody, steps: usize) -> Option<ErrorCode> {
    let mut codes = body.codes();
    let first = codes.next()?;
    let is_known = matches!(first, ErrorCode::IdempotencyKeyReused | ErrorCode::IdempotencyKeyInUse);
    (is_known && body.codes().count() >= steps && codes.all(|code| code == first)).then_some(first)
}

/// The plan of an operation, and what it costs at most, without a store: for `keyfold explain`.
pub fn plan(
    model: &Model,
    request: &Request,
    settings: &Settings,
) -> Result<(Arc<OperationPlan>, OperationCost), Vec<GraphqlError>> {
    plan_once(model, request, settings)
}

/// What is wrong with a document for this schema, whatever its variables are.
pub fn mistakes(model: &Model, text: &str, settings: &Settings) -> Vec<GraphqlError> {
    operation_cache::mistakes(model, text, settings)
}

impl Response {
    /// The response map: `data`, `errors` and `extensions`. Null for a body that is no JSON, which no gateway gives.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// The response to a request that failed before execution.
    pub fn refused(errors: &[GraphqlError]) -> Self {
        let code = errors.first().map_or(ErrorCode::Internal, |error| error.code);
        let list: Vec<Value> = errors.iter().map(GraphqlError::to_json).collect();
        let body = serde_json::json!({ "errors": list }).to_string();
        Self { body: body.into(), refused: Some(code), ..Self::default() }
    }
}
