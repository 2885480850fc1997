//! What names mean in the condition of a rule: claims of the caller, arguments of the field, and fields of the item.
//! Must not know rules.

use crate::schema::diagnostics::help::Help;
use crate::schema::expression::names::{Named, Names};
use crate::schema::expression::operand::KeyField;
use crate::schema::model::keys::ItemKeys;
use crate::schema::scalar::value_type::ValueType;
use crate::schema::types::draft::{SchemaDraft, StoredFields};
use crate::schema::types::inputs;
use crate::schema::types::names::ItemNames;
use apollo_compiler::ast::{FieldDefinition, Type};
use apollo_compiler::name;

/// The names of a rule.
pub struct RuleNames<'a> {
    /// The schema being checked.
    pub draft: &'a SchemaDraft<'a>,
    /// The field that has the rule; `None` for a rule of a type.
    pub field: Option<&'a FieldDefinition>,
    /// The keys and the stored fields of the item type that the condition is over, if it is over one.
    pub item: Option<(&'a ItemKeys, &'a StoredFields)>,
}

impl RuleNames<'_> {
    /// What the names of the item's fields mean, if there is an item.
    fn with_item<T>(&self, tell: impl FnOnce(&ItemNames<'_>) -> T) -> Option<T> {
        let (keys, record) = self.item?;
        let table = self.draft.tables.get(keys.table)?;
        // The rule of a type has no arguments.
        let (name, ty) = (name!("rule"), Type::Named(name!("Boolean")));
        let field =
            &FieldDefinition { description: None, name, arguments: Vec::new(), ty, directives: Default::default() };
        Some(tell(&ItemNames { draft: self.draft, field, record, keys, table, keys_tell: false, found: Vec::new() }))
    }
}

impl Names for RuleNames<'_> {
    fn path(&self, fields: &[&str]) -> Result<Named, (usize, Vec<String>)> {
        let own = |names: &ItemNames<'_>, field: &str| {
            names.attribute(field).or_else(|| names.in_key(field).map(|field| field.key))
        };
        self.with_item(|names| names.walk(fields, &|field| own(names, field))).unwrap_or(Err((0, Vec::new())))
    }

    fn help(&self, fields: &[&str]) -> Option<Help> {
        self.with_item(|names| names.help(fields)).flatten()
    }

    fn may_hold_null(&self, fields: &[&str]) -> bool {
        self.with_item(|names| names.may_hold_null(fields)).unwrap_or(false)
    }

    fn argument(&self, name: &str) -> Result<(ValueType, bool), Vec<String>> {
        let Some(field) = self.field else { return Err(Vec::new()) };
        let choices = || inputs::arguments(field).map(|input| input.name).collect::<Vec<_>>();
        let input = inputs::input(self.draft.schema, field, name).ok_or_else(choices)?;
        let value = input.value(self.draft.schema).ok_or_else(choices)?;
        Ok((value, input.ty.is_list()))
    }

    fn in_key(&self, field: &str) -> Option<KeyField> {
        self.with_item(|names| names.in_key(field)).flatten()
    }

    fn has_bare_claims(&self) -> bool {
        true
    }
}
