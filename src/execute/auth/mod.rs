//! What the rules of a schema refuse a caller, and what they hide.

pub mod hiding;
pub mod log_text;
pub mod lookup;
pub mod refusals;
