//! Defaults filled in: of an item's fields that nothing brings, and of the embedded objects that an argument brings. What is generated
//! stays the same over all attempts of a request.

use super::actions::Drafting;
use super::defaults;
use crate::schema::model::{Field, FieldKind, Model, ObjectType};
use crate::schema::value_type::ValueType;
use crate::schema::write::{DefaultPart, DefaultValue};
use serde_json::{Map, Value};

impl Drafting<'_, '_> {
    /// The default of a field, the one generated before if there is one. Those that are made of other fields follow these.
    pub(super) fn default_of(
        &mut self,
        position: usize,
        field: &Field,
        default: &DefaultValue,
        others: &Map<String, Value>,
    ) -> Option<Value> {
        let slot = (position, field.name.clone());
        if let Some(value) = self.generated.get(&slot).filter(|_| !is_made_of_fields(default)) {
            return Some(value.clone());
        }
        let made = made(field, default, self.job.engine.now, others)?;
        self.generated.insert(slot, made.clone());
        Some(made)
    }

    /// Fills in the defaults of embedded objects that are given.
    pub(super) fn fill_embedded(&mut self, position: usize, field: &Field, given: Value) -> Value {
        let FieldKind::Stored(stored) = &field.kind else { return given };
        let ValueType::Embedded(name) = &stored.value else { return given };
        let slot = (position, field.name.clone());
        if let Some(filled) = self.generated.get(&slot) {
            return filled.clone();
        }
        let mut filled = given;
        fill(self.job.engine.run.model, name, &mut filled, self.job.engine.now);
        self.generated.insert(slot, filled.clone());
        filled
    }
}

/// Whether a default takes the text of other fields.
pub(super) fn is_made_of_fields(default: &DefaultValue) -> bool {
    default.parts.iter().any(|part| matches!(part, DefaultPart::Field(_)))
}

fn made(field: &Field, default: &DefaultValue, now: i64, others: &Map<String, Value>) -> Option<Value> {
    let FieldKind::Stored(stored) = &field.kind else { return None };
    match default.parts.as_slice() {
        // The literal of a list is the list.
        [DefaultPart::Literal(text)] if field.ty.is_list() => serde_json::from_str(text).ok(),
        _ => defaults::value(default, &stored.value, now, &|other| others.get(other).cloned()),
    }
}

fn fill(model: &Model, type_name: &str, value: &mut Value, now: i64) {
    match value {
        Value::Array(values) => values.iter_mut().for_each(|value| fill(model, type_name, value, now)),
        Value::Object(fields) => {
            if let Some(ty) = model.types.get(type_name) {
                fill_object(model, ty, fields, now);
            }
        }
        _ => {}
    }
}

fn fill_object(model: &Model, ty: &ObjectType, values: &mut Map<String, Value>, now: i64) {
    for field in ty.fields.values() {
        let FieldKind::Stored(stored) = &field.kind else { continue };
        match (values.get_mut(&field.name), &field.rules.default) {
            (Some(value), _) => {
                if let ValueType::Embedded(name) = &stored.value {
                    fill(model, name, value, now);
                }
            }
            (None, Some(default)) => {
                if let Some(made) = made(field, default, now, values) {
                    values.insert(field.name.clone(), made);
                }
            }
            (None, None) => {}
        }
    }
}
