//! `schema.graphql` in, a checked [`model::Model`] or every mistake in it out. Must not know AWS, async or HTTP.

pub mod condition;
pub mod model;
pub mod table;
pub mod template;
pub mod value_type;
