//! Field values → items and keys, and back. Keys follow from the templates. Must not know how an item is written,
//! whether a value may be null, or whether it meets its constraints.

use crate::execute::caller::Caller;
use crate::execute::item::key_values::{check_attribute, key_value};
use crate::execute::key::sharding;
use crate::execute::values::decode::{self, StoredValue, UnreadValue};
use crate::execute::values::encode;
use crate::execute::values::invalid_value::InvalidValue;
use crate::execute::values::stored_values;
use crate::plan::attributes::{keys, places, reader};
use crate::schema::model::keys::ItemKeys;
use crate::schema::model::{Model, ObjectType};
use crate::schema::scalar::spread::Spread;
use crate::schema::table::{KeyAttribute, Table};
use crate::schema::template::Template;
use crate::table::data::attribute::{Attribute, Item, Key};
use serde_json::{Map, Value};

/// The whole item: stored attributes, constants, and every key attribute whose fields are all given. `values` holds API
/// values by field, and the number of the shard if another program assigned it. Null, a missing field and an empty set
/// have no attribute. The primary key must be complete. The claims in it are the caller's.
pub fn item(
    model: &Model,
    ty: &ObjectType,
    caller: &Caller,
    values: &Map<String, Value>,
) -> Result<Item, InvalidValue> {
    let (table, item_keys) = place(model, ty)?;
    let given = |field: &str| values.get(field).cloned();
    let value = sharding::item_values(table, item_keys, caller, &given);
    let mut item = Item::with_capacity(values.len() + item_keys.keys.len());
    let number = item_keys.assigned().map(Spread::placeholder);
    for (field, value) in values.iter().filter(|(field, _)| number.as_ref() != Some(field)) {
        let Some(stored) = ty.stored(field) else { return Err(unknown(ty, field)) };
        if let (Some(name), Some(attribute)) = (&stored.attribute, attribute(model, ty, field, value)?) {
            item.insert(name.clone(), attribute);
        }
    }
    for key in table.key_attributes() {
        let Some(templates) = item_keys.keys.get(&key.name) else { continue };
        match key_value(table, key, templates, &value)? {
            Some(made) => {
                item.insert(key.name.clone(), made.into());
            }
            None if table.is_primary_key(&key.name) => {
                return Err(incomplete(templates, &value));
            }
            None => {}
        }
    }
    for (name, constant) in &item_keys.constants {
        item.insert(name.clone(), encode::constant(constant));
    }
    match values.iter().find_map(|(field, value)| lost(ty, item_keys, &item, (field, value))) {
        Some(invalid) => Err(invalid),
        None => Ok(item),
    }
}

/// The primary key that the values and the caller's claims make.
pub fn primary_key(
    model: &Model,
    ty: &ObjectType,
    caller: &Caller,
    values: &Map<String, Value>,
) -> Result<Key, InvalidValue> {
    let (table, item_keys) = place(model, ty)?;
    let given = |field: &str| values.get(field).cloned();
    let value = sharding::item_values(table, item_keys, caller, &given);
    let made = |key: &KeyAttribute| {
        let templates = item_keys.keys.get(&key.name).map(Vec::as_slice).unwrap_or_default();
        let made = key_value(table, key, templates, &value)?.ok_or_else(|| incomplete(templates, &value))?;
        Ok((key.name.as_str().into(), made))
    };
    Ok(Key { partition: made(&table.partition)?, sort: table.sort.as_ref().map(made).transpose()? })
}

/// The primary key of an item as it was read; `None` if the item lacks it.
pub fn key_of(model: &Model, ty: &ObjectType, item: &Item) -> Option<Key> {
    let table = &model.tables[keys(ty)?.table];
    crate::execute::key::values::key_of(table, item)
}

/// A field's value as its attribute. An embedded object becomes a map of stored names, without its null fields. `None`
/// for null and for an empty set. A field that is stored only in keys gets the attribute that it would have. The value
/// of a key attribute must be neither empty nor too long.
pub fn attribute(
    model: &Model,
    ty: &ObjectType,
    field: &str,
    value: &Value,
) -> Result<Option<Attribute>, InvalidValue> {
    let Some((stored, declared)) = ty.stored(field).zip(ty.fields.get(field)) else { return Err(unknown(ty, field)) };
    let attribute = stored_values::stored_field(model, &declared.ty, &stored.value, value)
        .map_err(|invalid| invalid.within(field))?;
    if let (Some(attribute), Some(name), Some(keys)) = (&attribute, &stored.attribute, keys(ty)) {
        check_attribute(&model.tables[keys.table], name, attribute)
            .map_err(|invalid| InvalidValue { field: field.to_owned(), ..invalid })?;
    }
    Ok(attribute)
}

/// An embedded object as a map.
pub fn embedded(model: &Model, type_name: &str, values: &Map<String, Value>) -> Result<Item, InvalidValue> {
    stored_values::stored_object(model, type_name, values)
}

