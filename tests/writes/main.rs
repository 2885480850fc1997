//! Laws of writes on random schemas: the gateway's changes of the store and its answers agree with a plain model in
//! memory (`model`). With one writer (`alone`), with 16 writers, and with troubles below the SDK. `concurrent` has many
//! writers of one item or one value. `costs`: a write costs at most what is said before. `repeated`: a request with a
//! key writes once.
//!
//! `faults` are single mutations on a table that misbehaves below the SDK, and `crash` kills the gateway while it
//! writes.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../support/random_schema/mod.rs"]
mod random_schema;
#[allow(dead_code)]
#[path = "../support/scripted.rs"]
mod scripted;

mod accepted;
mod alone;
mod case;
mod compare;
mod concurrent;
mod costs;
mod crash;
mod engine;
mod expired;
mod faults;
mod model;
mod orphans;
mod permitted;
#[path = "../support/policy.rs"]
mod policy;
mod repeated;
mod rest;
#[path = "../support/mod.rs"]
mod support;
mod together;
mod troubled;
