//! The author's text in, apollo-compiler's schema, and Keyfold's directives with their places out. Must not know what they mean for tables
//! or items.

pub mod definitions;
pub mod directives;
pub mod environment;
pub mod input_defaults;
pub mod one_of;
pub mod parse;
pub mod span;
