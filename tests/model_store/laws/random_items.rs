//! Random tables, keys, values and items.

use serde_json::{Map, Value, json};

pub type Rng = fastrand::Rng;

/// The time of the first call, in seconds.
pub const BEGIN: u64 = 1_800_000_000;
/// Waits and times of expiry are so many seconds apart, or a multiple, so that they meet.
pub const MINUTE: u64 = 60;

/// The tables: one with indexes, a stream and items that expire, one without a sort key, one with other types of keys.
pub fn tables() -> Vec<Value> {
    let key = |partition: &str, sort: &str| {
        let roles = [(partition, "HASH"), (sort, "RANGE")].into_iter().filter(|(name, _)| !name.is_empty());
        roles.map(|(name, role)| json!({ "AttributeName": name, "KeyType": role })).collect::<Value>()
    };
    let types = |types: &[(&str, &str)]| {
        types.iter().map(|(name, kind)| json!({ "AttributeName": name, "AttributeType": kind })).collect::<Value>()
    };
    let index = |name: &str, keys: Value, projection: Value| {
        let mut index = json!({ "IndexName": name, "KeySchema": keys });
        index["Projection"] = projection;
        index
    };
    vec![
        json!({
            "TableName": "notes",
            "AttributeDefinitions": types(&[("pk", "S"), ("sk", "S"), ("gp", "S"), ("gs", "N"), ("ls", "N")]),
            "KeySchema": key("pk", "sk"),
            "GlobalSecondaryIndexes": [
                index("all", key("gp", "gs"), json!({ "ProjectionType": "ALL" })),
                index("keys", key("gp", ""), json!({ "ProjectionType": "KEYS_ONLY" })),
                index("turned", key("sk", "pk"),
                    json!({ "ProjectionType": "INCLUDE", "NonKeyAttributes": ["n", "s"] })),
            ],
            "LocalSecondaryIndexes": [index("local", key("pk", "ls"), json!({ "ProjectionType": "ALL" }))],
            "BillingMode": "PAY_PER_REQUEST",
            "StreamSpecification": { "StreamEnabled": true, "StreamViewType": "NEW_AND_OLD_IMAGES" },
        }),
        json!({
            "TableName": "counters",
            "AttributeDefinitions": types(&[("id", "S")]),
            "KeySchema": key("id", ""),
            "BillingMode": "PAY_PER_REQUEST",
        }),
        json!({
            "TableName": "blobs",
            "AttributeDefinitions": types(&[("bp", "B"), ("bn", "N")]),
            "KeySchema": key("bp", "bn"),
            "BillingMode": "PAY_PER_REQUEST",
        }),
    ]
}

pub fn one_in(rng: &mut Rng, count: u32) -> bool {
    rng.u32(..count) == 0
}

pub fn pick<T: Copy>(rng: &mut Rng, choices: &[T]) -> T {
    choices[rng.usize(..choices.len())]
}

pub fn table(rng: &mut Rng) -> &'static str {
    pick(rng, &["notes", "notes", "notes", "notes", "counters", "blobs"])
}

/// The key attributes of an index or a table.
pub fn key_names(table: &str, index: Option<&str>) -> (&'static str, Option<&'static str>) {
    match (table, index) {
        ("notes", None) => ("pk", Some("sk")),
        (_, Some("all")) => ("gp", Some("gs")),
        (_, Some("keys")) => ("gp", None),
        (_, Some("turned")) => ("sk", Some("pk")),
        (_, Some("local")) => ("pk", Some("ls")),
        ("counters", _) => ("id", None),
        _ => ("bp", Some("bn")),
    }
}

/// A value of a key attribute.
pub fn key_value(rng: &mut Rng, name: &str) -> Value {
    match name {
        "pk" | "id" => json!({ "S": pick(rng, &["p", "q"]) }),
        // Most calls meet an item.
        "sk" if rng.u8(..3) > 0 => json!({ "S": pick(rng, &["a", "ab"]) }),
        "sk" => json!({ "S": pick(rng, &["a", "ab", "abc", "b", "é", "z", "Z", "\u{ffff}", "😀", "a#1"]) }),
        "gp" => json!({ "S": pick(rng, &["g", "h"]) }),
        "bp" => json!({ "B": pick(rng, &["AA==", "/w=="]) }),
        "expires" if !one_in(rng, 10) => json!({ "N": (BEGIN + MINUTE * rng.u64(..10)).to_string() }),
        _ => json!({ "N": number(rng) }),
    }
}

