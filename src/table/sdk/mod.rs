//! The AWS SDK: its client, configured for where the tables are, and its values.

pub(in crate::table) mod client;
pub(in crate::table) mod convert;
