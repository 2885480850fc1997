//! Mistakes in a schema: the rules, the findings, and how they are printed for people.

pub mod diagnostic;
pub mod render;
pub mod rule;
pub mod rules;
mod rules_of_operations;
mod rules_of_types;
pub mod suggestion;
