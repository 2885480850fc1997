//! Field values → items, key attributes and guards: everything that is written follows from the templates. Must not know how it is
//! written, nor whether a value may be null or keeps its constraints.

use super::key_values::{check_attribute, key_value};
use super::stored_values;
use crate::execute::key::sharding;
use crate::execute::values::{decode, encode};
use crate::plan::attributes::{keys, reader};
use crate::schema::model::keys::ItemKeys;
use crate::schema::model::{Field, Model, ObjectType};
use crate::schema::table::{KeyAttribute, KeyType, Table};
use crate::schema::template::Template;
use crate::table::attribute::{Attribute, Item, Key};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

/// The longest value, in bytes, that stands in a guard's key as it is: a partition key has 2,048 at most.
const LONGEST_IN_GUARD: usize = 1024;

/// Why values make no item: the field and a sentence for the caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Misfit {
    /// The field; inside of lists and embedded objects the way to it, from the item: `foods.0.quantity`.
    pub field: String,
    /// One sentence, about the field as "it".
    pub message: String,
}

impl Misfit {
    /// What is wrong with the value that is looked at.
    pub(super) fn here(message: impl Into<String>) -> Self {
        Self { field: String::new(), message: message.into() }
    }

    /// The same, seen from one level further out.
    pub(super) fn within(self, outer: &str) -> Self {
        let field = if self.field.is_empty() { outer.to_owned() } else { format!("{outer}.{}", self.field) };
        Self { field, ..self }
    }
}

/// The whole item of an item type: stored attributes, every key attribute whose fields are all there, constants. `values` holds API
/// values by field; null and missing fields have no attribute, nor has an empty set. The primary key must be complete.
pub fn item(model: &Model, ty: &ObjectType, values: &Map<String, Value>) -> Result<Item, Misfit> {
    let (table, item_keys) = place(model, ty)?;
    let given = |field: &str| values.get(field).cloned();
    let value = sharding::of_item(table, item_keys, &given);
    let mut item = Item::with_capacity(values.len() + item_keys.keys.len());
    for (field, value) in values {
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
            None if table.primary_key().any(|primary| primary.name == key.name) => return Err(incomplete(templates, &value)),
            None => {}
        }
    }
    for (name, constant) in &item_keys.constants {
        item.insert(name.clone(), Attribute::S(constant.clone()));
    }
    match values.iter().find_map(|(field, value)| lost(ty, item_keys, &item, (field, value))) {
        Some(misfit) => Err(misfit),
        None => Ok(item),
    }
}

/// The primary key that the values make.
pub fn primary_key(model: &Model, ty: &ObjectType, values: &Map<String, Value>) -> Result<Key, Misfit> {
    let (table, item_keys) = place(model, ty)?;
    let given = |field: &str| values.get(field).cloned();
    let value = sharding::of_item(table, item_keys, &given);
    let made = |key: &KeyAttribute| {
        let templates = item_keys.keys.get(&key.name).map(Vec::as_slice).unwrap_or_default();
        let made = key_value(table, key, templates, &value)?.ok_or_else(|| incomplete(templates, &value))?;
        Ok((key.name.clone(), made))
    };
    Ok(Key { partition: made(&table.partition)?, sort: table.sort.as_ref().map(made).transpose()? })
}

/// The primary key of an item as it was read; `None` if the item lacks it.
pub fn key_of(model: &Model, ty: &ObjectType, item: &Item) -> Option<Key> {
    let table = &model.tables[keys(ty)?.table];
    crate::execute::key::values::key_of(table, item)
}

/// A field's value as its attribute; embedded objects become maps in their stored names (with the fields that are null left out).
/// `None` where there is no attribute for it: null, an empty set; a field that stands in keys only has one all the same, as it would be
/// kept. The text of a key attribute must not be empty or too long.
pub fn attribute(model: &Model, ty: &ObjectType, field: &str, value: &Value) -> Result<Option<Attribute>, Misfit> {
    let Some((stored, declared)) = ty.stored(field).zip(ty.fields.get(field)) else { return Err(unknown(ty, field)) };
    let attribute = stored_values::of_field(model, &declared.ty, &stored.value, value).map_err(|misfit| misfit.within(field))?;
    if let (Some(attribute), Some(name), Some(keys)) = (&attribute, &stored.attribute, keys(ty)) {
        check_attribute(&model.tables[keys.table], name, attribute).map_err(|misfit| Misfit { field: field.to_owned(), ..misfit })?;
    }
    Ok(attribute)
}

/// An embedded object as a map.
pub fn embedded(model: &Model, type_name: &str, values: &Map<String, Value>) -> Result<Item, Misfit> {
    stored_values::of_object(model, type_name, values)
}

/// What an update of some fields does to the index key attributes that they are part of.
#[derive(Debug, Default, PartialEq)]
pub struct IndexChanges {
    /// Attributes that get a new value.
    pub set: Vec<(String, Attribute)>,
    /// Attributes that go, because a field of their template is null now: the item leaves the index.
    pub remove: Vec<String>,
    /// Fields whose present values are needed to tell, and are not among `known`: read the item and ask again.
    pub unknown: Vec<String>,
    /// Fields of which the known present values were taken.
    pub taken: Vec<String>,
}

