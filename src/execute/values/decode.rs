//! Attributes → GraphQL values: where an item holds a field, and its value.

use super::bound::BoundValue;
use super::entries;
use crate::plan::tree::{FieldReader, StoredPlace};
use crate::schema::scalar::aws::AwsScalar;
use crate::schema::scalar::date_time::instant_text;
use crate::schema::scalar::decimal::canonical_decimal;
use crate::schema::scalar::form::Form;
use crate::schema::scalar::value_type::{Moment, ValueType};
use crate::schema::template::in_key::value_in_key;
use crate::table::data::attribute::{Attribute, Item};
use crate::table::data::text::Text;
use apollo_compiler::ast::Type;
use serde_json::{Number, Value, json};
use std::sync::Arc;

/// A field's value in its item.
pub enum StoredValue<'i> {
    /// An attribute.
    Attribute(&'i Attribute),
    /// A text that is the end of a key.
    Text(&'i str),
    /// A value that was read from a key.
    Key(Value),
    /// Nothing but a key that no template of the type makes.
    UnreadValue,
}

/// A stored value that its field cannot read. It is not null.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnreadValue;

/// Finds a field in an item: in the first of its places that has it. `None` if it is missing or null.
#[inline]
pub fn find<'i>(reader: &FieldReader, item: &'i Item) -> Option<StoredValue<'i>> {
    // Most fields are attributes of their own.
    if let Some(StoredPlace::Attribute(name)) = reader.places.first()
        && let Some(value) = item.get(name).filter(|value| !matches!(value, Attribute::Null))
    {
        return Some(StoredValue::Attribute(value));
    }
    find_in_places(reader, item)
}

fn find_in_places<'i>(reader: &FieldReader, item: &'i Item) -> Option<StoredValue<'i>> {
    let mut strange = false;
    for place in &reader.places {
        let found = match place {
            StoredPlace::Attribute(name) => {
                item.get(name).filter(|value| !matches!(value, Attribute::Null)).map(StoredValue::Attribute)
            }
            StoredPlace::Key(name, templates) => match item.get(name) {
                Some(Attribute::S(text)) => {
                    let found = value_in_key(templates, &reader.field, text, (StoredValue::Text, StoredValue::Key));
                    strange |=
                        found.is_none() && !templates.iter().any(|template| template.read_any_spelling(text).is_some());
                    found
                }
                // A number or binary key holds its field's value as it is.
                other => other.map(StoredValue::Attribute),
            },
        };
        if found.is_some() {
            return found;
        }
    }
    // A field with an attribute of its own is null without it, whatever others keep in a key.
    (strange && reader.stored.attribute.is_none()).then_some(StoredValue::UnreadValue)
}

/// A field's value as JSON; `None` for null, missing and unreadable values.
pub fn value(reader: &FieldReader, item: &Item) -> Option<Value> {
    bound_value(reader, item).ok().flatten().map(BoundValue::into_json)
}

/// A field's value, where it stands if it is a text; `None` for null and missing values.
pub fn bound_value<'i>(reader: &FieldReader, item: &'i Item) -> Result<Option<BoundValue<'i>>, UnreadValue> {
    let Some(found) = find(reader, item) else { return Ok(None) };
    Ok(Some(match (found, &reader.stored.value) {
        (StoredValue::UnreadValue, _) => return Err(UnreadValue),
        (StoredValue::Text(text), _) => BoundValue::Text(text),
        (StoredValue::Key(value), _) => value.into(),
        (StoredValue::Attribute(Attribute::S(text)), ValueType::Id | ValueType::String) if !reader.ty.is_list() => {
            BoundValue::Text(text)
        }
        (StoredValue::Attribute(attribute), kind) => match typed_value(&reader.ty, kind, attribute, &scalar)? {
            Some(value) => value.into(),
            None => return Ok(None),
        },
    }))
}

/// The value of an attribute of this type; `None` for null. `single` reads one that is no list.
pub fn typed_value(
    ty: &Type,
    kind: &ValueType,
    attribute: &Attribute,
    single: &dyn Fn(&ValueType, &Attribute) -> Option<Value>,
) -> Result<Option<Value>, UnreadValue> {
    let each = |values: &[Attribute], read: &dyn Fn(&Attribute) -> Result<Option<Value>, UnreadValue>| {
        let elements: Result<Vec<Value>, UnreadValue> =
            values.iter().map(|value| Ok(read(value)?.unwrap_or_default())).collect();
        elements.map(|elements| Some(Value::Array(elements)))
    };
    let one = |kind: &ValueType, attribute: &Attribute| match attribute {
        Attribute::Null => Ok(None),
        attribute => single(kind, attribute).map(Some).ok_or(UnreadValue),
    };
    match (ty, kind, attribute) {
        (_, _, Attribute::Null) => Ok(None),
        (Type::List(item) | Type::NonNullList(item), ValueType::Map(form), map) => {
            let (object, objects) = (ValueType::Embedded(form.element.clone()), entries::objects(form, map));
            each(&objects.ok_or(UnreadValue)?, &|value| typed_value(item, &object, value, single))
        }
        (Type::List(_) | Type::NonNullList(_), ValueType::Set(element), set) => {
            each(&elements(set).ok_or(UnreadValue)?, &|value| one(element, value))
        }
        (Type::List(item) | Type::NonNullList(item), _, Attribute::L(values)) => {
            each(values, &|value| typed_value(item, kind, value, single))
        }
        (Type::List(_) | Type::NonNullList(_), _, _) => Err(UnreadValue),
        _ => one(kind, attribute),
    }
}

