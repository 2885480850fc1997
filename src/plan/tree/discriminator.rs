//! What tells the items of a type from others: their key templates and constants.

use crate::schema::template::Template;

/// What tells the items of one type, or of several, from others.
#[derive(Debug)]
pub struct TypeDiscriminator {
    /// The types. At least one.
    pub types: Vec<TypeMarks>,
}

/// The marks by which an item of a type is known.
#[derive(Debug)]
pub struct TypeMarks {
    /// The item type.
    pub item: String,
    /// The table's key attributes and the templates that their values must be of.
    pub keys: Vec<(String, Vec<Template>)>,
    /// Constant attributes: they must be equal where they are there.
    pub constants: Vec<(String, String)>,
}
