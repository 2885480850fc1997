//! Declared tables in; tables created, compared and checked for readiness out.

pub mod definition;
mod differences;
mod tables;
