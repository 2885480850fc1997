//! The place of a rule, for those who read it: what it guards, and where that is stored. Must not know rules.

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
    /// Whether it is both read and written, so that rules may distinguish the two.
    pub splits: bool,
}

impl RulePlace<'_> {
    /// Whether a field of the guarded type is in its primary key, which no write changes and every index holds.
    pub fn is_in_key(&self, field: &str) -> bool {
        let Some(keys) = self.draft.items.get(&self.parent) else { return false };
        let Some(table) = self.draft.tables.get(keys.table) else { return false };
        let templates = table.primary_key().filter_map(|key| keys.keys.get(&key.name)).flatten();
        templates.into_iter().any(|template| template.fields().contains(&field))
    }

    /// The attribute of a field of the guarded type, unless its primary key has the field.
    pub fn attribute_of(&self, field: &str) -> Option<&str> {
        let declared = self.record?.get(field).filter(|_| !self.is_in_key(field))?;
        Some(&declared.attribute)
    }
}
