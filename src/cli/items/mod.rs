//! Items between files and tables: `keyfold import`, `keyfold export`, and the sample items.

pub mod callers;
pub mod export;
pub mod import;
pub mod item_file;
pub mod samples;
mod guards;
pub mod survey;
