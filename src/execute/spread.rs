//! The numbers of shards and replicas: the values of a key in, which shard its item is in, or which replica is read, out; and an item as
//! its copy of another number. Must not know how it is read or written.
//!
//! **The number of a shard is a storage format.** It is the first eight bytes, as a big-endian number, of the SHA-256 hash of
//!
//! 1. the partition key of the table with the number left out: text as it stands in the key, a number in decimal text, binary as it is;
//! 2. a zero byte;
//! 3. the sort key of the table likewise, if the table has one;
//!
//! modulo the number of shards. So an item's shard follows from its primary key, in every process, and no update changes it: a shard in
//! the keys of an index is the same number. A replica is chosen by the same function, of the value that it is bound to in place of the
//! partition key, or else of as much of the key as is bound.

use super::encode;
use super::error::ErrorCode;
use super::keys::{MAX_COMBINATIONS, Values};
use super::state::Failure;
use crate::plan::tree::KeyBinding;
use crate::schema::model::ItemKeys;
use crate::schema::spread::{Reading, Spread, SpreadKind, Which};
use crate::schema::table::{KeyAttribute, KeyType, Table};
use crate::schema::template::{Part, Template};
use crate::table::attribute::{Attribute, Item};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::sync::Arc;

/// Gives a field's value.
type Lookup<'a> = &'a dyn Fn(&str) -> Option<Value>;

/// The number that the parts of a key tell.
fn number(spread: Spread, partition: &[u8], sort: &[u8]) -> u64 {
    let hash = Sha256::new().chain_update(partition).chain_update([0]).chain_update(sort).finalize();
    let first = hash.iter().take(8).fold(0, |number, byte| number << 8 | u64::from(*byte));
    first % u64::from(spread.count)
}

/// The number of the shard that an item with these values is in; `None` where they do not make a primary key.
pub fn shard_of(table: &Table, keys: &ItemKeys, spread: Spread, value: Lookup<'_>) -> Option<u64> {
    let part = |key: &KeyAttribute| {
        let templates = keys.keys.get(&key.name)?;
        let there = |template: &&Template| template.fields().into_iter().all(|field| value(field).is_some_and(|value| !value.is_null()));
        part(key, templates.iter().find(there)?, value)
    };
    let sort = match &table.sort {
        Some(key) => part(key)?,
        None => Vec::new(),
    };
    Some(number(spread, &part(&table.partition)?, &sort))
}

/// The values that keys are made of: those given, and the number of the item's shard, or that of its first copy.
pub fn of_item<'a>(table: &Table, keys: &ItemKeys, value: Lookup<'a>) -> impl Fn(&str) -> Option<Value> + 'a {
    let number = |spread: Spread| match spread.kind {
        SpreadKind::Shard => shard_of(table, keys, spread, value),
        SpreadKind::Replica => Some(0),
    };
    let number = keys.spread().and_then(|spread| Some((spread.placeholder(), json!(number(spread)?))));
    move |field| match &number {
        Some((name, number)) if name == field => Some(number.clone()),
        _ => value(field),
    }
}

/// A part of a key without the number.
fn part(key: &KeyAttribute, template: &Template, value: Lookup<'_>) -> Option<Vec<u8>> {
    match (key.kind, template.parts.as_slice()) {
        (KeyType::N | KeyType::B, [Part::Placeholder { field, value: kind, .. }]) => match encode::attribute(kind, &value(field)?)? {
            Attribute::N(text) | Attribute::S(text) => Some(text.into_bytes()),
            Attribute::B(bytes) => Some(bytes),
            _ => None,
        },
        _ => template.without_spread().render(value).ok().flatten().map(String::into_bytes),
    }
}

/// The combinations of a read's values with the numbers of the shards, or of the replica, that it reads.
pub fn numbered(table: &Table, key: &KeyBinding, reading: Reading, all: Vec<Values>) -> Result<Vec<Values>, Arc<Failure>> {
    let Reading { spread, which } = reading;
    let name = spread.placeholder();
    let with = |mut values: Values, number: u64| {
        values.insert(name.clone(), json!(number));
        values
    };
    Ok(match (which, spread.kind) {
        (Which::Every, _) => {
            let most = MAX_COMBINATIONS / usize::from(spread.count);
            if all.len() > most {
                let message = format!("At most {most} values can be asked for at once, since each is spread over {} shards.", spread.count);
                return Err(Failure::new(ErrorCode::LimitExceeded, message));
            }
            let numbers = |values: Values| (0..u64::from(spread.count)).map(move |number| (values.clone(), number));
            all.into_iter().flat_map(numbers).map(|(values, number)| with(values, number)).collect()
        }
        (Which::Bound, SpreadKind::Shard) => all,
        (Which::Bound, SpreadKind::Replica) => {
            let chosen = |values: Values| {
                let text = match values.get(&name) {
                    Some(Value::String(text)) => text.clone(),
                    value => value.map(Value::to_string).unwrap_or_default(),
                };
                with(values, number(spread, text.as_bytes(), &[]))
            };
            all.into_iter().map(chosen).collect()
        }
        (Which::OfKey, _) => {
            // No item has a key that cannot be made.
            let chosen = |values: Values| Some(with(values.clone(), of_binding(table, key, spread, &values)?));
            all.into_iter().filter_map(chosen).collect()
        }
    })
}

/// The number that the bound part of a key tells: where all of it is bound, that of its item.
fn of_binding(table: &Table, key: &KeyBinding, spread: Spread, values: &Values) -> Option<u64> {
    let value = |field: &str| values.get(field).cloned();
    let kind = |attribute: &str| table.key_attributes().into_iter().find(|key| key.name == attribute);
    let partition = part(kind(&key.partition_attribute)?, key.partition.as_ref()?, &value)?;
    let sort = match (&key.sort, key.sort_attribute.as_deref().and_then(kind)) {
        (Some(template), Some(attribute)) if template.fields().iter().all(|field| values.contains_key(*field)) => {
            part(attribute, template, &value)?
        }
        _ => Vec::new(),
    };
    Some(number(spread, &partition, &sort))
}

/// An item, or as much of one as is known, as the copy of this number: its key attributes hold the number in place of their own.
pub fn as_copy(table: &Table, keys: &ItemKeys, item: &Item, number: u8) -> Item {
    let mut copy = item.clone();
    let Some(name) = keys.replicas().map(Spread::placeholder) else { return copy };
    for key in table.key_attributes() {
        let (Some(Attribute::S(text)), Some(templates)) = (item.get(&key.name), keys.keys.get(&key.name)) else { continue };
        let read = templates.iter().find_map(|template| Some((template, template.read(text)?)));
        let Some((template, fields)) = read.filter(|(template, _)| template.spread().is_some()) else { continue };
        let value = |field: &str| match field == name {
            true => Some(json!(number)),
            false => fields.iter().find(|(known, _)| known == field).map(|(_, value)| value.clone()),
        };
        if let Ok(Some(text)) = template.render(&value) {
            copy.insert(key.name.clone(), Attribute::S(text));
        }
    }
    copy
}
