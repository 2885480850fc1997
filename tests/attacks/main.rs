//! Hostile clients, a file for each attack: a `keyfold` in; the effect on its memory and on another client out.
//!
//! One attack runs at a time. The attackers come from 127.0.0.2 and the innocent client from 127.0.0.1, because some
//! bounds apply to each client.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, dead_code)]

mod attack;
mod documents;
mod http2;
mod large_operations;
mod lengths;
mod malformed;
mod operations;
mod rebinding;
mod schemas;
mod slow_bodies;
mod unfinished_headers;
mod unfinished_messages;
mod unread;

#[path = "../support/dynamo.rs"]
mod dynamo;
#[path = "../support/machine.rs"]
mod machine;
#[path = "../support/process.rs"]
mod process;
#[path = "../support/server.rs"]
mod server;
