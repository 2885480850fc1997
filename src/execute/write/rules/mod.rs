//! Checks the values that a write sets or computes against the `@constraint`s of their fields, and its items against
//! the rules for the caller.

pub mod arguments;
pub mod claims;
pub mod computed;
pub mod expression;
pub mod item_rules;
pub mod lookups;
