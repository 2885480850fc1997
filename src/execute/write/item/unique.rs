//! A unique value → its guard: a separate item whose key contains the value.

use crate::execute::values::encode;
use crate::execute::write::item::assemble::{place, unknown};
use crate::execute::write::item::default_value::hexadecimal;
use crate::execute::write::item::invalid_value::InvalidValue;
use crate::schema::model::{Model, ObjectType};
use crate::schema::table::{KeyAttribute, KeyType, Table};
use crate::table::data::attribute::{Attribute, Item, Key};
use serde_json::Value;
use sha2::{Digest, Sha256};

/// The longest value, in bytes, that a guard's key contains unchanged. A partition key has at most 2,048 bytes.
const LONGEST_IN_GUARD: usize = 1024;

/// The guard of a `@unique` field's value: a separate item in the same table. Its key contains type, field and value, and its attributes
/// hold the owner's key. `None` for null. In a schema that the checker accepts, no item type can have its key.
///
/// The partition key is `Unique#User.email#` and the value as in other keys. The sort key is `Unique#User.email`. The owner's key is in
/// `ownerPK` and `ownerSK`, named after the key attributes. For a value longer than 1,024 bytes, the key has its first 1,024 bytes and the
/// SHA-256 digest of the whole value in hexadecimal. With the digest, it is longer than the key of any unchanged value. A number sort key
/// is 0. A partition key cannot be a number.
pub fn guard(model: &Model, ty: &ObjectType, field: &str, value: &Value, owner: &Key) -> Result<Option<Item>, InvalidValue> {
    let (table, _) = place(model, ty)?;
    let invalid = |message: &str| InvalidValue { field: field.to_owned(), message: message.to_owned() };
    let Some(stored) = ty.stored(field) else { return Err(unknown(ty, field)) };
    if value.is_null() {
        return Ok(None);
    }
    let unfit = || invalid(&stored.value.coerce(value).err().unwrap_or_else(|| "It cannot be unique.".to_owned()));
    // Use the stored form: two instants in one second are stored as one epoch.
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
        return Err(invalid("It cannot be unique in a table whose partition key is a number."));
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

/// The guard's attribute for the owner's key attribute of this name. It is never a key attribute, so no index contains the guard.
pub fn owner_attribute(table: &Table, key: &str) -> String {
    let mut name = format!("owner{key}");
    while table.key_attributes().iter().any(|taken| taken.name == name) {
        name.insert_str(0, "owner");
    }
    name
}
