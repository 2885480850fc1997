//! What a person has in (exports, models, templates, schemas of other tools), the tables, items and hints in it out.
//! Must not know what is made of them.
//!
//! [`material`] holds what every source gives. [`read`] recognises the formats, which are one file each.

pub mod documents;
pub mod error;
pub mod file;
pub mod foreign;
pub mod format;
pub mod items;
pub mod json_text;
pub mod material;
pub mod models;
pub mod read;
pub mod tables;
