//! The services of a gateway, and the inputs of one request → calls, each input once. Inputs of several tasks of a
//! request share a call.

use super::call::{
    RefusedItem, ServiceAnswer, ServiceConnector, ServiceError, ServiceErrorKind, ServiceRequest, ServiceResult,
};
use super::guarded::{GuardedService, ServiceCallReport};
use crate::execute::error::{ErrorCode, Failure};
use crate::schema::model::Model;
use crate::schema::model::service::Secret;
use crate::table::retry::sparse_lines::SparseLines;
use dataloader::BatchFn;
use dataloader::cached::Loader;
use futures_util::future::join_all;
use indexmap::IndexMap;
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::fmt::{Debug, Formatter};
use std::hash::{BuildHasher, Hash, Hasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::time::Instant;

/// The services of a schema, with their bounds. All requests of a gateway share them.
#[derive(Debug, Default)]
pub struct Services(Vec<GuardedService>);

impl Services {
    /// Those of a schema, each with what makes its calls.
    pub fn new(model: &Model, connector: Option<&Arc<dyn ServiceConnector>>) -> Self {
        let guarded = model.services.iter().map(|declared| {
            let caller = connector.and_then(|connector| connector.connect(declared));
            GuardedService::new(declared.clone(), caller)
        });
        Self(guarded.collect())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// What a service gets beside its items.
#[derive(Debug, Clone)]
pub struct FieldRequest {
    /// The service, by position in the model.
    pub service: usize,
    /// The coordinate of the field.
    pub field: String,
    /// The field's arguments.
    pub arguments: Option<Map<String, Value>>,
    /// The claims of the caller that the service gets.
    pub caller: Option<Map<String, Value>>,
    /// The W3C trace context of the request, if it is traced.
    pub trace: Option<String>,
    /// The token of the caller, if the service gets it.
    pub token: Option<Arc<Secret>>,
    /// The most items of a call.
    pub max: usize,
    /// The wave of the request, from 1.
    pub wave: usize,
}

impl FieldRequest {
    /// What distinguishes the calls of a request. The caller is the same in all of them.
    fn identity(&self) -> (usize, &str, &Option<Map<String, Value>>) {
        (self.service, &self.field, &self.arguments)
    }
}

impl PartialEq for FieldRequest {
    fn eq(&self, other: &Self) -> bool {
        self.identity() == other.identity()
    }
}

impl Eq for FieldRequest {}

impl Hash for FieldRequest {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.service, &self.field).hash(state);
    }
}

/// What a field requires of one object, as JSON.
#[derive(Clone)]
pub struct ServiceInput {
    /// The field.
    pub call: Arc<FieldRequest>,
    /// The JSON.
    pub item: Arc<str>,
    /// The place among the inputs of the wave, by which the items of a call are sorted.
    pub place: usize,
    /// The hash of the JSON. The loader asks for it ten times.
    hash: u64,
}

impl PartialEq for ServiceInput {
    fn eq(&self, other: &Self) -> bool {
        let is_same = Arc::ptr_eq(&self.item, &other.item) || self.item == other.item;
        is_same && (Arc::ptr_eq(&self.call, &other.call) || self.call == other.call)
    }
}

impl Eq for ServiceInput {}

impl Hash for ServiceInput {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash);
    }
}

/// Short, because the loader writes it for each input.
impl Debug for ServiceInput {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.write_str("ServiceInput")
    }
}

/// The value for an input, or why there is none.
pub type ServiceOutcome = Result<Arc<Value>, Arc<Failure>>;

/// The calls of one request.
pub struct ServiceSession {
    loader: Loader<ServiceInput, ServiceOutcome, Calls>,
    calls: Calls,
    hasher: RandomState,
}

impl ServiceSession {
    /// No calls yet. They end at the deadline; their inputs and answers have at most these bytes together.
    pub fn new(services: Arc<Services>, deadline: Instant, max_bytes: u64) -> Self {
        let reports = Arc::<Mutex<Vec<ServiceCallReport>>>::default();
        let room = Arc::new(AtomicU64::new(max_bytes));
        let calls = Calls { services, began: Instant::now(), deadline, room, reports };
        // All inputs of a wave are one batch, which is split by field.
        let loader = Loader::new(calls.clone()).with_max_batch_size(usize::MAX).with_yield_count(1);
        Self { loader, calls, hasher: RandomState::new() }
    }

    /// Takes room for an input.
    pub fn admit(&self, input: &str) -> Result<(), Arc<Failure>> {
        take(&self.calls.room, input.len()).map_err(|_| {
            let message = "The operation gives services too much. Ask for smaller pages.";
            Failure::new(ErrorCode::LimitExceeded, message)
        })
    }

    /// The input of an object at a place.
    pub fn input(&self, call: Arc<FieldRequest>, (item, place): (Arc<str>, usize)) -> ServiceInput {
        let hash = self.hasher.hash_one(&*item);
        ServiceInput { call, item, place, hash }
    }

    /// The outcomes of inputs.
    pub async fn load(&self, inputs: Vec<ServiceInput>) -> HashMap<ServiceInput, ServiceOutcome> {
        self.loader.try_load_many(inputs).await.unwrap_or_default()
    }

    /// Makes a call of a mutation. Gives also whether it was sent.
    pub async fn call(&self, service: usize, request: &ServiceRequest) -> (Result<ServiceAnswer, ServiceError>, bool) {
        let Some(guarded) = self.calls.services.0.get(service) else {
            return (Err(ServiceError::new(ServiceErrorKind::Unavailable, "there is no such service")), false);
        };
        let start = self.calls.began.elapsed();
        let (answer, mut report) = guarded.call(request, self.calls.deadline).await;
        (report.wave, report.start) = (1, start);
        let is_sent = report.attempts > 0;
        self.calls.report(report);
        let answer = answer.and_then(|answer| self.calls.with_room(answer));
        if let Err(error) = &answer {
            log(&request.field, error);
        }
        (answer, is_sent)
    }

