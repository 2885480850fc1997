//! The text and JSON forms of values, type by type: which are accepted, their canonical form, which are refused, and
//! the sentence.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
use crate::schema::scalar::value_type::*;
use proptest::prelude::*;
use serde_json::json;

/// An integer that no type of the language holds.
const LONG: &str = "-123456789012345678901234567890123456789012345678901";

/// A number of JSON as it is written.
fn json_number(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

fn favorite_type() -> ValueType {
    let stored = [("IMAGE", "image"), ("LINK", "link")].map(|(name, text)| (name.to_owned(), text.to_owned()));
    ValueType::Enum(Arc::new(EnumValues { name: "FavoriteType".to_owned(), stored: stored.into_iter().collect() }))
}

#[test]
fn values_become_canonical() {
    for (kind, value, canonical) in [
        (ValueType::Id, json!(7), json!("7")),
        (ValueType::Id, json!("a"), json!("a")),
        (ValueType::Id, json_number("-7"), json!("-7")),
        (ValueType::Id, json_number("-0"), json!("0")),
        (ValueType::Id, json!("-0"), json!("-0")),
        (ValueType::Id, json_number(LONG), json!(LONG)),
        (ValueType::Int, json!(1.0), json!(1)),
        (ValueType::Int, json!(-2147483648_i64), json!(-2147483648_i64)),
        (ValueType::Float, json!(5), json!(5)),
        (ValueType::Float, json!(5.0), json!(5)),
        (ValueType::Float, json!(-0.0), json!(0)),
        (ValueType::Float, json!(0.5), json!(0.5)),
        (ValueType::Long, json!("-9223372036854775808"), json!(i64::MIN)),
        (ValueType::Long, json!(i64::MAX), json!(i64::MAX)),
        (ValueType::Decimal, json!("007.50"), json!("7.5")),
        (ValueType::Decimal, json!(u64::MAX), json!("18446744073709551615")),
        (
            ValueType::DateTime(Moment::EpochSeconds),
            json!("2026-11-20T09:30:00+09:00"),
            json!("2026-11-20T00:30:00.000Z"),
        ),
        (ValueType::Date, json!("2026-11-20"), json!("2026-11-20")),
        (ValueType::Binary, json!("AQID"), json!("AQID")),
        (ValueType::Json, json!({ "a": [1] }), json!({ "a": [1] })),
        (favorite_type(), json!("LINK"), json!("LINK")),
        (ValueType::Set(Box::new(ValueType::Decimal)), json!(["1.0", "1", 2]), json!(["1", "2"])),
        (ValueType::Set(Box::new(ValueType::String)), json!("a"), json!(["a"])),
        (ValueType::Int, Value::Null, Value::Null),
    ] {
        assert_eq!(kind.coerce(&value).unwrap(), canonical, "{kind:?} {value}");
    }
}

#[test]
fn unfit_values_are_refused_with_a_sentence() {
    for (kind, value) in [
        (ValueType::Id, json!(1.5)),
        (ValueType::Id, json_number("4.0")),
        (ValueType::Id, json_number("1e3")),
        (ValueType::Id, json_number("1E400")),
        (ValueType::Id, json_number("-1e-400")),
        (ValueType::Id, json!(true)),
        (ValueType::String, json!(1)),
        (ValueType::Int, json!(2147483648_i64)),
        (ValueType::Int, json!("1")),
        (ValueType::Int, json!(1.5)),
        (ValueType::Float, json!("1")),
        (ValueType::Float, json!(1e200)),
        (ValueType::Boolean, json!("true")),
        (ValueType::Long, json!(9007199254740992.0)),
        (ValueType::Long, json!("1.0")),
        (ValueType::Long, json!(u64::MAX)),
        (ValueType::Decimal, json!(1.5)),
        (ValueType::DateTime(Moment::Text), json!("2026-11-20")),
        (ValueType::DateTime(Moment::Text), json!(1)),
        (ValueType::Date, json!("2026-02-30")),
        (ValueType::Binary, json!("AQI")),
        (ValueType::Binary, json!("AQJ=")),
        (ValueType::Binary, json!("_-8=")),
        (ValueType::Set(Box::new(ValueType::Int)), json!([1, null])),
        (ValueType::Embedded("Food".to_owned()), json!("a")),
    ] {
        let sentence = kind.coerce(&value).expect_err("a value that does not fit");
        assert!(sentence.ends_with('.'), "{sentence}");
        assert_eq!(kind.to_text(&value), None, "{kind:?} {value}");
    }
    assert_eq!(
        favorite_type().coerce(&json!("image")).unwrap_err(),
        "FavoriteType cannot be \"image\": it is one of IMAGE, LINK."
    );
    assert_eq!(
        ValueType::Decimal.coerce(&json!("1e126")).unwrap_err(),
        "Decimal cannot be \"1e126\": it is outside of 1E-130 to 9.9E+125, the range of DynamoDB's numbers."
    );
    assert!(ValueType::Int.coerce(&json!("x".repeat(10_000))).unwrap_err().len() < 200);
}

#[test]
fn key_text_is_canonical_and_reads_back() {
    for (kind, value, text) in [
        (ValueType::Id, json!("a#b"), "a#b"),
        (ValueType::Int, json!(-7), "-7"),
        (ValueType::Float, json!(1e21), "1e21"),
        (ValueType::Float, json!(5), "5"),
        (ValueType::Boolean, json!(true), "true"),
        (ValueType::Decimal, json!("-0.5"), "-0.5"),
        (ValueType::Date, json!("2018-10-03"), "2018-10-03"),
        (ValueType::Binary, json!("AQID"), "AQID"),
        (favorite_type(), json!("IMAGE"), "image"),
    ] {
        assert_eq!(kind.to_text(&value).as_deref(), Some(text));
        assert_eq!(kind.from_text(text), Some(value));
    }
    let (moment, other) = (ValueType::DateTime(Moment::Text), "2020-01-01T00:00:00Z");
    assert_eq!(moment.from_text(other), Some(json!("2020-01-01T00:00:00.000Z")));
    assert_eq!(ValueType::Float.from_text("1E+2"), Some(json!(100)));
}

#[test]
fn text_of_another_form_is_not_read() {
    for (kind, text) in [
        (ValueType::Int, "007"),
        (ValueType::Int, "+7"),
        (ValueType::Int, "-0"),
        (ValueType::Int, "2147483648"),
        (ValueType::Long, "9223372036854775808"),
        (ValueType::Long, ""),
        (ValueType::Float, "inf"),
        (ValueType::Float, "1."),
        (ValueType::Boolean, "True"),
        (ValueType::Decimal, ""),
        (ValueType::Date, "2018-1-1"),
        (favorite_type(), "IMAGE"),
        (ValueType::Json, "{}"),
        (ValueType::Set(Box::new(ValueType::Int)), "1"),
    ] {
        assert_eq!(kind.from_text(text), None, "{kind:?} {text}");
    }
}

#[test]
fn scalars_are_known_by_name() {
    for name in ["ID", "String", "Int", "Float", "Boolean", "DateTime", "Date", "Long", "Decimal", "JSON", "Binary"] {
        assert_eq!(ValueType::from_scalar(name).name(), name);
    }
    assert!(matches!(ValueType::from_scalar("Email"), ValueType::Json));
}

proptest! {
    #[test]
    fn a_coerced_float_stays_as_it_is(value in proptest::num::f64::ANY) {
        if let Some(text) = ValueType::Float.to_text(&json!(value)) {
            let canonical = ValueType::Float.coerce(&json!(value)).unwrap();
            prop_assert_eq!(ValueType::Float.coerce(&canonical).unwrap(), canonical.clone());
            prop_assert_eq!(ValueType::Float.from_text(&text), Some(canonical));
        }
    }

    #[test]
    fn reading_a_text_twice_changes_nothing(text in "\\PC*|[-0-9eE.+TZ:]{0,26}") {
        for name in ["ID", "Int", "Float", "Boolean", "DateTime", "Date", "Long", "Decimal", "Binary"] {
            let kind = ValueType::from_scalar(name);
            if let Some(value) = kind.from_text(&text) {
                let canonical = kind.to_text(&value).unwrap();
                prop_assert_eq!(kind.from_own_text(&canonical), Some(value.clone()));
                prop_assert_eq!(kind.from_own_text(&text), (canonical == text).then_some(value));
            } else {
                prop_assert_eq!(kind.from_own_text(&text), None);
            }
        }
    }
}
