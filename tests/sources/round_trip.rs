//! A law: random items that are written in any form of items are read back equal.

use crate::listing::Listing;
use flate2::Compression;
use flate2::write::GzEncoder;
use keyfold::sources::read::read;
use keyfold::table::bulk::export_lines::item_to_json;
use keyfold::table::data::attribute::{Attribute, Item};
use serde_json::{Value, json};
use std::io::Write;
use std::path::Path;

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |value| value.parse().unwrap())
}

fn text(random: &mut fastrand::Rng) -> String {
    const LETTERS: [&str; 12] = ["a", "B", "9", "#", " ", "\"", "\\", "\n", "é", "😀", "{\"Item\": ", "\u{1}"];
    (0..random.usize(1..8)).map(|_| LETTERS[random.usize(..LETTERS.len())]).collect()
}

fn numeral(random: &mut fastrand::Rng) -> String {
    match random.u8(..4) {
        0 => random.i64(-1000..1000).to_string(),
        1 => format!("{}.{}", random.u32(..), random.u8(1..10)),
        2 => "12345678901234567890123456789012345678".to_owned(),
        // serde_json writes the sign of an exponent.
        _ => format!("{}e+{}", random.u8(1..10), random.u8(1..100)),
    }
}

/// A value of a random type. JSON without types has no sets and no binary values.
fn value(random: &mut fastrand::Rng, depth: usize, is_plain: bool) -> Attribute {
    let kinds = if is_plain { 6 } else { 10 };
    match random.usize(..kinds) {
        0 => Attribute::N(numeral(random).into()),
        1 => Attribute::Bool(random.bool()),
        2 => Attribute::Null,
        3 if depth < 3 => Attribute::L((0..random.usize(..3)).map(|_| value(random, depth + 1, is_plain)).collect()),
        4 if depth < 3 => Attribute::M(members(random, depth + 1, is_plain)),
        6 => Attribute::B((0..random.usize(..4)).map(|_| random.u8(..)).collect()),
        7 => Attribute::Ss(vec![text(random).into(), "b".into()]),
        8 => Attribute::Ns(vec![numeral(random).into()]),
        9 => Attribute::Bs(vec![vec![random.u8(..)]]),
        _ => Attribute::S(text(random).into()),
    }
}

fn members(random: &mut fastrand::Rng, depth: usize, is_plain: bool) -> Item {
    (0..random.usize(..5)).map(|_| (text(random), value(random, depth, is_plain))).collect()
}

fn items(random: &mut fastrand::Rng, is_plain: bool) -> Vec<Item> {
    let item = |number: usize, random: &mut fastrand::Rng| {
        let mut item = members(random, 0, is_plain);
        item.insert("PK", Attribute::S(format!("ITEM#{number}").into()));
        item
    };
    (0..random.usize(1..20)).map(|number| item(number, random)).collect()
}

fn typed(item: &Item) -> Value {
    Value::Object(item_to_json(item))
}

fn plain(value: &Attribute) -> Value {
    match value {
        Attribute::S(text) => json!(text),
        Attribute::N(text) => text.as_str().parse::<serde_json::Number>().unwrap().into(),
        Attribute::Bool(truth) => json!(truth),
        Attribute::L(values) => values.iter().map(plain).collect(),
        Attribute::M(item) => plain_item(item),
        _ => Value::Null,
    }
}

fn plain_item(item: &Item) -> Value {
    item.iter().map(|(name, value)| (name.to_string(), plain(value))).collect()
}

fn lines(values: impl Iterator<Item = Value>) -> String {
    values.map(|value| value.to_string() + "\n").collect()
}

/// The text of items in each form.
fn forms(items: &[Item], is_plain: bool) -> Vec<(&'static str, String)> {
    if is_plain {
        let all: Vec<Value> = items.iter().map(plain_item).collect();
        let list = serde_json::to_string_pretty(&all).unwrap();
        return vec![("plain lines", lines(all.into_iter())), ("a plain list", list)];
    }
    let all: Vec<Value> = items.iter().map(typed).collect();
    let puts: Vec<Value> = all.iter().map(|item| json!({ "PutRequest": { "Item": item } })).collect();
    let transaction: Vec<Value> = all.iter().map(|item| json!({ "Put": { "TableName": "t", "Item": item } })).collect();
    let pretty: String = all.iter().map(|item| serde_json::to_string_pretty(item).unwrap()).collect();
    let change = |(place, item): (usize, &Value)| {
        let time = json!({ "WriteTimestampMicros": { "N": place.to_string() } });
        json!({ "Metadata": time, "Keys": { "PK": item["PK"] }, "NewImage": item })
    };
    vec![
        ("a scan", serde_json::to_string_pretty(&json!({ "Items": all, "Count": all.len() })).unwrap()),
        ("a scan on a line", json!({ "Count": all.len(), "Items": all }).to_string()),
        ("lines of items", lines(all.iter().map(|item| json!({ "Item": item })))),
        ("typed lines", lines(all.iter().cloned())),
        ("typed items over lines", pretty),
        ("a typed list", json!(all).to_string()),
        ("a request of puts", json!({ "t": puts }).to_string()),
        (
            "a request of puts over lines",
            serde_json::to_string_pretty(&json!({ "RequestItems": { "t": puts } })).unwrap(),
        ),
        ("a transaction", json!({ "TransactItems": transaction }).to_string()),
        ("an answer to gets", json!({ "Responses": { "t": all } }).to_string()),
        ("changes", lines(all.iter().enumerate().map(change))),
    ]
}

/// A form of the text that says the same.
fn written(text: &str, random: &mut fastrand::Rng) -> Vec<u8> {
    let marked = || [b"\xef\xbb\xbf", text.as_bytes()].concat();
    let utf_16 = || [0xfeff].into_iter().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect();
    match random.u8(..5) {
        0 => marked(),
        1 => utf_16(),
        2 => text.replace('\n', "\r\n").into_bytes(),
        3 => {
            let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
            packed.write_all(&marked()).unwrap();
            packed.finish().unwrap()
        }
        _ => text.as_bytes().to_vec(),
    }
}

fn read_back(file: &Path, text: &[u8]) -> Result<Vec<Item>, String> {
    std::fs::write(file, text).unwrap();
    let mut listing = Listing::default();
    read(&[file.to_owned()], &mut listing).map_err(|error| error.to_string())?;
    let mistake = listing.lines.iter().find(|line| line.starts_with("mistake"));
    mistake.map_or(Ok(listing.items), |mistake| Err(mistake.clone()))
}

#[test]
fn random_items_come_back_from_every_form() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("items");
    let first = number("KEYFOLD_LAW_SEED", 0);
    for seed in first..first + number("KEYFOLD_LAW_CASES", 60) {
        let mut random = fastrand::Rng::with_seed(seed);
        for is_plain in [false, true] {
            let items = items(&mut random, is_plain);
            for (form, text) in forms(&items, is_plain) {
                let read = read_back(&file, &written(&text, &mut random));
                assert_eq!(read.as_ref(), Ok(&items), "seed {seed}, {form}:\n{text}");
            }
        }
    }
}
