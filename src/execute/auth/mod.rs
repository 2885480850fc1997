//! What the rules of a schema refuse a caller, and what they hide.

pub mod hiding;
pub mod lookup;
pub mod refusals;
