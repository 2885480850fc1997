//! Runs the steps of an operation, one after the other: writes, reads, and writes each step's part of the response.

use super::context::ExecutionContext;
use super::error::{ErrorCode, FieldError, GraphqlError};
use super::read::apply::seed;
use super::read::executor::run_waves;
use super::read::state::ReadState;
use super::response::writer::Writer;
use super::write::executor;
use crate::plan::tree::{OperationPlan, PlanStep};
use serde_json::{Map, Value};

/// Runs every step. Gives the bytes of `data` and the errors in the order of the response.
pub async fn run_steps(
    context: &ExecutionContext<'_>,
    steps: &OperationPlan,
    introspection: &Map<String, Value>,
) -> (Vec<u8>, Vec<GraphqlError>) {
    let mut data = vec![b'{'];
    let mut errors = Vec::new();
    for step in &steps.steps {
        let (fields, more) = run_step(context, step, introspection).await;
        errors.extend(more);
        // If a non-null root field is null, the operation ends. Later steps write nothing.
        let Some(fields) = fields else { return (b"null".to_vec(), errors) };
        if data.len() > 1 && !fields.is_empty() {
            data.push(b',');
        }
        data.extend_from_slice(&fields);
    }
    data.push(b'}');
    (data, errors)
}

async fn run_step(
    context: &ExecutionContext<'_>,
    step: &PlanStep,
    introspection: &Map<String, Value>,
) -> (Option<Vec<u8>>, Vec<GraphqlError>) {
    let mut state = ReadState::new(&step.plan, context);
    if let Some(write) = &step.write {
        let arguments = match state.arguments.values(write.arguments) {
            Ok(arguments) => arguments.clone(),
            Err(failure) => {
                let field_error = FieldError::new(ErrorCode::BadUserInput, failure.message.clone());
                return Writer::new(&state, Map::new()).refuse(vec![field_error]);
            }
        };
        match executor::write(context, write, &arguments).await {
            Ok(items) => {
                if let Some(space) = write.result {
                    seed(&mut state, space, items);
                }
            }
            Err(field_errors) => return Writer::new(&state, Map::new()).refuse(field_errors),
        }
    }
    run_waves(context, &mut state).await;
    Writer::new(&state, introspection.clone()).write()
}
