//! The table layer from outside: on the embedded store, and on a scripted server that misbehaves below the AWS SDK.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod admin;
mod applied;
mod bulk;
mod cache;
mod circuit;
mod compatible_server;
mod embedded;
mod embedded_maker;
mod faults;
mod fixture;
mod hedge;
mod makers;
mod own_store;
mod reads;
#[allow(dead_code)]
#[path = "../support/scripted.rs"]
mod scripted;
mod sockets;
mod write_faults;
mod writes;
