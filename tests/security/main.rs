//! Attacks, one line each: what a client sends in; the refusal that it gets out. The server and the servers of keys run
//! in this process. docs/security.md has the table.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../support/machine.rs"]
#[allow(dead_code)]
mod machine;

mod by_pass;
mod key_server;
mod keys;
mod outages;
#[path = "../support/process.rs"]
#[allow(dead_code)]
mod process;
mod rates;
mod served;
mod server;
mod services;
mod signer;
mod store;
mod tenants;
mod tokens;
mod web_socket;
