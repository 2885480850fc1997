//! What a write reads first → items: those that its actions are about, the item of its `@find`, and the dependents of a cascade.

pub mod dependents;
pub mod found_item;
pub mod items;
