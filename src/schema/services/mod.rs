//! `@service` and `@resolve` directives in, services and the fields that they compute out. Must not know tables.

pub mod declared;
pub mod requires;
pub mod resolve;
