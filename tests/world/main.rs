//! A world in one process: the store that it stands on.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../goldens/second_store/moto.rs"]
mod moto;
mod store;
#[path = "../support/mod.rs"]
mod support;
