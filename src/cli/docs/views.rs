//! A model and its sample items in; the table and each index as a table of the samples out.

use super::markdown::{code, plain, table};
use super::recording::records::{Records, SampleItem};
use crate::schema::model::Model;
use crate::schema::table::Table;
use crate::table::bulk::export_lines::item_to_json;
use crate::table::data::attribute::Attribute;
use serde_json::Value;
use std::collections::HashMap;

/// Most items of one type in a view: enough to see their order among the others.
const OF_A_TYPE: usize = 3;
/// Most characters of a value in a cell.
const SIGNS: usize = 100;

/// The chapter with the views.
pub fn views(model: &Model, records: &Records) -> String {
    let mut text = format!(
        "## Samples\n\nUp to {OF_A_TYPE} items of each type, in the order of the keys; — marks an item without a type, such as the guard of a unique value or the record of a request.\n"
    );
    for (position, declared) in model.tables.iter().enumerate() {
        text += &format!("\n### Items of table {}\n\n", plain(&declared.name));
        text += &view(declared, position, None, records);
        for (index, of) in declared.indexes.iter().enumerate() {
            text += &format!("\n### Items of index {} of {}\n\n", plain(&of.name), plain(&declared.name));
            text += &view(declared, position, Some(index), records);
        }
    }
    text
}

fn view(declared: &Table, position: usize, index: Option<usize>, records: &Records) -> String {
    let keys: Vec<&str> = declared.keys_of(index).all().map(|key| key.name.as_str()).collect();
    let mut shown: HashMap<Option<&str>, usize> = HashMap::new();
    let (mut rows, mut more) = (Vec::new(), 0);
    for record in records
        .list
        .iter()
        .filter(|record| record.table == position && keys.iter().all(|key| record.item.contains_key(key)))
    {
        let count = shown.entry(record.ty.as_deref()).or_default();
        *count += 1;
        if *count <= OF_A_TYPE { rows.push(record) } else { more += 1 }
    }
    if rows.is_empty() {
        return "It holds no samples.\n".into();
    }
    rows.sort_by(|left, right| {
        let compared = keys.iter().map(|key| compare(left.item.get(key), right.item.get(key)));
        compared.fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then)
    });
    let heading: Vec<String> = ["type".to_owned()]
        .into_iter()
        .chain(keys.iter().map(|key| code(key)))
        .chain(["attributes".to_owned()])
        .collect();
    let heading: Vec<&str> = heading.iter().map(String::as_str).collect();
    let cells: Vec<Vec<String>> = rows.iter().map(|record| row(declared, index, &keys, record)).collect();
    let mut text = table(&heading, &cells);
    if more > 0 {
        text += &format!("\nAnd {more} more.\n");
    }
    text
}

fn row(declared: &Table, index: Option<usize>, keys: &[&str], record: &SampleItem) -> Vec<String> {
    let members = item_to_json(&record.item);
    let mut cells = vec![record.ty.clone().unwrap_or_else(|| "—".into())];
    cells.extend(keys.iter().map(|key| members.get(*key).map(|value| code(&shown(value))).unwrap_or_default()));
    let held = |name: &str| !keys.contains(&name) && declared.holds(index, name);
    cells.push(attributes(&members, &held));
    cells
}

/// The wanted attributes of an item in DynamoDB JSON: `name: value, …`.
pub fn attributes(members: &serde_json::Map<String, Value>, wanted: &dyn Fn(&str) -> bool) -> String {
    let named = members
        .iter()
        .filter(|(name, _)| wanted(name))
        .map(|(name, value)| format!("{} {}", plain(&format!("{name}:")), code(&shown(value))));
    named.collect::<Vec<_>>().join(", ")
}

/// A value in DynamoDB JSON without its types, shortened if it is long.
pub fn shown(value: &Value) -> String {
    let text = match bare(value) {
        Value::String(text) => text,
        value => value.to_string(),
    };
    match text.char_indices().nth(SIGNS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

fn bare(value: &Value) -> Value {
    let Some((kind, value)) = value.as_object().filter(|typed| typed.len() == 1).and_then(|typed| typed.iter().next())
    else {
        return value.clone();
    };
    match (kind.as_str(), value) {
        ("N", Value::String(number)) => serde_json::from_str(number).map_or_else(|_| value.clone(), Value::Number),
        ("NULL", _) => Value::Null,
        ("L", Value::Array(values)) => values.iter().map(bare).collect(),
        ("M", Value::Object(members)) => {
            Value::Object(members.iter().map(|(name, value)| (name.clone(), bare(value))).collect())
        }
        _ => value.clone(),
    }
}

/// The order of keys (DynamoDB developer guide, "Query": numbers by value, texts and bytes by their bytes).
fn compare(left: Option<&Attribute>, right: Option<&Attribute>) -> std::cmp::Ordering {
    match (left, right) {
        (Some(Attribute::N(left)), Some(Attribute::N(right))) => crate::schema::table::number::compare(left, right),
        (Some(Attribute::S(left)), Some(Attribute::S(right))) => left.cmp(right),
        (Some(Attribute::B(left)), Some(Attribute::B(right))) => left.cmp(right),
        _ => std::cmp::Ordering::Equal,
    }
}
