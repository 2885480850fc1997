//! The arguments of a plan's fields, coerced once for all rows. Must not know reads or rows.

use crate::execute::context::ExecutionContext;
use crate::execute::error::{ErrorCode, Failure};
use crate::plan::tree::{ArgumentsId, Plan};
use serde_json::{Map, Value};
use std::sync::Arc;

/// The arguments of each field of a plan that reads or writes.
pub struct FieldArguments<'p> {
    plan: &'p Plan,
    values: Vec<Result<Map<String, Value>, Arc<Failure>>>,
}

impl<'p> FieldArguments<'p> {
    /// Coerces the arguments with the request's variables.
    pub fn new(plan: &'p Plan, context: &ExecutionContext<'_>) -> Self {
        let values = plan.arguments.iter().map(|arguments| {
            let evaluated = arguments.evaluate(&context.model.api, context.variables);
            evaluated.map_err(|message| Failure::new(ErrorCode::BadUserInput, message))
        });
        Self { plan, values: values.collect() }
    }

    /// The values of a field's arguments. Fails where one of them is not acceptable.
    pub fn values(&self, id: ArgumentsId) -> Result<&Map<String, Value>, Arc<Failure>> {
        self.values[id].as_ref().map_err(Clone::clone)
    }

    /// The names of the arguments that the document itself gives.
    pub fn given(&self, id: ArgumentsId) -> &[String] {
        &self.plan.arguments[id].given
    }
}
