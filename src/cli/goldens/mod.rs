//! Goldens: operations with all that they lead to. `keyfold test`, `keyfold selftest` and the tests read and run them
//! here.
//!
//! [`golden_file`] is the form of a golden, [`case`] the request that it stands for, [`outcome`] what comes of it, and
//! [`difference`] shows two of them. [`made`] names generated values, and [`stock`] puts back what a case wrote.
//! [`bundle`] has the goldens of this release.

pub mod bundle;
pub mod case;
pub mod difference;
pub mod golden_file;
pub mod made;
pub mod outcome;
pub mod stock;
