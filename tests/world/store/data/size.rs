//! Items in; their bytes and what reading and writing them costs out (developer guide, "DynamoDB item sizes and
//! formats" and "DynamoDB throughput capacity").

use crate::store::data::attribute::{Attribute, Item};
use crate::store::error::{Answer, ModelError};

/// The largest item.
pub const ITEM_BYTES: usize = 400 * 1024;

pub fn item_bytes(item: &Item) -> usize {
    item.iter().map(|(name, value)| name.len() + value_bytes(value)).sum()
}

fn value_bytes(value: &Attribute) -> usize {
    // A list and a map have three bytes of their own, and one for each element.
    match value {
        Attribute::S(text) => text.len(),
        Attribute::N(number) => number.bytes(),
        Attribute::B(bytes) => bytes.len(),
        Attribute::Bool(_) | Attribute::Null => 1,
        Attribute::Ss(texts) => texts.iter().map(String::len).sum(),
        Attribute::Ns(numbers) => numbers.iter().map(|number| number.bytes()).sum(),
        Attribute::Bs(all) => all.iter().map(Vec::len).sum(),
        Attribute::L(values) => 3 + values.iter().map(|value| 1 + value_bytes(value)).sum::<usize>(),
        Attribute::M(members) => 3 + members.len() + item_bytes(members),
    }
}

/// An item may not be larger than 400 KB.
pub fn check_size(item: &Item) -> Answer<()> {
    match item_bytes(item) > ITEM_BYTES {
        true => Err(ModelError::invalid("Item size has exceeded the maximum allowed size")),
        false => Ok(()),
    }
}

/// The units of reading so many bytes: one for 4 KB, half as much if the reading is eventually consistent.
pub fn read_units(bytes: usize, consistent: bool) -> f64 {
    whole(bytes.div_ceil(4096).max(1)) * if consistent { 1.0 } else { 0.5 }
}

/// The units of writing so many bytes: one for 1 KB.
pub fn write_units(bytes: usize) -> f64 {
    whole(bytes.div_ceil(1024).max(1))
}

fn whole(count: usize) -> f64 {
    u32::try_from(count).map_or(f64::INFINITY, f64::from)
}

/// The rules of "DynamoDB item sizes and formats", each by an example.
#[test]
fn values_have_the_bytes_of_the_developer_guide() {
    let bytes = |value: serde_json::Value| {
        let item = Item::from([("name".to_owned(), Attribute::parse(&value).unwrap())]);
        item_bytes(&item) - "name".len()
    };
    for (value, expected) in [
        (serde_json::json!({ "S": "é" }), 2),
        (serde_json::json!({ "B": "AAE=" }), 2),
        (serde_json::json!({ "N": "12345" }), 4),
        (serde_json::json!({ "N": "-1200" }), 3),
        (serde_json::json!({ "N": "1.5" }), 3),
        (serde_json::json!({ "N": "0.0015" }), 2),
        (serde_json::json!({ "N": "0" }), 1),
        (serde_json::json!({ "NULL": true }), 1),
        (serde_json::json!({ "BOOL": false }), 1),
        (serde_json::json!({ "SS": ["a", "bc"] }), 3),
        (serde_json::json!({ "L": [] }), 3),
        (serde_json::json!({ "L": [{ "S": "ab" }, { "BOOL": true }] }), 8),
        (serde_json::json!({ "M": { "a": { "S": "bc" } } }), 7),
    ] {
        assert_eq!(bytes(value.clone()), expected, "{value}");
    }
    assert_eq!((read_units(0, true), read_units(4096, true), read_units(4097, false)), (1.0, 1.0, 1.0));
    assert_eq!((write_units(0), write_units(1024), write_units(1025)), (1.0, 1.0, 2.0));
}
