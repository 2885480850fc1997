//! Actions of a field → a draft: the calls of one attempt, each with its purpose.

pub mod actions;
pub mod call;
mod defaults;
mod delete;
mod drafting;
pub mod element;
mod found;
mod put;
pub mod requirement;
mod update;
mod update_values;
mod values;
