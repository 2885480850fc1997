//! The changes of a table's items: its stream's shards in, records in order out (DynamoDB developer guide, "Change data capture for DynamoDB
//! Streams"). Must not know who wants them.
//!
//! `source` is what a stream answers, `sdk_source` asks DynamoDB, a compatible server or the embedded engine. `lineage` says which shards
//! are read when, and `reader` reads them. `engine_records` keeps the records of the embedded engine in order.
//! [`shared`] lets one of several copies read for all.

pub(in crate::table) mod engine_records;
pub(in crate::table) mod lineage;
pub mod reader;
pub mod record;
pub(in crate::table) mod sdk_source;
pub mod shared;
pub mod source;
