//! One object of a running plan → the JSON that a service gets of it.

use super::body::{ResponseBody, ResponseLimits};
use super::writer::Writer;
use crate::execute::auth::refusals;
use crate::execute::context::ExecutionContext;
use crate::execute::error::{ErrorCode, Failure};
use crate::execute::read::state::ReadState;
use crate::plan::tree::{Object, SpaceId};
use serde_json::Map;
use std::sync::Arc;

/// The JSON of an object for a row. Fails if any part of it has an error: a service must not compute with half of what
/// it needs, nor with what a rule hides.
pub fn required_json(
    context: &ExecutionContext<'_>,
    state: &ReadState<'_>,
    object: &Object,
    row: (SpaceId, usize),
) -> Result<String, Arc<Failure>> {
    let bytes = usize::try_from(context.max_read_bytes).unwrap_or(usize::MAX);
    let limits = ResponseLimits { bytes, objects: context.max_nodes };
    let (mut body, nothing) = (ResponseBody::bare(limits), Map::new());
    let written = Writer::new(state, &nothing, &mut body).write_object(object, row);
    if let Some(misfit) = body.take_misfit() {
        misfit.log(context.model);
    }
    let code = body.codes().next();
    match (written.is_ok(), code) {
        (true, None) => Ok(String::from_utf8(body.into_data()).unwrap_or_default()),
        (_, Some(code @ (ErrorCode::Forbidden | ErrorCode::Unauthenticated))) => {
            Err(Failure::new(code, refusals::message(context.caller, code, &[])))
        }
        (_, code) => {
            let message = "What the service needs of the object cannot be read.";
            Err(Failure::new(code.unwrap_or(ErrorCode::Internal), message))
        }
    }
}
