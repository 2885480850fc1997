//! What a write reads first: the items of its actions, the item of its `@find`, and the dependents of a cascade.

pub mod dependents;
pub mod found_item;
pub mod items;
pub mod source_value;
pub mod targets;
