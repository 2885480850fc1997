//! Fields that services compute: their calls, their values, and what is wrong with either. A scripted service stands in
//! for a program; `over_http.rs` has a real one.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod calls;
mod changes;
mod charges;
mod code;
mod failures;
mod fields;
mod over_http;
mod rules;
mod scripted;
#[path = "../support/mod.rs"]
mod support;
mod till;
mod unsteady;
