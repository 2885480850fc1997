//! The arguments of a plan's fields, coerced once for all rows, and the pages and filters that they ask for. Must not
//! know rows.

use crate::execute::context::ExecutionContext;
use crate::execute::error::{ErrorCode, Failure};
use crate::execute::expression::condition;
use crate::execute::expression::filter::{ItemFilter, applicable};
use crate::execute::expression::scope::Scope;
use crate::execute::page::arguments::{Paging, paging};
use crate::plan::tree::{ArgumentsId, Plan, Read, ReadAction, Want};
use crate::table::data::call::Expression;
use serde_json::{Map, Value};
use std::sync::Arc;

/// The arguments of each field of a plan that reads or writes.
pub struct FieldArguments<'p> {
    plan: &'p Plan,
    values: Vec<Result<Map<String, Value>, Arc<Failure>>>,
}

/// What the arguments of a read ask for, in all of its rows.
pub struct ReadArguments<'a> {
    /// The filter that the gateway applies to items.
    pub item_filter: Option<ItemFilter<'a>>,
    /// The page; `None` for a read of no page.
    pub page: Option<Paging>,
    /// The filter that DynamoDB applies.
    pub query_filter: Option<Expression>,
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

    /// These values as the arguments of every field of the plan.
    pub fn from_values(plan: &'p Plan, values: &Map<String, Value>) -> Self {
        Self { plan, values: plan.arguments.iter().map(|_| Ok(values.clone())).collect() }
    }

    /// The values of a field's arguments. Fails where one of them is not acceptable.
    pub fn values(&self, id: ArgumentsId) -> Result<&Map<String, Value>, Arc<Failure>> {
        self.values[id].as_ref().map_err(Clone::clone)
    }

    /// The names of the arguments that the document itself gives.
    pub fn given(&self, id: ArgumentsId) -> &[String] {
        &self.plan.arguments[id].given
    }

    /// The filter and the paging of a read, from its arguments. An argument that is not acceptable is an error, also of
    /// rows for which there is nothing to read.
    pub fn read_arguments<'a>(
        &'a self,
        context: &'a ExecutionContext<'_>,
        read: &'a Read,
    ) -> Result<ReadArguments<'a>, Arc<Failure>> {
        let refuse = |message: String| Failure::new(ErrorCode::BadUserInput, message);
        let scope = |id: ArgumentsId| {
            Ok::<_, Arc<Failure>>(Scope { arguments: self.values(id)?, now: context.now, caller: context.caller })
        };
        let item_filter = match read.action.item_filter() {
            Some(filter) => Some(ItemFilter::new(filter, scope(filter.arguments)?).map_err(refuse)?),
            None => None,
        };
        let ReadAction::Query(query) = &read.action else {
            return Ok(ReadArguments { item_filter, page: None, query_filter: None });
        };
        let page = match query.want {
            Want::Page { arguments: id, sizes, .. } => Some(paging(self.values(id)?, self.given(id), sizes)?),
            Want::First | Want::Whole { .. } | Want::Count { .. } => None,
        };
        let query_filter = query.filter.as_ref().map(|filter| {
            let scope = scope(filter.arguments)?;
            condition::expression(&applicable(filter, &scope), &scope).map_err(refuse)
        });
        Ok(ReadArguments { item_filter, page, query_filter: query_filter.transpose()?.flatten() })
    }
}
