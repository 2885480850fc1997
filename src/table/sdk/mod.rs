//! The store behind the AWS SDK: DynamoDB, a compatible server, or the embedded engine. The only folder that sends calls by the SDK.

mod attempt_error;
pub(in crate::table) mod attempts;
pub(in crate::table) mod batch_write;
mod calls;
mod client;
pub(in crate::table) mod convert;
mod reads;
mod single_write;
pub mod store;
mod transaction;
