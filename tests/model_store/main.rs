//! The model of DynamoDB on which simulated worlds stand (`tests/world/store`), held against others.
//!
//! | file | proves |
//! |---|---|
//! | `laws` | random calls get the same answers as from the embedded engine and from a second implementation |
//! | `goldens` | every golden has its response on the model |
//! | `examples` | what others cannot be asked is as the developer guide says: lag, splits, time |
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, dead_code)]

mod examples;
mod goldens;
mod laws;
#[path = "../goldens/second_store/moto.rs"]
mod moto;
#[path = "../world/store/mod.rs"]
mod store;
#[path = "../support/mod.rs"]
mod support;
