//! Requests that the server itself sends: for the keys of issuers, for traces.

pub mod client;
mod proxied;
