//! Descriptions of tables in every form in, tables out. Must not know items.

pub mod create_table;
