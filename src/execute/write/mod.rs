//! A mutation field's actions → one write, and the item it gives back.

pub mod assemble;
pub mod constraints;
pub mod defaults;
mod key_values;
pub(super) mod stored_values;
