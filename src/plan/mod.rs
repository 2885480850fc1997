//! A model and an operation in, a [`tree::OperationPlan`] out: pure. Must not know AWS, async or HTTP.
//!
//! | folder | in → out |
//! |---|---|
//! | [`operation`] | the operation's text and variables → a valid document within its budgets, coerced values, merged selections |
//! | `planner` | selections → reads and the shape of the response |
//! | [`passes`] | reads → their waves, the reads that share a Query, and the attributes that each asks for |
//! | [`cost`] | a plan and variables → what the operation costs at most |
//! | [`tree`] | the plan itself, as plain data |
//! | [`worst_case`] | an operation → what it costs at most, whatever its variables are |
//! | [`mod@print`], `print_writes` | a plan → text and JSON |
//!
//! The way of `query ($id: ID!) { user(id: $id) { name groups { name } } }`:
//!
//! 1. [`operation::document`] parses and validates the text. [`operation::specialise`] says on which variables the plan
//!    depends: here on none but whether `$id` is null.
//! 2. [`operation::variables`] coerces `$id`.
//! 3. [`plan`] builds the reads: a Get of the user, a Query of the memberships, a Get of each group.
//! 4. The passes put the first two into wave 1, since both keys are known, and the Gets of the groups into wave 2.
//!
//! [`mod@print`] shows the result. A mutation's root fields are planned one by one, each with its write.

pub mod attributes;
pub mod cost;
pub mod error;
pub mod operation;
pub mod passes;
mod planner;
pub mod print;
mod print_writes;
pub mod tree;
pub mod worst_case;

use crate::schema::model::Model;
use apollo_compiler::ast::OperationType;
use apollo_compiler::executable::Operation;
use error::PlanError;
use operation::collect::SelectionContext;
use operation::document::Document;
use passes::Passes;
use serde_json::{Map, Value};
use tree::OperationPlan;

/// Plans an operation for variables that are coerced (GraphQL spec section 6.1.2). Of the variables it uses no more
/// than [`operation::specialise::plan_key`] distinguishes.
pub fn plan(
    model: &Model,
    document: &Document,
    operation: &Operation,
    variables: &Map<String, Value>,
    passes: Passes,
) -> Result<OperationPlan, PlanError> {
    let context = SelectionContext { api: &model.api, document: &document.parsed, variables, passes };
    match operation.operation_type {
        OperationType::Query => planner::query::steps(model, context, operation),
        OperationType::Mutation => planner::mutation::steps(model, context, operation),
        OperationType::Subscription => planner::subscription::steps(model, context, operation),
    }
}
