//! Mistakes of a schema in, text for people out: the rules, the findings, and how they are printed.

pub mod diagnostic;
pub mod render;
pub mod rules;
pub mod suggestion;
