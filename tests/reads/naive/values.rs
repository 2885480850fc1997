//! Stored attributes in, values out: where an item stores a field, its value, and how attributes compare. Must not know
//! operations.

use keyfold::schema::model::keys::ItemKeys;
use keyfold::schema::model::{FieldKind, ObjectType, Stored, TypeKind};
use keyfold::schema::scalar::aws::AwsScalar;
use keyfold::schema::scalar::date_time::{day_clock, epoch_millis, instant_clock, instant_text, local_clock};
use keyfold::schema::scalar::form::Form;
use keyfold::schema::scalar::value_type::{Moment, ValueType};
use keyfold::table::data::attribute::{Attribute, Item};
use keyfold::table::data::text::Text;
use serde_json::{Number, Value, json};
use std::borrow::Cow;
use std::cmp::Ordering;

/// The place of a stored field.
pub enum Held<'i> {
    Attribute(Cow<'i, Attribute>),
    /// The value that a key gives.
    Value(Value),
}

/// The keys of an item type.
pub fn keys_of(ty: &ObjectType) -> Option<&ItemKeys> {
    match &ty.kind {
        TypeKind::Item(keys) => Some(keys),
        _ => None,
    }
}

/// A stored field, if it is one.
pub fn stored_of<'m>(ty: &'m ObjectType, field: &str) -> Option<&'m Stored> {
    match &ty.fields.get(field)?.kind {
        FieldKind::Stored(stored) => Some(stored),
        _ => None,
    }
}

/// A field of an item in its own attribute, or else in a key.
pub fn held<'i>(ty: &ObjectType, field: &str, item: &'i Item) -> Option<Held<'i>> {
    let stored = stored_of(ty, field)?;
    if let Some(attribute) = stored.attribute.as_ref().and_then(|name| item.get(name)) {
        return Some(Held::Attribute(Cow::Borrowed(attribute)));
    }
    keys_of(ty)?.keys.iter().find_map(|(name, templates)| match item.get(name)? {
        Attribute::S(text) => templates.iter().find_map(|template| {
            let (_, value) = template.read(text)?.into_iter().find(|(known, _)| known == field)?;
            Some(Held::Value(value))
        }),
        other => {
            templates.iter().any(|template| template.fields() == [field]).then(|| Held::Attribute(Cow::Borrowed(other)))
        }
    })
}

/// The value of a field with one scalar; null if it is missing.
pub fn scalar_of(ty: &ObjectType, field: &str, item: &Item) -> Value {
    let Some(stored) = stored_of(ty, field) else { return Value::Null };
    match held(ty, field, item) {
        Some(Held::Value(value)) => value,
        Some(Held::Attribute(attribute)) => scalar(&stored.value, &attribute).unwrap_or(Value::Null),
        None => Value::Null,
    }
}

/// The value of an attribute; `None` if it does not fit.
pub fn scalar(kind: &ValueType, attribute: &Attribute) -> Option<Value> {
    match (kind, attribute) {
        (_, Attribute::Null) => None,
        (ValueType::Json, any) => Some(json_of(any)),
        (ValueType::Id | ValueType::String, Attribute::S(text)) => Some(json!(text)),
        (ValueType::Id, Attribute::N(number)) => Some(json!(number)),
        (ValueType::Int, Attribute::N(number)) => {
            whole(number).filter(|number| i32::try_from(*number).is_ok()).map(Value::from)
        }
        (ValueType::Long, Attribute::N(number)) => whole(number).map(Value::from),
        (ValueType::Boolean, Attribute::Bool(value)) => Some(json!(value)),
        (ValueType::Binary, Attribute::B(bytes)) => Some(json!(base64(bytes))),
        (ValueType::DateTime(Moment::EpochSeconds), Attribute::N(number)) => {
            instant_text(whole(number)?.checked_mul(1000)?).map(Value::from)
        }
        (ValueType::DateTime(Moment::EpochMillis), Attribute::N(number)) => {
            instant_text(whole(number)?).map(Value::from)
        }
        (ValueType::DateTime(Moment::Text) | ValueType::Date | ValueType::Enum(_), Attribute::S(text)) => {
            kind.from_text(text)
        }
        (ValueType::Decimal | ValueType::Float, Attribute::N(number)) => kind.from_text(number),
        (ValueType::InForm(_, form), other) if matches!(**form, Form::Aws(AwsScalar::Json)) => match other {
            Attribute::S(text) => Some(json!(text)),
            other => Some(json!(json_of(other).to_string())),
        },
        (ValueType::InForm(plain, form), other) if matches!(**form, Form::Aws(_)) => scalar(plain, other),
        (ValueType::InForm(_, form), Attribute::N(number)) if **form == Form::Number => kind.from_text(number),
        (ValueType::InForm(_, form), Attribute::S(text)) if **form != Form::Number => kind.from_text(text),
        _ => None,
    }
}

/// The text of a value by which a field of the type is found: in the case in which the keys have it.
pub fn text_to_find(ty: &ObjectType, field: &str, value: &Value) -> Option<String> {
    let text = stored_of(ty, field)?.value.plain().to_text(value)?;
    Some(match keys_of(ty)?.case_of(field) {
        Some(Form::Upper) => text.to_uppercase(),
        Some(_) => text.to_lowercase(),
        None => text,
    })
}

