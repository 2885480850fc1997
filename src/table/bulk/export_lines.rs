//! A line of DynamoDB JSON in, an item out, and back: `{"Item": {"PK": {"S": "…"}}}`, the format of DynamoDB's export
//! to S3 (DynamoDB developer guide, "DynamoDB table export output format"). Must not know files.

use crate::table::data::attribute::{Attribute, Item};
use crate::table::data::limits::NESTED_LEVELS;
use crate::table::data::text::Text;
use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Map, Value, json};

/// The most bytes that an error shows of a place, and of what is wrong there.
const MAX_QUOTE_LENGTH: usize = 300;

/// Why a line is no item. The caller adds the line's number.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LineError {
    /// The line is not JSON.
    #[error("this is not JSON: {0}")]
    Json(String),
    /// The line is JSON of another shape.
    #[error("expected an object with the one member \"Item\", which is an object")]
    Shape,
    /// A value in the item is not an attribute value.
    #[error("attribute {path}: {problem}")]
    Value {
        /// Names and positions that lead to the value, joined by dots.
        path: String,
        /// What is wrong with it.
        problem: String,
    },
}

/// Reads a line, ignoring spaces around it; a blank line is `None`.
pub fn parse_line(line: &str) -> Result<Option<Item>, LineError> {
    if line.trim().is_empty() {
        return Ok(None);
    }
    let value: Value = serde_json::from_str(line).map_err(|error| LineError::Json(error.to_string()))?;
    let Value::Object(mut members) = value else { return Err(LineError::Shape) };
    match (members.remove("Item"), members.is_empty()) {
        (Some(Value::Object(item)), true) => item_from_members(item).map(Some),
        _ => Err(LineError::Shape),
    }
}

/// Reads an item's members in JSON of DynamoDB, `{"PK": {"S": "…"}}`.
pub fn item_from_members(members: Map<String, Value>) -> Result<Item, LineError> {
    item_from_json(members, &mut Vec::new())
}

/// Writes an item as a line without its line break. Names are sorted, so that equal items make equal lines.
pub fn write_line(item: &Item) -> String {
    json!({ "Item": item_to_json(item) }).to_string()
}

/// An item in JSON of DynamoDB.
pub fn item_to_json(item: &Item) -> Map<String, Value> {
    item.iter().map(|(name, value)| (name.to_string(), attribute_to_json(value))).collect()
}

fn attribute_to_json(value: &Attribute) -> Value {
    match value {
        Attribute::S(text) => json!({ "S": text }),
        Attribute::N(text) => json!({ "N": text }),
        Attribute::B(bytes) => json!({ "B": BASE64.encode(bytes) }),
        Attribute::Bool(truth) => json!({ "BOOL": truth }),
        Attribute::Null => json!({ "NULL": true }),
        Attribute::Ss(texts) => json!({ "SS": texts }),
        Attribute::Ns(texts) => json!({ "NS": texts }),
        Attribute::Bs(all) => json!({ "BS": all.iter().map(|bytes| BASE64.encode(bytes)).collect::<Vec<_>>() }),
        Attribute::L(values) => json!({ "L": values.iter().map(attribute_to_json).collect::<Vec<_>>() }),
        Attribute::M(item) => json!({ "M": item_to_json(item) }),
    }
}

fn item_from_json(members: Map<String, Value>, path: &mut Vec<String>) -> Result<Item, LineError> {
    let mut read = Vec::with_capacity(members.len());
    for (name, value) in members {
        path.push(name.clone());
        read.push((name.into(), attribute_from_json(value, path)?));
        path.pop();
    }
    Ok(Item::from_members(read))
}

fn attribute_from_json(value: Value, path: &mut Vec<String>) -> Result<Attribute, LineError> {
    if path.len() > NESTED_LEVELS {
        return Err(problem(path, "lists and maps nest deeper than 32 levels"));
    }
    let typed = match value {
        Value::Object(members) if members.len() == 1 => members.into_iter().next(),
        _ => None,
    };
    let Some((kind, value)) = typed else {
        return Err(problem(path, "expected an object with one member, the type, as in {\"S\": \"text\"}"));
    };
    match (kind.as_str(), value) {
        ("S", Value::String(text)) => Ok(Attribute::S(text.into())),
        ("N", value) => number(value, path).map(Attribute::N),
        ("B", value) => binary(value, path).map(Attribute::B),
        ("BOOL", Value::Bool(truth)) => Ok(Attribute::Bool(truth)),
        ("NULL", Value::Bool(true)) => Ok(Attribute::Null),
        ("SS" | "NS" | "BS", Value::Array(values)) if values.is_empty() => Err(problem(path, "a set may not be empty")),
        ("SS", Value::Array(values)) => {
            values.into_iter().map(|value| text(value, path)).collect::<Result<_, _>>().map(Attribute::Ss)
        }
        ("NS", Value::Array(values)) => {
            values.into_iter().map(|value| number(value, path)).collect::<Result<_, _>>().map(Attribute::Ns)
        }
        ("BS", Value::Array(values)) => {
            values.into_iter().map(|value| binary(value, path)).collect::<Result<_, _>>().map(Attribute::Bs)
        }
        ("M", Value::Object(members)) => item_from_json(members, path).map(Attribute::M),
        ("L", Value::Array(values)) => {
            let mut list = Vec::with_capacity(values.len());
            for (i, value) in values.into_iter().enumerate() {
                path.push(i.to_string());
                list.push(attribute_from_json(value, path)?);
                path.pop();
            }
            Ok(Attribute::L(list))
        }
        ("S" | "BOOL" | "NULL" | "SS" | "NS" | "BS" | "M" | "L", _) => {
            Err(problem(path, &format!("not a value of type {kind}")))
        }
        (kind, _) => {
            Err(problem(path, &format!("unknown type {kind:?}; types are S, N, B, BOOL, NULL, SS, NS, BS, L and M")))
        }
    }
}

