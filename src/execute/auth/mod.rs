//! What the rules of a schema refuse a caller.

pub mod refusals;
