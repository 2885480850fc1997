//! `@default`: the value of a field that has none. Must not know whether it has one.

use crate::execute::caller::Caller;
use crate::schema::model::rules::{DefaultPart, DefaultValue, HashFunction};
use crate::schema::scalar::date_time::{DATE_LENGTH, instant_text};
use crate::schema::scalar::value_type::ValueType;
use md5::Md5;
use serde_json::Value;
use sha2::{Digest, Sha256};
use uuid::Uuid;

/// The value for a field of this type at this time (milliseconds since 1970). `other` gives the item's other fields.
/// `None` if a field or a claim that it is made of has no value, or if the text is not a value of the type.
///
/// The text is read in the API's form of the type: an enum's API name, a number, `true`. Lists, embedded objects and
/// JSON are read as JSON (`[]`). A Date whose default is `{now}` is the UTC day of that time. One process makes UUIDs
/// of version 7 in rising order.
pub fn value(
    default: &DefaultValue,
    kind: &ValueType,
    now: i64,
    caller: &Caller,
    other: &dyn Fn(&str) -> Option<Value>,
) -> Option<Value> {
    let mut text = String::new();
    for part in &default.parts {
        match part {
            DefaultPart::Literal(literal) => text.push_str(literal),
            DefaultPart::Uuid => text.push_str(&Uuid::new_v4().to_string()),
            DefaultPart::Uuid7 => text.push_str(&Uuid::now_v7().to_string()),
            DefaultPart::Now { offset } => text.push_str(&instant_text(now.checked_add(offset.checked_mul(1000)?)?)?),
            DefaultPart::Claim(claim) => text.push_str(&caller.text(claim)?),
            DefaultPart::Field(field) => text.push_str(&text_of(&other(field)?)?),
        }
    }
    let text = match default.hash {
        Some(HashFunction::Md5) => hexadecimal(&Md5::digest(text.as_bytes())),
        Some(HashFunction::Sha256) => hexadecimal(&Sha256::digest(text.as_bytes())),
        None => text,
    };
    match (kind, default.parts.as_slice(), default.hash) {
        (kind, [DefaultPart::Now { .. }], None) => now_as(kind, &text),
        _ => read(kind, &text),
    }
}

/// The time of a request as a value of a type: cut to what the type keeps.
fn now_as(kind: &ValueType, instant: &str) -> Option<Value> {
    match kind.in_api() {
        ValueType::Date => kind.cut(&Value::from(instant.get(..DATE_LENGTH)?)),
        _ => kind.cut(&Value::from(instant)),
    }
}