/// The elements of an embedded object (one), of a list of objects or of a map of them. An element that is no map
/// becomes an empty one, so that positions stay.
pub fn maps(reader: &FieldReader, item: &Item) -> Vec<Arc<Item>> {
    let map = |attribute: &Attribute| match attribute {
        Attribute::M(map) => Arc::new(map.clone()),
        _ => Arc::new(Item::new()),
    };
    match find(reader, item) {
        Some(StoredValue::Attribute(entries)) if let ValueType::Map(form) = &reader.stored.value => {
            entries::objects(form, entries).unwrap_or_default().iter().map(map).collect()
        }
        Some(StoredValue::Attribute(Attribute::L(elements))) => elements.iter().map(map).collect(),
        Some(StoredValue::Attribute(single @ Attribute::M(_))) => vec![map(single)],
        _ => Vec::new(),
    }
}

/// The elements of a set, as attributes.
pub fn elements(set: &Attribute) -> Option<Vec<Attribute>> {
    match set {
        Attribute::Ss(values) => Some(values.iter().cloned().map(Attribute::S).collect()),
        Attribute::Ns(values) => Some(values.iter().cloned().map(Attribute::N).collect()),
        Attribute::Bs(values) => Some(values.iter().cloned().map(Attribute::B).collect()),
        // Another writer may have stored the set as a list.
        Attribute::L(values) => Some(values.clone()),
        _ => None,
    }
}

/// The value of one scalar; `None` if the attribute does not fit the type. Result coercion: GraphQL spec section 3.5,
/// "Scalars", and for each type the forms that DynamoDB users store.
pub fn scalar(kind: &ValueType, attribute: &Attribute) -> Option<Value> {
    match (kind, attribute) {
        (ValueType::Json, any) => Some(json_of(any)),
        (ValueType::Id | ValueType::String, Attribute::S(text)) => Some(json!(text)),
        (ValueType::Id, Attribute::N(number)) => Some(json!(number)),
        (ValueType::Int, Attribute::N(number)) => {
            whole(number).filter(|value| i32::try_from(*value).is_ok()).map(|value| json!(value))
        }
        (ValueType::Long, Attribute::N(number)) => whole(number).map(|value| json!(value)),
        (ValueType::Boolean, Attribute::Bool(value)) => Some(json!(value)),
        (ValueType::DateTime(Moment::Text), Attribute::S(text)) => kind.from_text(text),
        (ValueType::DateTime(moment), Attribute::N(number)) => {
            let number = whole(number)?;
            let millis = if *moment == Moment::EpochMillis { number } else { number.checked_mul(1000)? };
            instant_text(millis).map(|text| json!(text))
        }
        (ValueType::InForm(kind, form), attribute) => in_form(kind, form, attribute),
        (ValueType::Date, Attribute::S(text)) | (ValueType::Enum(_), Attribute::S(text)) => kind.from_text(text),
        (ValueType::Decimal | ValueType::Float, Attribute::N(number)) => kind.from_text(number),
        (ValueType::Binary, Attribute::B(bytes)) => Some(json!(base64(bytes))),
        _ => None,
    }
}

/// The value of a scalar that is kept in a form.
fn in_form(kind: &ValueType, form: &Form, attribute: &Attribute) -> Option<Value> {
    match (form, attribute) {
        (Form::Time(_) | Form::Text | Form::Lower | Form::Upper, Attribute::S(text)) => kind.value_in(form, text),
        // Other programs keep the JSON itself.
        (Form::Aws(AwsScalar::Json), attribute) => match attribute {
            Attribute::S(text) => Some(json!(text)),
            other => Some(json_of(other).to_string().into()),
        },
        (Form::Aws(_), attribute) => scalar(kind, attribute),
        (Form::Number, Attribute::N(number)) => kind.value_in(form, &canonical_decimal(number).ok()?),
        _ => None,
    }
}

/// A whole number in any notation (`12`, `12.0`, `1.2E1`).
fn whole(number: &str) -> Option<i64> {
    number.parse::<i64>().ok().or_else(|| {
        let value = number.parse::<f64>().ok()?;
        // Beyond 2^53 a float is not exact, and DynamoDB writes such numbers in plain digits.
        (value.fract() == 0.0 && value.abs() < 9_007_199_254_740_992.0).then_some(value as i64)
    })
}

/// Base64 with padding, as DynamoDB's JSON writes binary values.
pub fn base64(bytes: &[u8]) -> String {
    use base64::Engine;
    base64::engine::general_purpose::STANDARD.encode(bytes)
}

/// Any attribute as JSON: maps as objects, sets as lists, numbers as numbers.
fn json_of(attribute: &Attribute) -> Value {
    let number = |text: &Text| serde_json::from_str::<Number>(text).map_or_else(|_| json!(text), Value::Number);
    match attribute {
        Attribute::S(text) => json!(text),
        Attribute::N(text) => number(text),
        Attribute::B(bytes) => json!(base64(bytes)),
        Attribute::Bool(value) => json!(value),
        Attribute::Null => Value::Null,
        Attribute::Ss(values) => json!(values),
        Attribute::Ns(values) => values.iter().map(number).collect(),
        Attribute::Bs(values) => values.iter().map(|bytes| base64(bytes)).collect(),
        Attribute::L(values) => values.iter().map(json_of).collect(),
        Attribute::M(map) => {
            Value::Object(map.iter().map(|(name, value)| (name.to_string(), json_of(value))).collect())
        }
    }
}
