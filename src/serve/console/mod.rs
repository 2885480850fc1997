//! The page for browsers: a schema in; `/` and the files of the page out. Must not know what runs operations.
//!
//! The page's own modules are in `console/`. [`page`] is the page at `/`, [`files`] are its modules and GraphiQL, and
//! [`starting_text`] is what its editor starts with. [`development`] is what only `keyfold dev` has: the
//! [`sample_callers`] to choose from, the [`design`] document and the [`docs`], both shown by [`document`], the
//! [`data`] of the tables, what [`writes`] demand, and the [`schema_news`].

pub mod data;
pub mod design;
pub mod development;
pub mod docs;
pub mod document;
pub mod files;
pub mod page;
pub mod sample_callers;
pub mod schema_news;
pub mod starting_text;
pub mod writes;
