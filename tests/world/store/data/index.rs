//! An item and an index in; the entry that the index has for the item out (developer guide, "Using global secondary
//! indexes").

use crate::store::data::attribute::{Attribute, Item};
use crate::store::data::definition::{IndexDefinition, KeySchema};
use crate::store::data::size::{item_bytes, write_units};

/// The values of the index's keys in an item; `None` if it lacks one, and is not in the index.
pub fn index_key(item: &Item, index: &IndexDefinition) -> Option<(Attribute, Option<Attribute>)> {
    let partition = item.get(&index.keys.partition.name)?.clone();
    let sort = match &index.keys.sort {
        Some(key) => Some(item.get(&key.name)?.clone()),
        None => None,
    };
    Some((partition, sort))
}

/// What the index holds of an item; `None` if the item is not in it.
pub fn entry(item: &Item, index: &IndexDefinition, table: &KeySchema) -> Option<Item> {
    index_key(item, index)?;
    let held = item.iter().filter(|(name, _)| index.holds(name, table));
    Some(held.map(|(name, value)| (name.clone(), value.clone())).collect())
}

/// The units that an index takes of the change of an item: none if its entry stays the same, one write if the entry
/// appears, disappears or changes, and two if its key changes.
pub fn change_units(old: Option<&Item>, new: Option<&Item>, index: &IndexDefinition, table: &KeySchema) -> f64 {
    let entry = |item: Option<&Item>| item.and_then(|item| entry(item, index, table));
    match (entry(old), entry(new)) {
        (old, new) if old == new => 0.0,
        (Some(old), Some(new)) if index_key(&old, index) == index_key(&new, index) => {
            write_units(item_bytes(&old).max(item_bytes(&new)))
        }
        (old, new) => old.iter().chain(&new).map(|entry| write_units(item_bytes(entry))).sum(),
    }
}
