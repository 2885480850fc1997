//! Laws of writes on random schemas.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "support/random_schema/mod.rs"]
mod random_schema;

#[path = "writes/accepted.rs"]
mod accepted;
