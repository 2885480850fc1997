//! The author's text in; out, apollo-compiler's schema, and Keyfold's directives with their places. Must not know what
//! the directives mean for tables or items.

pub mod compiler;
pub mod definitions;
pub mod deprecated;
pub mod directives;
pub mod environment;
pub mod input_defaults;
pub mod one_of;
pub mod parse;
