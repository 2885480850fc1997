//! A unique value → its guard: a separate item whose key contains the value.

use crate::execute::item::assemble::{place, unknown};
use crate::execute::item::conditions::Conditions;
use crate::execute::item::default_value::hexadecimal;
use crate::execute::item::identity;
use crate::execute::values::encode;
use crate::execute::values::invalid_value::InvalidValue;
use crate::schema::expression::claim::ClaimPath;
use crate::schema::model::keys::{GUARD_MARK, ItemKeys};
use crate::schema::model::{Model, ObjectType};
use crate::schema::scalar::value_type::ValueType;
use crate::schema::table::{KeyAttribute, KeyType, Table};
use crate::schema::template::Template;
use crate::schema::template::part::{Fields, Part, RenderMistake};
use crate::table::data::attribute::{Attribute, AttributeName, Item, Key, KeyValue};
use crate::table::data::call::Expression;
use serde_json::Value;
use sha2::{Digest, Sha256};

/// The longest value, in bytes, that a guard's key contains unchanged. A partition key has at most 2,048 bytes.
const MAX_IN_GUARD: usize = 1024;

/// The guard of a `@unique` field's value: a separate item in the same table. Its key contains type, field and value,
/// and its attributes hold the owner's key. `None` for null. In a schema that the checker accepts, no item type can
/// have its key.
///
/// The partition key is `Unique#User.email#` and the value as in other keys. The sort key is `Unique#User.email`. The
/// owner's key is in `ownerPK` and `ownerSK`, named after the key attributes. For a value longer than 1,024 bytes, the
/// key has its first 1,024 bytes and the SHA-256 digest of the whole value in hexadecimal. With the digest, it is
/// longer than the key of any unchanged value. A number sort key is 0. A partition key cannot be a number. If the
/// owner's key has claims, they come before the value, each with a `#` after it, so that callers whose items are apart
/// learn nothing of each other's values.
pub fn guard(
    model: &Model,
    ty: &ObjectType,
    field: &str,
    value: &Value,
    owner: &Key,
) -> Result<Option<Item>, InvalidValue> {
    let (table, keys) = place(model, ty)?;
    let invalid = |message: &str| InvalidValue { field: field.to_owned(), message: message.to_owned() };
    let Some(stored) = ty.stored(field) else { return Err(unknown(ty, field)) };
    if value.is_null() {
        return Ok(None);
    }
    let unfit = || invalid(&stored.value.coerce(value).err().unwrap_or_else(|| "It cannot be unique.".to_owned()));
    // Use the stored form: two instants in one second are stored as one epoch.
    let text = match encode::attribute(&stored.value, value) {
        Some(Attribute::S(text) | Attribute::N(text)) => text,
        _ => stored.value.to_text(value).ok_or_else(unfit)?.into(),
    };
    // Values that the keys do not distinguish are one value.
    let text = match keys.case_of(field) {
        Some(case) => case.fold(&text).into_owned().into(),
        None => text,
    };
    let mark = format!("{GUARD_MARK}{}.{field}", ty.name);
    let partition = match text.len() {
        0..=MAX_IN_GUARD => text,
        _ => {
            let digest = hexadecimal(&Sha256::digest(text.as_bytes()));
            format!("{}#{digest}", &text[..text.floor_char_boundary(MAX_IN_GUARD)]).into()
        }
    };
    let partition = format!("{mark}#{}{partition}", claims(keys, owner)?);
    let typed = |key: &KeyAttribute, text: String| match key.kind {
        KeyType::S => Attribute::S(text.into()),
        KeyType::B => Attribute::B(text.into_bytes()),
        KeyType::N => Attribute::N("0".into()),
    };
    if table.partition.kind == KeyType::N {
        return Err(invalid("It cannot be unique in a table whose partition key is a number."));
    }
    let mut item = Item::from([(table.partition.name.clone(), typed(&table.partition, partition))]);
    if let Some(sort) = &table.sort {
        item.insert(sort.name.clone(), typed(sort, mark));
    }
    item.extend(owner_attributes(model, ty, owner));
    Ok(Some(item))
}

