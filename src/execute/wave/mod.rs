//! Runs a plan wave by wave, into the state of its reads. Must not know the response.

mod ahead;
pub mod executor;
mod reader;
mod resolved;
