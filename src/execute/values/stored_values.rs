//! API values → attributes in the stored form of their types, embedded objects as maps; and back. Must not know keys or
//! tables.

use crate::execute::values::decode::{self, UnreadValue};
use crate::execute::values::encode;
use crate::execute::values::entries;
use crate::execute::values::invalid_value::InvalidValue;
use crate::schema::model::{Field, Model};
use crate::schema::scalar::aws::AwsScalar;
use crate::schema::scalar::form::MapForm;
use crate::schema::scalar::value_type::ValueType;
use crate::table::data::attribute::{Attribute, Item};
use apollo_compiler::ast::Type;
use serde_json::{Map, Value};

/// A field's value in stored form. `None` for null and for an empty set, which have no attribute.
pub fn stored_field(
    model: &Model,
    ty: &Type,
    kind: &ValueType,
    value: &Value,
) -> Result<Option<Attribute>, InvalidValue> {
    match (ty, value) {
        (_, Value::Null) => Ok(None),
        (Type::List(element) | Type::NonNullList(element), Value::Array(values)) => match kind {
            ValueType::Set(kind) => set(kind, values),
            ValueType::Map(form) => map(model, form, values).map(Some),
            _ => list(values, |value| stored_field(model, element, kind, value)),
        },
        (Type::List(_) | Type::NonNullList(_), _) => Err(InvalidValue::here("It must be a list.")),
        _ => single(model, kind, value),
    }
}

/// A request's value in stored form. The type gives only the kind of the value or of its elements.
pub fn stored_value(model: &Model, kind: &ValueType, value: &Value) -> Result<Option<Attribute>, InvalidValue> {
    match (kind, value) {
        (_, Value::Null) => Ok(None),
        (ValueType::Json, _) => single(model, kind, value),
        (ValueType::Set(element), Value::Array(values)) => set(element, values),
        (ValueType::Set(element), _) => set(element, std::slice::from_ref(value)),
        (ValueType::Map(form), Value::Array(values)) => map(model, form, values).map(Some),
        (ValueType::Map(form), _) => map(model, form, std::slice::from_ref(value)).map(Some),
        (_, Value::Array(values)) => list(values, |value| stored_value(model, kind, value)),
        _ => single(model, kind, value),
    }
}

/// A request's value as a set of the type's elements. `None` if it is null or empty.
pub fn stored_elements(kind: &ValueType, value: &Value) -> Result<Option<Attribute>, InvalidValue> {
    let element = match kind {
        ValueType::Set(element) => element,
        single => single,
    };
    match value {
        Value::Null => Ok(None),
        Value::Array(values) => set(element, values),
        single => set(element, std::slice::from_ref(single)),
    }
}

/// An embedded object as a map in stored names.
pub fn stored_object(model: &Model, type_name: &str, values: &Map<String, Value>) -> Result<Item, InvalidValue> {
    let Some(ty) = model.types.get(type_name) else {
        return Err(InvalidValue::here(format!("The type {type_name} does not exist.")));
    };
    let mut map = Item::with_capacity(values.len());
    for (field, value) in values {
        let unknown =
            || InvalidValue { field: field.clone(), message: format!("{type_name} has no stored field of this name.") };
        let stored = ty.stored(field).ok_or_else(unknown)?;
        let name = stored.attribute.as_ref().ok_or_else(unknown)?;
        let attribute =
            stored_field(model, &ty.fields[field].ty, &stored.value, value).map_err(|invalid| invalid.within(field))?;
        if let Some(attribute) = attribute {
            map.insert(name.clone(), attribute);
        }
    }
    Ok(map)
}

/// The API value of a field's attribute, from which the attribute can be made again; `None` for null. A set or bytes
/// within a `JSON` value are unreadable here, although an answer shows them: JSON has no form that distinguishes them
/// from a list and a text.
pub fn read(model: &Model, ty: &Type, kind: &ValueType, attribute: &Attribute) -> Result<Option<Value>, UnreadValue> {
    decode::typed_value(ty, kind, attribute, &|kind, attribute| match (kind, attribute) {
        (ValueType::Embedded(name), Attribute::M(map)) => read_object(model, name, map).map(Value::Object),
        (ValueType::Json, attribute) if !is_json(attribute) => None,
        (kind, other) if kind.as_aws() == Some(AwsScalar::Json) && !matches!(other, Attribute::S(_)) => None,
        _ => decode::scalar(kind, attribute),
    })
}

