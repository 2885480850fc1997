//! Field values ↔ items: attributes, key attributes, guards, replicas, defaults; and conditions on them. Must not know
//! who writes, nor expressions.

pub mod assemble;
pub mod conditions;
pub mod default_value;
pub mod identity;
pub mod index_keys;
pub mod invalid_value;
pub mod key_values;
pub mod replicas;
pub mod stored_values;
pub mod strays;
pub mod unique;
