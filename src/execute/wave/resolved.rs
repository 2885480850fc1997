//! The calls of services of a plan's wave: the rows for which they are made → what each object gives → values.

use crate::execute::context::ExecutionContext;
use crate::execute::error::{ErrorCode, Failure};
use crate::execute::read::state::access::GuardOutcome;
use crate::execute::read::state::{Present, ReadState, ResolvedValue};
use crate::execute::response::required::required_json;
use crate::execute::service::call::ServiceRequest;
use crate::execute::service::session::{FieldRequest, InputId, ServiceSession};
use crate::execute::values::stored_values::stored_field;
use crate::plan::tree::{FieldReader, ServiceCall, ServiceCallId};
use crate::table::data::attribute::{AttributeName, Item};
use crate::table::retry::sparse_lines::SparseLines;
use serde_json::Value;
use std::sync::Arc;

/// The lines of values that do not fit.
static LINES: SparseLines<()> = SparseLines::new();

/// The most bytes of the place of a misfit that the log shows: the service may have named it.
const MAX_PLACE_BYTES: usize = 100;

/// A call of a plan, with the values for the rows of its space.
pub type ResolvedCall = (ServiceCallId, Vec<ResolvedValue>);

/// What one row asks for.
enum RowInput {
    /// Nothing: its object is not there, or the caller is refused the field.
    Absent,
    /// Nothing: what the service needs could not be read.
    Failed(Arc<Failure>),
    /// The value for this input.
    Input(InputId),
}

/// Makes the calls of a wave (from 1), side by side. `joins` says whether other tasks of the request make some at the
/// same time. Gives the values of each, for the rows of its space.
pub async fn call_services(
    context: &ExecutionContext<'_>,
    state: &ReadState<'_>,
    (wave, joins): (usize, bool),
) -> Vec<ResolvedCall> {
    let Some(session) = context.services else { return Vec::new() };
    let calls = state.plan().calls.iter().enumerate().filter(|(_, call)| call.wave == wave);
    let asked: Vec<(ServiceCallId, Vec<RowInput>)> =
        calls.map(|(id, call)| (id, row_inputs(context, state, session, call))).collect();
    if asked.iter().flat_map(|(_, rows)| rows).any(|row| matches!(row, RowInput::Input(_))) {
        session.load(wave, joins).await;
    }
    let values = |(id, rows): (ServiceCallId, Vec<RowInput>)| {
        let call = &state.plan().calls[id];
        let name: AttributeName = call.kept.field.as_str().into();
        let value = |row| match row {
            RowInput::Absent => Ok(None),
            RowInput::Failed(why) => Err(why),
            RowInput::Input(input) => kept(context, (call, &name), &*session.outcome(input)?),
        };
        (id, rows.into_iter().map(value).collect())
    };
    asked.into_iter().map(values).collect()
}

/// What each row of a call asks for.
fn row_inputs(
    context: &ExecutionContext<'_>,
    state: &ReadState<'_>,
    session: &ServiceSession,
    call: &ServiceCall,
) -> Vec<RowInput> {
    let arguments = match call.arguments.map(|arguments| state.arguments().values(arguments)).transpose() {
        Ok(arguments) => arguments.cloned(),
        Err(why) => return (0..state.len(call.space)).map(|_| RowInput::Failed(why.clone())).collect(),
    };
    let request = context.service_request(call.service, call.coordinate.clone());
    let request = ServiceRequest { arguments, ..request };
    let field = session.field(FieldRequest { service: call.service, request, max: call.max });
    let input = |row| match is_asked(state, call, row) {
        Ok(false) => RowInput::Absent,
        Err(why) => RowInput::Failed(why),
        Ok(true) => {
            let json = required_json(context, state, &call.requires, (call.space, row));
            json.and_then(|json| session.ask(field, json)).map_or_else(RowInput::Failed, RowInput::Input)
        }
    };
    context.work.add(state.len(call.space));
    (0..state.len(call.space)).map(input).collect()
}

/// Whether a row's object is shown to the caller, with this field.
fn is_asked(state: &ReadState<'_>, call: &ServiceCall, row: usize) -> Result<bool, Arc<Failure>> {
    if state.is_beyond_page(call.space, row) {
        return Ok(false);
    }
    match state.access(call.guard, (call.space, row)) {
        GuardOutcome::Granted => {}
        // The response says why.
        GuardOutcome::Refused(_) | GuardOutcome::Undecided => return Ok(false),
        GuardOutcome::Failed(why) => return Err(why),
    }
    match call.presence.as_ref().map(|presence| state.is_there(presence, call.space, row)) {
        None | Some(Present::Yes) => Ok(true),
        Some(Present::No) => Ok(false),
        Some(Present::Failed(why)) => Err(why),
    }
}

/// A value as it is kept while the request runs, under a name. One that does not fit the field's type is a failure,
/// whose cause the log has.
fn kept(context: &ExecutionContext<'_>, (call, name): (&ServiceCall, &AttributeName), value: &Value) -> ResolvedValue {
    let FieldReader { ty, stored, .. } = &*call.kept;
    match stored_field(context.model, ty, &stored.value, value) {
        Ok(attribute) => Ok(attribute.map(|attribute| Arc::new(Item::from_iter([(name.clone(), attribute)])))),
        Err(unfit) => {
            if let Some(others) = LINES.take_line(()) {
                let others = (others > 0).then_some(others);
                let at = &unfit.field[..unfit.field.floor_char_boundary(MAX_PLACE_BYTES)];
                tracing::warn!(field = call.coordinate, at, others, "a service's value does not fit");
            }
            Err(Failure::new(ErrorCode::Internal, format!("The service's value does not fit the type {ty}.")))
        }
    }
}
