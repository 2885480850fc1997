//! The members of an item in JSON in, the item out: with DynamoDB's types, without types, or with whatever a drawing
//! tool left of them. Must not know where the item comes from.

use crate::schema::table::number::Number;
use crate::table::bulk::export_lines::item_from_members;
use crate::table::data::attribute::{Attribute, Item};
use crate::table::data::limits::NESTED_LEVELS;
use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Map, Value};

/// The names of the types (DynamoDB API reference, `AttributeValue`).
const TYPES: [&str; 10] = ["S", "N", "B", "BOOL", "NULL", "SS", "NS", "BS", "L", "M"];

/// How a file writes items. A file has one dialect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// With DynamoDB's types, `{"PK": {"S": "a"}}`.
    Typed,
    /// Without types, `{"PK": "a"}`: JSON has no sets and no binary values.
    Plain,
}

impl Dialect {
    /// The dialect of an item. An item without attributes has both.
    pub fn seen_in(members: &Map<String, Value>) -> Option<Self> {
        // Most members decide, so that one mistake is a mistake, and no dialect.
        let typed = members.values().filter(|value| type_of(value).is_some()).count();
        (!members.is_empty()).then_some(if typed * 2 > members.len() { Self::Typed } else { Self::Plain })
    }

    /// Reads an item.
    pub fn item(self, members: Map<String, Value>) -> Result<Item, String> {
        match self {
            Self::Typed => item_from_members(members).map_err(|mistake| mistake.to_string()),
            Self::Plain => plain_item(members, 0),
        }
    }
}

/// The type of a typed value.
fn type_of(value: &Value) -> Option<&str> {
    let Value::Object(members) = value else { return None };
    let name = members.keys().next().filter(|_| members.len() == 1)?;
    TYPES.contains(&name.as_str()).then_some(name)
}

fn plain_item(members: Map<String, Value>, depth: usize) -> Result<Item, String> {
    let attribute = |(name, value): (String, Value)| {
        let value = plain(value, depth + 1).map_err(|problem| format!("attribute {name}: {problem}"))?;
        Ok((name.into(), value))
    };
    members.into_iter().map(attribute).collect::<Result<Vec<_>, String>>().map(Item::from_members)
}

/// A value without a type.
pub fn plain(value: Value, depth: usize) -> Result<Attribute, String> {
    if depth > NESTED_LEVELS {
        return Err(format!("lists and maps nest deeper than {NESTED_LEVELS} levels"));
    }
    Ok(match value {
        Value::Null => Attribute::Null,
        Value::Bool(truth) => Attribute::Bool(truth),
        Value::String(text) => Attribute::S(text.into()),
        Value::Number(number) => {
            let text = number.to_string();
            match Number::parse(&text) {
                Ok(_) => Attribute::N(text.into()),
                Err(_) => return Err(format!("{text} is not a number of up to 38 digits")),
            }
        }
        Value::Array(values) => {
            Attribute::L(values.into_iter().map(|value| plain(value, depth + 1)).collect::<Result<_, _>>()?)
        }
        Value::Object(members) => Attribute::M(plain_item(members, depth)?),
    })
}

/// Reads an item of a drawing tool: a map may have members without types, or be a map in a map, and a number may be a
/// number of JSON.
pub fn loose_item(members: Map<String, Value>) -> Item {
    Item::from_members(members.into_iter().map(|(name, value)| (name.into(), loose_value(value))).collect())
}

/// A value of a drawing tool.
pub fn loose_value(value: Value) -> Attribute {
    let Some(kind) = type_of(&value).map(str::to_owned) else { return untyped(value) };
    let Value::Object(members) = value else { return Attribute::Null };
    match (kind.as_str(), members.into_iter().next().map(|(_, value)| value)) {
        ("NULL", _) | (_, None) => Attribute::Null,
        ("M", Some(inner)) if type_of(&inner) == Some("M") => loose_value(inner),
        ("M", Some(Value::Object(members))) => Attribute::M(loose_item(members)),
        ("L", Some(Value::Array(values))) => Attribute::L(values.into_iter().map(loose_value).collect()),
        ("BOOL", Some(Value::String(text))) => Attribute::Bool(text.eq_ignore_ascii_case("true")),
        ("N", Some(Value::String(text))) if Number::parse(&text).is_ok() => Attribute::N(text.into()),
        ("B", Some(Value::String(text))) => Attribute::B(BASE64.decode(&text).unwrap_or_else(|_| text.into_bytes())),
        ("SS", Some(Value::Array(values))) if !values.is_empty() => {
            Attribute::Ss(values.into_iter().map(text).collect())
        }
        ("NS", Some(Value::Array(values))) if !values.is_empty() && values.iter().all(is_number) => {
            Attribute::Ns(values.into_iter().map(text).collect())
        }
        ("BS", Some(Value::Array(values))) if !values.is_empty() => {
            Attribute::Bs(values.into_iter().map(|value| text(value).as_bytes().to_vec()).collect())
        }
        (_, Some(value)) => untyped(value),
    }
}

/// A value without a type in an item of a drawing tool.
fn untyped(value: Value) -> Attribute {
    match value {
        Value::Object(members) => Attribute::M(loose_item(members)),
        Value::Array(values) => Attribute::L(values.into_iter().map(loose_value).collect()),
        value => {
            let shown = value.to_string();
            plain(value, 0).unwrap_or_else(|_| Attribute::S(shown.into()))
        }
    }
}

fn is_number(value: &Value) -> bool {
    Number::parse(text(value.clone()).as_str()).is_ok()
}

fn text(value: Value) -> crate::table::data::text::Text {
    match value {
        Value::String(text) => text.into(),
        other => other.to_string().into(),
    }
}
