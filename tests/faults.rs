//! Mutations on a table that misbehaves below the AWS SDK: each ends in the right result or the right error, and never in a double effect.
//!
//! `backend` is a gateway on an engine; a script can replace the engine's answers. `troubles` tries every kind of write with every kind of
//! trouble, `races` changes by others between a write's reads and its calls, `cascades` deletes that a transaction cannot hold, `orphans`
//! items that are put while their parent is deleted, `copies` replicated items, `identity` items of several types under one key, `guards` unique
//! values that several items have, `held` items that `@find` found, `lost_answers` writes of others between an attempt and its answer,
//! `defaults` values that nothing sets, `rules` constraints, `limits` the sizes that DynamoDB allows, `unfit` changes that an item does not
//! allow, `unreadable` items with values that no field of theirs can read, `places` the places in which an item of another program has a
//! field, `nulls` the forms in which another program stores values, and `order` several writes of one operation. Time is paused: nothing
//! sleeps. `leaving` tests
//! clients that hang up, over real sockets and in real time; it waits only for events.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

#[path = "faults/backend.rs"]
mod backend;
#[path = "faults/cascades.rs"]
mod cascades;
#[path = "faults/defaults.rs"]
mod defaults;
#[path = "faults/guards.rs"]
mod guards;
#[path = "faults/held.rs"]
mod held;
#[path = "faults/identity.rs"]
mod identity;
#[path = "faults/leaving.rs"]
mod leaving;
#[path = "faults/limits.rs"]
mod limits;
#[path = "faults/lost_answers.rs"]
mod lost_answers;
#[path = "faults/nulls.rs"]
mod nulls;
#[path = "faults/order.rs"]
mod order;
#[path = "faults/orphans.rs"]
mod orphans;
#[path = "faults/places.rs"]
mod places;
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
#[path = "faults/unreadable.rs"]
mod unreadable;
