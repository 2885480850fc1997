//! `when:` of an entry of `keys:` in, the condition under which the key is there out. Must not know how writes keep it.

use crate::schema::diagnostics::diagnostic::Findings;
use crate::schema::diagnostics::help::Help;
use crate::schema::diagnostics::rules;
use crate::schema::diagnostics::span::{self, At};
use crate::schema::expression::condition::Condition;
use crate::schema::expression::key_condition::HeldCondition;
use crate::schema::expression::names::{Named, Names};
use crate::schema::expression::operand::Path;
use crate::schema::scalar::value_type::ValueType;
use crate::schema::table::{KeyAttribute, Table};
use crate::schema::types::computed;
use crate::schema::types::draft::{Declared, StoredFields};
use crate::schema::types::values;
use apollo_compiler::schema::ObjectType;
use std::sync::Arc;

/// The type whose key has a condition, and its text.
pub struct ConditionedType<'a> {
    /// The author's text.
    pub text: &'a str,
    /// The type.
    pub object: &'a ObjectType,
    /// Its stored fields.
    pub record: &'a StoredFields,
    /// Its table.
    pub table: &'a Table,
}

/// The condition that an entry has for a key of an index; `None` if it has a mistake.
pub fn read_condition(
    item: &ConditionedType,
    key: &KeyAttribute,
    written: &At<String>,
    findings: &mut Findings,
) -> Option<Arc<HeldCondition>> {
    let mut refuse = |message: String, help: &str| {
        findings.error(rules::KF0227, &written.span, message, Some(help.to_owned().into()));
        None
    };
    if item.table.is_primary_key(&key.name) {
        return refuse(
            format!("`{}` is a key of the table, which every item has", key.name),
            "leave `when:` out, or put it at a key of an index",
        );
    }
    if let Some((field, _)) = item.record.iter().find(|(_, declared)| declared.attribute == key.name) {
        return refuse(
            format!("`{}` is the attribute of `{field}`, which is there whenever the field has a value", key.name),
            "store the field in another attribute: `@attribute(name: …)`",
        );
    }
    let condition = match Condition::parse(&written.value, &OwnFields { item }) {
        Ok(condition) => condition,
        Err(mistakes) => {
            for mistake in mistakes {
                let place = span::within(item.text, &written.span, &mistake.span);
                findings.error(rules::KF0227, &place, mistake.message, mistake.help);
            }
            return None;
        }
    };
    if !condition.arguments().is_empty() || condition.has_claims() || condition.has_now() {
        return refuse(
            "whether an item has a key depends on the item alone".to_owned(),
            "leave arguments, claims and `:now` out",
        );
    }
    let named = condition.read_paths().into_iter().filter_map(Path::attribute);
    let mut fields: Vec<(String, ValueType)> = Vec::new();
    for field in named {
        if let Some(declared) = item.record.get(field).filter(|_| !fields.iter().any(|(known, _)| known == field)) {
            fields.push((field.to_owned(), declared.value.clone()));
        }
    }
    Some(Arc::new(HeldCondition { text: written.value.clone(), condition, fields }))
}

/// The fields of an item that have single values. The condition names them as fields, not by their attributes.
struct OwnFields<'a, 'i> {
    item: &'a ConditionedType<'i>,
}

impl OwnFields<'_, '_> {
    /// Whether Keyfold knows the value of a field wherever it writes it. DynamoDB counts versions.
    fn is_known(&self, name: &str, declared: &Declared) -> bool {
        let is_single =
            values::stored_key_type(&declared.value).is_some() || matches!(declared.value, ValueType::Boolean);
        let field = self.item.object.fields.get(name);
        is_single && !declared.ty.is_list() && field.is_some_and(|field| !field.directives.has("version"))
    }
}

impl Names for OwnFields<'_, '_> {
    fn path(&self, fields: &[&str]) -> Result<Named, (usize, Vec<String>)> {
        let record = self.item.record;
        let choices = || record.iter().filter(|(name, field)| self.is_known(name, field)).map(|(name, _)| name.clone());
        let choices = || choices().collect();
        match fields {
            [field] => match record.get_key_value(*field).filter(|(name, declared)| self.is_known(name, declared)) {
                Some((name, declared)) => Ok((vec![name.clone()], declared.value.clone(), false)),
                None => Err((0, choices())),
            },
            _ => Err((1, Vec::new())),
        }
    }

    fn argument(&self, _: &str) -> Result<(ValueType, bool), Vec<String>> {
        Err(Vec::new())
    }

    fn help(&self, fields: &[&str]) -> Option<Help> {
        computed::help(self.item.object, fields.first()?)
    }
}
