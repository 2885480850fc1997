//! What a golden has, and what came of its case, in; the first lines in which they differ out.

use crate::cli::goldens::difference::changed_lines;
use crate::cli::goldens::golden_file::Section;
use crate::schema::model::{FieldKind, Model};
use crate::schema::scalar::decimal::canonical_decimal;
use crate::schema::scalar::value_type::ValueType;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeSet;

/// A section that is not the golden's.
#[derive(Debug, Clone, Serialize)]
pub struct Difference {
    /// The case with its system.
    pub case: String,
    /// The section.
    pub section: &'static str,
    /// Lines of the golden with `-`, and those in their place with `+`.
    pub lines: String,
}

/// The fields that are sets in every type that has them. DynamoDB keeps no order of a set (developer guide, "Supported
/// data types", Sets).
pub fn fields_of_sets(model: &Model) -> BTreeSet<String> {
    let fields = || model.types.values().flat_map(|ty| ty.fields.values());
    let is_set =
        |kind: &FieldKind| matches!(kind, FieldKind::Stored(stored) if matches!(stored.value, ValueType::Set(_)));
    let others: BTreeSet<&str> =
        fields().filter(|field| !is_set(&field.kind)).map(|field| field.name.as_str()).collect();
    let sets = fields().filter(|field| is_set(&field.kind) && !others.contains(field.name.as_str()));
    sets.map(|field| field.name.clone()).collect()
}

/// A response with the elements of its sets in one order.
pub fn with_ordered_sets(value: Value, sets: &BTreeSet<String>) -> Value {
    in_order(value, &|name| sets.contains(name))
}

/// Calls with the elements of their sets in one order, and their numbers in one spelling: a store may keep the spelling
/// of a number that it was given, and a call that repeats it has it too. Calls that are in flight at once have no order
/// either: `calls` that differ from `expected` by their order only are as expected. Where indexes may be `behind` their
/// tables, a delete that takes related items along looks for them by an index once more, by a query that it has made
/// before.
pub fn same_calls(expected: Value, calls: Value, behind: bool) -> (Value, Value) {
    let ordered = |calls| in_order(with_spelled_numbers(calls), &|name| matches!(name, "SS" | "NS" | "BS"));
    let (expected, calls) = (ordered(expected), ordered(calls));
    let list = |calls: &Value| calls.as_array().cloned().unwrap_or_default();
    let (golden, mut more) = (list(&expected), list(&calls));
    let is_there = golden.iter().all(|call| {
        let place = more.iter().position(|other| other == call);
        place.map(|place| more.swap_remove(place)).is_some()
    });
    let looks_again = |call: &Value| behind && golden.contains(call) && call["body"].get("IndexName").is_some();
    let is_same = is_there && more.iter().all(looks_again);
    if is_same { (expected.clone(), expected) } else { (expected, calls) }
}

/// The difference between two values of a section, if there is one.
pub fn difference(case: &str, section: Section, (expected, is): (&Value, &Value)) -> Option<Difference> {
    (expected != is).then(|| Difference {
        case: case.to_owned(),
        section: section.name(),
        lines: changed_lines(&format!("{expected:#}\n"), &format!("{is:#}\n")),
    })
}

/// The value with its numbers (`N`, `NS`) as DynamoDB gives them back (developer guide, "Supported data types and
/// naming rules", Number): without zeros before and after them.
fn with_spelled_numbers(value: Value) -> Value {
    let spelled = |number: Value| match number {
        Value::String(text) => Value::String(canonical_decimal(&text).unwrap_or(text)),
        other => with_spelled_numbers(other),
    };
    match value {
        Value::Object(members) => Value::Object(
            members
                .into_iter()
                .map(|(name, value)| match (name.as_str(), value) {
                    ("N", number) => (name, spelled(number)),
                    ("NS", Value::Array(set)) => (name, set.into_iter().map(spelled).collect()),
                    (_, value) => (name, with_spelled_numbers(value)),
                })
                .collect(),
        ),
        Value::Array(values) => values.into_iter().map(with_spelled_numbers).collect(),
        other => other,
    }
}

fn in_order(value: Value, is_set: &dyn Fn(&str) -> bool) -> Value {
    match value {
        Value::Object(members) => {
            let members = members.into_iter().map(|(name, value)| {
                let mut value = in_order(value, is_set);
                if let (true, Value::Array(elements)) = (is_set(&name), &mut value) {
                    elements.sort_by_key(Value::to_string);
                }
                (name, value)
            });
            Value::Object(members.collect())
        }
        Value::Array(values) => values.into_iter().map(|value| in_order(value, is_set)).collect(),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn sets_and_calls_at_once_have_no_order_and_lists_have() {
        let sets = BTreeSet::from(["tags".to_owned()]);
        let response = json!({ "a": [{ "tags": ["y", "x"], "list": [2, 1] }] });
        assert_eq!(with_ordered_sets(response, &sets), json!({ "a": [{ "tags": ["x", "y"], "list": [2, 1] }] }));
        let (a, b) = (json!({ "key": { "SS": ["b", "a"] } }), json!({ "key": { "L": [2, 1] } }));
        let (expected, is) = same_calls(json!([a, b]), json!([b, a]), false);
        assert!(difference("s::c", Section::Calls, (&expected, &is)).is_none());
        let spelled = |a: &str, b: &str| json!([{ "v": { "N": a }, "w": { "NS": ["1", b] }, "N": { "S": "7.50" } }]);
        let (expected, is) = same_calls(spelled("7.5", "48"), spelled("07.50", "48.00"), false);
        assert!(difference("s::c", Section::Calls, (&expected, &is)).is_none());
        let (expected, is) = same_calls(spelled("7.5", "48"), spelled("7.5", "4.8"), false);
        assert!(difference("s::c", Section::Calls, (&expected, &is)).is_some());
        for other in [json!([a]), json!([a, a]), json!([a, { "key": { "L": [1, 2] } }]), json!([a, b, b])] {
            let (expected, is) = same_calls(json!([a, b]), other, true);
            assert!(difference("s::c", Section::Calls, (&expected, &is)).is_some());
        }
        let query = json!({ "operation": "Query", "body": { "IndexName": "i" } });
        for behind in [true, false] {
            let (expected, is) = same_calls(json!([query, a]), json!([query, a, query]), behind);
            assert_eq!(difference("s::c", Section::Calls, (&expected, &is)).is_none(), behind);
        }
    }
}
