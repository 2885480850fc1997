//! GraphQL values ↔ DynamoDB attributes, and why a value makes none. Must not know keys, items or reads.

pub mod bound;
pub mod decode;
pub mod encode;
pub mod entries;
pub mod expiry;
pub mod invalid_value;
pub mod stored_values;