    /// What the calls took, in the order in which they ended.
    pub fn take_reports(&self) -> Vec<ServiceCallReport> {
        std::mem::take(&mut *self.calls.reports.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The most bytes of a service's own code that a caller gets. Each object that the service refuses has it.
const MAX_CODE_BYTES: usize = 100;

/// Makes the calls of a request.
#[derive(Clone)]
struct Calls {
    services: Arc<Services>,
    began: Instant,
    deadline: Instant,
    /// How many bytes of inputs and answers still fit.
    room: Arc<AtomicU64>,
    reports: Arc<Mutex<Vec<ServiceCallReport>>>,
}

/// The lines of failed calls.
static LINES: SparseLines<ServiceErrorKind> = SparseLines::new();

impl BatchFn<ServiceInput, ServiceOutcome> for Calls {
    async fn load(&mut self, keys: &[ServiceInput]) -> HashMap<ServiceInput, ServiceOutcome> {
        let mut fields: IndexMap<&Arc<FieldRequest>, Vec<&ServiceInput>> = IndexMap::new();
        let mut in_order: Vec<&ServiceInput> = keys.iter().collect();
        in_order.sort_by_key(|input| input.place);
        for input in in_order {
            fields.entry(&input.call).or_default().push(input);
        }
        let chunks = fields.iter().flat_map(|(call, inputs)| inputs.chunks(call.max).map(|inputs| (*call, inputs)));
        let outcomes = join_all(chunks.map(|(call, inputs)| self.call(call, inputs))).await;
        outcomes.into_iter().flatten().collect()
    }
}

impl Calls {
    /// One call, for these inputs of a field.
    async fn call(&self, call: &FieldRequest, inputs: &[&ServiceInput]) -> Vec<(ServiceInput, ServiceOutcome)> {
        let Some(service) = self.services.0.get(call.service) else { return Vec::new() };
        let items = inputs.iter().map(|input| input.item.clone());
        let request = ServiceRequest {
            field: call.field.clone(),
            caller: call.caller.clone(),
            arguments: call.arguments.clone(),
            key: None,
            undo: None,
            items: items.collect(),
            trace: call.trace.clone(),
            token: call.token.clone(),
        };
        let from = self.began.elapsed();
        let (answer, mut report) = service.call(&request, self.deadline).await;
        (report.wave, report.start) = (call.wave, from);
        self.report(report);
        let outcomes: Vec<ServiceOutcome> = match answer.and_then(|answer| self.with_room(answer)) {
            Ok(answer) => answer.results.into_iter().map(outcome).collect(),
            Err(error) => vec![Err(failure(&call.field, &error)); inputs.len()],
        };
        inputs.iter().map(|input| (*input).clone()).zip(outcomes).collect()
    }

    fn report(&self, report: ServiceCallReport) {
        self.reports.lock().unwrap_or_else(PoisonError::into_inner).push(report);
    }

    /// The answer, if the request still has room for it.
    fn with_room(&self, answer: ServiceAnswer) -> Result<ServiceAnswer, ServiceError> {
        let bytes = answer.bytes;
        take(&self.room, bytes).map(|()| answer).map_err(|room| {
            let detail = format!("the request has room for {room} bytes of answers, and this one has {bytes}");
            ServiceError::new(ServiceErrorKind::TooLarge, detail)
        })
    }
}

/// Takes bytes of a room. Fails with what is left if they do not fit.
fn take(room: &AtomicU64, bytes: usize) -> Result<(), u64> {
    let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
    room.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |room| room.checked_sub(bytes)).map(|_| ())
}

/// The outcome of one result.
fn outcome(result: ServiceResult) -> ServiceOutcome {
    result.map(Arc::new).map_err(|refused| Arc::new(refusal(refused)))
}

/// What callers see of a service's refusal. The message is the service's own.
pub fn refusal(mut refused: RefusedItem) -> Failure {
    refused.code.truncate(refused.code.floor_char_boundary(MAX_CODE_BYTES));
    let details = vec![("serviceCode", Value::String(refused.code))];
    Failure { code: ErrorCode::ServiceRefused, message: refused.message, details }
}

/// Logs a failed call, with its details.
fn log(field: &str, error: &ServiceError) {
    if let Some(others) = LINES.take_line(error.kind) {
        let others = (others > 0).then_some(others);
        tracing::warn!(field, kind = %error.kind, detail = error.detail, others, "a call of a service failed");
    }
}

/// The failure that callers see for a failed call. The log has the details.
fn failure(field: &str, error: &ServiceError) -> Arc<Failure> {
    log(field, error);
    let (code, message) = match error.kind {
        ServiceErrorKind::Unavailable => {
            (ErrorCode::Unavailable, "A service that computes the field cannot be reached. Try again later.")
        }
        ServiceErrorKind::Timeout => (ErrorCode::Timeout, "A service that computes the field did not answer in time."),
        ServiceErrorKind::Refused => (ErrorCode::Unavailable, "A service that computes the field refused the call."),
        ServiceErrorKind::TooLarge | ServiceErrorKind::Unreadable => {
            (ErrorCode::Internal, "A service that computes the field gave an answer that cannot be used.")
        }
    };
    Failure::new(code, message)
}
