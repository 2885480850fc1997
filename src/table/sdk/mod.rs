//! The store behind the AWS SDK: DynamoDB, a compatible server, or the embedded engine. The only folder that sends calls by the SDK.

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
