//! The goldens of this release in; out, the differences between them and what a store gives.
//!
//! [`systems`] says what they run on. [`case_run`] runs a case, and [`comparison`] compares what came of it.

pub mod case_run;
pub mod comparison;
pub mod systems;
