//! Runs a plan wave by wave, into the state of its reads. Must not know the response.

pub mod executor;
mod resolved;
