//! DynamoDB calls in, the text in which pages show them out: the members of a request as DynamoDB names them, with the
//! names and the values of its expressions written in their places. Must not know pages.

use serde_json::{Map, Value};

/// The members that come first, in this order. The others follow by their names.
const FIRST: [&str; 11] = [
    "TableName",
    "IndexName",
    "Key",
    "Keys",
    "Item",
    "KeyConditionExpression",
    "FilterExpression",
    "UpdateExpression",
    "ConditionExpression",
    "ProjectionExpression",
    "ScanIndexForward",
];
/// The members that every call has for bookkeeping, and those that stand in the expressions.
const LEFT_OUT: [&str; 5] = [
    "ReturnConsumedCapacity",
    "ReturnValuesOnConditionCheckFailure",
    "ClientRequestToken",
    "ExpressionAttributeNames",
    "ExpressionAttributeValues",
];

/// The text of calls, each an operation and its body.
pub fn text(calls: &[(String, Value)]) -> String {
    let mut out = String::new();
    for (operation, body) in calls {
        out += &format!("{operation}:\n");
        write(&mut out, 2, &shown(body));
    }
    out
}

/// A body with values in the place of their types, and with its expressions in full.
fn shown(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let of = |name: &str| members.get(name).and_then(Value::as_object);
            let (names, values) = (of("ExpressionAttributeNames"), of("ExpressionAttributeValues"));
            let kept = members.iter().filter(|(name, _)| !LEFT_OUT.contains(&name.as_str()));
            let shown = kept.map(|(name, value)| (name.clone(), member(name, value, names, values)));
            Value::Object(shown.collect())
        }
        Value::Array(elements) => Value::Array(elements.iter().map(shown).collect()),
        other => other.clone(),
    }
}

type Attributes<'v> = Option<&'v Map<String, Value>>;

fn member(name: &str, value: &Value, names: Attributes<'_>, values: Attributes<'_>) -> Value {
    match (name, value) {
        ("Key" | "Item" | "ExclusiveStartKey", Value::Object(item)) => Value::String(item_text(item)),
        ("Keys", Value::Array(keys)) => {
            keys.iter().filter_map(Value::as_object).map(|key| Value::String(item_text(key))).collect()
        }
        (_, Value::String(expression)) if name.ends_with("Expression") => {
            Value::String(full_expression(expression, names, values))
        }
        _ => shown(value),
    }
}

/// An expression with the attributes' names and values in the place of `#name` and `:value`.
fn full_expression(expression: &str, names: Attributes<'_>, values: Attributes<'_>) -> String {
    let mut out = String::new();
    let mut rest = expression;
    while let Some(start) = rest.find(['#', ':']) {
        out += &rest[..start];
        rest = &rest[start..];
        let end = rest[1..].find(|letter: char| !letter.is_alphanumeric() && letter != '_');
        let (token, after) = rest.split_at(end.map_or(rest.len(), |end| end + 1));
        let name = names.and_then(|names| names.get(token)).and_then(Value::as_str).map(str::to_owned);
        let value = values.and_then(|values| values.get(token)).map(value_text);
        out += &name.or(value).unwrap_or_else(|| panic!("{token} of `{expression}` is not defined"));
        rest = after;
    }
    out + rest
}

/// `{ PK: "ann", SK: "User" }`
fn item_text(item: &Map<String, Value>) -> String {
    let plain = |name: &str| name.chars().all(|letter| letter.is_alphanumeric() || letter == '_');
    let member = |(name, value): (&String, &Value)| {
        let name = if plain(name) { name.clone() } else { format!("{name:?}") };
        format!("{name}: {}", value_text(value))
    };
    if item.is_empty() { "{}".to_owned() } else { format!("{{ {} }}", joined(item.iter().map(member))) }
}

/// A value of an attribute without its type, but for sets: `"ann"`, `7`, `SS ["a", "b"]`.
fn value_text(value: &Value) -> String {
    let Some((kind, value)) = value.as_object().and_then(|typed| typed.iter().next()) else {
        panic!("{value} is no value of an attribute")
    };
    match (kind.as_str(), value) {
        ("N", Value::String(number)) => number.clone(),
        ("NULL", _) => "null".to_owned(),
        ("M", Value::Object(members)) => item_text(members),
        ("L", Value::Array(elements)) => format!("[{}]", joined(elements.iter().map(value_text))),
        ("SS" | "BS", Value::Array(elements)) => format!("{kind} [{}]", joined(elements.iter().map(Value::to_string))),
        ("NS", Value::Array(elements)) => format!("NS [{}]", joined(elements.iter().filter_map(Value::as_str))),
        // The last character stands at the end of a range.
        (_, value) => value.to_string().replace('\u{10FFFF}', "\\u{10FFFF}"),
    }
}

fn joined<T: AsRef<str>>(parts: impl Iterator<Item = T>) -> String {
    parts.fold(
        String::new(),
        |text, part| if text.is_empty() { part.as_ref().to_owned() } else { text + ", " + part.as_ref() },
    )
}

fn write(out: &mut String, indent: usize, value: &Value) {
    let space = " ".repeat(indent);
    match value {
        Value::Object(members) => {
            let mut members: Vec<(&String, &Value)> = members.iter().collect();
            let place = |name: &String| FIRST.iter().position(|first| first == name).unwrap_or(FIRST.len());
            members.sort_by_key(|(name, _)| (place(name), name.as_str()));
            for (name, value) in members {
                match plain(value) {
                    Some(text) => *out += &format!("{space}{name}: {text}\n"),
                    None => {
                        *out += &format!("{space}{name}:\n");
                        write(out, indent + 2, value);
                    }
                }
            }
        }
        Value::Array(elements) => {
            for element in elements {
                let mut lines = String::new();
                match plain(element) {
                    Some(text) => lines = format!("{space}  {text}\n"),
                    None => write(&mut lines, indent + 2, element),
                }
                // The sign of an element stands in the place of its first line's space.
                lines.replace_range(indent..=indent, "-");
                *out += &lines;
            }
        }
        _ => {}
    }
}

/// The text of a value that needs no lines of its own.
fn plain(value: &Value) -> Option<String> {
    match value {
        Value::Object(_) | Value::Array(_) => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}
