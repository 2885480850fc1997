//! Findings of the compiler in; out: where the mistake is, what it is in plain words, and what to write instead. Must
//! not know what Keyfold's directives mean.

pub mod foreign;
pub mod names;
pub mod scan;
pub mod slips;
pub mod texts;
pub mod tokens;
pub mod unclosed;
