//! The calls of requests in, a file for each kind: its request, its JSON body and answer, its builder and answer of the
//! AWS SDK, its request and answer of the embedded engine, and which of its attempts may be repeated. Out: what they
//! answer.
//!
//! [`call_means`] is what all of them need of the store, [`known_partition`] is what the reads share.

pub(in crate::table) mod batch_get_item;
pub(in crate::table) mod batch_write;
pub(in crate::table) mod call_means;
pub(in crate::table) mod get_item;
mod known_partition;
pub(in crate::table) mod page;
pub(in crate::table) mod transaction;
pub(in crate::table) mod write;
