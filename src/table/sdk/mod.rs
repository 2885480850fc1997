//! The store: DynamoDB, a compatible server, or the embedded engine; and what is the AWS SDK's in calls: its client, values and errors.

pub(in crate::table) mod attempt_error;
mod client;
pub(in crate::table) mod convert;
pub mod store;
