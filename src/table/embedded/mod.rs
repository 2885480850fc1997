//! The embedded store: calls in, answers of an engine in this process out.
//!
//! `maker` runs the calls of requests: each kind of call says what it is to the engine, on an `EngineRun`. `connector` answers the AWS SDK
//! in place of a server, for everything else. In tests it answers the direct client, too.

pub(in crate::table) mod connector;
mod data_file;
pub(in crate::table) mod engine;
pub(in crate::table) mod maker;
pub mod observer;
mod refusal;
pub(in crate::table) mod run;
pub(in crate::table) mod storage_failure;
mod tokens;
pub(in crate::table) mod turns;
pub(in crate::table) mod values;
