//! The operations: the request of one in, its answer out.

pub mod batch_write;
pub mod capacity;
pub mod get;
pub mod key_condition;
pub mod query;
pub mod streams;
pub mod tables;
pub mod transaction;
pub mod write;