/// What an item holds of its type's stored fields.
#[derive(Debug, Clone, Default)]
pub struct ItemValues {
    /// The API values. Embedded objects are objects. Null is left out.
    pub known: Map<String, Value>,
    /// The fields whose values their types cannot read. They are not null: nothing is made of them, and nothing takes
    /// their place.
    pub unreadable: Vec<String>,
}

impl ItemValues {
    /// Whether the item has a value of the field, readable or not.
    pub fn has(&self, field: &str) -> bool {
        self.known.contains_key(field) || self.is_unreadable(field)
    }

    /// Whether the item has a value of the field that its type cannot read.
    pub fn is_unreadable(&self, field: &str) -> bool {
        self.unreadable.iter().any(|other| other == field)
    }
}

/// What an item holds of its type's stored fields. A field that is stored only in keys is read from them.
pub fn values_of(model: &Model, ty: &ObjectType, item: &Item) -> ItemValues {
    let mut values = ItemValues::default();
    for (field, declared) in &ty.fields {
        let (Some(reader), Some(stored)) = (reader(ty, field), ty.stored(field)) else { continue };
        let value = match decode::find(&reader, item) {
            None => continue,
            Some(StoredValue::Text(text)) => Ok(Some(text.into())),
            Some(StoredValue::Key(value)) => Ok(Some(value)),
            Some(StoredValue::Attribute(attribute)) => {
                stored_values::read(model, &declared.ty, &stored.value, attribute)
            }
            Some(StoredValue::UnreadValue) => Err(UnreadValue),
        };
        match value {
            Ok(value) => values.known.extend(value.map(|value| (field.clone(), value))),
            Err(UnreadValue) => values.unreadable.push(field.clone()),
        }
    }
    values
}

/// The number that another program assigned to an item, by its name among values, with the key attribute that tells it;
/// `None` if no key of the item has one.
pub fn number_of<'t>(model: &Model, ty: &'t ObjectType, item: &Item) -> Option<((String, Value), &'t String)> {
    let keys = keys(ty)?;
    let (attribute, number) = sharding::assigned_number(&model.tables[keys.table], keys, item)?;
    Some(((keys.assigned()?.placeholder(), number.into()), attribute))
}

/// The attributes that determine a field's value in an item: if they are unchanged, so is the value. Nothing can change
/// what the primary key determines.
pub fn determining_attributes<'t>(ty: &'t ObjectType, field: &'t str, item: &Item) -> Vec<&'t String> {
    let Some(stored) = ty.stored(field).filter(|stored| stored.identity == 0) else { return Vec::new() };
    let own = stored.attribute.as_ref();
    if let Some(own) = own.filter(|own| item.get(own).is_some_and(|value| !matches!(value, Attribute::Null))) {
        return vec![own];
    }
    let places = places(ty, field);
    let mut telling: Vec<&String> = own.into_iter().collect();
    for place in places.iter().filter(|place| own != Some(place) && item.contains_key(place)) {
        telling.push(place);
        // Each value of this key has the field.
        if stored.keys.contains(place) {
            break;
        }
    }
    if telling.is_empty() { places.into_iter().take(1).collect() } else { telling }
}

/// The table of a type's items, and their keys.
pub fn place<'m>(model: &'m Model, ty: &'m ObjectType) -> Result<(&'m Table, &'m ItemKeys), InvalidValue> {
    let keys = keys(ty).ok_or_else(|| InvalidValue::here(format!("{} is not an item type.", ty.name)))?;
    Ok((&model.tables[keys.table], keys))
}

/// The error of a value whose field is not stored by the type.
pub fn unknown(ty: &ObjectType, field: &str) -> InvalidValue {
    InvalidValue { field: field.to_owned(), message: format!("{} has no stored field of this name.", ty.name) }
}

/// The error if no template of a primary key applies: a field of the first template is missing.
fn incomplete(templates: &[Template], value: &dyn Fn(&str) -> Option<Value>) -> InvalidValue {
    let missing = |field: &&str| value(field).is_none_or(|value| value.is_null());
    let field = templates
        .first()
        .and_then(|template| template.fields().into_iter().find(missing))
        .unwrap_or_default()
        .to_owned();
    InvalidValue { field, message: "It must not be null, because it is part of the item's key.".to_owned() }
}

/// The error of a field that would be lost: it is stored only in keys, and none of them is written because another
/// field is missing.
fn lost(ty: &ObjectType, keys: &ItemKeys, item: &Item, (field, value): (&String, &Value)) -> Option<InvalidValue> {
    let stored = ty.stored(field).filter(|stored| stored.attribute.is_none() && !value.is_null())?;
    if stored.keys.iter().any(|key| item.contains_key(key)) {
        return None;
    }
    let others: Vec<&str> =
        stored.keys.iter().filter_map(|key| keys.keys.get(key)).flatten().flat_map(Template::fields).collect();
    let beside = others.into_iter().find(|other| *other != field.as_str()).unwrap_or_default();
    Some(InvalidValue {
        field: beside.to_owned(),
        message: format!("It must not be null, because {field} is stored in a key together with it."),
    })
}

#[cfg(test)]
#[path = "assemble_tests.rs"]
mod tests;
