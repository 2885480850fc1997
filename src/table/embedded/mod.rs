//! The embedded store: HTTP requests of the AWS SDK in, answers of an engine in this process out.

pub(in crate::table) mod connector;
pub(in crate::table) mod engine;
pub mod observer;