fn text(value: Value, path: &[String]) -> Result<Text, LineError> {
    match value {
        Value::String(text) => Ok(text.into()),
        _ => Err(problem(path, "expected a string")),
    }
}

/// A number is a string, so that no reader makes it a float.
fn number(value: Value, path: &[String]) -> Result<Text, LineError> {
    match value {
        Value::String(text) if crate::schema::table::number::Number::parse(&text).is_ok() => Ok(text.into()),
        Value::String(text) => Err(problem(path, &format!("{text:?} is not a number of up to 38 digits"))),
        _ => Err(problem(path, "expected a number as a string, as in {\"N\": \"1.5\"}")),
    }
}

fn binary(value: Value, path: &[String]) -> Result<Vec<u8>, LineError> {
    BASE64.decode(text(value, path)?.as_bytes()).map_err(|error| problem(path, &format!("not base64: {error}")))
}

/// The error at a place. Both may quote the line, which may be as long as a file.
fn problem(path: &[String], problem: &str) -> LineError {
    LineError::Value { path: shortened(&path.join(".")), problem: shortened(problem) }
}

fn shortened(text: &str) -> String {
    if text.len() <= MAX_QUOTE_LENGTH {
        return text.to_owned();
    }
    format!("{}…", &text[..text.floor_char_boundary(MAX_QUOTE_LENGTH)])
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
mod tests {
    use super::*;
    use crate::table::sdk::convert::tests::every_type;

    #[test]
    fn every_type_survives_the_way_there_and_back() {
        let line = write_line(&every_type());
        assert_eq!(parse_line(&line), Ok(Some(every_type())));
        assert!(line.starts_with(r#"{"Item":{"PK":{"S":"p"},"b":{"B":"AP8="},"bs":"#), "sorted: {line}");
        assert!(line.contains("12345678901234567890123456789012345678"), "all digits: {line}");
    }

    #[test]
    fn blank_lines_hold_no_item() {
        assert_eq!(parse_line(""), Ok(None));
        assert_eq!(parse_line(" \t\r\n"), Ok(None));
        assert_eq!(parse_line(" {\"Item\": {}} \r\n"), Ok(Some(Item::new())));
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        for (line, message) in [
            (r#"{"Item": {"#, "this is not JSON: EOF while parsing an object at line 1 column 10"),
            (r#"{"PK": {"S": "a"}}"#, "expected an object with the one member \"Item\", which is an object"),
            (r#"{"Item": {}, "Keys": {}}"#, "expected an object with the one member \"Item\", which is an object"),
            (r#"[]"#, "expected an object with the one member \"Item\", which is an object"),
            (
                r#"{"Item": {"a": "b"}}"#,
                "attribute a: expected an object with one member, the type, as in {\"S\": \"text\"}",
            ),
            (
                r#"{"Item": {"a": {"M": {"b": {"L": [{"S": "x"}, {"S": 1}]}}}}}"#,
                "attribute a.b.1: not a value of type S",
            ),
            (r#"{"Item": {"a": {"N": 1}}}"#, "attribute a: expected a number as a string, as in {\"N\": \"1.5\"}"),
            (r#"{"Item": {"a": {"N": "one"}}}"#, "attribute a: \"one\" is not a number of up to 38 digits"),
            (r#"{"Item": {"a": {"SS": []}}}"#, "attribute a: a set may not be empty"),
            (r#"{"Item": {"a": {"NULL": false}}}"#, "attribute a: not a value of type NULL"),
            (
                r#"{"Item": {"a": {"X": 1}}}"#,
                "attribute a: unknown type \"X\"; types are S, N, B, BOOL, NULL, SS, NS, BS, L and M",
            ),
        ] {
            assert_eq!(parse_line(line).unwrap_err().to_string(), message, "{line}");
        }
        let error = parse_line(r#"{"Item": {"a": {"B": "?"}}}"#).unwrap_err().to_string();
        assert!(error.starts_with("attribute a: not base64: "), "{error}");
    }

    #[test]
    fn an_error_is_short_however_long_the_line_is() {
        let long = "é".repeat(5_000);
        for line in [format!(r#"{{"Item": {{"{long}": 1}}}}"#), format!(r#"{{"Item": {{"a": {{"N": "{long}"}}}}}}"#)] {
            let said = parse_line(&line).unwrap_err().to_string();
            assert!(said.len() < 700 && said.contains('…'), "{said}");
        }
    }

    #[test]
    fn nesting_has_an_end() {
        let nested = |depth: usize| {
            format!(r#"{{"Item":{{"a":{}{{"NULL":true}}{}}}}}"#, r#"{"L":["#.repeat(depth), "]}".repeat(depth))
        };
        assert!(parse_line(&nested(31)).is_ok());
        assert!(matches!(parse_line(&nested(32)), Err(LineError::Value { .. })));
        assert!(parse_line(&nested(100_000)).is_err(), "too deep for the parser is an error as well");
    }
}
