//! Declared tables in; tables created, compared and checked for readiness out.

pub mod definition;
mod description;
mod differences;
mod tables;
