//! Requests that Keyfold itself sends: for the keys of issuers, for traces, for the health of a server, to services.

pub mod client;
pub mod probe;
mod proxied;
pub mod service;
