//! Runs the steps of an operation, one after the other: writes, reads, and writes each step's part of the response.

use super::context::ExecutionContext;
use super::error::{ErrorCode, FieldError};
use super::read::apply::seed;
use super::read::state::ReadState;
use super::response::body::ResponseBody;
use super::response::writer::{ValueFault, Writer};
use super::wave::executor::run_waves;
use super::write::executor;
use crate::plan::tree::{OperationPlan, PlanStep};
use serde_json::{Map, Value};
use std::time::Instant;
use tokio::task::yield_now;

/// Runs every step. Each writes its part of the response. Fails if `data` is null: then later steps neither read nor
/// write.
pub async fn run_steps(
    context: &ExecutionContext<'_>,
    steps: &OperationPlan,
    introspection: &Map<String, Value>,
    body: &mut ResponseBody,
) -> Result<(), ValueFault> {
    for step in &steps.steps {
        run_step(context, step, introspection, body).await?;
    }
    Ok(())
}

async fn run_step(
    context: &ExecutionContext<'_>,
    step: &PlanStep,
    introspection: &Map<String, Value>,
    body: &mut ResponseBody,
) -> Result<(), ValueFault> {
    let mut state = ReadState::new(&step.plan, context);
    // The reads of a write have no bound: a cascade that stops half-way would leave items behind.
    context.loaders.bound_reads(None);
    if let Some(write) = &step.write {
        let guard = step.plan.root.fields.first().and_then(|output| output.guard);
        if let Some(code) = state.refusal(guard) {
            return Writer::new(&state, introspection, body).refuse(state.refusal_errors(guard, code));
        }
        let arguments = match state.arguments().values(write.arguments) {
            Ok(arguments) => arguments.clone(),
            Err(failure) => {
                let field_error = FieldError::new(ErrorCode::BadUserInput, failure.message.clone());
                return Writer::new(&state, introspection, body).refuse(vec![field_error]);
            }
        };
        // Its future is large, and reads need none.
        match Box::pin(executor::write(context, write, &arguments)).await {
            Ok(returned) => {
                for (result, items) in write.results.iter().zip(returned) {
                    seed(&mut state, result.space, items);
                }
            }
            Err(field_errors) => return Writer::new(&state, introspection, body).refuse(field_errors),
        }
    }
    context.loaders.bound_reads(Some(context.max_read_bytes));
    run_waves(context, &mut state, false).await;
    if context.work.is_heavy() {
        // The response is then written beside the workers.
        yield_now().await;
    }
    let begun = Instant::now();
    let written = Writer::new(&state, introspection, body).write();
    body.took(begun.elapsed());
    if let Some(misfit) = body.take_misfit() {
        misfit.log(context.model);
    }
    written
}
