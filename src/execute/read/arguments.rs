//! The arguments of a plan's fields, coerced once for all rows, and the filters that use them. Must not know rows.

use crate::execute::context::ExecutionContext;
use crate::execute::error::{ErrorCode, Failure};
use crate::execute::expression::condition;
use crate::execute::expression::filter::{ItemFilter, applicable};
use crate::execute::expression::scope::Scope;
use crate::plan::tree::{ArgumentsId, Plan, QueryBinding, Read};
use crate::table::data::call::Expression;
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

    /// The filter of a read by keys, which the gateway evaluates. `None` if there is none. Fails if a value does not fit the filter.
    pub fn item_filter<'a>(&'a self, context: &'a ExecutionContext<'_>, read: &'a Read) -> Result<Option<ItemFilter<'a>>, Arc<Failure>> {
        let Some(filter) = &read.filter else { return Ok(None) };
        let scope = Scope { arguments: self.values(filter.arguments)?, now: context.now };
        ItemFilter::new(filter, scope).map(Some).map_err(|message| Failure::new(ErrorCode::BadUserInput, message))
    }

    /// The filter of a query, which DynamoDB applies. `None` if there is none. Fails if a value does not fit the filter.
    pub fn query_filter(&self, context: &ExecutionContext<'_>, query: &QueryBinding) -> Result<Option<Expression>, Arc<Failure>> {
        let Some(filter) = &query.filter else { return Ok(None) };
        let scope = Scope { arguments: self.values(filter.arguments)?, now: context.now };
        condition::expression(&applicable(filter, &scope), &scope).map_err(|message| Failure::new(ErrorCode::BadUserInput, message))
    }
}
