//! GraphQL values ↔ DynamoDB attributes. Must not know keys, items' types or reads.

pub mod bound;
pub mod decode;
pub mod encode;
pub mod expiry;
