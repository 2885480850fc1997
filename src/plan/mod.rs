//! A model and an operation in, a [`tree::Plan`] out: pure. Must not know AWS, async or HTTP.
//!
//! The passes, in their order: parse and validate within budgets ([`document`], `literals`), coerce the variables
//! ([`variables`]), find on which variables the plan depends
//! ([`specialise`]), merge the selections of each object ([`collect`]) while building its reads and its shape (`build`, `find`, `mixed`),
//! give each read its wave ([`wave`]), find the reads of one partition that can share a Query (`collections`), and give each read its
//! projection (`project`); [`print`] shows it as text and JSON. The fields of a mutation are planned one by one (`mutate`).

pub mod argument;
pub mod budget;
mod build;
pub mod collect;
mod collections;
mod count;
mod descriptions;
pub mod document;
pub(crate) mod entity;
pub mod error;
mod find;
mod literals;
mod mixed;
mod mutate;
pub mod print;
mod project;
pub mod share;
pub mod specialise;
pub mod tree;
pub mod variables;
pub mod wave;

use crate::schema::model::Model;
use apollo_compiler::executable::Operation;
use collect::Selecting;
use document::Document;
use entity::Entity;
use error::PlanError;
use serde_json::{Map, Value};
use tree::{Step, Steps};

/// Plans an operation for variables that are coerced (GraphQL spec section 6.1.2). Of the variables it uses no more than
/// [`specialise::plan_key`] tells apart.
pub fn plan(model: &Model, document: &Document, operation: &Operation, variables: &Map<String, Value>) -> Result<Steps, PlanError> {
    let selecting = Selecting { api: &model.api, document: &document.parsed, variables };
    if operation.is_mutation() {
        return mutate::steps(model, selecting, operation);
    }
    let mut builder = build::Builder::new(model, selecting);
    let root = Entity::root(builder.type_named(operation.object_type())?);
    let root = builder.object(&root, &[&operation.selection_set], false)?;
    let introspects = builder.introspects;
    Ok(Steps { steps: vec![Step { write: None, plan: builder.finish(root) }], introspects })
}
