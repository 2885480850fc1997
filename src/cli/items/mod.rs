//! Items between files and tables: `keyfold import`, `keyfold export`, and the sample items.

pub mod byte_budget;
pub mod callers;
pub mod conversion;
pub mod coverage;
pub mod export;
mod guards;
pub mod import;
pub mod item_file;
pub mod places;
pub mod samples;
pub mod scan;
pub mod survey;
pub mod verify;
