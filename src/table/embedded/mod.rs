//! The embedded store: HTTP requests of the AWS SDK in, answers of an engine in this process out.

pub(in crate::table) mod connector;
mod data_file;
pub(in crate::table) mod engine;
pub mod observer;
pub(in crate::table) mod storage_failure;
mod tokens;
