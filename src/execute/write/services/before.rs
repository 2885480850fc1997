//! A write with calls in; out: the arguments of its actions, with the results, once it is checked and the calls are
//! made.

use super::given;
use super::sending::{self, CallOutcome};
use crate::execute::error::{ErrorCode, Failure, FieldError};
use crate::execute::service::call::ServiceErrorKind;
use crate::execute::service::session::refusal;
use crate::execute::write::calls::draft::{Earlier, Generated, WriteDraft};
use crate::execute::write::dispatch::classify::{foreseen, unmet};
use crate::execute::write::dispatch::record::{self, Beginning, RecordState};
use crate::execute::write::draft::actions::{UnfinishedDraft, draft};
use crate::execute::write::elements::Directives;
use crate::execute::write::job::WriteJob;
use crate::execute::write::made_calls::{CallState, MadeCalls};
use crate::execute::write::messages::FieldErrors;
use crate::execute::write::rules::lookups;
use crate::schema::model::service::MutationCall;
use crate::schema::model::write::{Action, ActionKind};
use crate::schema::scalar::coerce::coerce;
use crate::table::data::attribute::Item;
use apollo_compiler::schema::ExtendedType;
use serde_json::{Map, Value};
use std::sync::Arc;

/// What comes of the calls before a write.
pub enum BeforeWrite {
    /// All are made. The arguments, with the results.
    Made(Map<String, Value>, MadeCalls),
    /// The request has a record that answers it.
    Answered(Arc<Item>),
    /// The write is refused.
    Refused(RefusedWrite),
}

/// Why a write is refused.
pub struct RefusedWrite {
    /// The errors.
    pub field_errors: FieldErrors,
    /// What came of each call; `None` if this request has made none, so that only an earlier one may have.
    pub states: Option<Vec<CallState>>,
    /// Whether the same request may still be made, so that nothing is undone.
    pub is_open: bool,
}

impl RefusedWrite {
    /// What may have come of each call, by this request or an earlier one with its record.
    pub fn states(&self, job: &WriteJob<'_>) -> Vec<CallState> {
        self.states.clone().unwrap_or_else(|| vec![CallState::Unknown; job.write.calls.len()])
    }

    /// A refusal before any call.
    pub fn early(field_errors: FieldErrors) -> Self {
        Self { field_errors, states: None, is_open: false }
    }
}

/// Checks all that needs no write, begins the record, and makes the calls. `arguments` are those of the request.
pub async fn make_calls(job: &WriteJob<'_>, arguments: &Map<String, Value>) -> BeforeWrite {
    match checked(job, arguments).await {
        Ok((draft, basis)) => match begin(job, &basis).await {
            Ok(Begun::Calls(calls, unsent)) => Calling::new(job, arguments, &draft).all((basis, &calls, unsent)).await,
            Ok(Begun::Decided(known)) => known,
            Err(field_errors) => BeforeWrite::Refused(RefusedWrite::early(field_errors)),
        },
        Err(field_errors) => BeforeWrite::Refused(RefusedWrite::early(field_errors)),
    }
}