pub fn key(rng: &mut Rng, table: &str) -> Map<String, Value> {
    let (partition, sort) = key_names(table, None);
    let names = [Some(partition), sort].into_iter().flatten();
    let mut key: Map<String, Value> = names.map(|name| (name.to_owned(), key_value(rng, name))).collect();
    if one_in(rng, 60) {
        match rng.u8(..4) {
            0 => drop(key.remove(partition)),
            1 => drop(key.insert("other".to_owned(), json!({ "S": "x" }))),
            2 => drop(key.insert(partition.to_owned(), json!({ "S": "" }))),
            _ => drop(key.insert(partition.to_owned(), json!({ "BOOL": true }))),
        }
    }
    key
}

pub fn number(rng: &mut Rng) -> &'static str {
    let numbers = [
        "0",
        "1",
        "-1",
        "2.50",
        "10",
        "9",
        "1E2",
        "-0.5",
        "100",
        "12345678901234567890123456789012345678",
        "1e-20",
        "3",
        "007",
    ];
    pick(rng, &numbers)
}

/// The attributes of items. Most values have the type of their name.
pub const ATTRIBUTES: [&str; 11] = ["n", "s", "b", "t", "u", "ss", "ns", "bs", "l", "m", "a.b"];

pub fn value(rng: &mut Rng, name: &str) -> Value {
    if one_in(rng, 15) {
        let other = pick(rng, &ATTRIBUTES);
        return usual(rng, other, 2);
    }
    usual(rng, name, 2)
}

/// A value of the type that the attribute has as a rule.
pub fn usual(rng: &mut Rng, name: &str, depth: u32) -> Value {
    let some = |rng: &mut Rng, all: &[&str]| -> Vec<String> {
        let from = rng.usize(..all.len());
        all[from..].iter().take(rng.usize(1..4)).map(|text| (*text).to_owned()).collect()
    };
    match name {
        "n" | "gs" | "ls" => json!({ "N": number(rng) }),
        "s" | "a.b" | "gp" => {
            json!({ "S": pick(rng, &["", "a", "ab", "abc", "b", "é", "g", "h", "long text of an item"]) })
        }
        "b" => json!({ "B": pick(rng, &["", "AA==", "AAE=", "/w=="]) }),
        "t" => json!({ "BOOL": rng.bool() }),
        "u" => json!({ "NULL": true }),
        "ss" => json!({ "SS": some(rng, &["a", "ab", "b", "c", "d"]) }),
        "ns" => json!({ "NS": some(rng, &["1", "2.5", "10", "-3"]) }),
        "bs" => json!({ "BS": some(rng, &["AA==", "AAE=", "/w=="]) }),
        "l" => {
            let elements = (0..rng.usize(..6)).map(|_| inner(rng, depth)).collect::<Vec<_>>();
            json!({ "L": elements })
        }
        "m" => {
            let names = ["x", "y", "l", "m"].into_iter().filter(|_| rng.bool()).collect::<Vec<_>>();
            let members = names.into_iter().map(|name| (name.to_owned(), inner_named(rng, name, depth)));
            json!({ "M": members.collect::<Map<_, _>>() })
        }
        other => key_value(rng, other),
    }
}

fn inner(rng: &mut Rng, depth: u32) -> Value {
    let name = if depth > 0 { pick(rng, &ATTRIBUTES) } else { pick(rng, &ATTRIBUTES[..5]) };
    usual(rng, name, depth.saturating_sub(1))
}

fn inner_named(rng: &mut Rng, name: &str, depth: u32) -> Value {
    match name {
        "x" => usual(rng, "n", depth),
        "y" => usual(rng, "s", depth),
        name if depth > 0 => usual(rng, name, depth - 1),
        _ => usual(rng, "t", depth),
    }
}

pub fn item(rng: &mut Rng, table: &str) -> Map<String, Value> {
    let mut item = key(rng, table);
    for _ in 0..rng.usize(1..9) {
        let name = pick(rng, &ATTRIBUTES);
        item.insert(name.to_owned(), value(rng, name));
    }
    if table == "notes" {
        for name in ["gp", "gs", "ls"].into_iter().filter(|_| rng.u8(..3) > 0).collect::<Vec<_>>() {
            let wrong = one_in(rng, 60);
            let value = if wrong { value(rng, "b") } else { key_value(rng, name) };
            item.insert(name.to_owned(), value);
        }
        if one_in(rng, 4) {
            item.insert("expires".to_owned(), key_value(rng, "expires"));
        }
    }
    if one_in(rng, 12) {
        item.insert("long".to_owned(), json!({ "S": "x".repeat(rng.usize(1..9_000)) }));
    }
    item
}
