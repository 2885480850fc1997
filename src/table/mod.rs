//! Calls as plain data in, items out: DynamoDB, a compatible server or the embedded store. Must not know GraphQL.

mod admin;
pub mod attribute;
pub mod bulk;
pub mod call;
mod client;
mod connector;
mod convert;
pub mod definition;
mod differences;
mod embedded;
pub mod error;
pub mod export_lines;
mod expressions;
mod failure;
mod key_range;
pub mod loaders;
pub mod number;
mod reads;
mod retry;
pub mod store;
pub mod tap;
pub mod write;
mod writer;
