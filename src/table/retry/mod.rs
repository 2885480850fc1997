//! When a call is sent again: how long to wait, how many retries a store allows, and whether a table answers at all.

pub mod backoff;
pub mod budget;
pub mod sparse_lines;
pub(in crate::table) mod table_health;
