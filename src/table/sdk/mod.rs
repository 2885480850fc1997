//! The store: DynamoDB, a compatible server, or the embedded engine, with the calls of requests by the AWS SDK.

pub(in crate::table) mod attempt_error;
mod batch_write;
mod calls;
mod client;
pub(in crate::table) mod convert;
mod maker;
mod reads;
mod single_write;
pub mod store;
mod transaction;
