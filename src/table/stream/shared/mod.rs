//! The streams of several copies of a gateway: one copy reads a shard, the others hear what it reads. What a stream
//! answers in; the same answers out, of which most come from the bus.
//!
//! Each copy has a cursor of its own in each shard, and every message says which records it follows. So a copy sees
//! what it has missed, and reads that from the stream itself. A bus that loses messages, is away, or repeats them costs
//! time, and never a record.
//!
//! `cursor` is a copy's place in a shard. `message` is what the bus carries, `bus` carries it, and `nats_bus` does so
//! by NATS. `mailbox` keeps what has come. `lease` says which copy reads a shard, `lease_table` keeps that in a table,
//! and `lease_keeper` takes and renews. `source` answers.

pub mod bus;
mod cursor;
pub mod lease;
mod lease_keeper;
pub mod lease_table;
mod mailbox;
mod message;
pub mod nats_bus;
pub mod source;
