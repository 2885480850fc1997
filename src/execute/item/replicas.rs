//! The replicas of a replicated item: their numbers, keys and contents. The first replica, number 0, is the item.

use crate::execute::key::sharding::as_replica;
use crate::execute::key::values::key_of;
use crate::schema::model::keys::ItemKeys;
use crate::schema::model::{Model, ObjectType};
use crate::schema::table::Table;
use crate::table::data::attribute::{Item, Key};
use std::sync::Arc;

/// The numbers and keys of an item's other replicas. `key` is the key of the first.
pub fn others(model: &Model, ty: &ObjectType, key: &Key) -> Vec<(u8, Key)> {
    let Some((table, keys)) = place(model, &ty.name) else { return Vec::new() };
    let Some(spread) = keys.replicas() else { return Vec::new() };
    let item: Item = std::iter::once(&key.partition)
        .chain(&key.sort)
        .map(|(name, value)| (name.clone(), value.clone().into()))
        .collect();
    (1..spread.count)
        .filter_map(|number| Some((number, key_of(table, &as_replica(table, keys, &item, number))?)))
        .collect()
}

/// The first replica of an item, from any replica that was read.
pub fn first(model: &Model, ty: &str, item: Arc<Item>) -> Arc<Item> {
    match place(model, ty) {
        Some((table, keys)) if keys.replicas().is_some() => Arc::new(as_replica(table, keys, &item, 0)),
        _ => item,
    }
}

/// The replica with this number.
pub fn replica(model: &Model, ty: &ObjectType, item: &Item, number: u8) -> Item {
    place(model, &ty.name).map_or_else(|| item.clone(), |(table, keys)| as_replica(table, keys, item, number))
}

/// The table of an item type, and its keys.
pub fn place<'m>(model: &'m Model, ty: &str) -> Option<(&'m Table, &'m ItemKeys)> {
    let (_, keys) = model.item(ty)?;
    Some((model.tables.get(keys.table)?, keys))
}
