//! An item of a file and its table in; why DynamoDB would not take it, and what distinguishes its key from all others,
//! out. Must not know files.
//!
//! DynamoDB developer guide, "Quotas in Amazon DynamoDB" and "Supported data types and naming rules".

use crate::schema::table::number::Number;
use crate::schema::table::{KeyAttribute, KeyAttributes, Table};
use crate::table::data::attribute::{Attribute, Item, Key, KeyValue};
use crate::table::data::item_size::item_size;
use crate::table::data::key_identity::canonical;
use crate::table::data::limits::{ITEM_BYTES, PARTITION_KEY_BYTES, SORT_KEY_BYTES};
use sha2::{Digest, Sha256};
use std::collections::HashSet;
use std::hash::Hash;

/// What distinguishes a key of a table from all others: two keys with one digest are as likely as a collision of 128
/// bits.
pub type KeyDigest = [u8; 16];

/// Why no item of the table can be this one, whose key attributes have their types; `None` if it can.
pub fn misfit(table: &Table, item: &Item) -> Option<String> {
    let places = std::iter::once(None).chain((0..table.indexes.len()).map(Some));
    let of_place = |keys: KeyAttributes<'_>| {
        let partition = keys.partition.iter().find_map(|key| too_long(item, key, PARTITION_KEY_BYTES));
        partition.or_else(|| keys.sort.iter().find_map(|key| too_long(item, key, SORT_KEY_BYTES)))
    };
    let of_keys = || { places }.find_map(|place| of_place(table.keys_of(place)));
    let of_values = || {
        item.members()
            .find_map(|(name, value)| repeats(value).then(|| format!("the set in \"{name}\" repeats a value")))
    };
    too_large(item).or_else(of_keys).or_else(of_values)
}

/// The digest of an item's key; `None` if the item lacks a key attribute.
pub fn key_digest(table: &Table, item: &Item) -> Option<KeyDigest> {
    let key = Key::new(item, &table.partition.name, table.sort.as_ref().map(|sort| sort.name.as_str()))?;
    let key = canonical(&key);
    let mut hash = Sha256::new();
    for (_, value) in std::iter::once(&key.partition).chain(key.sort.as_ref()) {
        let bytes: &[u8] = match value {
            KeyValue::S(text) => text.as_bytes(),
            KeyValue::N(text) => text.as_bytes(),
            KeyValue::B(bytes) => bytes,
        };
        hash.update(bytes.len().to_le_bytes());
        hash.update(bytes);
    }
    hash.finalize().first_chunk().copied()
}

fn too_large(item: &Item) -> Option<String> {
    let most = item_size(item);
    // Zeros around the digits of a number take no room.
    let size =
        if most > ITEM_BYTES { most - item.members().map(|(_, value)| zeros(value)).sum::<usize>() } else { most };
    (size > ITEM_BYTES).then(|| format!("the item has {size} bytes, more than the {ITEM_BYTES} of an item"))
}

/// The bytes by which the approximate size of a value may be too large.
fn zeros(value: &Attribute) -> usize {
    let of_number = |text: &str| {
        let digits = |text: &str| text.bytes().filter(u8::is_ascii_digit).count();
        let mantissa: String =
            text.split(['e', 'E']).next().unwrap_or(text).chars().filter(char::is_ascii_digit).collect();
        digits(text).div_ceil(2) - mantissa.trim_matches('0').len().div_ceil(2)
    };
    match value {
        Attribute::N(text) => of_number(text),
        Attribute::Ns(texts) => texts.iter().map(|text| of_number(text)).sum(),
        Attribute::L(values) => values.iter().map(zeros).sum(),
        Attribute::M(item) => item.members().map(|(_, value)| zeros(value)).sum(),
        _ => 0,
    }
}

fn too_long(item: &Item, key: &KeyAttribute, most: usize) -> Option<String> {
    let length = match item.get(&key.name)? {
        Attribute::S(text) => text.len(),
        Attribute::B(bytes) => bytes.len(),
        _ => 0,
    };
    (length > most)
        .then(|| format!("the key attribute \"{}\" has {length} bytes, and at most {most} are possible", key.name))
}

/// Whether a set in a value has an element twice.
fn repeats(value: &Attribute) -> bool {
    fn twice<T: Hash + Eq>(values: impl Iterator<Item = T>) -> bool {
        let mut seen = HashSet::new();
        !values.into_iter().all(|value| seen.insert(value))
    }
    let number = |text: &str| Number::parse(text).map_or_else(|_| text.to_owned(), |number| number.canonical());
    match value {
        Attribute::Ss(texts) => twice(texts.iter().map(|text| text.as_bytes())),
        Attribute::Ns(texts) => twice(texts.iter().map(|text| number(text))),
        Attribute::Bs(all) => twice(all.iter()),
        Attribute::L(values) => values.iter().any(repeats),
        Attribute::M(item) => item.members().any(|(_, value)| repeats(value)),
        _ => false,
    }
}
