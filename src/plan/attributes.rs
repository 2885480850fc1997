//! An item type in; out: which attributes hold a field, how to read it, and what distinguishes the type's items from
//! others. Must not know operations.

use super::tree::{FieldReader, StoredPlace, TypeDiscriminator, TypeMarks};
use crate::schema::model::auth::AuthAction;
use crate::schema::model::keys::{ItemKeys, PrimaryKey};
use crate::schema::model::{FieldKind, Model, ObjectType, Stored, TypeKind};
use crate::schema::table::{KeyAttribute, Table};
use crate::schema::template::Template;
use std::sync::Arc;

/// The key templates of an item type.
pub fn keys(ty: &ObjectType) -> Option<&ItemKeys> {
    match &ty.kind {
        TypeKind::Item(keys) => Some(keys),
        _ => None,
    }
}

/// The key attributes of a table and of the index that is read, each once. Every item that is read has them.
pub fn key_attributes(table: &Table, index: Option<usize>) -> Vec<&KeyAttribute> {
    let of_index = table.keys_of(index).all().filter(|key| !table.is_primary_key(&key.name));
    table.primary_key().chain(of_index).collect()
}

/// How to find a stored field's value in an item or a map.
pub fn reader(ty: &ObjectType, field: &str) -> Option<Arc<FieldReader>> {
    let stored = ty.stored(field)?;
    let place = |attribute: &String| match keys(ty).and_then(|keys| keys.keys.get(attribute)) {
        Some(templates) if stored.attribute.as_ref() != Some(attribute) => {
            StoredPlace::Key(attribute.clone(), templates.clone())
        }
        _ => StoredPlace::Attribute(attribute.clone()),
    };
    let places = places(ty, field).into_iter().map(place).collect();
    Some(Arc::new(FieldReader {
        field: field.to_owned(),
        ty: ty.fields[field].ty.clone(),
        stored: stored.clone(),
        places,
    }))
}

/// The attributes that may hold a stored field, in the order in which it is looked for: the item's identity, which is
/// its primary key; the field's own attribute; index keys, also those that hold the field in some of their alternatives
/// only; the attribute of its name.
pub fn places<'t>(ty: &'t ObjectType, field: &'t str) -> Vec<&'t String> {
    let Some(stored) = ty.stored(field) else { return Vec::new() };
    if stored.identity > 0 {
        // A key that is the field itself is read as the attribute that it is.
        let identity = &stored.keys[..stored.identity];
        return identity.iter().filter(|key| stored.attribute.as_ref() == Some(key)).chain(identity).take(1).collect();
    }
    let in_keys =
        stored.keys.iter().chain(alternatives_of(ty, field)).filter(|key| stored.attribute.as_ref() != Some(key));
    stored.attribute.iter().chain(in_keys).chain(&stored.formerly).collect()
}

/// The stored fields of a type.
pub fn stored_fields(ty: &ObjectType) -> Vec<String> {
    ty.fields
        .values()
        .filter(|field| matches!(field.kind, FieldKind::Stored(_)))
        .map(|field| field.name.clone())
        .collect()
}

/// Index keys that hold the field in some of their alternatives only. An item that lacks the field's own attribute, as
/// older items may, is read by these keys.
pub fn alternatives_of<'t>(ty: &'t ObjectType, field: &'t str) -> impl Iterator<Item = &'t String> {
    let always = ty.stored(field).map(|stored| stored.keys.as_slice()).unwrap_or_default();
    let holds = move |(key, templates): &(&String, &Vec<Template>)| {
        !always.contains(key) && templates.iter().any(|template| template.read_fields().contains(&field))
    };
    keys(ty).into_iter().flat_map(|keys| &keys.keys).filter(holds).map(|(key, _)| key)
}

/// The attributes to ask the table (`index` is `None`) or an index for to get a field's value: its places, up to one
/// that every item has that is read there. The own attribute of a field that is never null is there by the schema's
/// promise: each key besides it would make every answer longer.
pub fn asked_for<'t>(table: &Table, ty: &'t ObjectType, index: Option<usize>, field: &'t str) -> Vec<&'t String> {
    let Some(stored) = ty.stored(field) else { return Vec::new() };
    let always = stored.keys.as_slice();
    let there: Vec<&KeyAttribute> = key_attributes(table, index);
    let mut asked: Vec<&String> = places(ty, field).into_iter().filter(|name| table.holds(index, name)).collect();
    let own = stored.attribute.as_ref().filter(|own| ty.fields[field].ty.is_non_null() && asked.contains(own));
    asked.retain(|name| own.is_none_or(|own| own == *name) || !always.contains(name));
    if let Some(last) =
        asked.iter().position(|name| always.contains(name) && there.iter().any(|key| key.name == **name))
    {
        asked.truncate(last + 1);
    }
    asked
}

/// The attribute to ask for, in addition to the primary key, to get a field's value from the table (`index` is `None`)
/// or an index: `Some(None)` if the primary key holds it, `None` if it is not there. An embedded object's fields come
/// with the object.
pub fn attributes_for<'m>(
    model: &Model,
    ty: &ObjectType,
    index: Option<usize>,
    stored: &'m Stored,
) -> Option<Option<&'m str>> {
    let Some(keys) = keys(ty) else { return Some(None) };
    let table = &model.tables[keys.table];
    if stored.identity > 0 {
        return Some(None);
    }
    let held = stored.attribute.iter().chain(&stored.keys).find(|attribute| table.holds(index, attribute));
    held.map(|attribute| Some(attribute.as_str()))
}

/// Which items a read sees besides those that are there for its caller.
#[derive(Debug, Clone, Copy, Default)]
pub struct ItemSight {
    /// Those that rules hide from the caller: a write reads for itself.
    pub hidden: bool,
    /// Those that have expired: what is deleted with an item is, too.
    pub expired: bool,
}

impl ItemSight {
    /// It sees whatever is stored.
    pub const ALL: Self = Self { hidden: true, expired: true };
}

/// What distinguishes the items of these types from others. A Scan meets every copy of a replicated item and accepts
/// only the first.
pub fn discriminator(
    model: &Model,
    types: &[&ObjectType],
    (index, is_scan): (Option<usize>, bool),
    sight: ItemSight,
) -> Option<Arc<TypeDiscriminator>> {
    let marks = |ty: &&ObjectType| {
        let keys = keys(ty)?;
        let table = &model.tables[keys.table];
        let first = |templates: &Vec<Template>| match keys.replicas().filter(|_| is_scan) {
            Some(_) => templates.iter().map(|template| template.numbered(0)).collect(),
            None => templates.clone(),
        };
        let templates = table
            .primary_key()
            .filter_map(|key| Some((key.name.clone(), keys.keys.get(&key.name).map(first)?)))
            .collect();
        let rules = if ty.auth.hide() && !sight.hidden { ty.auth.for_action(AuthAction::Read) } else { Vec::new() };
        let (constants, narrower) = (keys.constants.clone(), keys.narrower.clone());
        let expires = keys.expires.clone().filter(|_| !sight.expired);
        let (item, key) = (ty.name.clone(), PrimaryKey::new(table, templates));
        Some(TypeMarks { item, key, constants, narrower, expires, rules })
    };
    let sees = |keys: &ItemKeys| keys.telling().all(|name| model.tables[keys.table].holds(index, name));
    let sees_constants = types.iter().filter_map(|ty| keys(ty)).all(sees);
    Some(Arc::new(TypeDiscriminator { sees_constants, types: types.iter().map(marks).collect::<Option<_>>()? }))
}
