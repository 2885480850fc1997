//! GraphQL values → attributes, in the form in which a type is kept.

use crate::schema::value_type::{Moment, ValueType};
use crate::table::attribute::{Attribute, Item};
use base64::Engine;
use serde_json::Value;

/// A value as an attribute; `None` where it does not fit the type. Null is DynamoDB's null.
pub fn attribute(kind: &ValueType, value: &Value) -> Option<Attribute> {
    if value.is_null() {
        return Some(Attribute::Null);
    }
    if let (Value::Array(values), kind) = (value, kind) {
        return match kind {
            ValueType::Json => Some(json(value)),
            ValueType::Set(element) => set(element, values),
            _ => values.iter().map(|value| attribute(kind, value)).collect::<Option<_>>().map(Attribute::L),
        };
    }
    match kind {
        ValueType::Boolean => value.as_bool().map(Attribute::Bool),
        ValueType::Int | ValueType::Long | ValueType::Float | ValueType::Decimal => kind.to_text(value).map(Attribute::N),
        ValueType::DateTime(Moment::EpochSeconds | Moment::EpochMillis) => kind.to_text(value).map(Attribute::N),
        ValueType::Binary => base64::engine::general_purpose::STANDARD.decode(value.as_str()?).ok().map(Attribute::B),
        ValueType::Json => Some(json(value)),
        ValueType::Set(element) => attribute(element, value),
        ValueType::Embedded(_) => None,
        _ => kind.to_text(value).map(Attribute::S),
    }
}

fn set(element: &ValueType, values: &[Value]) -> Option<Attribute> {
    let mut attributes = values.iter().map(|value| attribute(element, value)).collect::<Option<Vec<_>>>()?;
    Some(match attributes.first()? {
        Attribute::S(_) => Attribute::Ss(attributes.drain(..).filter_map(text).collect()),
        Attribute::N(_) => Attribute::Ns(attributes.drain(..).filter_map(text).collect()),
        _ => return None,
    })
}

fn text(attribute: Attribute) -> Option<String> {
    match attribute {
        Attribute::S(text) | Attribute::N(text) => Some(text),
        _ => None,
    }
}

fn json(value: &Value) -> Attribute {
    match value {
        Value::Null => Attribute::Null,
        Value::Bool(value) => Attribute::Bool(*value),
        Value::Number(number) => Attribute::N(number.to_string()),
        Value::String(text) => Attribute::S(text.clone()),
        Value::Array(values) => Attribute::L(values.iter().map(json).collect()),
        Value::Object(fields) => Attribute::M(fields.iter().map(|(name, value)| (name.clone(), json(value))).collect::<Item>()),
    }
}
