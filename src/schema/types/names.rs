//! An item type and a field's arguments in; out: what names mean in a condition or an expression over them. Must not
//! know what the condition is for.

use crate::schema::diagnostics::help::Help;
use crate::schema::expression::names::{Named, Names};
use crate::schema::expression::operand::KeyField;
use crate::schema::model::Stored;
use crate::schema::model::keys::ItemKeys;
use crate::schema::scalar::value_type::ValueType;
use crate::schema::table::Table;
use crate::schema::template::in_key::FieldInKey;
use crate::schema::types::draft::{SchemaDraft, StoredFields};
use crate::schema::types::{computed, fields, inputs, values};
use apollo_compiler::ast::FieldDefinition;
use std::sync::Arc;

/// The names of an item's fields and a field's arguments.
pub struct ItemNames<'a> {
    /// The schema being checked.
    pub draft: &'a SchemaDraft<'a>,
    /// The field with the arguments.
    pub field: &'a FieldDefinition,
    /// The item's stored fields.
    pub record: &'a StoredFields,
    /// The item's keys.
    pub keys: &'a ItemKeys,
    /// The item's table.
    pub table: &'a Table,
    /// Whether `attribute_exists` may name a field that is stored only in the table's key, and test the key attribute
    /// instead.
    pub keys_tell: bool,
    /// The names and stored fields of the items that a mutation's `@find`s found. Their fields are named as
    /// `:Repo.nextNumber`.
    pub found: Vec<(&'a str, &'a StoredFields)>,
}

impl<'a> ItemNames<'a> {
    /// Where a field is stored.
    pub fn place(&self, name: &str) -> Option<Stored> {
        let declared = self.record.get(name)?;
        Some(fields::place(name, declared, self.record, self.keys, self.table))
    }

    /// The attribute that holds exactly the field's value. A field that is only a part of a key's text has none.
    pub fn attribute(&self, name: &str) -> Option<String> {
        let declared = self.record.get(name)?;
        let stored = self.place(name)?;
        let whole =
            |key: &&String| {
                self.keys.keys.get(*key).is_some_and(|templates| fields::is_whole(templates, name))
                    && self.table.key_attributes().iter().any(|known| {
                        known.name == **key && values::stored_key_type(&declared.value) == Some(known.kind)
                    })
            };
        stored.attribute.or_else(|| stored.keys.iter().find(whole).cloned())
    }

    /// The field of a found item that an argument's name means. An argument named like the item takes precedence.
    pub fn found_field(&self, name: &str) -> Option<&crate::schema::types::draft::Declared> {
        let (first, field) = name.split_once('.')?;
        let (_, record) = self.found.iter().find(|(item, _)| *item == first)?;
        inputs::input(self.draft.schema, self.field, first).is_none().then(|| record.get(field))?
    }

    /// Whether an argument, or the field of a found item, may be null or missing.
    pub fn may_be_null(&self, argument: &str) -> bool {
        match self.found_field(argument) {
            Some(declared) => !declared.ty.is_non_null(),
            None => inputs::input(self.draft.schema, self.field, argument).is_none_or(|input| input.nullable),
        }
    }

    /// The stored field that a dotted path names.
    pub fn declared(&self, names: &[&str]) -> Option<&crate::schema::types::draft::Declared> {
        let (first, rest) = names.split_first()?;
        rest.iter().try_fold(self.record.get(*first)?, |declared, name| self.embedded(&declared.value)?.get(*name))
    }

    /// The stored fields of an embedded object.
    pub fn embedded(&self, value: &ValueType) -> Option<&'a StoredFields> {
        self.draft.records.get(value.embedded()?)
    }

    /// A field that has no attribute, and that the text of the primary key gives back as it is.
    pub fn in_key(&self, name: &str) -> Option<KeyField> {
        let declared = self.record.get(name)?;
        let stored = self.place(name).filter(|stored| stored.identity > 0 && self.attribute(name).is_none())?;
        let key = stored.keys.first()?.clone();
        let templates = self.keys.keys.get(&key)?.clone();
        let text = Arc::new(FieldInKey { field: name.to_owned(), templates });
        Some(KeyField { name: name.to_owned(), key, value: declared.value.clone(), text })
    }

    /// The stored names, the type and the list of a path whose first name is stored where `own` says.
    pub fn walk(&self, names: &[&str], own: &dyn Fn(&str) -> Option<String>) -> Result<Named, (usize, Vec<String>)> {
        let mut record = self.record;
        let mut attributes = Vec::new();
        let mut kind: Option<(ValueType, bool)> = None;
        for (position, name) in names.iter().enumerate() {
            let first = position == 0;
            let choices = || {
                let visible = record.iter().filter(|(name, _)| !first || own(name).is_some());
                (position, visible.map(|(name, _)| name.clone()).collect::<Vec<_>>())
            };
            let declared = record.get(*name).ok_or_else(choices)?;
            let stored = if first { own(name) } else { Some(declared.attribute.clone()) };
            attributes.push(stored.ok_or_else(choices)?);
            kind = Some((declared.value.clone(), declared.ty.is_list()));
            if position + 1 < names.len() {
                record = self.embedded(&declared.value).ok_or((position + 1, Vec::new()))?;
            }
        }
        let (value, list) = kind.ok_or((0, Vec::new()))?;
        Ok((attributes, value, list))
    }
}

impl Names for ItemNames<'_> {
    fn path(&self, names: &[&str]) -> Result<Named, (usize, Vec<String>)> {
        self.walk(names, &|name| self.attribute(name))
    }

    fn existing(&self, names: &[&str]) -> Result<Named, (usize, Vec<String>)> {
        if !self.keys_tell {
            return self.path(names);
        }
        self.walk(names, &|name| {
            let own = |key: &&String| self.table.is_primary_key(key);
            self.attribute(name).or_else(|| self.place(name)?.keys.iter().find(own).cloned())
        })
    }

    fn may_hold_null(&self, names: &[&str]) -> bool {
        let is_key = |name: &str| {
            let attribute = self.attribute(name);
            attribute.is_none_or(|attribute| self.table.key_attributes().iter().any(|key| key.name == attribute))
        };
        match names {
            [name] if is_key(name) => false,
            names => self.declared(names).is_some_and(|declared| !declared.ty.is_non_null()),
        }
    }

    fn help(&self, names: &[&str]) -> Option<Help> {
        let (last, within) = names.split_last()?;
        let record = match within {
            [] => self.record,
            within => self.embedded(&self.declared(within)?.value)?,
        };
        computed::help_beside(self.draft, record, last)
    }

    fn argument(&self, name: &str) -> Result<(ValueType, bool), Vec<String>> {
        let schema = self.draft.schema;
        let choices = || {
            let all = inputs::arguments(self.field).flat_map(|input| match inputs::members(schema, &input) {
                members if members.is_empty() => vec![input.name],
                members => members.into_iter().map(|member| member.name).collect(),
            });
            let found =
                self.found.iter().flat_map(|(item, record)| record.keys().map(move |field| format!("{item}.{field}")));
            all.chain(found).collect::<Vec<_>>()
        };
        if let Some(declared) = self.found_field(name) {
            return Ok((declared.value.clone(), declared.ty.is_list()));
        }
        let input = inputs::input(schema, self.field, name).ok_or_else(choices)?;
        let value = input.value(schema).ok_or_else(choices)?;
        Ok((value, input.ty.is_list()))
    }
}
