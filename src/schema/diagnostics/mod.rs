//! Mistakes in a schema: the rules, the findings with their places in the text, and how they are printed for people.

pub mod allowed;
pub mod diagnostic;
pub mod help;
pub mod lines;
pub mod render;
pub mod rule;
pub mod rules;
mod rules_of_operations;
mod rules_of_types;
pub mod span;
pub mod suggestion;
