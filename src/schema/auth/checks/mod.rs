//! The rules of a type, or of the whole schema, in; findings out. Must not know how a rule is written.

mod contradiction;
mod disclosure;
pub mod length;
pub mod nulls;
pub mod unsigned;
pub mod whole;
