//! The type of an item under a key. If several types can have one key, their constants distinguish them. A write treats
//! an item of another type as missing. Must not know what is written.
//!
//! Reads follow the same rule. An item that lacks a constant can be of any type that has such a key, so items written
//! before the constant was declared can still be read and written. Only if the key is one of a more specific type, the
//! item is of that type. An item with another value is of another type.

use crate::execute::item::conditions::Conditions;
use crate::execute::key::marks::{has_key, have_constants, is_of_narrower};
use crate::execute::values::encode;
use crate::plan::attributes::keys;
use crate::schema::model::ObjectType;
use crate::schema::model::keys::{ConstantValue, ItemKeys};
use crate::table::data::attribute::{Item, Key};

/// The constants that distinguish the type's items from those of other types. None if the keys do.
fn constants(ty: &ObjectType) -> &[(String, ConstantValue)] {
    keys(ty).filter(|keys| keys.shares_keys).map(|keys| keys.constants.as_slice()).unwrap_or_default()
}

/// Whether an item under a key of the type is of the type.
pub fn is_of(ty: &ObjectType, item: &Item) -> bool {
    let of_key = |keys: &ItemKeys| {
        keys.limited.as_ref().is_none_or(|limited| has_key(limited, item)) && !is_of_narrower(&keys.narrower, item)
    };
    have_constants(constants(ty), item) && keys(ty).is_none_or(of_key)
}

/// Whether whatever is under a key of values is of the type, since the key alone determines it.
pub fn is_certain(ty: &ObjectType, key: &Key) -> bool {
    constants(ty).is_empty() && is_key_of(ty, key)
}

/// Whether a key of values is one of the type. It is not if constraints distinguish the type's keys from others, and
/// the values break them.
pub fn is_key_of(ty: &ObjectType, key: &Key) -> bool {
    let limited = keys(ty).and_then(|keys| keys.limited.as_ref());
    limited.is_none_or(|limited| has_key(limited, &item_of(key)))
}

/// An item that has its key only.
fn item_of(key: &Key) -> Item {
    std::iter::once(&key.partition)
        .chain(&key.sort)
        .map(|(name, value)| (name.to_string(), value.clone().into()))
        .collect()
}

/// Adds the condition that the item under a key, if it exists, is of the type.
pub fn demand((ty, key): (&ObjectType, &Key), conditions: &mut Conditions) {
    for (name, value) in constants(ty) {
        conditions.absent_or_equal(name, encode::constant(value));
    }
    if !is_key_of(ty, key) {
        conditions.absent(&key.partition.0);
    }
    let narrower = keys(ty).map(|keys| keys.narrower.as_slice()).unwrap_or_default();
    for narrower in narrower.iter().filter(|narrower| has_key(&narrower.key, &item_of(key))) {
        conditions.absent_or_differs(&key.partition.0, &narrower.constants);
    }
}
