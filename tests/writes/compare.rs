//! Compares a response and a store with the model, and says what is wrong.

use crate::model::Outcome;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// How a response differs from the expected one, if it does.
pub fn differs(outcome: &Outcome, response: &Value) -> Option<String> {
    let code = response["errors"][0]["extensions"]["code"].as_str();
    match (outcome, code) {
        (Outcome::Data(data), None) if sorted(data) == sorted(&response["data"]["r"]) => None,
        (Outcome::Data(data), _) => Some(format!("expected {data}")),
        (Outcome::Refused(codes), Some(code)) if codes.contains(code) => None,
        (Outcome::Refused(codes), _) => Some(format!("expected one of {codes:?}")),
    }
}

/// A response with its sets, and lists of many items, in order.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Array(items)
            if items.iter().any(Value::is_object) && items.iter().all(|item| item.get("text").is_none()) =>
        {
            let mut items: Vec<Value> = items.iter().map(sorted).collect();
            items.sort_by_key(Value::to_string);
            json!(items)
        }
        Value::Object(members) => {
            let one = |(name, value): (&String, &Value)| match value.as_array().filter(|_| name == "tags") {
                Some(tags) => (name.clone(), json!(tags.iter().map(Value::to_string).collect::<BTreeSet<_>>())),
                None => (name.clone(), value.clone()),
            };
            Value::Object(members.iter().map(one).collect())
        }
        other => other.clone(),
    }
}

/// What is missing, and what is there unexpectedly.
pub fn difference(expected: &BTreeSet<(String, String)>, found: &BTreeSet<(String, String)>) -> Option<String> {
    let missing = expected.difference(found).map(|(table, item)| format!("missing in {table}: {item}\n"));
    let more = found.difference(expected).map(|(table, item)| format!("found in {table}: {item}\n"));
    let listed: String = missing.chain(more).collect();
    (!listed.is_empty()).then_some(listed)
}
