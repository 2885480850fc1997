//! What a person has in (exports, models, templates, schemas of other tools), the tables, items and hints in it out.
//! Must not know what is made of them.
//!
//! [`material`] holds what every source gives. The formats are one file each.

pub mod material;
