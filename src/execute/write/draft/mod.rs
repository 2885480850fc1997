//! Actions of a field → a draft of their calls. Reads what the actions need, and drafts them in order.

pub mod actions;
mod defaults;
mod delete;
mod drafting;
pub mod element;
mod entry;
mod found;
mod moving;
mod put;
mod update;
mod update_values;
mod values;