/// Drafts the write without what needs a result. Fails as the write would, as far as that can be read.
async fn checked(job: &WriteJob<'_>, arguments: &Map<String, Value>) -> Result<(WriteDraft, String), FieldErrors> {
    let WriteJob { context, planned, write, request, .. } = *job;
    let mut directives = Directives::new(write, arguments)?;
    let mut without: Vec<String> = Vec::new();
    directives.actions.retain_mut(|done| {
        let takes = |action: &Action| {
            action.named_arguments().into_iter().any(|name| write.call_of(name).is_some())
                || action.named_items().into_iter().any(|name| without.iter().any(|left_out| left_out == name))
        };
        if !takes(&done.action) {
            return true;
        }
        // What must hold of a changed item can be checked without what is written to it.
        if matches!(done.action.kind, ActionKind::Update { moves: false, upsert: false, .. })
            && done.action.at.is_none()
        {
            let partly = done.action.to_mut();
            partly
                .values
                .retain(|_, written| !written.named_arguments().iter().any(|name| write.call_of(name).is_some()));
            partly.kind = ActionKind::Update { upsert: false, moves: false, expression: None };
            return !takes(partly);
        }
        if matches!(done.action.kind, ActionKind::Put { .. }) {
            without.push(done.action.name().to_owned());
        }
        false
    });
    let token = job.token.clone();
    let job = &WriteJob { context, planned, write, directives, request, calls: None, token };
    let mut draft = match draft(job, &mut Generated::new(), &Earlier::default()).await {
        Ok(draft) => draft,
        Err(UnfinishedDraft { mut draft, field_errors }) => {
            lookups::decide(job, &mut draft.rules).await?;
            return Err(unmet(job, &draft).await?.map_or(field_errors, |unmet| vec![unmet]));
        }
    };
    let distinct = draft.check_distinct(job);
    lookups::decide(job, &mut draft.rules).await?;
    distinct.map_err(|field_error| vec![field_error])?;
    if let Some(field_error) = foreseen(job, &draft).await? {
        return Err(vec![field_error]);
    }
    let basis = given::basis(job, &draft)?;
    Ok((draft, basis))
}

/// What follows once the record of a request is begun.
enum Begun {
    /// The calls are made. What the record says of them, and what came of one that this request does not send: an
    /// earlier one may have.
    Calls(String, CallState),
    /// It is decided already.
    Decided(BeforeWrite),
}

/// Begins the record of the request, if it has one.
async fn begin(job: &WriteJob<'_>, basis: &str) -> Result<Begun, FieldErrors> {
    let Some(request) = job.request else { return Ok(Begun::Calls(String::new(), CallState::NotMade)) };
    let record = match record::begin(job, request, basis).await? {
        Beginning::New(calls) => return Ok(Begun::Calls(calls, CallState::NotMade)),
        Beginning::Again(record) => record,
    };
    record::check(request, &record)?;
    Ok(match record::state(&record) {
        RecordState::Begun if record::has_basis(&record, basis) => {
            Begun::Calls(record::calls(&record).to_owned(), CallState::Unknown)
        }
        RecordState::Begun => Begun::Decided(BeforeWrite::Refused(RefusedWrite::early(vec![changed()]))),
        RecordState::Made | RecordState::Refused { .. } => Begun::Decided(BeforeWrite::Answered(record)),
    })
}

/// The error of a write that would be made with other values than its services were given.
pub fn changed() -> FieldError {
    let message = "What a service was called for has changed since. Try again with a new key.";
    FieldError::new(ErrorCode::Conflict, message)
}

/// The error of a write that turns out to have nothing to do after its services were called.
pub fn nothing_to_do() -> FieldError {
    FieldError::new(ErrorCode::NotFound, "There is nothing to write.")
}

/// The calls of a write while they are made, one after the other.
struct Calling<'c, 'j> {
    job: &'c WriteJob<'j>,
    draft: &'c WriteDraft,
    /// The arguments of the request, and the results so far.
    arguments: Map<String, Value>,
    /// The same, with the fields of found items that conditions name.
    named: Map<String, Value>,
    states: Vec<CallState>,
}

impl<'c, 'j> Calling<'c, 'j> {
    fn new(job: &'c WriteJob<'j>, arguments: &Map<String, Value>, draft: &'c WriteDraft) -> Self {
        let named = draft.arguments.as_ref().unwrap_or(arguments).clone();
        Self { job, draft, arguments: arguments.clone(), named, states: Vec::new() }
    }

    /// Makes them all. `unsent` is what came of a call that this request does not send.
    async fn all(mut self, (basis, calls, unsent): (String, &str, CallState)) -> BeforeWrite {
        let write = self.job.write;
        for call in &write.calls {
            let (state, refused) = self.call(call, (calls, unsent)).await;
            self.states.push(state);
            if let Some((field_error, is_open)) = refused {
                self.states.resize(write.calls.len(), unsent);
                let states = Some(self.states);
                return BeforeWrite::Refused(RefusedWrite { field_errors: vec![field_error], states, is_open });
            }
        }
        BeforeWrite::Made(self.arguments, MadeCalls { basis, states: self.states })
    }

