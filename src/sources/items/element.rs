//! A JSON object in, the items in it out: alone, in what a call gives, or in a request. Must not know files.

use crate::sources::format::SourceFormat;
use serde_json::{Map, Value};

/// An object's members.
pub type Members = Map<String, Value>;

/// Members that stand beside the items in what a call gives or takes.
const BESIDE: [&str; 13] = [
    "ConsumedCapacity",
    "Count",
    "ScannedCount",
    "LastEvaluatedKey",
    "NextToken",
    "ResponseMetadata",
    "$metadata",
    "TableName",
    "Metadata",
    "UnprocessedKeys",
    "UnprocessedItems",
    "ReturnConsumedCapacity",
    "ItemCollectionMetrics",
];

/// What an object is.
pub enum JsonElement {
    /// Items, each with the table that it names.
    Items(SourceFormat, Vec<(Option<String>, Members)>),
    /// A change of an item.
    Change(KeyChange),
    /// Something else, perhaps an item itself.
    Other(Members),
}

/// A record of an incremental export (DynamoDB developer guide, "DynamoDB table export output format").
pub struct KeyChange {
    /// The key of the item.
    pub keys: Members,
    /// When it changed, in microseconds since 1970.
    pub time: u64,
    /// The item after the change; nothing if it was deleted.
    pub image: Option<Members>,
}

impl JsonElement {
    /// What an object is.
    pub fn recognised(mut members: Members) -> Self {
        let is = |name: &str, of_kind: fn(&Value) -> bool| members.get(name).is_some_and(of_kind);
        let only = |names: &[&str]| members.keys().all(|name| names.contains(&name.as_str()) || is_beside(name));
        if is("Keys", Value::is_object) && is("Metadata", Value::is_object) {
            return Self::Change(KeyChange::new(members));
        }
        let format = if is("Item", Value::is_object) && only(&["Item"]) {
            if members.len() == 1 { SourceFormat::ItemLines } else { SourceFormat::GetOutput }
        } else if is("Items", Value::is_array) && only(&["Items"]) {
            SourceFormat::ScanOutput
        } else if is_request(&members) {
            SourceFormat::WriteRequest
        } else if !members.is_empty() && members.values().all(has_writes) {
            members = Members::from_iter([("RequestItems".to_owned(), Value::Object(members))]);
            SourceFormat::WriteRequest
        } else if (is("Responses", Value::is_object) || is("Responses", Value::is_array)) && only(&["Responses"]) {
            SourceFormat::BatchOutput
        } else {
            return Self::Other(members);
        };
        let mut items = Vec::new();
        let table = text(members.remove("TableName"));
        for (name, value) in members {
            collect(&name, value, table.as_deref(), &mut items);
        }
        Self::Items(format, items)
    }
}

/// Whether a member may stand beside items.
pub fn is_beside(name: &str) -> bool {
    BESIDE.contains(&name)
}

/// Whether an object is a write, or a request of writes.
fn is_request(members: &Members) -> bool {
    let only = |names: &[&str]| members.keys().all(|name| names.contains(&name.as_str()) || is_beside(name));
    let has = |name: &str, is: fn(&Value) -> bool| members.get(name).is_some_and(is);
    let is_put = only(&["PutRequest", "DeleteRequest"]) && !only(&[]);
    let is_of_transaction = only(&["Put", "Update", "Delete", "ConditionCheck"]) && members.values().all(is_write);
    let is_whole = has("RequestItems", Value::is_object) || has("TransactItems", Value::is_array);
    is_put || is_of_transaction || (is_whole && only(&["RequestItems", "TransactItems"]))
}

fn is_write(value: &Value) -> bool {
    value.get("TableName").is_some()
}

/// Whether a value is a table's list of writes.
fn has_writes(value: &Value) -> bool {
    ["PutRequest", "DeleteRequest"].iter().any(|name| value[0].get(name).is_some_and(Value::is_object))
}

/// The items in a member.
fn collect(name: &str, value: Value, table: Option<&str>, items: &mut Vec<(Option<String>, Members)>) {
    let mut all = |values: Vec<Value>, table: Option<&str>| {
        for value in values {
            let Value::Object(members) = value else { continue };
            match JsonElement::recognised(members) {
                JsonElement::Items(_, inner) => {
                    items.extend(inner.into_iter().map(|(own, item)| (own.or(table.map(str::to_owned)), item)));
                }
                JsonElement::Other(members) => items.push((table.map(str::to_owned), members)),
                JsonElement::Change(_) => {}
            }
        }
    };
    match (name, value) {
        ("Item", Value::Object(item)) => items.push((table.map(str::to_owned), item)),
        ("Items" | "TransactItems" | "Responses", Value::Array(values)) => all(values, table),
        ("RequestItems" | "Responses", Value::Object(tables)) => {
            for (table, values) in tables {
                let Value::Array(values) = values else { continue };
                all(values, Some(&table));
            }
        }
        ("PutRequest" | "Put", Value::Object(mut write)) => {
            let own = text(write.remove("TableName")).or(table.map(str::to_owned));
            if let Some(Value::Object(item)) = write.remove("Item") {
                items.push((own, item));
            }
        }
        _ => {}
    }
}

fn text(value: Option<Value>) -> Option<String> {
    match value {
        Some(Value::String(text)) => Some(text),
        _ => None,
    }
}

impl KeyChange {
    fn new(mut members: Members) -> Self {
        let mut object = |name: &str| match members.remove(name) {
            Some(Value::Object(members)) => Some(members),
            _ => None,
        };
        let (keys, image) = (object("Keys").unwrap_or_default(), object("NewImage"));
        let metadata = object("Metadata").unwrap_or_default();
        let time = match metadata.get("WriteTimestampMicros") {
            Some(Value::Object(typed)) => text(typed.get("N").cloned()).and_then(|text| text.parse().ok()),
            Some(Value::Number(number)) => number.as_u64(),
            Some(Value::String(text)) => text.parse().ok(),
            _ => None,
        };
        Self { keys, time: time.unwrap_or_default(), image }
    }
}
