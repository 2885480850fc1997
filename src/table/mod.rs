//! Calls as plain data in, items out: DynamoDB, a compatible server or the embedded store. Must not know GraphQL.

pub mod attribute;
pub mod call;
pub mod error;
pub mod loaders;
pub mod store;
