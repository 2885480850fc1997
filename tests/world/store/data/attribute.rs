//! Attribute values as JSON in and out (API reference, `AttributeValue`).

use crate::store::data::number::Number;
use crate::store::error::{Answer, ModelError};
use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// The deepest nesting of lists and maps.
const NESTED_LEVELS: usize = 32;

/// A value. Values of one type are in DynamoDB's order of keys: texts by their UTF-8 bytes, numbers by their value,
/// binaries by their unsigned bytes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Attribute {
    S(String),
    N(Number),
    B(Vec<u8>),
    Bool(bool),
    Null,
    Ss(BTreeSet<String>),
    Ns(BTreeSet<Number>),
    Bs(BTreeSet<Vec<u8>>),
    L(Vec<Attribute>),
    M(Item),
}

/// The attributes of an item, or of a map in one.
pub type Item = BTreeMap<String, Attribute>;

impl Attribute {
    pub fn parse(value: &Value) -> Answer<Self> {
        read(value, 0)
    }

    pub fn json(&self) -> Value {
        match self {
            Self::S(text) => json!({ "S": text }),
            Self::N(number) => json!({ "N": number.text() }),
            Self::B(bytes) => json!({ "B": BASE64.encode(bytes) }),
            Self::Bool(truth) => json!({ "BOOL": truth }),
            Self::Null => json!({ "NULL": true }),
            Self::Ss(texts) => json!({ "SS": texts }),
            Self::Ns(numbers) => json!({ "NS": numbers.iter().map(Number::text).collect::<Vec<_>>() }),
            Self::Bs(all) => json!({ "BS": all.iter().map(|bytes| BASE64.encode(bytes)).collect::<Vec<_>>() }),
            Self::L(values) => json!({ "L": values.iter().map(Self::json).collect::<Vec<_>>() }),
            Self::M(members) => json!({ "M": item_json(members) }),
        }
    }

    /// The name of its type, as `attribute_type` takes it.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::S(_) => "S",
            Self::N(_) => "N",
            Self::B(_) => "B",
            Self::Bool(_) => "BOOL",
            Self::Null => "NULL",
            Self::Ss(_) => "SS",
            Self::Ns(_) => "NS",
            Self::Bs(_) => "BS",
            Self::L(_) => "L",
            Self::M(_) => "M",
        }
    }
}

pub fn item(value: &Value) -> Answer<Item> {
    members(value, 0)
}

pub fn item_json(item: &Item) -> Value {
    Value::Object(item.iter().map(|(name, value)| (name.clone(), value.json())).collect::<Map<_, _>>())
}

fn members(value: &Value, depth: usize) -> Answer<Item> {
    let members = value.as_object().ok_or_else(|| ModelError::malformed("a map of attributes is expected"))?;
    members.iter().map(|(name, value)| Ok((name.clone(), read(value, depth)?))).collect()
}

fn read(value: &Value, depth: usize) -> Answer<Attribute> {
    let members = value.as_object().ok_or_else(|| ModelError::malformed("an attribute value is expected"))?;
    let mut typed = members.iter().filter(|(_, value)| !value.is_null());
    let (Some((kind, value)), None) = (typed.next(), typed.next()) else {
        return Err(ModelError::invalid("Supplied AttributeValue must contain exactly one of the supported datatypes"));
    };
    if depth >= NESTED_LEVELS && matches!(kind.as_str(), "L" | "M") {
        return Err(ModelError::invalid("Nesting Levels have exceeded supported limits"));
    }
    Ok(match kind.as_str() {
        "S" => Attribute::S(text(value)?.to_owned()),
        "N" => Attribute::N(Number::parse(text(value)?)?),
        "B" => Attribute::B(bytes(value)?),
        "BOOL" => Attribute::Bool(value.as_bool().ok_or_else(|| wrong_type(kind))?),
        "NULL" if value == &Value::Bool(true) => Attribute::Null,
        "NULL" => return Err(ModelError::parameters("Null attribute value types must have the value of true")),
        "SS" => Attribute::Ss(set(value, |element| Ok(text(element)?.to_owned()))?),
        "NS" => Attribute::Ns(set(value, |element| Number::parse(text(element)?))?),
        "BS" => Attribute::Bs(set(value, bytes)?),
        "L" => Attribute::L(list(value)?.iter().map(|element| read(element, depth + 1)).collect::<Answer<_>>()?),
        "M" => Attribute::M(self::members(value, depth + 1)?),
        _ => return Err(ModelError::invalid(format!("Supplied AttributeValue has the unknown type {kind}"))),
    })
}

fn set<T: Ord>(value: &Value, read: impl Fn(&Value) -> Answer<T>) -> Answer<BTreeSet<T>> {
    let elements = list(value)?;
    let set: BTreeSet<T> = elements.iter().map(read).collect::<Answer<_>>()?;
    match (elements.len(), set.len()) {
        (0, _) => Err(ModelError::parameters("An set  may not be empty")),
        (given, left) if given != left => Err(ModelError::parameters("Input collection contains duplicates.")),
        _ => Ok(set),
    }
}

fn text(value: &Value) -> Answer<&str> {
    value.as_str().ok_or_else(|| wrong_type("text"))
}

fn bytes(value: &Value) -> Answer<Vec<u8>> {
    BASE64.decode(text(value)?).map_err(|_| ModelError::malformed("a binary is not in Base64"))
}

fn list(value: &Value) -> Answer<&Vec<Value>> {
    value.as_array().ok_or_else(|| wrong_type("list"))
}

fn wrong_type(kind: &str) -> ModelError {
    ModelError::malformed(format!("a {kind} has the wrong type"))
}
