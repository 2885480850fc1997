//! The services of a gateway, and the inputs of one request → calls, each input once. Inputs of several tasks of a
//! request share a call.

use super::call::{
    RefusedItem, ServiceAnswer, ServiceConnector, ServiceError, ServiceErrorKind, ServiceRequest, ServiceResult,
};
use super::guarded::{GuardedService, ServiceCallReport};
use crate::execute::error::{ErrorCode, Failure};
use crate::schema::model::Model;
use crate::table::retry::sparse_lines::SparseLines;
use dataloader::BatchFn;
use dataloader::non_cached::Loader;
use futures_util::future::join_all;
use indexmap::IndexMap;
use indexmap::map::Entry;
use serde_json::Value;
use smallvec::SmallVec;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
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

/// A field that a service computes, with its arguments.
#[derive(Debug, Clone)]
pub struct FieldRequest {
    /// The service, by position in the model.
    pub service: usize,
    /// What the service gets, still without items.
    pub request: ServiceRequest,
    /// The most items of a call.
    pub max: usize,
}

impl FieldRequest {
    /// Whether both ask for the same. The caller is the same in all of a request.
    fn is_same(&self, other: &Self) -> bool {
        let (own, others) = (&self.request, &other.request);
        self.service == other.service && own.field == others.field && own.arguments == others.arguments
    }
}

/// The value for an input, or why there is none.
pub type ServiceOutcome = Result<Arc<Value>, Arc<Failure>>;

/// An input of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InputId {
    /// The field with its arguments, by position among those that the request asks services for.
    field: usize,
    /// The position among the inputs of the field.
    input: usize,
}

/// A field's inputs in the order in which they were asked for, each once: JSON, and its outcome once it has one.
#[derive(Default)]
struct FieldInputs {
    asked: IndexMap<Arc<str>, Option<ServiceOutcome>>,
    /// As many of them are in calls.
    called: usize,
}

/// The fields of a request that services compute. They are few.
type Fields = Vec<(FieldRequest, FieldInputs)>;

/// The calls of one request.
pub struct ServiceSession {
    /// Joins the calls of several tasks. Most requests have one. Its unit is a wave (from 1), since it does more for
    /// each unit than a call does for an input.
    loader: OnceLock<Loader<usize, (), Calls>>,
    calls: Calls,
}

impl ServiceSession {
    /// No calls yet. They end at the deadline; their inputs and answers have at most these bytes together.
    pub fn new(services: Arc<Services>, deadline: Instant, max_bytes: u64) -> Self {
        let (reports, fields) = (Arc::default(), Arc::default());
        let room = Arc::new(AtomicU64::new(max_bytes));
        let calls = Calls { services, began: Instant::now(), deadline, room, reports, fields };
        Self { loader: OnceLock::new(), calls }
    }

    /// The position of a field.
    pub fn field(&self, request: FieldRequest) -> usize {
        let mut fields = self.calls.fields();
        fields.iter().position(|(known, _)| known.is_same(&request)).unwrap_or_else(|| {
            // Most requests have one. Room for four would be too large for malloc's cache.
            if fields.is_empty() {
                fields.reserve_exact(1);
            }
            fields.push((request, FieldInputs::default()));
            fields.len() - 1
        })
    }

    /// Asks for the value for an input of a field, at the next load. Fails if the request has no room for it.
    pub fn ask(&self, field: usize, json: String) -> Result<InputId, Arc<Failure>> {
        let input = match self.calls.fields()[field].1.asked.entry(json.into()) {
            Entry::Occupied(known) => known.index(),
            Entry::Vacant(new) => {
                self.admit(new.key())?;
                new.insert_entry(None).index()
            }
        };
        Ok(InputId { field, input })
    }

    /// Takes room for an input.
    pub fn admit(&self, input: &str) -> Result<(), Arc<Failure>> {
        take(&self.calls.room, input.len()).map_err(|_| {
            let message = "The operation gives services too much. Ask for smaller pages.";
            Failure::new(ErrorCode::LimitExceeded, message)
        })
    }

