//! Descriptions of tables in every form in, tables out. Must not know items.

pub mod cloud_formation;
pub mod create_table;
pub mod terraform;
pub mod yaml;
