//! Changes of an item's fields → changes of its index keys. Must not know how they are written.

use crate::execute::caller::Caller;
use crate::execute::item::assemble::place;
use crate::execute::item::key_condition::is_met;
use crate::execute::item::key_values::key_value;
use crate::execute::key::sharding;
use crate::execute::values::invalid_value::InvalidValue;
use crate::schema::expression::key_condition::HeldCondition;
use crate::schema::model::keys::ItemKeys;
use crate::schema::model::{Model, ObjectType};
use crate::schema::scalar::spread::{Spread, SpreadKind};
use crate::schema::table::KeyAttribute;
use crate::schema::template::Template;
use crate::table::data::attribute::Attribute;
use serde_json::{Map, Value};
use std::sync::Arc;

/// The changes of index keys that follow from an update of some fields.
#[derive(Debug, Default, PartialEq)]
pub struct IndexChanges {
    /// Attributes that get a new value.
    pub set: Vec<(String, Attribute)>,
    /// Attributes to remove, because a field of their template is null now: the item leaves the index.
    pub remove: Vec<String>,
    /// Fields whose current values are needed but not known: read the item and ask again.
    pub unknown: Vec<String>,
    /// Fields whose known current values were used, and the number of a shard that another program assigned.
    pub taken: Vec<String>,
    /// Whether an index key needs that number, and the item has none.
    pub lacks_number: bool,
}

/// The changes of index keys, with the claims of the caller. `changed` holds the new values of fields; null removes
/// one. `known` gives the values of other fields, and the number of the item's shard if another program assigned it:
/// the outer `None` means "not known", the inner one null. If an index key is itself the stored attribute of a changed
/// field (template `{status}` on attribute `status`), the code that sets the field writes it. An index key without a
/// changed field stays as it is. An index key whose new value is not known yet is neither set nor removed.
pub fn index_changes(
    model: &Model,
    ty: &ObjectType,
    caller: &Caller,
    changed: &Map<String, Value>,
    known: &dyn Fn(&str) -> Option<Option<Value>>,
) -> Result<IndexChanges, InvalidValue> {
    let (table, item_keys) = place(model, ty)?;
    let value = |field: &str| match changed.get(field) {
        Some(value) => Some(Some(value.clone())),
        None => known(field),
    };
    let mut changes = IndexChanges::default();
    for key in table.key_attributes() {
        let primary = table.is_primary_key(&key.name);
        let Some(templates) = item_keys.keys.get(&key.name).filter(|_| !primary) else { continue };
        let holds_changed =
            templates.iter().flat_map(Template::deciding_fields).any(|field| changed.contains_key(field))
                || templates.iter().any(follows_key)
                    && table.primary_key().any(|key| has_changed(item_keys, key, changed));
        let is_changed =
            |field: &String| ty.stored(field).is_some_and(|stored| stored.attribute.as_ref() == Some(&key.name));
        if !holds_changed || changed.keys().any(is_changed) {
            continue;
        }
        let considered = considered(templates, &value);
        let taken = considered.iter().flat_map(needed);
        for field in taken.filter(|field| !changed.contains_key(field) && known(field).is_some()) {
            if !changes.taken.contains(&field) {
                changes.taken.push(field);
            }
        }
        match applies(considered, &value) {
            Applies::None => changes.remove.push(key.name.clone()),
            Applies::Unnumbered => changes.lacks_number = true,
            Applies::This(template) => {
                let made = key_value(
                    table,
                    key,
                    std::slice::from_ref(template),
                    &sharding::item_values(table, item_keys, caller, &|field| value(field).flatten()),
                )?;
                changes.set.extend(made.map(|made| (key.name.clone(), made.into())));
            }
            Applies::Unknown(fields) => {
                let new: Vec<String> = fields.into_iter().filter(|field| !changes.unknown.contains(field)).collect();
                changes.unknown.extend(new);
            }
        }
    }
    Ok(changes)
}

/// Whether a template has a number that follows from the primary key.
fn follows_key(template: &Template) -> bool {
    template.spread().is_some_and(|spread| spread.kind == SpreadKind::Shard && spread.assigned.is_none())
}

/// Whether a changed field is in a key attribute.
fn has_changed(keys: &ItemKeys, key: &KeyAttribute, changed: &Map<String, Value>) -> bool {
    keys.keys.get(&key.name).into_iter().flatten().flat_map(Template::fields).any(|field| changed.contains_key(field))
}

