//! The embedded store: calls in, answers of an engine in this process out.
//!
//! `run` makes attempts of the calls of requests: each kind of call says what it is to the engine, on an `EngineRun`.
//! `connector` answers the AWS SDK in place of a server, for everything else. In tests it answers the direct client,
//! too. `stream_records` keeps the records of the engine's streams in order.

pub(in crate::table) mod connector;
mod data_file;
pub(in crate::table) mod engine;
pub mod observer;
mod refusal;
pub(in crate::table) mod run;
mod storage_failure;
mod stream_records;
mod tokens;
pub(in crate::table) mod turns;
pub(in crate::table) mod values;
