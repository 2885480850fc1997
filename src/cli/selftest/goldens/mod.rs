//! Goldens in; out, the differences between them and what a store gives.
//!
//! [`golden_file`] is the form of a golden, and [`systems`] says what they run
//! on. [`made`] names generated values. [`case_run`] runs a case, and [`comparison`] compares what came of it.

pub mod case_run;
pub mod comparison;
pub mod golden_file;
pub mod made;
pub mod systems;
