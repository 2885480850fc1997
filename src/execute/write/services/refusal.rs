//! Why a write with calls is refused in; the answer out, once its record says so and its calls are undone.

use super::before::RefusedWrite;
use super::sending;
use crate::execute::error::{ErrorCode, FieldError};
use crate::execute::write::dispatch::record::{self, RecordState, Recorded};
use crate::execute::write::dispatch::repeated;
use crate::execute::write::idempotency::KnownRequest;
use crate::execute::write::job::WriteJob;
use crate::execute::write::made_calls::CallState;
use crate::execute::write::messages::FieldErrors;
use crate::table::data::attribute::Item;
use serde_json::{Value, json};
use std::sync::Arc;

/// The name of what an error says of calls that stand.
pub const CALLS: &str = "calls";

/// The items of each planned result, or why there are none.
type Answer = Result<Vec<Vec<Arc<Item>>>, FieldErrors>;

/// The answer to a write that is refused. If it is certain that it is not made, and stays so, its calls are undone. A
/// request that was answered before gets that answer.
pub async fn answer(job: &WriteJob<'_>, refusal: RefusedWrite) -> Answer {
    let Some(request) = job.request else { return Err(tell(job, refusal.field_errors, refusal.states.as_deref())) };
    // Whoever uses a key again for something else learns that first.
    let record = match record::read(job, request).await {
        Ok(Some(record)) => record,
        // It has ended, or there was none, so that nothing was called before.
        Ok(None) => return Err(tell(job, refusal.field_errors, refusal.states.as_deref())),
        Err(unread) => return Err(tell(job, unread, Some(&refusal.states(job)))),
    };
    record::check(request, &record)?;
    match record::state(&record) {
        RecordState::Begun => give_up(job, request, (refusal, record::calls(&record))).await,
        RecordState::Made | RecordState::Refused { .. } => recorded(job, request, &record).await,
    }
}

/// The answer to a request whose record has one.
pub async fn recorded(job: &WriteJob<'_>, request: &KnownRequest, record: &Item) -> Answer {
    record::check(request, record)?;
    match record::state(record) {
        RecordState::Made | RecordState::Begun => repeated::answer(job, request, record).await,
        RecordState::Refused { field_errors, is_undone: true } => Err(field_errors),
        RecordState::Refused { field_errors, is_undone: false } => {
            Err(undo(job, request, (field_errors, record::calls(record))).await)
        }
    }
}

/// Refuses a request for good, if nothing keeps it open.
async fn give_up(job: &WriteJob<'_>, request: &KnownRequest, (refusal, calls): (RefusedWrite, &str)) -> Answer {
    let states = refusal.states(job);
    let may_stand = states.iter().any(|state| *state != CallState::NotMade);
    let is_undone = may_stand && job.write.calls.iter().any(|call| call.undo.is_some());
    if refusal.is_open || !is_undone || refusal.field_errors.iter().any(|error| is_passing(error.code)) {
        return Err(tell(job, refusal.field_errors, Some(&states)));
    }
    // What is not undone is said, now and to whoever repeats the request.
    let standing = job.write.calls.iter().zip(&states);
    let standing = standing.map(|(call, state)| if call.undo.is_some() { CallState::NotMade } else { *state });
    let field_errors = tell(job, refusal.field_errors, Some(&standing.collect::<Vec<_>>()));
    match record::refuse(job, request, (&field_errors, calls)).await {
        Ok(Recorded::Now) => Err(undo(job, request, (field_errors, calls)).await),
        Ok(Recorded::Otherwise(record)) => recorded(job, request, &record).await,
        // Whether the record says so is not known, so nothing is undone yet.
        Err(unwritten) => Err(tell(job, unwritten, Some(&states))),
    }
}

/// Undoes the calls of a request whose record says that it is refused, the last one first. Gives the errors of the
/// refusal, or says that a call still stands.
async fn undo(job: &WriteJob<'_>, request: &KnownRequest, (field_errors, calls): (FieldErrors, &str)) -> FieldErrors {
    let mut standing = vec![CallState::NotMade; job.write.calls.len()];
    for (position, call) in job.write.calls.iter().enumerate().rev() {
        let Some(named) = &call.undo else { continue };
        if !sending::undo(job, call, (named, calls)).await {
            standing[position] = CallState::Unknown;
        }
    }
    if standing.contains(&CallState::Unknown) {
        let message = "The change is not made, but a service has not undone its call yet. Repeat it with the same key.";
        return tell(job, vec![FieldError::new(ErrorCode::Unavailable, message)], Some(&standing));
    }
    record::undone(job, request, (&field_errors, calls)).await;
    field_errors
}

/// Whether a failure may be over when the request is repeated.
fn is_passing(code: ErrorCode) -> bool {
    matches!(code, ErrorCode::Throttled | ErrorCode::Timeout | ErrorCode::Unavailable | ErrorCode::IdempotencyKeyInUse)
}

/// Says of which calls it is known that they stand, or not known that they do not.
pub fn tell(job: &WriteJob<'_>, field_errors: FieldErrors, states: Option<&[CallState]>) -> FieldErrors {
    let made = |(call, state): (&crate::schema::model::service::MutationCall, &CallState)| match state {
        CallState::NotMade => None,
        CallState::Made => Some(json!({ "as": call.name, "made": true })),
        CallState::Unknown => Some(json!({ "as": call.name, "made": null })),
    };
    let calls: Vec<Value> = job.write.calls.iter().zip(states.unwrap_or_default()).filter_map(made).collect();
    if calls.is_empty() {
        return field_errors;
    }
    let tell = |mut error: FieldError| {
        error.details.retain(|(name, _)| *name != CALLS);
        error.details.push((CALLS, Value::Array(calls.clone())));
        error
    };
    field_errors.into_iter().map(tell).collect()
}
