//! Items without a description of their table in, the indexes that their attributes show out: attributes in pairs with
//! the usual names of keys.

use crate::schema::table::{Index, KeyAttribute, KeyType, Projection, Table};
use crate::table::data::attribute::{Attribute, Item};
use std::collections::{BTreeMap, BTreeSet};

/// Adds the indexes whose keys the items have: `GSI1PK` with `GSI1SK`, `pk2` with `sk2`.
pub fn add_guessed(table: &mut Table, items: &[Item]) {
    let names: BTreeSet<&str> = items.iter().flat_map(|item| item.keys().map(|name| &**name)).collect();
    let mut found: BTreeMap<String, (Option<&str>, Option<&str>)> = BTreeMap::new();
    for name in names.into_iter().filter(|name| !table.is_primary_key(name)) {
        let Some((stem, is_partition)) = stem(name) else { continue };
        let pair = found.entry(stem).or_default();
        let place = if is_partition { &mut pair.0 } else { &mut pair.1 };
        *place = Some(name);
    }
    let key = |name: &str| {
        let kind = items.iter().find_map(|item| match item.get(name) {
            Some(Attribute::S(_)) => Some(KeyType::S),
            Some(Attribute::N(_)) => Some(KeyType::N),
            Some(Attribute::B(_)) => Some(KeyType::B),
            _ => None,
        });
        kind.map(|kind| KeyAttribute { name: name.to_owned(), kind })
    };
    let partition = table.partition.clone();
    for (stem, pair) in found {
        let local = pair.0.is_none();
        // A local index sorts the items of a partition anew.
        if local && (table.sort.is_none() || pair.1.and_then(key).is_none()) {
            continue;
        }
        let Some(of_index) = pair.0.map_or(Some(partition.clone()), key) else { continue };
        table.indexes.push(Index {
            name: stem.to_uppercase(),
            local,
            partition: vec![of_index],
            sort: pair.1.and_then(key).into_iter().collect(),
            projection: Projection::All,
            capacity: None,
        });
    }
}

/// The name of the index that an attribute is a key of, and whether it is the partition key.
fn stem(attribute: &str) -> Option<(String, bool)> {
    let plain = attribute.to_lowercase().replace(['_', '-'], "");
    let ends = [
        ("partitionkey", true),
        ("sortkey", false),
        ("hashkey", true),
        ("rangekey", false),
        ("pk", true),
        ("sk", false),
    ];
    for (end, is_partition) in ends {
        if let Some(stem) = plain.strip_suffix(end).filter(|stem| is_index_name(stem)) {
            return Some((stem.to_owned(), is_partition));
        }
        if let Some(number) = plain.strip_prefix(end).filter(|rest| rest.parse::<u8>().is_ok()) {
            return Some((format!("index{number}"), is_partition));
        }
    }
    None
}

fn is_index_name(stem: &str) -> bool {
    let letters = stem.trim_end_matches(|letter: char| letter.is_ascii_digit());
    ["gsi", "lsi", "gs", "index", "idx"].contains(&letters)
}
