//! Mutations on a table that misbehaves below the AWS SDK: each ends in the right result or the right error, and never
//! in a double effect.
//!
//! `backend` is a gateway on an engine; a script can replace the engine's answers. `troubles` tries every kind of write
//! with every kind of trouble, `races` changes by others between a write's reads and its calls, `cascades` deletes that
//! a transaction cannot hold, `orphans` items that are put while their parent is deleted, `copies` replicated items,
//! `identity` items of several types under one key, `guards` unique values that several items have, `held` items that
//! `@find` found, `lost_answers` writes of others between an attempt and its answer, `defaults` values that nothing
//! sets, `rules` constraints, `shards` numbers that another program assigns, `limits` the sizes that DynamoDB allows,
//! `unfit` changes that an item does not allow, `unreadable` items with values that no field of theirs can read,
//! `places` the places in which an item of another program has a field, `nulls` the forms in which another program
//! stores values, `order` several writes of one operation, `payloads` several items that one mutation returns, `lists`
//! writes for each element of a list, `made` values that `set:` says without a name, `computed` those of expressions of
//! new items, `room` how many elements fit, `first_reads` what is read before a write, `sought` items that no whole key
//! names, and `several_types` those of interfaces and unions, `moves` items that get another key, `idempotent`
//! requests that come again, and `certain` what these make of every kind of write. Time is paused: nothing sleeps.
//! `leaving` tests clients that hang up, over real sockets and in real time; it waits only for events.

mod backend;
mod cascades;
mod certain;
mod computed;
mod defaults;
mod first_reads;
mod guards;
mod held;
mod idempotent;
mod identity;
mod leaving;
mod limits;
mod lists;
mod lost_answers;
mod made;
mod maps;
mod moves;
mod nulls;
mod order;
mod orphans;
mod payloads;
mod places;
mod races;
mod replicas;
mod room;
mod rules;
mod several_types;
mod shards;
mod sought;
mod troubles;
mod unfit;
mod unreadable;
