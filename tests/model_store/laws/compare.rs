//! An answer in; what must be the same in all implementations out.

use serde_json::{Map, Value, json};

/// What an answer says: the code of a refusal with its reasons and items, or the members of a success.
pub fn essence(operation: &str, (status, body): &(u16, Value)) -> Value {
    if *status != 200 {
        let code = body["__type"].as_str().unwrap_or_default().rsplit('#').next().unwrap_or_default();
        let mut essence = json!({ "refused": code });
        if let Some(item) = body.get("Item").filter(|item| item.as_object().is_some_and(|item| !item.is_empty())) {
            essence["item"] = in_order(item.clone());
        }
        if let Some(reasons) = body["CancellationReasons"].as_array() {
            let reason = |reason: &Value| {
                let item = reason.get("Item").filter(|item| item.as_object().is_some_and(|item| !item.is_empty()));
                json!([reason["Code"], item.cloned().map(in_order)])
            };
            essence["reasons"] = reasons.iter().map(reason).collect();
        }
        return essence;
    }
    let mut members = Map::new();
    for (name, value) in body.as_object().into_iter().flatten() {
        let is_empty = value.is_null() || value.as_object().is_some_and(Map::is_empty);
        match name.as_str() {
            "ConsumedCapacity" => drop(members.insert(name.clone(), units(value))),
            // An attribute's name is no type.
            "Responses" => drop(members.insert(name.clone(), unordered(value))),
            // moto sends the items even of a count, and an item collection's metrics.
            "Items" if operation == "Scan" => drop(members.insert(name.clone(), sorted(value))),
            _ if !is_empty => drop(members.insert(name.clone(), in_order(value.clone()))),
            _ => {}
        }
    }
    Value::Object(members)
}

/// The units of each table and its indexes.
fn units(value: &Value) -> Value {
    match value {
        Value::Array(all) => {
            let mut all: Vec<Value> = all.iter().map(units).collect();
            all.sort_by_key(Value::to_string);
            Value::Array(all)
        }
        one => {
            let number = |value: &Value| value.as_f64().map_or(Value::Null, |units| json!(units));
            let mut units = json!({ "TableName": one["TableName"], "CapacityUnits": number(&one["CapacityUnits"]) });
            if one["Table"].is_object() {
                units["Table"] = number(&one["Table"]["CapacityUnits"]);
            }
            for member in ["GlobalSecondaryIndexes", "LocalSecondaryIndexes"] {
                for (index, of_index) in one[member].as_object().into_iter().flatten() {
                    units[index] = number(&of_index["CapacityUnits"]);
                }
            }
            units
        }
    }
}

/// The items of each table, sorted.
fn unordered(value: &Value) -> Value {
    let tables = value.as_object().into_iter().flatten();
    Value::Object(tables.map(|(table, items)| (table.clone(), sorted(items))).collect())
}

pub fn sorted(items: &Value) -> Value {
    let mut items: Vec<Value> = items.as_array().into_iter().flatten().cloned().map(in_order).collect();
    items.sort_by_key(Value::to_string);
    Value::Array(items)
}

/// The value with its members and the elements of its sets in order.
pub fn in_order(value: Value) -> Value {
    match value {
        Value::Object(members) => {
            let mut members: Vec<(String, Value)> = members
                .into_iter()
                .map(|(name, value)| {
                    let mut value = in_order(value);
                    if let ("SS" | "NS" | "BS", Value::Array(elements)) = (name.as_str(), &mut value) {
                        elements.sort_by_key(Value::to_string);
                    }
                    (name, value)
                })
                .collect();
            members.sort_by(|(one, _), (other, _)| one.cmp(other));
            Value::Object(members.into_iter().collect())
        }
        Value::Array(values) => values.into_iter().map(in_order).collect(),
        other => other,
    }
}
