//! The entries of a map ↔ the objects of the list that it is in the API, as attributes. The list has the order of the
//! keys as text. Must not know types.

use crate::execute::values::invalid_value::InvalidValue;
use crate::schema::scalar::form::MapForm;
use crate::table::data::attribute::{Attribute, Item};
use std::collections::BTreeMap;

/// The longest name of an attribute within an item, in bytes (DynamoDB developer guide, "Constraints in Amazon
/// DynamoDB", attribute names).
const LONGEST_KEY: usize = 65_535;

/// The objects of a map, each with its key; `None` if the attribute is no map. An entry that is no object, where
/// objects are wanted, stays as it is.
pub fn objects(form: &MapForm, map: &Attribute) -> Option<Vec<Attribute>> {
    let Attribute::M(map) = map else { return None };
    let mut entries: Vec<_> = map.members().collect();
    entries.sort_unstable_by(|(one, _), (other, _)| one.as_bytes().cmp(other.as_bytes()));
    Some(entries.into_iter().map(|(key, entry)| object(form, key, entry)).collect())
}

/// The object of an entry.
pub fn object(form: &MapForm, key: &str, entry: &Attribute) -> Attribute {
    let key = (form.by.attribute.clone(), Attribute::S(key.into()));
    match (&form.value, entry) {
        (Some(value), entry) => Attribute::M([(value.attribute.clone(), entry.clone()), key].into_iter().collect()),
        (None, Attribute::M(members)) => {
            let mut object = members.clone();
            // The key tells the field, whatever the entry holds by its name.
            object.insert(key.0, key.1);
            Attribute::M(object)
        }
        (None, other) => other.clone(),
    }
}

/// The key that the value of a field makes: a text that can be one.
pub fn key(form: &MapForm, value: Option<Attribute>) -> Result<String, InvalidValue> {
    let unfit = |message: &str| Err(InvalidValue { field: form.by.field.clone(), message: message.to_owned() });
    match value {
        Some(Attribute::S(key)) if key.is_empty() => unfit("It must not be empty: it is the key of an entry."),
        Some(Attribute::S(key)) if key.len() > LONGEST_KEY => unfit("It is too long for the key of an entry."),
        Some(Attribute::S(key)) => Ok(key.to_string()),
        _ => unfit("It must not be null: it is the key of an entry."),
    }
}

/// The key and the entry of an object.
pub fn entry(form: &MapForm, mut object: Item) -> Result<(String, Attribute), InvalidValue> {
    let key = key(form, object.remove(&form.by.attribute))?;
    let Some(value) = &form.value else { return Ok((key, Attribute::M(object))) };
    let lacking =
        InvalidValue { field: value.field.clone(), message: "It must not be null: it is the entry.".to_owned() };
    Ok((key, object.remove(&value.attribute).ok_or(lacking)?))
}

/// The map of objects. No two of them have one key.
pub fn map(form: &MapForm, objects: Vec<Item>) -> Result<Attribute, InvalidValue> {
    let mut entries: BTreeMap<String, Attribute> = BTreeMap::new();
    for (position, object) in objects.into_iter().enumerate() {
        let within = |invalid: InvalidValue| invalid.within(&position.to_string());
        let (key, value) = entry(form, object).map_err(within)?;
        if entries.contains_key(&key) {
            let message = "Another entry of the list has it, but it is the key of an entry.".to_owned();
            return Err(within(InvalidValue { field: form.by.field.clone(), message }));
        }
        entries.insert(key, value);
    }
    Ok(Attribute::M(entries.into_iter().collect()))
}
