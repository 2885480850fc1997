//! Mutations on a table that misbehaves below the AWS SDK: each ends in the right result or the right error, and never in a double effect.
//!
//! `backend` is a gateway on an engine whose answers a script takes the place of; `troubles` tries every kind of write with every kind of
//! trouble, `races` what others do between a write's reading and its writing, `cascades` deletes of more than a transaction takes,
//! `orphans` what comes in while its parent goes, `copies` the replicas of replicated items, `identity` items of several types under one
//! key, `held` what a write found first, `defaults` values that nothing brings, `rules` what values must be, `limits` what DynamoDB takes
//! at most,
//! `unfit` what it does not take of an item as it is, and `order` several writes of one operation. Time is paused: nothing sleeps.
//! `leaving` is about clients that hang up, over real sockets and in real time; it waits for what happens, and for nothing else.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

#[path = "faults/backend.rs"]
mod backend;
#[path = "faults/cascades.rs"]
mod cascades;
#[path = "faults/defaults.rs"]
mod defaults;
#[path = "faults/held.rs"]
mod held;
#[path = "faults/identity.rs"]
mod identity;
#[path = "faults/leaving.rs"]
mod leaving;
#[path = "faults/limits.rs"]
mod limits;
#[path = "faults/order.rs"]
mod order;
#[path = "faults/orphans.rs"]
mod orphans;
#[path = "faults/races.rs"]
mod races;
#[path = "faults/replicas.rs"]
mod replicas;
#[path = "faults/rules.rs"]
mod rules;
#[allow(dead_code)]
#[path = "table/scripted.rs"]
mod scripted;
#[path = "faults/troubles.rs"]
mod troubles;
#[path = "faults/unfit.rs"]
mod unfit;
