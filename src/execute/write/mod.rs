//! A mutation field's actions → one write, and the items it gives back.
//!
//! In the order of a write: `engine` runs it, `checks` holds the constraints against what comes in, `actions` (with `updates`,
//! `elements`, `lookups`, `relations`, `fill` and `defaults`) drafts its calls, `assemble` says what they write, `identity` which type an
//! item is of, `hold` holds what was found to what it was, `rules` an expression to the rules of its fields, `lanes` lets writers of one
//! item wait for each other, `ahead` deletes what does not fit into a transaction, and what comes in meanwhile, `judge` tells why a
//! condition fails, and `told` what a caller hears of it.

mod actions;
mod ahead;
pub mod assemble;
mod checks;
mod conditions;
pub mod constraints;
mod copies;
pub mod defaults;
mod draft;
mod elements;
pub mod engine;
mod fill;
mod hold;
mod identity;
mod judge;
mod key_values;
pub mod lanes;
mod lookups;
mod relations;
mod rules;
pub(super) mod stored_values;
mod told;
mod update_values;
mod updates;