/// What a guard reserves, and for which item.
#[derive(Debug)]
pub struct Reservation<'m> {
    /// The type.
    pub ty: &'m ObjectType,
    /// The name of the unique field.
    pub field: &'m str,
    /// The key of the item that has the value.
    pub owner: Key,
}

/// What an item of a table reserves; `None` if it is no guard of a unique field of the schema.
pub fn reservation<'m>(model: &'m Model, table: &Table, item: &Item) -> Option<Reservation<'m>> {
    let partition = match item.get(&table.partition.name)? {
        Attribute::S(text) => text.to_string(),
        Attribute::B(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        _ => return None,
    };
    let (ty, field) = partition.strip_prefix(GUARD_MARK)?.split('#').next()?.split_once('.')?;
    let ty = model.types.get(ty).filter(|ty| place(model, ty).is_ok_and(|(of, _)| of.name == table.name))?;
    let field = ty.fields.get(field).filter(|field| field.rules.unique)?;
    let part = |key: &KeyAttribute| {
        Some((key.name.as_str().into(), KeyValue::new(item.get(&owner_attribute(table, &key.name))?)?))
    };
    let sort = match &table.sort {
        Some(sort) => Some(part(sort)?),
        None => None,
    };
    Some(Reservation { ty, field: &field.name, owner: Key { partition: part(&table.partition)?, sort } })
}

/// Gives a guard the time of its item, with which it expires: as soon as the item is not there, its value is free.
pub fn end_with_item(guard: &mut Item, ty: &ObjectType, time: Option<&Attribute>) {
    let name = identity::expires(ty);
    guard.extend(name.zip(time).map(|(name, time)| (name.to_owned(), time.clone())));
}

/// The condition that a guard is the owner's or missing. A guard of another item is never written and never deleted: it
/// says that the other has the value, even if the owner has it, too, because another program wrote it.
pub fn is_owned(model: &Model, ty: &ObjectType, owner: &Key) -> Option<Expression> {
    let mut conditions = Conditions::default();
    conditions.absent_or_with(&owner.partition.0, owner_attributes(model, ty, owner));
    conditions.build()
}

/// A guard's attributes with the owner's key.
pub fn owner_attributes(model: &Model, ty: &ObjectType, owner: &Key) -> Vec<(String, Attribute)> {
    let Ok((table, _)) = place(model, ty) else { return Vec::new() };
    let parts = std::iter::once(&owner.partition).chain(&owner.sort);
    parts.map(|(name, part)| (owner_attribute(table, name), part.clone().into())).collect()
}

/// The guard's attribute for the owner's key attribute of this name. It is never a key attribute. An index contains a
/// guard only by its time to live.
pub fn owner_attribute(table: &Table, key: &str) -> String {
    let mut name = format!("owner{key}");
    while table.key_attributes().iter().any(|taken| taken.name == name) {
        name.insert_str(0, "owner");
    }
    name
}

/// The claims in an owner's key, each escaped and followed by `#`.
fn claims(keys: &ItemKeys, owner: &Key) -> Result<String, InvalidValue> {
    let of_part = |(name, value): &(AttributeName, KeyValue)| {
        let (KeyValue::S(text), Some(templates)) = (value, keys.keys.get(&**name)) else { return Vec::new() };
        templates.iter().find_map(|template| template.read(text)).unwrap_or_default()
    };
    let read: Fields = std::iter::once(&owner.partition).chain(&owner.sort).flat_map(of_part).collect();
    let part = |claim: ClaimPath| {
        let placeholder =
            Part::Placeholder { field: claim.to_string(), value: ValueType::Claim, width: None, limits: None };
        [placeholder, Part::Literal("#".to_owned())]
    };
    let template = Template::made_of(keys.claims().into_iter().flat_map(part).collect());
    let value = |name: &str| read.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
    template
        .render(&value)
        .map_err(|RenderMistake::Unfit(field, message)| InvalidValue { field, message })
        .map(Option::unwrap_or_default)
}
