//! Checks the values that a write sets or computes against the `@constraint`s of their fields.

pub mod arguments;
pub mod claims;
pub mod constraint;
pub mod expression;
