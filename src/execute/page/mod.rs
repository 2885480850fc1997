//! Pages of a list: their arguments, their cursors, and what they show of the items that were found. Must not know how
//! a list is read.

pub mod arguments;
pub mod bound;
pub mod cursor;
pub mod filler;
pub mod list_identity;
pub mod result;
pub mod yields;
