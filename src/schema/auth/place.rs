//! The place of a rule, for those who read it. Plain data.

use crate::schema::types::draft::{SchemaDraft, StoredFields};
use apollo_compiler::ast::FieldDefinition;

/// The type or the field that has a rule.
pub struct RulePlace<'a> {
    /// The schema being checked.
    pub draft: &'a SchemaDraft<'a>,
    /// The type's name, or the field's coordinate.
    pub of: String,
    /// The type, or the type that has the field.
    pub parent: String,
    /// The stored fields of the type.
    pub record: Option<&'a StoredFields>,
    /// The field; `None` for a rule of a type.
    pub field: Option<&'a FieldDefinition>,
    /// Whether it is both read and written, so that rules may tell the two apart.
    pub splits: bool,
}