    /// Makes a call. Gives what came of it; and the error if the write is refused, with whether it may still be made.
    async fn call(
        &mut self,
        call: &MutationCall,
        (calls, unsent): (&str, CallState),
    ) -> (CallState, Option<(FieldError, bool)>) {
        let inputs = match given::is_wanted(self.job, call, &self.named) {
            Ok(true) => given::inputs(self.job, call, (&self.named, &self.draft.scope_of_calls)),
            // With the same basis, no earlier request has made it either.
            Ok(false) => {
                self.add(call, Value::Null);
                return (CallState::NotMade, None);
            }
            Err(field_errors) => Err(field_errors),
        };
        let inputs = match inputs {
            Ok(inputs) => inputs,
            Err(field_errors) => return (unsent, field_errors.into_iter().next().map(|error| (error, false))),
        };
        match sending::make(self.job, call, (&inputs, calls)).await {
            CallOutcome::Made(value) => match result(self.job, call, value) {
                Ok(value) => {
                    self.add(call, value);
                    (CallState::Made, None)
                }
                Err(field_error) => (CallState::Made, Some((field_error, false))),
            },
            CallOutcome::Refused(refused) => (CallState::NotMade, Some((error_of(&refusal(refused)), false))),
            CallOutcome::Unsent(kind) => (unsent, Some((unsent_error(kind), true))),
            CallOutcome::Unknown(kind) => (CallState::Unknown, Some((unanswered(kind), true))),
            CallOutcome::TooMuch(failure) => (unsent, Some((error_of(&failure), false))),
        }
    }

    fn add(&mut self, call: &MutationCall, value: Value) {
        self.named.insert(call.name.clone(), value.clone());
        self.arguments.insert(call.name.clone(), value);
    }
}

/// A result as the actions have it: the fields of its type.
fn result(job: &WriteJob<'_>, call: &MutationCall, mut value: Value) -> Result<Value, FieldError> {
    let Some(ty) = &call.returns else { return Ok(Value::Null) };
    let api = &job.context.model.api;
    // A service may say more than the schema takes.
    if let (Some(ExtendedType::InputObject(object)), Value::Object(members)) =
        (api.types.get(ty.inner_named_type()), &mut value)
    {
        members.retain(|name, _| object.fields.contains_key(name.as_str()));
    }
    coerce(api, ty, &value).map_err(|misfit| {
        let field = &job.planned.field;
        tracing::warn!(
            field,
            call = call.name,
            misfit = misfit.sentence("Result", &call.name),
            "a service's result does not fit"
        );
        misfits(&call.name)
    })
}

/// The error of a result that the write cannot use.
pub fn misfits(name: &str) -> FieldError {
    FieldError::new(ErrorCode::Internal, format!("A service's result does not fit what \"{name}\" is declared to be."))
}

fn error_of(failure: &Failure) -> FieldError {
    FieldError { code: failure.code, message: failure.message.clone(), details: failure.details.clone() }
}

/// The error of a call that was not sent.
fn unsent_error(kind: ServiceErrorKind) -> FieldError {
    let code = if kind == ServiceErrorKind::Timeout { ErrorCode::Timeout } else { ErrorCode::Unavailable };
    FieldError::new(
        code,
        "A service that the change needs cannot be reached, so the change is not made. Try again later.",
    )
}

/// The error of a call without an answer.
fn unanswered(kind: ServiceErrorKind) -> FieldError {
    let code = match kind {
        ServiceErrorKind::Timeout => ErrorCode::Timeout,
        ServiceErrorKind::Unreadable | ServiceErrorKind::TooLarge => ErrorCode::Internal,
        ServiceErrorKind::Unavailable | ServiceErrorKind::Refused => ErrorCode::Unavailable,
    };
    let message = "A service did not answer, so its call may or may not have been made. The change is not made. Repeat it with the same key.";
    FieldError::new(code, message)
}
