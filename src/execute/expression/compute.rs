//! An expression in, its value out: one that sets a field of a new item, of arguments, literals, and sums and
//! differences of numbers; and one that computes a number of the values of fields. Must not know stored items.

use super::scope::{Scope, operand_value};
use crate::schema::expression::arithmetic::Arithmetic;
use crate::schema::expression::operand::Operand;
use crate::schema::expression::update::SetValue;
use crate::schema::model::{Field, FieldKind};
use crate::schema::scalar::decimal::{canonical_decimal, canonical_float};
use crate::schema::scalar::value_type::ValueType;
use bigdecimal::BigDecimal;
use serde_json::Value;
use std::str::FromStr;

/// The value of a field; `None` if it is an argument that is not given. A sum with null is null. `Err` says why the
/// field cannot have the value, to complete "X.f …".
pub fn value(computed: &SetValue, field: &Field, scope: &Scope<'_>) -> Result<Option<Value>, String> {
    let FieldKind::Stored(stored) = &field.kind else { return Ok(None) };
    let value = match computed {
        SetValue::Operand(Operand::Argument(name, _)) if scope.argument(name).is_none() => return Ok(None),
        computed => evaluate(computed, scope)?,
    };
    match value {
        Computed::Plain(value) if field.ty.is_list() || value.is_null() => Ok(Some(value)),
        Computed::Plain(value) => stored.value.coerce(&value).map(Some).map_err(|why| format!("is refused: {why}")),
        Computed::Number(number) => typed(&stored.value, &number).map(Some),
    }
}

/// What an expression gives.
enum Computed {
    /// A value of the API.
    Plain(Value),
    /// A sum or a difference, exact.
    Number(BigDecimal),
}

fn evaluate(computed: &SetValue, scope: &Scope<'_>) -> Result<Computed, String> {
    let operand = |value: &SetValue| match value {
        SetValue::Operand(operand) => operand_value(operand, scope).unwrap_or_default(),
        _ => Value::Null,
    };
    let numbers = |one: &SetValue, other: &SetValue| Some((number(&operand(one))?, number(&operand(other))?));
    Ok(match computed {
        SetValue::Plus(one, other) => {
            numbers(one, other).map_or(Computed::Plain(Value::Null), |(one, other)| Computed::Number(one + other))
        }
        SetValue::Minus(one, other) => {
            numbers(one, other).map_or(Computed::Plain(Value::Null), |(one, other)| Computed::Number(one - other))
        }
        SetValue::ListAppend(one, other) => match (operand(one), operand(other)) {
            (Value::Array(mut one), Value::Array(other)) => {
                one.extend(other);
                Computed::Plain(Value::Array(one))
            }
            _ => Computed::Plain(Value::Null),
        },
        // The checker lets nothing read a new item.
        SetValue::Operand(_) | SetValue::IfNotExists(..) => Computed::Plain(operand(computed)),
    })
}

/// The number that an expression gives of the values of fields, as a value of this type; `None` if one of them is null.
/// Each step is exact. A Float is the one that is nearest to the result. `Err` says why the result is no value of the
/// type, to complete "X …".
pub fn number_of_fields(
    arithmetic: &Arithmetic,
    kind: &ValueType,
    value: &dyn Fn(&str) -> Option<Value>,
) -> Result<Option<Value>, String> {
    let Some(number) = exact(arithmetic, value) else { return Ok(None) };
    if !matches!(kind, ValueType::Float) {
        return typed(kind, &number).map(Some);
    }
    let float = number.to_plain_string().parse::<f64>().ok().filter(|float| canonical_float(*float).is_some());
    float
        .map(|float| Some(Value::from(float)))
        .ok_or_else(|| "would be beyond the range of DynamoDB's numbers".to_owned())
}

fn exact(arithmetic: &Arithmetic, value: &dyn Fn(&str) -> Option<Value>) -> Option<BigDecimal> {
    match arithmetic {
        Arithmetic::Field(name) => number(&value(name)?),
        Arithmetic::Number(text) => BigDecimal::from_str(text).ok(),
        Arithmetic::Sum(summands) => summands.iter().try_fold(BigDecimal::from(0), |sum, summand| {
            let number = exact(&summand.number, value)?;
            Some(if summand.is_subtracted { sum - number } else { sum + number })
        }),
        Arithmetic::Product(factors) => {
            factors.iter().try_fold(BigDecimal::from(1), |product, factor| Some(product * exact(factor, value)?))
        }
    }
}

/// The number that a value of the API is.
pub fn number(value: &Value) -> Option<BigDecimal> {
    match value {
        Value::Number(number) => BigDecimal::from_str(&number.to_string()).ok(),
        Value::String(text) => BigDecimal::from_str(text).ok(),
        _ => None,
    }
}

/// A number as a value of a field's type, with the digits that DynamoDB keeps.
fn typed(kind: &ValueType, number: &BigDecimal) -> Result<Value, String> {
    let text = canonical_decimal(&number.to_plain_string())
        .map_err(|_| format!("would be {number}, which has more digits than a number of DynamoDB"))?;
    let value = match kind.plain() {
        ValueType::Float => text.parse::<f64>().ok().filter(|float| canonical_float(*float).is_some()).map(Value::from),
        ValueType::Int | ValueType::Long => text.parse::<i64>().ok().map(Value::from),
        _ => Some(Value::from(text.as_str())),
    };
    let value = value.and_then(|value| kind.coerce(&value).ok());
    value.ok_or_else(|| format!("would be {text}, which is not of type {}", kind.name()))
}
