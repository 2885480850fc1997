//! Defaults filled in: of an item's fields that nothing brings, and of the embedded objects that an argument brings. What is generated
//! stays the same over all attempts of a request.

use crate::execute::write::draft::drafting::Drafting;
use crate::execute::write::item::default_value;
use crate::execute::write::messages::{Refusals, bad_input};
use crate::schema::model::rules::{DefaultPart, DefaultValue};
use crate::schema::model::{Field, FieldKind, Model, ObjectType};
use crate::schema::scalar::value_type::ValueType;
use serde_json::{Map, Value};

impl Drafting<'_, '_> {
    /// Makes the defaults of the fields that have no value among these yet, each after those that it is made of.
    pub fn make_defaults(&mut self, position: usize, ty: &ObjectType, values: &mut Map<String, Value>) {
        for name in &ty.defaults {
            let Some(field) = ty.fields.get(name).filter(|field| !field.rules.version && !values.contains_key(name)) else { continue };
            let made = field.rules.default.as_ref().and_then(|default| self.default_of(position, field, default, values));
            values.extend(made.map(|made| (name.clone(), made)));
        }
    }

    /// Makes anew, among what an update changes, the defaults that every write makes; `known` holds the item's other values, and with
    /// `whole` all of them. Gives the fields that are needed for it and not known.
    pub fn renew_defaults(
        &mut self,
        position: usize,
        ty: &ObjectType,
        (known, whole): (&Map<String, Value>, bool),
        changed: &mut Map<String, Value>,
    ) -> Result<Vec<String>, Refusals> {
        let mut unknown: Vec<String> = Vec::new();
        let mut open: Vec<&str> = Vec::new();
        for name in &ty.defaults {
            let Some(field) = ty.fields.get(name).filter(|_| !changed.contains_key(name)) else { continue };
            let Some(default) = field.rules.default.as_ref().filter(|default| default.every_write) else { continue };
            let missing: Vec<&str> = default.fields().filter(|of| !changed.contains_key(*of) && !known.contains_key(*of)).collect();
            if !whole && !missing.is_empty() {
                // As long as nothing of it changes, it stays what it is.
                if default.varies() || default.fields().any(|of| changed.contains_key(of) || open.contains(&of)) {
                    open.push(name);
                    unknown.extend(missing.into_iter().filter(|of| !open.contains(of)).map(str::to_owned));
                }
                continue;
            }
            let mut others = known.clone();
            others.extend(changed.clone());
            match self.default_of(position, field, default, &others) {
                Some(made) => _ = changed.insert(name.clone(), made),
                None if default.fields().next().is_none() => {}
                None if field.ty.is_non_null() => return Err(unmade(ty, name)),
                None => _ = changed.insert(name.clone(), Value::Null),
            }
        }
        Ok(unknown)
    }

    /// The default of a field, the one generated before if there is one; one that is made of other fields follows these.
    pub fn default_of(&mut self, position: usize, field: &Field, default: &DefaultValue, others: &Map<String, Value>) -> Option<Value> {
        let slot = (position, field.name.clone());
        if let Some(value) = self.generated.get(&slot).filter(|_| !is_made_of_fields(default)) {
            return Some(value.clone());
        }
        let made = made(field, default, self.job.context.now_millis, others)?;
        self.generated.insert(slot, made.clone());
        Some(made)
    }

    /// Fills in the defaults of embedded objects that are given.
    pub fn fill_embedded(&mut self, position: usize, field: &Field, given: Value) -> Value {
        let FieldKind::Stored(stored) = &field.kind else { return given };
        let ValueType::Embedded(name) = &stored.value else { return given };
        let slot = (position, field.name.clone());
        if let Some(filled) = self.generated.get(&slot) {
            return filled.clone();
        }
        let mut filled = given;
        fill(self.job.context.model, name, &mut filled, self.job.context.now_millis);
        self.generated.insert(slot, filled.clone());
        filled
    }
}

/// What the caller is told where a field is never null, but its default is made of what is null.
pub fn unmade(ty: &ObjectType, field: &str) -> Refusals {
    bad_input(format!("{}.{field} must not be null, but is made of what is null.", ty.name))
}

/// Whether a default takes the text of other fields.
fn is_made_of_fields(default: &DefaultValue) -> bool {
    default.fields().next().is_some()
}

fn made(field: &Field, default: &DefaultValue, now: i64, others: &Map<String, Value>) -> Option<Value> {
    let FieldKind::Stored(stored) = &field.kind else { return None };
    match default.parts.as_slice() {
        // The literal of a list is the list.
        [DefaultPart::Literal(text)] if field.ty.is_list() => serde_json::from_str(text).ok(),
        _ => default_value::value(default, &stored.value, now, &|other| others.get(other).cloned()),
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
        if let (Some(value), FieldKind::Stored(stored)) = (values.get_mut(&field.name), &field.kind)
            && let ValueType::Embedded(name) = &stored.value
        {
            fill(model, name, value, now);
        }
    }
    for name in ty.defaults.iter().filter(|name| !values.contains_key(*name)).cloned().collect::<Vec<_>>() {
        let Some(field) = ty.fields.get(&name) else { continue };
        if let Some(made) = field.rules.default.as_ref().and_then(|default| made(field, default, now, values)) {
            values.insert(name, made);
        }
    }
}
