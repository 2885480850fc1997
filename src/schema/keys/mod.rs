//! `@item` in, key templates and constants out, with the proof that no item can be taken for one of another type.

pub mod ambiguity;
pub mod claims;
mod conditions;
pub mod constants;
pub mod entries;
pub mod expiry;
pub mod forms;
pub mod items;
pub mod native_types;
pub mod order;
mod ranges;
pub mod text_limits;
