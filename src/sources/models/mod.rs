//! Models of other tools in, tables, items and hints out. Must not know files.

pub mod amplify;
pub mod electro_db;
pub mod mcp_data_model;
pub mod mcp_schema;
pub mod one_table;
pub mod template;
pub mod workbench;