    /// Makes the calls of a wave (from 1): for all inputs that are in none before. Where `joins` is false, the caller
    /// knows that no other task of the request asks now.
    pub async fn load(&self, wave: usize, joins: bool) {
        if !joins {
            return self.calls.make(wave).await;
        }
        let new = || Loader::new(self.calls.clone()).with_max_batch_size(usize::MAX).with_yield_count(1);
        // What it cannot load has no outcome.
        let _ = Box::pin(self.loader.get_or_init(new).try_load(wave)).await;
    }

    /// The outcome of an input after the load.
    pub fn outcome(&self, InputId { field, input }: InputId) -> ServiceOutcome {
        let outcome = self.calls.fields()[field].1.asked[input].clone();
        outcome.unwrap_or_else(|| Err(Failure::new(ErrorCode::Internal, "A service's answer was lost.")))
    }

    /// Makes a call of a mutation. Gives also whether it was sent.
    pub async fn call(&self, service: usize, request: &ServiceRequest) -> (Result<ServiceAnswer, ServiceError>, bool) {
        let Some(guarded) = self.calls.services.0.get(service) else {
            return (Err(ServiceError::new(ServiceErrorKind::Unavailable, "there is no such service")), false);
        };
        let (answer, mut report) = guarded.call(request, (self.calls.began, self.calls.deadline)).await;
        report.wave = 1;
        let is_sent = report.attempts > 0;
        self.calls.report(report, request.field.clone());
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
    fields: Arc<Mutex<Fields>>,
}

/// The lines of failed calls.
static LINES: SparseLines<ServiceErrorKind> = SparseLines::new();

impl BatchFn<usize, ()> for Calls {
    async fn load(&mut self, waves: &[usize]) -> HashMap<usize, ()> {
        self.make(waves.iter().min().copied().unwrap_or(1)).await;
        waves.iter().map(|wave| (*wave, ())).collect()
    }
}

/// The inputs of one call: the position of their field, and theirs among its inputs.
type CallInputs = (usize, Range<usize>);

impl Calls {
    fn fields(&self) -> MutexGuard<'_, Fields> {
        self.fields.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes the calls for all inputs that are in none yet.
    async fn make(&self, wave: usize) {
        match self.due().into_inner() {
            Ok([inputs]) => self.call(inputs, wave).await,
            Err(due) => drop(Box::pin(join_all(due.into_iter().map(|inputs| self.call(inputs, wave)))).await),
        }
    }

    /// The inputs that are in no call yet, call by call.
    fn due(&self) -> SmallVec<[CallInputs; 1]> {
        let mut due = SmallVec::new();
        for (field, (request, inputs)) in self.fields().iter_mut().enumerate() {
            let (first, end) = (inputs.called, inputs.asked.len());
            inputs.called = end;
            let calls = (first..end).step_by(request.max).map(|first| first..end.min(first + request.max));
            due.extend(calls.map(|inputs| (field, inputs)));
        }
        due
    }

    /// Makes one call of a wave, and keeps the outcomes.
    async fn call(&self, (field, inputs): CallInputs, wave: usize) {
        let Some((service, request)) = self.request(field, inputs.clone()) else { return };
        let (answer, mut report) = service.call(&request, (self.began, self.deadline)).await;
        report.wave = wave;
        let answer = answer.and_then(|answer| self.with_room(answer)).map_err(|error| failure(&request.field, &error));
        self.report(report, request.field);
        let mut fields = self.fields();
        let outcomes = fields[field].1.asked.values_mut().skip(inputs.start).take(inputs.len());
        match answer {
            Ok(answer) => outcomes.zip(answer.results).for_each(|(known, result)| *known = Some(outcome(result))),
            Err(why) => outcomes.for_each(|known| *known = Some(Err(why.clone()))),
        }
    }

    /// The service of a field, and what it gets for these inputs.
    fn request(&self, field: usize, inputs: Range<usize>) -> Option<(&GuardedService, ServiceRequest)> {
        let fields = self.fields();
        let (declared, known) = fields.get(field)?;
        let items = known.asked.keys().skip(inputs.start).take(inputs.len()).cloned().collect();
        Some((self.services.0.get(declared.service)?, ServiceRequest { items, ..declared.request.clone() }))
    }

    fn report(&self, report: ServiceCallReport, field: String) {
        let report = ServiceCallReport { field, ..report };
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
