//! Many items at once: into a table, out of it, and as lines of DynamoDB JSON.

pub mod export_lines;
pub mod fit;
pub mod load;
