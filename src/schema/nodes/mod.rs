//! `@node` in; out: the global ids of items, and the fields of `Query` that find items by them (GraphQL server
//! specification of Relay, "Object Identification"). Must not know requests.
//!
//! [`interface`] reads the directive, [`types`] what an item's id is made of, and [`fields`] the fields `node(id:)` and
//! `nodes(ids:)`.

pub mod fields;
pub mod interface;
pub mod types;
