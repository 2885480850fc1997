//! A query in, its one step out: all reads of the operation are planned together.

use super::builder::Builder;
use super::entity::Entity;
use crate::plan::error::PlanError;
use crate::plan::operation::collect::SelectionContext;
use crate::plan::tree::{CachePolicy, OperationPlan, PlanStep};
use crate::schema::model::Model;
use apollo_compiler::executable::Operation;

/// The step of a query.
pub fn steps<'a>(
    model: &'a Model,
    context: SelectionContext<'a>,
    operation: &'a Operation,
) -> Result<OperationPlan, PlanError> {
    let mut builder = Builder::new(model, context);
    builder.caching.is_query = true;
    let root = Entity::root(builder.type_named(operation.object_type())?);
    let root = builder.object(&root, &[&operation.selection_set], false)?;
    let (introspects, caching) = (builder.introspects, builder.caching);
    let plan = builder.finish(root);
    let policy = if introspects { CachePolicy::NONE } else { caching.policy(model, &plan) };
    Ok(OperationPlan { steps: vec![PlanStep { write: None, watch: None, plan }], introspects, policy })
}
