//! Laws of writes on random schemas: what the gateway does to the store, and what it answers, is what a plain model in memory says
//! (`model`). Alone (`alone`), with 16 writers, and with troubles below the SDK.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "support/random_schema/mod.rs"]
mod random_schema;
#[allow(dead_code)]
#[path = "table/scripted.rs"]
mod scripted;

#[path = "writes/accepted.rs"]
mod accepted;
#[path = "writes/alone.rs"]
mod alone;
#[path = "writes/case.rs"]
mod case;
#[path = "writes/compare.rs"]
mod compare;
#[path = "writes/engine.rs"]
mod engine;
#[path = "writes/model.rs"]
mod model;
#[path = "writes/orphans.rs"]
mod orphans;
#[path = "writes/rest.rs"]
mod rest;
#[path = "writes/together.rs"]
mod together;
#[path = "writes/troubled.rs"]
mod troubled;
