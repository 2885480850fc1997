//! The literals of expressions: a literal and its subject in; out, the value and the type that it is stored as.

use crate::schema::expression::term::{Subject, TermKind, is_numeric};
use crate::schema::scalar::value_type::ValueType;
use serde_json::Value;

/// A literal's value and the type that it is stored as; the error is a sentence and a help.
pub fn literal_value(
    literal: &TermKind,
    written: &str,
    subject: &Subject,
) -> Result<(Value, ValueType), (String, Option<String>)> {
    if let ValueType::InForm(kind, form) = &subject.kind {
        let within =
            Subject { kind: (**kind).clone(), list: subject.list, set: subject.set, name: subject.name.clone() };
        let (value, kind) = literal_value(literal, written, &within)?;
        let kind = ValueType::InForm(Box::new(kind), form.clone());
        // The form may be narrower than the type, or finer.
        let value = match literal {
            TermKind::Text(text) => kind.coerce(&Value::from(text.as_str())),
            _ => kind.coerce(&value),
        };
        return value.map(|value| (value, kind)).map_err(|sentence| (sentence, None));
    }
    let kind = &subject.kind;
    let kept = |value: Value| Ok((value, kind.clone()));
    let unlike = |help: Option<&str>| {
        let message =
            format!("{written} cannot be compared with `{}`, which is {}.", subject.name, subject.type_name());
        Err((message, help.map(str::to_owned)))
    };
    match (literal, kind) {
        (TermKind::Null, _) => kept(Value::Null),
        (_, ValueType::Embedded(_) | ValueType::Map(_)) => unlike(None),
        _ if subject.list => unlike(None),
        (TermKind::Boolean(bool), ValueType::Boolean | ValueType::Json) => kept(Value::from(*bool)),
        (TermKind::Text(_), ValueType::Boolean) => unlike(Some("Write true and false without quotes.")),
        (TermKind::Text(_), _) if is_numeric(kind) => unlike(Some("Write a number without quotes.")),
        (TermKind::Text(text), _) => {
            kind.coerce(&Value::from(text.as_str())).map_err(|sentence| (sentence, None)).and_then(kept)
        }
        (TermKind::Number(text), _) if is_numeric(kind) || matches!(kind, ValueType::Json) => {
            number(text, kind).map_err(|sentence| (sentence, None))
        }
        (TermKind::Number(_), ValueType::Id | ValueType::String) => unlike(Some("Write text in single quotes.")),
        _ => unlike(None),
    }
}

/// A number as a value of the type if it fits; otherwise as a Decimal, which compares with every number and loses no
/// digit.
fn number(text: &str, kind: &ValueType) -> Result<(Value, ValueType), String> {
    let exact = ValueType::Decimal.coerce(&Value::from(text))?;
    let value = match kind {
        ValueType::Int | ValueType::Long => {
            text.parse::<i64>().ok().and_then(|integer| kind.coerce(&integer.into()).ok())
        }
        // The literal is a Float only if the float has exactly the literal's digits.
        ValueType::Float => {
            kind.from_text(text).filter(|float| kind.to_text(float).as_deref().map(Value::from) == Some(exact.clone()))
        }
        ValueType::Json => serde_json::from_str(text).ok(),
        _ => None,
    };
    Ok(value.map_or((exact, ValueType::Decimal), |value| (value, kind.clone())))
}