/// The index keys of an item that an upsert creates: those that a put of these values writes. Excludes keys that are
/// themselves the stored attribute of a changed field.
pub fn index_keys(
    model: &Model,
    ty: &ObjectType,
    caller: &Caller,
    changed: &Map<String, Value>,
    of_key: &Map<String, Value>,
) -> Result<IndexChanges, InvalidValue> {
    let (table, item_keys) = place(model, ty)?;
    let given = |field: &str| changed.get(field).or_else(|| of_key.get(field)).cloned();
    let value = sharding::item_values(table, item_keys, caller, &given);
    let mut changes = IndexChanges::default();
    for key in table.key_attributes() {
        let primary = table.is_primary_key(&key.name);
        let Some(templates) = item_keys.keys.get(&key.name).filter(|_| !primary) else { continue };
        let is_changed =
            |field: &String| ty.stored(field).is_some_and(|stored| stored.attribute.as_ref() == Some(&key.name));
        if !changed.keys().any(is_changed) {
            changes.set.extend(key_value(table, key, templates, &value)?.map(|made| (key.name.clone(), made.into())));
        }
    }
    Ok(changes)
}

/// The index keys whose values follow from the primary key alone, so that every item with it has the same.
pub fn fixed_index_keys(
    model: &Model,
    ty: &ObjectType,
    of_key: &Map<String, Value>,
) -> Result<Vec<String>, InvalidValue> {
    let (table, item_keys) = place(model, ty)?;
    let follows = |template: &Template| {
        let is_of_fields = template.claims().next().is_none() && template.spreads().next().is_none();
        let is_of_fields = is_of_fields && template.when.is_none();
        is_of_fields && template.fields().iter().all(|field| of_key.contains_key(*field))
    };
    let keys = table.key_attributes().into_iter().filter(|key| !table.is_primary_key(&key.name));
    let all = |key: &str| item_keys.keys.get(key).is_some_and(|templates| templates.iter().all(follows));
    Ok(keys.filter(|key| all(&key.name)).map(|key| key.name.clone()).collect())
}

enum Applies<'t> {
    /// The first template whose fields all have values and whose condition holds.
    This(&'t Template),
    /// Every template has a field that is null, or a condition that does not hold.
    None,
    /// A template does that needs the number of the item's shard, and the item has none.
    Unnumbered,
    /// The values of these fields are needed.
    Unknown(Vec<String>),
}

/// Whether a template makes no key, as far as values are known: a field of it is null, or its condition does not hold.
fn is_out(template: &Template, value: &dyn Fn(&str) -> Option<Option<Value>>) -> bool {
    let is_null = |field: &str| value(field).is_some_and(|value| value.is_none_or(|value| value.is_null()));
    let unmet = |when: &Arc<HeldCondition>| {
        let is_known = when.fields.iter().all(|(field, _)| value(field).is_some());
        is_known && !is_met(template, &|field| value(field).flatten())
    };
    template.fields().into_iter().any(is_null) || template.when.as_ref().is_some_and(unmet)
}

/// The templates up to the first one that may make a key.
fn considered<'t>(templates: &'t [Template], value: &dyn Fn(&str) -> Option<Option<Value>>) -> &'t [Template] {
    let first = templates.iter().position(|template| !is_out(template, value));
    &templates[..first.map_or(templates.len(), |first| first + 1)]
}

fn applies<'t>(considered: &'t [Template], value: &dyn Fn(&str) -> Option<Option<Value>>) -> Applies<'t> {
    let Some(template) = considered.last().filter(|template| !is_out(template, value)) else {
        return Applies::None;
    };
    let unknown: Vec<String> = needed(template).into_iter().filter(|field| value(field).is_none()).collect();
    let is_missing = |number: &String| value(number).is_some_and(|value| value.is_none());
    match assigned_number(template).as_ref().is_some_and(is_missing) {
        _ if !unknown.is_empty() => Applies::Unknown(unknown),
        true => Applies::Unnumbered,
        false => Applies::This(template),
    }
}

/// The values that a template needs: its fields, those of its condition, and the number of the shard if another program
/// assigned it.
fn needed(template: &Template) -> Vec<String> {
    template.deciding_fields().map(str::to_owned).chain(assigned_number(template)).collect()
}

/// The number of the shard in a template, if another program assigned it.
fn assigned_number(template: &Template) -> Option<String> {
    template.spread().filter(|spread| spread.assigned.is_some()).map(Spread::placeholder)
}
