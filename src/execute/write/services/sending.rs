//! What a service gets, and the key of its call, in; its answer out. Must not know records.

use crate::execute::error::Failure;
use crate::execute::service::call::{RefusedItem, ServiceError, ServiceErrorKind, ServiceRequest};
use crate::execute::write::idempotency::{digest, owner};
use crate::execute::write::job::WriteJob;
use crate::execute::write::lookup::items::ItemsInScope;
use crate::execute::write::lookup::source_value::source_value;
use crate::execute::write::messages::FieldErrors;
use crate::schema::model::service::MutationCall;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// How a call ended.
pub enum CallOutcome {
    /// The service has made it, with this result.
    Made(Value),
    /// The service says that it does not make it.
    Refused(RefusedItem),
    /// It was not sent.
    Unsent(ServiceErrorKind),
    /// There is no answer that says so.
    Unknown(ServiceErrorKind),
    /// It was not sent: the request gives services too much.
    TooMuch(Arc<Failure>),
}

/// The code of a result of which no part can be read.
const UNREADABLE: &str = "UNREADABLE";

/// Makes a call. `calls` is what the record says of the calls, if there is one.
pub async fn make(
    job: &WriteJob<'_>,
    call: &MutationCall,
    (inputs, calls): (&Map<String, Value>, &str),
) -> CallOutcome {
    let item = Value::Object(inputs.clone()).to_string();
    match job.context.services.map_or(Ok(()), |session| session.admit(&item)) {
        Ok(()) => send(job, call, (item.into(), None, calls)).await,
        Err(failure) => CallOutcome::TooMuch(failure),
    }
}

/// Undoes a call, whether it was made or not. Gives whether the service has answered that none of its key is made.
pub async fn undo(job: &WriteJob<'_>, call: &MutationCall, (undo, calls): (&str, &str)) -> bool {
    matches!(send(job, call, ("{}".into(), Some(undo.to_owned()), calls)).await, CallOutcome::Made(_))
}

async fn send(
    job: &WriteJob<'_>,
    call: &MutationCall,
    (item, undo, calls): (Arc<str>, Option<String>, &str),
) -> CallOutcome {
    let Some(session) = job.context.services else { return CallOutcome::Unsent(ServiceErrorKind::Unavailable) };
    let Ok(key) = key(job, call, calls) else { return CallOutcome::Unsent(ServiceErrorKind::Refused) };
    let common = job.context.service_request(call.service, format!("Mutation.{}", job.planned.field));
    let request = ServiceRequest { key: Some(key), undo, items: vec![item], ..common };
    let (answer, is_sent) = session.call(call.service, &request).await;
    match answer.map(|answer| answer.results.into_iter().next()) {
        Ok(Some(Ok(value))) => CallOutcome::Made(value),
        Ok(Some(Err(refused))) if refused.code != UNREADABLE => CallOutcome::Refused(refused),
        Ok(_) => CallOutcome::Unknown(ServiceErrorKind::Unreadable),
        Err(ServiceError { kind, .. }) if is_sent => CallOutcome::Unknown(kind),
        Err(ServiceError { kind, .. }) => CallOutcome::Unsent(kind),
    }
}

/// The key of a call: the same in every attempt of the request, and another one for another caller, another field, and
/// another record of the request's key, whose words on the calls have a random part.
fn key(job: &WriteJob<'_>, call: &MutationCall, calls: &str) -> Result<String, FieldErrors> {
    let scope = match (job.request, &call.key) {
        (Some(request), _) => json!([request.digest, job.planned.field, call.name, calls]),
        (None, Some(source)) => {
            let value = source_value(job, (job.arguments(), &ItemsInScope::default()), source)?;
            json!([owner(job.context, job.write), job.planned.field, call.name, value])
        }
        (None, None) => json!([job.token, call.name]),
    };
    Ok(digest(&scope.to_string()))
}
