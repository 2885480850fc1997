//! Field values ↔ items: attributes, key attributes, guards, replicas, defaults; and conditions on them. Must not know
//! who writes, nor what a request says.

pub mod assemble;
pub mod conditions;
pub mod default_value;
pub mod identity;
pub mod index_keys;
mod key_condition;
pub mod key_values;
pub mod places;
pub mod replicas;
pub mod strays;
pub mod unique;
