//! A plan and a store in, the bytes of the response out. Must not know HTTP or AWS types.

pub mod error;
pub mod gateway;
