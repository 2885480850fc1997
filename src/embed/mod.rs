//! Keyfold inside a Rust program: a schema and a store in; a gateway that answers operations out, as a value, as a
//! stream or as routes of the program's own server. Must not know commands.
//!
//! [`builder`] puts a gateway together, [`gateway`] answers, [`services`] holds the code of services.

pub mod builder;
pub mod gateway;
pub mod services;