/// A digest in lower-case hexadecimal digits.
pub fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The text of a field's value within a longer text.
fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(bool) => Some(bool.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// The value of a type that a text represents. Unlike in a key, an enum's value has its API name.
fn read(kind: &ValueType, text: &str) -> Option<Value> {
    let from_json = || serde_json::from_str::<Value>(text).ok();
    match kind {
        // However its attribute keeps it, a number or a Boolean of the API is not a text.
        ValueType::InForm(plain, _)
            if matches!(**plain, ValueType::Int | ValueType::Long | ValueType::Float | ValueType::Boolean) =>
        {
            read(plain, text).and_then(|value| kind.coerce(&value).ok())
        }
        ValueType::Int | ValueType::Long | ValueType::Float | ValueType::Boolean => {
            from_json().and_then(|value| kind.coerce(&value).ok())
        }
        ValueType::Json => Some(from_json().unwrap_or_else(|| Value::from(text))),
        ValueType::Embedded(_) | ValueType::Map(_) => from_json().filter(|value| value.is_array() || value.is_object()),
        ValueType::Set(element) => match from_json() {
            Some(list @ Value::Array(_)) => kind.coerce(&list).ok(),
            _ => Some(Value::Array(vec![read(element, text)?])),
        },
        _ => kind.coerce(&Value::from(text)).ok(),
    }
    .filter(|value| !value.is_null())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
mod tests {
    use super::*;
    use crate::schema::scalar::form::Form;
    use crate::schema::scalar::value_type::{EnumValues, Moment};
    use serde_json::json;
    use std::sync::Arc;

    /// 2026-11-20T09:30:00.000Z.
    const NOW: i64 = 1_795_167_000_000;

    fn default(parts: &[DefaultPart]) -> DefaultValue {
        DefaultValue { parts: parts.to_vec(), hash: None, every_write: false }
    }

    fn literal(text: &str) -> DefaultPart {
        DefaultPart::Literal(text.to_owned())
    }

    fn made(parts: &[DefaultPart], kind: &ValueType) -> Option<Value> {
        let other = |field: &str| match field {
            "name" => Some(json!("Ann")),
            "count" => Some(json!(7)),
            "open" => Some(json!(true)),
            "nothing" => Some(Value::Null),
            "list" => Some(json!([1])),
            _ => None,
        };
        value(&default(parts), kind, NOW, &Caller::anonymous(), &other)
    }

    #[test]
    fn a_literal_is_a_value_of_the_type() {
        let status =
            EnumValues { name: "Status".into(), stored: [("CREATED".to_owned(), "created".to_owned())].into() };
        let status = ValueType::Enum(Arc::new(status));
        for (text, kind, value) in [
            ("CREATED", status.clone(), json!("CREATED")),
            ("0", ValueType::Int, json!(0)),
            ("-5", ValueType::Long, json!(-5)),
            ("1.50", ValueType::Float, json!(1.5)),
            ("1.50", ValueType::Decimal, json!("1.5")),
            ("true", ValueType::Boolean, json!(true)),
            ("-5", ValueType::InForm(Box::new(ValueType::Int), Arc::new(Form::Text)), json!(-5)),
            ("true", ValueType::InForm(Box::new(ValueType::Boolean), Arc::new(Form::Number)), json!(true)),
            ("2026-01-01T00:00Z", ValueType::DateTime(Moment::EpochSeconds), json!("2026-01-01T00:00:00.000Z")),
            ("", ValueType::String, json!("")),
            ("0", ValueType::String, json!("0")),
            ("[]", ValueType::String, json!("[]")),
            ("[]", ValueType::Embedded("Food".into()), json!([])),
            ("[]", ValueType::Set(Box::new(ValueType::Int)), json!([])),
            ("[2,1,2]", ValueType::Set(Box::new(ValueType::Int)), json!([2, 1])),
            ("new", ValueType::Set(Box::new(ValueType::String)), json!(["new"])),
            ("{\"a\":1}", ValueType::Json, json!({ "a": 1 })),
            ("a word", ValueType::Json, json!("a word")),
        ] {
            assert_eq!(made(&[literal(text)], &kind), Some(value), "{text} of {}", kind.name());
        }
        for (text, kind) in
            [("created", status), ("x", ValueType::Int), ("1.5", ValueType::Int), ("yes", ValueType::Boolean)]
        {
            assert_eq!(made(&[literal(text)], &kind), None, "{text} of {}", kind.name());
        }
    }

    #[test]
    fn times_are_canonical_instants() {
        let now = |offset| [DefaultPart::Now { offset }];
        let kind = ValueType::DateTime(Moment::EpochSeconds);
        assert_eq!(made(&now(0), &kind), Some(json!("2026-11-20T09:30:00.000Z")));
        assert_eq!(made(&now(24 * 3600), &kind), Some(json!("2026-11-21T09:30:00.000Z")));
        assert_eq!(made(&now(-1), &ValueType::String), Some(json!("2026-11-20T09:29:59.000Z")));
        assert_eq!(made(&now(0), &ValueType::Date), Some(json!("2026-11-20")));
        assert_eq!(made(&now(i64::MAX), &kind), None);
        assert_eq!(made(&now(400_000_000_000), &kind), None, "the year 14702 has no text");
    }

    #[test]
    fn uuids_are_random_or_in_order() {
        let one =
            |part: DefaultPart| Uuid::parse_str(made(&[part], &ValueType::Id).unwrap().as_str().unwrap()).unwrap();
        assert_eq!((one(DefaultPart::Uuid).get_version_num(), one(DefaultPart::Uuid7).get_version_num()), (4, 7));
        assert_ne!(one(DefaultPart::Uuid), one(DefaultPart::Uuid));
        let rising: Vec<Uuid> = (0..100).map(|_| one(DefaultPart::Uuid7)).collect();
        assert!(rising.is_sorted() && rising.windows(2).all(|pair| pair[0] != pair[1]));
    }

    #[test]
    fn parts_are_joined_and_hashed() {
        let field = |name: &str| DefaultPart::Field(name.to_owned());
        let parts = [field("name"), literal("#"), field("count"), literal("#"), field("open")];
        assert_eq!(made(&parts, &ValueType::String), Some(json!("Ann#7#true")));
        assert_eq!(made(&[field("count")], &ValueType::Int), Some(json!(7)));
        for missing in ["nothing", "list", "unheard"] {
            assert_eq!(made(&[literal("a"), field(missing)], &ValueType::String), None, "{missing}");
        }
        let hashed = |hash, text: &str| {
            let default = DefaultValue { hash: Some(hash), ..default(&[literal(text)]) };
            value(&default, &ValueType::String, NOW, &Caller::anonymous(), &|_| None).unwrap()
        };
        // RFC 1321, A.5, and FIPS 180-4's example.
        assert_eq!(hashed(HashFunction::Md5, "abc"), json!("900150983cd24fb0d6963f7d28e17f72"));
        assert_eq!(hashed(HashFunction::Md5, ""), json!("d41d8cd98f00b204e9800998ecf8427e"));
        let digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(hashed(HashFunction::Sha256, "abc"), json!(digest));
    }
}
