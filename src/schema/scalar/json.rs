//! JSON values: the numbers that they stand for, and how a message shows them. Must not know types.

use crate::schema::scalar::decimal::canonical_decimal;
use serde_json::{Number, Value};

/// The integer that a JSON number stands for. `1.0` is the integer 1 (RFC 8259 does not distinguish them).
pub fn integer(value: &Value) -> Option<i64> {
    // From 2^53 on, several integers share one float.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    match value.as_i64() {
        Some(integer) => Some(integer),
        None => value.as_f64().filter(|float| float.fract() == 0.0 && float.abs() < EXACT).map(|float| float as i64),
    }
}

/// The digits of a number that is written as an integer, each of them. One with a fraction or an exponent is a float,
/// whatever its value (GraphQL spec section 3.5.5, "ID", input coercion).
pub fn integer_text(number: &Number) -> Option<String> {
    let text = number.to_string();
    let is_integer = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    is_integer.then(|| if text == "-0" { "0".to_owned() } else { text })
}

/// Whether DynamoDB can store every number of a JSON value; the error is a sentence for the caller.
pub fn numbers_fit(value: &Value) -> Result<(), String> {
    match value {
        Value::Number(number) => match canonical_decimal(&number.to_string()) {
            Ok(_) => Ok(()),
            Err(mistake) => Err(format!("a number cannot be {}: {mistake}.", excerpt(value))),
        },
        Value::Array(values) => values.iter().try_for_each(numbers_fit),
        Value::Object(fields) => fields.values().try_for_each(numbers_fit),
        Value::Null | Value::Bool(_) | Value::String(_) => Ok(()),
    }
}

/// Whether a text is a number as JSON writes it.
pub fn is_quoted_number(value: &Value) -> bool {
    value.as_str().is_some_and(|text| serde_json::from_str::<Number>(text).is_ok())
}

/// A value for an error message: short, whatever was sent.
pub fn excerpt(value: &Value) -> String {
    const MAX_LENGTH: usize = 60;
    match value {
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
        Value::String(text) if text.chars().nth(MAX_LENGTH).is_some() => {
            format!("{}…", Value::from(text.chars().take(MAX_LENGTH).collect::<String>()))
        }
        Value::Number(number) if number.to_string().len() > MAX_LENGTH => {
            format!("{}…", number.to_string().chars().take(MAX_LENGTH).collect::<String>())
        }
        _ => value.to_string(),
    }
}
