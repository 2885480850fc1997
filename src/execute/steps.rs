//! The steps of an operation, one after the other: what is written, what is read for it, and their parts of the response.

use super::context::ExecutionContext;
use super::error::{ErrorCode, GraphqlError, Refusal};
use super::respond::Writer;
use super::state::{Failure, State};
use super::waves::run_waves;
use super::write::engine::Engine;
use crate::plan::tree::{OperationPlan, Plan, PlanStep};
use serde_json::{Map, Value};
use std::sync::Arc;

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
        // A root field that may not be null and is ends the operation: nothing after it is written any more.
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
    let mut state = state_of(context, &step.plan);
    if let Some(write) = &step.write {
        let arguments = match &state.arguments[write.arguments] {
            Ok(arguments) => arguments.clone(),
            Err(failure) => {
                let refusal = Refusal::new(ErrorCode::BadUserInput, failure.message.clone());
                return Writer::new(&state, Map::new()).refuse(vec![refusal]);
            }
        };
        let engine = Engine { run: context, now: context.now_millis, deadline: context.deadline, lanes: context.lanes };
        match engine.write(write, &arguments).await {
            Ok(items) => {
                if let Some(space) = write.result {
                    state.seed(space, items);
                }
            }
            Err(refusals) => return Writer::new(&state, Map::new()).refuse(refusals),
        }
    }
    run_waves(context, &mut state).await;
    Writer::new(&state, introspection.clone()).write()
}

/// The state of a plan before its first wave, its arguments evaluated.
pub fn state_of<'p>(context: &ExecutionContext<'_>, plan: &'p Plan) -> State<'p> {
    let arguments = plan.arguments.iter().map(|arguments| {
        let evaluated = arguments.evaluate(&context.model.api, context.variables);
        evaluated.map_err(|message| Failure::new(ErrorCode::BadUserInput, message))
    });
    let arguments: Vec<Result<Map<String, Value>, Arc<Failure>>> = arguments.collect();
    State::new(plan, arguments)
}
