//! The items of a table in, groups of items with equal keys but for their values out. Must not know GraphQL.
//!
//! [`atoms`] says which kind of value a text looks like, [`tokens`] splits keys, [`row`] holds an item with its split
//! keys, [`columns`] says which attributes show values, [`discriminator`] which one names types, and [`groups`] puts
//! the items together.

pub mod atoms;
pub mod columns;
pub mod discriminator;
pub mod electro_db;
pub mod groups;
pub mod indexes;
pub mod row;
pub mod tokens;
