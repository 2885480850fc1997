//! Calls as plain data in, items out: DynamoDB, a compatible server or the embedded store. Must not know GraphQL.

mod admin;
pub mod attribute;
mod batch_write;
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
mod item_size;
mod key_range;
pub mod loaders;
pub mod number;
mod reads;
mod retry;
mod single_write;
pub mod store;
pub mod tap;
mod transaction;
pub mod write;
mod writer;
