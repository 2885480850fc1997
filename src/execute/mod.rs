//! A plan and a store in, the bytes of the response out. Must not know HTTP or AWS types.
//!
//! In the order of a request: [`gateway`] takes it and makes its `context`, `operations` plans it, `waves` runs the plan (with `calls`, `keys`, `spread`, `searches`, `search`,
//! `collection`, `memory`, `paging`, `cursor`, `list_identity`, `cut`, `span`, `ends` and `filter` for each read) into a `state`, and `respond`, `lists` and `leaf` write the
//! response from it.

pub mod calls;
pub mod collection;
pub mod context;
pub mod cursor;
pub mod cut;
pub mod decode;
pub mod encode;
pub mod ends;
pub mod error;
pub mod evaluate;
pub mod explain;
pub mod filter;
pub mod gateway;
mod introspection;
pub mod keys;
mod leaf;
pub mod list_identity;
mod lists;
pub mod memory;
pub mod operations;
pub mod paging;
pub mod placeholders;
pub mod respond;
pub mod search;
pub mod searches;
pub mod span;
pub mod spread;
pub mod state;
pub mod steps;
pub mod update;
pub mod waves;
pub mod write;