/// Whether JSON can hold a value as it is.
fn is_json(attribute: &Attribute) -> bool {
    match attribute {
        Attribute::S(_) | Attribute::N(_) | Attribute::Bool(_) | Attribute::Null => true,
        Attribute::L(elements) => elements.iter().all(is_json),
        Attribute::M(members) => members.iter().all(|(_, value)| is_json(value)),
        Attribute::B(_) | Attribute::Ss(_) | Attribute::Ns(_) | Attribute::Bs(_) => false,
    }
}

/// The API values of a map's stored fields; `None` if one of them is unreadable.
fn read_object(model: &Model, type_name: &str, map: &Item) -> Option<Map<String, Value>> {
    let ty = model.types.get(type_name)?;
    let value = |(field, declared): (&String, &Field)| {
        let stored = ty.stored(field)?;
        let attribute = map.get(stored.attribute.as_ref()?)?;
        let value = read(model, &declared.ty, &stored.value, attribute).transpose()?;
        Some(value.map(|value| (field.clone(), value)))
    };
    ty.fields.iter().filter_map(value).collect::<Result<_, UnreadValue>>().ok()
}

fn single(model: &Model, kind: &ValueType, value: &Value) -> Result<Option<Attribute>, InvalidValue> {
    match (kind, value) {
        (ValueType::Embedded(name), Value::Object(fields)) => {
            stored_object(model, name, fields).map(|map| Some(Attribute::M(map)))
        }
        (ValueType::Json, _) => match encode::attribute(kind, value) {
            Some(attribute) => Ok(Some(attribute)),
            None => Err(InvalidValue::here("It is nested too deeply, or holds a number that DynamoDB cannot store.")),
        },
        (_, Value::Array(_)) => Err(unfit(kind, value)),
        _ => encode::attribute(kind, value).map(Some).ok_or_else(|| unfit(kind, value)),
    }
}

fn list(
    values: &[Value],
    element: impl Fn(&Value) -> Result<Option<Attribute>, InvalidValue>,
) -> Result<Option<Attribute>, InvalidValue> {
    let at = |(position, value): (usize, &Value)| match element(value) {
        Ok(attribute) => Ok(attribute.unwrap_or(Attribute::Null)),
        Err(invalid) => Err(invalid.within(&position.to_string())),
    };
    values.iter().enumerate().map(at).collect::<Result<_, _>>().map(|elements| Some(Attribute::L(elements)))
}

fn set(element: &ValueType, values: &[Value]) -> Result<Option<Attribute>, InvalidValue> {
    if values.is_empty() {
        return Ok(None);
    }
    for (position, value) in values.iter().enumerate() {
        if value.is_null() {
            return Err(
                InvalidValue::here("It cannot hold null, because it is stored as a set.").within(&position.to_string())
            );
        }
        if encode::attribute(element, value).is_none() {
            return Err(unfit(element, value).within(&position.to_string()));
        }
    }
    match encode::set(element, values) {
        Some(set) => Ok(Some(set)),
        None => Err(InvalidValue::here(format!("A set cannot hold values of type {}.", element.name()))),
    }
}

/// A list of objects as the map that keeps it.
fn map(model: &Model, form: &MapForm, values: &[Value]) -> Result<Attribute, InvalidValue> {
    let object = |(position, value): (usize, &Value)| match value {
        Value::Object(fields) => {
            stored_object(model, &form.element, fields).map_err(|invalid| invalid.within(&position.to_string()))
        }
        Value::Null => {
            let message = "It cannot hold null, because it is stored as a map.";
            Err(InvalidValue::here(message).within(&position.to_string()))
        }
        _ => Err(InvalidValue::here("It must be an object.").within(&position.to_string())),
    };
    entries::map(form, values.iter().enumerate().map(object).collect::<Result<_, _>>()?)
}

fn unfit(kind: &ValueType, value: &Value) -> InvalidValue {
    InvalidValue::here(kind.coerce(value).err().unwrap_or_else(|| format!("It does not fit the type {}.", kind.name())))
}