/// The changes of index key attributes; `changed` holds the fields' new values (null: removed), `known` gives values of other fields:
/// the outer `None` is "not known", the inner one null. Attributes that are themselves the stored attribute of a changed field
/// (template `{status}` on attribute `status`) are left to whoever sets that field. Attributes of which no field is changed are left
/// alone; one whose new value is not known yet is neither set nor removed.
pub fn index_changes(
    model: &Model,
    ty: &ObjectType,
    changed: &Map<String, Value>,
    known: &dyn Fn(&str) -> Option<Option<Value>>,
) -> Result<IndexChanges, Misfit> {
    let (table, item_keys) = place(model, ty)?;
    let value = |field: &str| match changed.get(field) {
        Some(value) => Some(Some(value.clone())),
        None => known(field),
    };
    let mut changes = IndexChanges::default();
    for key in table.key_attributes() {
        let primary = table.primary_key().any(|primary| primary.name == key.name);
        let Some(templates) = item_keys.keys.get(&key.name).filter(|_| !primary) else { continue };
        let holds_changed = templates.iter().flat_map(Template::fields).any(|field| changed.contains_key(field));
        let is_changed = |field: &String| ty.stored(field).is_some_and(|stored| stored.attribute.as_ref() == Some(&key.name));
        if !holds_changed || changed.keys().any(is_changed) {
            continue;
        }
        let considered = considered(templates, &value);
        let taken = considered.iter().flat_map(|template| template.fields());
        for field in taken.filter(|field| !changed.contains_key(*field) && known(field).is_some()) {
            if !changes.taken.iter().any(|other| other == field) {
                changes.taken.push(field.to_owned());
            }
        }
        match applies(considered, &value) {
            Applies::None => changes.remove.push(key.name.clone()),
            Applies::This(template) => {
                let made = key_value(
                    table,
                    key,
                    std::slice::from_ref(template),
                    &sharding::of_item(table, item_keys, &|field| value(field).flatten()),
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

/// The index key attributes of an item that an update makes: those that a put of these values would write, but for those that are
/// themselves the stored attribute of a changed field.
pub fn index_keys(
    model: &Model,
    ty: &ObjectType,
    changed: &Map<String, Value>,
    of_key: &Map<String, Value>,
) -> Result<IndexChanges, Misfit> {
    let (table, item_keys) = place(model, ty)?;
    let given = |field: &str| changed.get(field).or_else(|| of_key.get(field)).cloned();
    let value = sharding::of_item(table, item_keys, &given);
    let mut changes = IndexChanges::default();
    for key in table.key_attributes() {
        let primary = table.primary_key().any(|primary| primary.name == key.name);
        let Some(templates) = item_keys.keys.get(&key.name).filter(|_| !primary) else { continue };
        let is_changed = |field: &String| ty.stored(field).is_some_and(|stored| stored.attribute.as_ref() == Some(&key.name));
        if !changed.keys().any(is_changed) {
            changes.set.extend(key_value(table, key, templates, &value)?.map(|made| (key.name.clone(), made.into())));
        }
    }
    Ok(changes)
}

enum Applies<'t> {
    /// The first template whose fields are all there.
    This(&'t Template),
    /// Every template has a null in it.
    None,
    /// These fields would have to be known.
    Unknown(Vec<String>),
}

/// The templates up to the first of which no field is null.
fn considered<'t>(templates: &'t [Template], value: &dyn Fn(&str) -> Option<Option<Value>>) -> &'t [Template] {
    let is_null = |field: &str| value(field).is_some_and(|value| value.is_none_or(|value| value.is_null()));
    let first = templates.iter().position(|template| !template.fields().into_iter().any(is_null));
    &templates[..first.map_or(templates.len(), |first| first + 1)]
}

fn applies<'t>(considered: &'t [Template], value: &dyn Fn(&str) -> Option<Option<Value>>) -> Applies<'t> {
    let is_null = |field: &&str| value(field).is_some_and(|value| value.is_none_or(|value| value.is_null()));
    let Some(template) = considered.last().filter(|template| !template.fields().iter().any(is_null)) else { return Applies::None };
    let unknown: Vec<String> = template.fields().into_iter().filter(|field| value(field).is_none()).map(str::to_owned).collect();
    if unknown.is_empty() { Applies::This(template) } else { Applies::Unknown(unknown) }
}

/// The guard of a `@unique` field's value: an item of its own in the same table whose key says type, field and value, with the key of
/// its owner in it. `None` for null. Its key can be no item type's of the schema that the checker accepts.
///
/// The partition key is `Unique#User.email#` and the value as it stands in keys, the sort key `Unique#User.email`; the owner's key is in
/// `ownerPK` and `ownerSK`, after the names of the key attributes. Of a value of more than 1,024 bytes the key holds the first 1,024 and
/// the SHA-256 digest of the whole in hexadecimal: with it, the text is longer than that of any value that stands there as it is. A sort
/// key that is a number is 0; a partition key cannot be one.
pub fn guard(model: &Model, ty: &ObjectType, field: &str, value: &Value, owner: &Key) -> Result<Option<Item>, Misfit> {
    let (table, _) = place(model, ty)?;
    let misfit = |message: &str| Misfit { field: field.to_owned(), message: message.to_owned() };
    let Some(stored) = ty.stored(field) else { return Err(unknown(ty, field)) };
    if value.is_null() {
        return Ok(None);
    }
    let unfit = || misfit(&stored.value.coerce(value).err().unwrap_or_else(|| "It cannot be unique.".to_owned()));
    // As it is kept: of two instants in one second there is one epoch.
    let text = match encode::attribute(&stored.value, value) {
        Some(Attribute::S(text) | Attribute::N(text)) => text,
        _ => stored.value.to_text(value).ok_or_else(unfit)?,
    };
    let mark = format!("Unique#{}.{field}", ty.name);
    let partition = match text.len() {
        0..=LONGEST_IN_GUARD => format!("{mark}#{text}"),
        _ => {
            let digest = hexadecimal(&Sha256::digest(text.as_bytes()));
            format!("{mark}#{}#{digest}", &text[..text.floor_char_boundary(LONGEST_IN_GUARD)])
        }
    };
    let typed = |key: &KeyAttribute, text: String| match key.kind {
        KeyType::S => Attribute::S(text),
        KeyType::B => Attribute::B(text.into_bytes()),
        KeyType::N => Attribute::N("0".to_owned()),
    };
    if table.partition.kind == KeyType::N {
        return Err(misfit("It cannot be unique in a table whose partition key is a number."));
    }
    let mut item = Item::from([(table.partition.name.clone(), typed(&table.partition, partition))]);
    if let Some(sort) = &table.sort {
        item.insert(sort.name.clone(), typed(sort, mark));
    }
    for (name, part) in std::iter::once(&owner.partition).chain(&owner.sort) {
        item.insert(owner_attribute(table, name), part.clone().into());
    }
    Ok(Some(item))
}

/// The attribute of a guard that holds its owner's key attribute of this name; never a key attribute itself, so that no index has it.
pub fn owner_attribute(table: &Table, key: &str) -> String {
    let mut name = format!("owner{key}");
    while table.key_attributes().iter().any(|taken| taken.name == name) {
        name.insert_str(0, "owner");
    }
    name
}

/// The API values of every stored field that an item has, by field: embedded objects as objects. What stands only in keys is read out of
/// them; null is left out.
pub fn values_of(model: &Model, ty: &ObjectType, item: &Item) -> Map<String, Value> {
    let value = |(field, declared): (&String, &Field)| {
        let value = match decode::find(reader(ty, field)?.as_ref(), item)? {
            decode::StoredValue::Key(value) => value,
            decode::StoredValue::Attribute(attribute) => stored_values::read(model, &declared.ty, &ty.stored(field)?.value, attribute)?,
        };
        Some((field.clone(), value))
    };
    ty.fields.iter().filter_map(value).collect()
}

/// A digest in lower-case hexadecimal digits.
pub(super) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn place<'m>(model: &'m Model, ty: &'m ObjectType) -> Result<(&'m Table, &'m ItemKeys), Misfit> {
    let keys = keys(ty).ok_or_else(|| Misfit::here(format!("{} is no type of items.", ty.name)))?;
    Ok((&model.tables[keys.table], keys))
}

