//! What tells the items of a type from others: their key templates and constants.

use crate::schema::template::Template;

/// How to tell items of these types from all others.
#[derive(Debug)]
pub struct TypeDiscriminator {
    /// Whether the read that uses it asks for all constants of the types. An index may lack them.
    pub sees_constants: bool,
    /// The types, at least one.
    pub types: Vec<TypeMarks>,
}

/// What an item of one type looks like.
#[derive(Debug)]
pub struct TypeMarks {
    /// The item type.
    pub item: String,
    /// The table's key attributes, each with the templates that its value must match.
    pub keys: Vec<(String, Vec<Template>)>,
    /// Constant attributes. An item that has one must have this value.
    pub constants: Vec<(String, String)>,
}
