//! Values that a write brings or computes, held to the `@constraint`s of their fields.

pub mod arguments;
pub mod constraint;
pub mod expression;
