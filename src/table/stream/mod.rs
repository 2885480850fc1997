//! The changes of a table's items: its stream's shards in, records in order out (DynamoDB developer guide, "Change data
//! capture for DynamoDB Streams"). Must not know who wants them.
//!
//! `sdk_source` asks DynamoDB, a compatible server or the embedded engine. `lineage` says which shards are read when,
//! and `reader` reads them. [`shared`] lets one of several copies read for all.

pub(in crate::table) mod lineage;
pub mod reader;
pub(in crate::table) mod sdk_source;
pub mod shared;
