//! Mistakes in a schema: the rules, the findings, and how they are printed for people.

pub mod diagnostic;
pub mod render;
pub mod rules;
pub mod suggestion;
