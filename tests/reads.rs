//! What a query gives, told by an executor that knows no plan: it runs an operation field by field and looks at every item of the store for
//! each find (`executor`). The gateway has to give the same data and the same errors, path by path, code by code, place by place: for every
//! golden (`goldens`), for random operations on the items of every system (`systems`), and for random schemas, items and operations
//! (`schemas`).
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "reads/compared.rs"]
mod compared;
#[path = "reads/condition.rs"]
mod condition;
#[path = "reads/document.rs"]
mod document;
#[path = "reads/executor.rs"]
mod executor;
#[path = "reads/goldens.rs"]
mod goldens;
#[path = "reads/meant.rs"]
mod meant;
#[path = "reads/operations.rs"]
mod operations;
#[path = "reads/pages.rs"]
mod pages;
#[path = "support/random_schema/mod.rs"]
mod random_schema;
#[path = "reads/rows.rs"]
mod rows;
#[path = "reads/schemas.rs"]
mod schemas;
#[path = "reads/shapes.rs"]
mod shapes;
mod support;
#[path = "reads/systems.rs"]
mod systems;
#[path = "reads/trial.rs"]
mod trial;
#[path = "reads/values.rs"]
mod values;