/// Whether an alternative of a key is another one without the field at its end.
pub fn may_end_at(keys: &ItemKeys, field: &str) -> bool {
    keys.keys.values().any(|templates| {
        let written: Vec<String> = templates.iter().map(|template| template.as_written(template.parts.len())).collect();
        written.iter().any(|long| {
            long.strip_suffix(&format!("{{{field}}}")).is_some_and(|short| written.iter().any(|other| other == short))
        })
    })
}

/// The order of two times in the API, to the nanosecond.
pub fn compare_times(kind: &ValueType, left: &str, right: &str) -> Option<Ordering> {
    let clock = |text: &str| match kind.in_api() {
        ValueType::Date => day_clock(text),
        ValueType::LocalDateTime => local_clock(text),
        _ => instant_clock(text),
    };
    Some(clock(left)?.cmp(&clock(right)?))
}

fn whole(number: &str) -> Option<i64> {
    number.parse().ok().or_else(|| {
        number
            .parse::<f64>()
            .ok()
            .filter(|number| number.fract() == 0.0 && number.abs() < 9e15)
            .map(|number| number as i64)
    })
}

pub fn base64(bytes: &[u8]) -> String {
    use base64::Engine;
    base64::engine::general_purpose::STANDARD.encode(bytes)
}

fn json_of(attribute: &Attribute) -> Value {
    let number = |text: &Text| serde_json::from_str::<Number>(text).map_or_else(|_| json!(text), Value::Number);
    match attribute {
        Attribute::S(text) => json!(text),
        Attribute::N(text) => number(text),
        Attribute::B(bytes) => json!(base64(bytes)),
        Attribute::Bool(value) => json!(value),
        Attribute::Null => Value::Null,
        Attribute::Ss(texts) => json!(texts),
        Attribute::Ns(numbers) => numbers.iter().map(number).collect(),
        Attribute::Bs(all) => all.iter().map(|bytes| base64(bytes)).collect(),
        Attribute::L(values) => values.iter().map(json_of).collect(),
        Attribute::M(map) => {
            Value::Object(map.iter().map(|(name, value)| (name.to_string(), json_of(value))).collect())
        }
    }
}

/// The elements of a list or a set.
pub fn elements(attribute: &Attribute) -> Option<Vec<Attribute>> {
    match attribute {
        Attribute::L(values) => Some(values.clone()),
        Attribute::Ss(values) => Some(values.iter().cloned().map(Attribute::S).collect()),
        Attribute::Ns(values) => Some(values.iter().cloned().map(Attribute::N).collect()),
        Attribute::Bs(values) => Some(values.iter().cloned().map(Attribute::B).collect()),
        _ => None,
    }
}

/// A value as an attribute of a type; null is DynamoDB's null.
pub fn attribute_of(kind: &ValueType, value: &Value) -> Option<Attribute> {
    let value = kind.coerce(value).ok()?;
    Some(match (kind, &value) {
        (_, Value::Null) => Attribute::Null,
        (ValueType::Boolean, Value::Bool(value)) => Attribute::Bool(*value),
        (ValueType::DateTime(Moment::EpochSeconds), Value::String(text)) => {
            Attribute::N(epoch_millis(text)?.div_euclid(1000).to_string().into())
        }
        (ValueType::DateTime(Moment::EpochMillis), Value::String(text)) => {
            Attribute::N(epoch_millis(text)?.to_string().into())
        }
        (ValueType::Int | ValueType::Long | ValueType::Float | ValueType::Decimal, _) => {
            Attribute::N(kind.to_text(&value)?.into())
        }
        (ValueType::Json | ValueType::Embedded(_) | ValueType::Set(_) | ValueType::Map(_) | ValueType::Binary, _) => {
            return None;
        }
        (ValueType::InForm(plain, form), _) if matches!(**form, Form::Aws(_)) => attribute_of(plain, &value)?,
        (ValueType::InForm(_, form), _) if **form == Form::Number => Attribute::N(kind.to_text(&value)?.into()),
        _ => Attribute::S(kind.to_text(&value)?.into()),
    })
}

/// The order of two attributes of one type: texts by their bytes, numbers by value.
pub fn compare(left: &Attribute, right: &Attribute) -> Option<Ordering> {
    match (left, right) {
        (Attribute::S(left), Attribute::S(right)) => Some(left.as_bytes().cmp(right.as_bytes())),
        (Attribute::B(left), Attribute::B(right)) => Some(left.cmp(right)),
        (Attribute::N(left), Attribute::N(right)) => Some(keyfold::schema::table::number::compare(left, right)),
        _ => None,
    }
}

/// Whether two attributes are equal; numbers compare by value.
pub fn equal(left: &Attribute, right: &Attribute) -> bool {
    match (left, right) {
        (Attribute::N(_), Attribute::N(_)) => compare(left, right) == Some(Ordering::Equal),
        _ => left == right,
    }
}
