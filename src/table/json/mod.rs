//! Calls in, the bytes of their JSON out; the bytes of answers in, items out (DynamoDB low-level API, JSON 1.0).
//! Nothing is in between: no tree of values, and no second reading.
//!
//! `encode` writes names, keys, items and expressions, `decode` reads items. `string` and `reader` know JSON alone.

pub(in crate::table) mod decode;
pub(in crate::table) mod encode;
pub(in crate::table) mod reader;
pub mod string;