fn unknown(ty: &ObjectType, field: &str) -> Misfit {
    Misfit { field: field.to_owned(), message: format!("{} has no stored field of this name.", ty.name) }
}

/// What is wrong where no template of a primary key applies: a field of the first one is not there.
fn incomplete(templates: &[Template], value: &dyn Fn(&str) -> Option<Value>) -> Misfit {
    let missing = |field: &&str| value(field).is_none_or(|value| value.is_null());
    let field = templates.first().and_then(|template| template.fields().into_iter().find(missing)).unwrap_or_default().to_owned();
    Misfit { field, message: "It must be there, since the item's key is made of it.".to_owned() }
}

/// A field that stands in keys only, none of which is written because another field is missing, would be lost.
fn lost(ty: &ObjectType, keys: &ItemKeys, item: &Item, (field, value): (&String, &Value)) -> Option<Misfit> {
    let stored = ty.stored(field).filter(|stored| stored.attribute.is_none() && !value.is_null())?;
    if stored.keys.iter().any(|key| item.contains_key(key)) {
        return None;
    }
    let others: Vec<&str> = stored.keys.iter().filter_map(|key| keys.keys.get(key)).flatten().flat_map(Template::fields).collect();
    let beside = others.into_iter().find(|other| *other != field.as_str()).unwrap_or_default();
    Some(Misfit { field: beside.to_owned(), message: format!("It must be there, since {field} is kept in a key beside it.") })
}

#[cfg(test)]
#[path = "assemble_tests.rs"]
mod tests;
