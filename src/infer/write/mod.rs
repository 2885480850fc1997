//! A draft in, the text of a schema that passes every check out: [`document`] writes, [`repair`] changes the draft by
//! the codes of its mistakes until there are none.

pub mod document;
pub mod repair;
