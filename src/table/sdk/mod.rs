//! The AWS SDK: its client, configured for where the tables are, its values, and its descriptions of tables.

pub(in crate::table) mod client;
pub(in crate::table) mod convert;
pub(in crate::table) mod table_state;
