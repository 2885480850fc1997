//! Sample items in, example operations with the requests that they make out: each operation runs on a store in memory.

pub mod bench;
mod choose;
pub mod examples;
pub mod operation;
pub mod records;
mod roles;
pub mod uses;
pub mod ways;
