//! The type of an item under a key. If several types can have one key, their constants distinguish them. A write treats
//! an item of another type as missing. Must not know what is written.
//!
//! Reads follow the same rule. An item that lacks a constant can be of any type that has such a key, so items written
//! before the constant was declared can still be read and written. Only if the key is one of a more specific type, the
//! item is of that type. An item with another value is of another type.

use crate::execute::item::conditions::Conditions;
use crate::execute::key::marks::{has_key, have_constants, is_of_narrower};
use crate::execute::values::encode;
use crate::execute::values::expiry::PassedTimes;
use crate::plan::attributes::keys;
use crate::schema::model::keys::{ConstantValue, ItemKeys};
use crate::schema::model::{Model, ObjectType};
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

/// Whether an item of the type has expired.
pub fn has_expired(ty: &ObjectType, item: &Item, passed: PassedTimes) -> bool {
    expires(ty).is_some_and(|attribute| passed.have(item.get(attribute)))
}

/// The type of an item that has expired under a key of this type: the type itself, or another one of its table. `None`
/// if the item has not expired by the time of one of the types that it may be of.
pub fn expired_type<'m>(
    model: &'m Model,
    ty: &'m ObjectType,
    item: &Item,
    passed: PassedTimes,
) -> Option<&'m ObjectType> {
    if is_of(ty, item) {
        return has_expired(ty, item, passed).then_some(ty);
    }
    let table = keys(ty)?.table;
    let is_of_other = |other: &&ObjectType| {
        let of_table = keys(other).filter(|keys| keys.table == table);
        of_table.is_some_and(|keys| has_key(&keys.primary(&model.tables[table]), item)) && is_of(other, item)
    };
    let mut fitting = model.types.values().filter(is_of_other).peekable();
    let first = fitting.peek().copied()?;
    fitting.all(|other| has_expired(other, item, passed)).then_some(first)
}

/// Whether an item of another type that expires may be under a key of this one.
pub fn may_meet_expired(model: &Model, ty: &ObjectType) -> bool {
    let shares = |other: &ObjectType| keys(other).filter(|keys| keys.shares_keys).map(|keys| keys.table);
    let expires_there =
        |other: &&ObjectType| other.name != ty.name && expires(other).is_some() && shares(other) == shares(ty);
    shares(ty).is_some() && model.types.values().any(|other| expires_there(&other))
}

/// The attribute with the time at which items of the type expire; `None` if they do not.
pub fn expires(ty: &ObjectType) -> Option<&str> {
    keys(ty)?.expires.as_deref()
}

/// Adds the condition that the item under a key, if it exists, has not expired.
pub fn demand_unexpired(ty: &ObjectType, passed: PassedTimes, conditions: &mut Conditions) {
    if let Some(attribute) = expires(ty) {
        conditions.not_within(attribute, passed.bounds());
    }
}

/// Adds the condition that there is no item under a key, or one of the type that has expired.
pub fn demand_vacant((ty, key): (&ObjectType, &Key), passed: PassedTimes, conditions: &mut Conditions) {
    match expires(ty) {
        Some(attribute) => conditions.absent_or_within(&key.partition.0, (attribute, passed.bounds()), |expired| {
            demand((ty, key), expired);
        }),
        None => conditions.absent(&key.partition.0),
    }
}

/// Whether whatever is under a key of values is an item of the type that is there, since the key alone determines it.
pub fn is_certain(ty: &ObjectType, key: &Key) -> bool {
    expires(ty).is_none() && constants(ty).is_empty() && is_key_of(ty, key)
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
