//! GraphQL values → attributes, in the form in which their type is stored. Must not know the schema's object types.

use crate::schema::model::keys::ConstantValue;
use crate::schema::scalar::date_time::epoch_millis;
use crate::schema::scalar::decimal::canonical_decimal;
use crate::schema::scalar::form::Form;
use crate::schema::scalar::value_type::{Moment, ValueType};
use crate::table::data::attribute::{Attribute, Item};
use base64::Engine;
use serde_json::Value;

/// The deepest nesting of an item's lists and maps (DynamoDB developer guide, "Constraints in Amazon DynamoDB", nested
/// attribute depth).
const MAX_DEPTH: usize = 32;

/// The attribute of a value; `None` if the value does not fit the type, and for an embedded object, whose type the
/// schema knows. Null is DynamoDB's null. For a set type, a single value is an element.
pub fn attribute(kind: &ValueType, value: &Value) -> Option<Attribute> {
    if value.is_null() {
        return Some(Attribute::Null);
    }
    if let (Value::Array(values), kind) = (value, kind) {
        return match kind {
            ValueType::Json => json(value, MAX_DEPTH),
            ValueType::Set(element) => set(element, values),
            _ => values.iter().map(|value| attribute(kind, value)).collect::<Option<_>>().map(Attribute::L),
        };
    }
    match kind {
        ValueType::Boolean => value.as_bool().map(Attribute::Bool),
        ValueType::Int | ValueType::Long | ValueType::Float | ValueType::Decimal => {
            kind.to_text(value).map(|number| Attribute::N(number.into()))
        }
        ValueType::DateTime(moment @ (Moment::EpochSeconds | Moment::EpochMillis)) => {
            let millis = epoch_millis(value.as_str()?)?;
            let number = if *moment == Moment::EpochSeconds { millis.div_euclid(1000) } else { millis };
            Some(Attribute::N(number.to_string().into()))
        }
        ValueType::InForm(plain, _) if kind.as_aws().is_some() => attribute(plain, &kind.coerce(value).ok()?),
        ValueType::InForm(_, form) if **form == Form::Number => {
            kind.to_text(value).map(|number| Attribute::N(number.into()))
        }
        ValueType::Binary => base64::engine::general_purpose::STANDARD.decode(value.as_str()?).ok().map(Attribute::B),
        ValueType::Json => json(value, MAX_DEPTH),
        ValueType::Set(element) => attribute(element, value),
        ValueType::Embedded(_) | ValueType::Map(_) => None,
        _ => kind.to_text(value).map(|text| Attribute::S(text.into())),
    }
}

/// The attribute of a constant.
pub fn constant(value: &ConstantValue) -> Attribute {
    match value {
        ConstantValue::Text(text) => Attribute::S(text.as_str().into()),
        ConstantValue::Number(number) => Attribute::N(number.as_str().into()),
        ConstantValue::Boolean(boolean) => Attribute::Bool(*boolean),
    }
}

/// A set of these elements, each once as it is stored: two instants of one second are one. `None` if there are none,
/// since DynamoDB has no empty set.
pub fn set(element: &ValueType, values: &[Value]) -> Option<Attribute> {
    let mut all: Vec<Attribute> = Vec::with_capacity(values.len());
    for value in values {
        let attribute = attribute(element, value)?;
        if !all.contains(&attribute) {
            all.push(attribute);
        }
    }
    let text = |attribute| match attribute {
        Attribute::S(text) | Attribute::N(text) => Some(text),
        _ => None,
    };
    let bytes = |attribute| match attribute {
        Attribute::B(bytes) => Some(bytes),
        _ => None,
    };
    match all.first()? {
        Attribute::S(_) => all.into_iter().map(text).collect::<Option<_>>().map(Attribute::Ss),
        Attribute::N(_) => all.into_iter().map(text).collect::<Option<_>>().map(Attribute::Ns),
        Attribute::B(_) => all.into_iter().map(bytes).collect::<Option<_>>().map(Attribute::Bs),
        _ => None,
    }
}

/// Any JSON value of at most `depth` levels whose numbers and names DynamoDB can hold. A name is not empty (DynamoDB
/// developer guide, "Supported data types and naming rules").
fn json(value: &Value, depth: usize) -> Option<Attribute> {
    let below = depth.checked_sub(1)?;
    Some(match value {
        Value::Null => Attribute::Null,
        Value::Bool(value) => Attribute::Bool(*value),
        Value::Number(number) => Attribute::N(canonical_decimal(&number.to_string()).ok()?.into()),
        Value::String(text) => Attribute::S(text.clone().into()),
        Value::Array(values) => Attribute::L(values.iter().map(|value| json(value, below)).collect::<Option<_>>()?),
        Value::Object(fields) => {
            let entry = |(name, value): (&String, &Value)| {
                Some((name.clone(), json(value, below).filter(|_| !name.is_empty())?))
            };
            let entries = fields.iter().map(entry);
            Attribute::M(entries.collect::<Option<Item>>()?)
        }
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn instants_are_kept_as_they_are_declared() {
        let at = json!("2026-11-20T09:30:00.123Z");
        let kept = |moment| attribute(&ValueType::DateTime(moment), &at);
        assert_eq!(kept(Moment::Text), Some(Attribute::S("2026-11-20T09:30:00.123Z".into())));
        assert_eq!(kept(Moment::EpochSeconds), Some(Attribute::N("1795167000".into())));
        assert_eq!(kept(Moment::EpochMillis), Some(Attribute::N("1795167000123".into())));
        let before = json!("1969-12-31T23:59:59.500Z");
        assert_eq!(attribute(&ValueType::DateTime(Moment::EpochSeconds), &before), Some(Attribute::N("-1".into())));
        assert_eq!(attribute(&ValueType::DateTime(Moment::EpochSeconds), &json!("soon")), None);
    }

    #[test]
    fn sets_hold_each_element_once() {
        let seconds = ValueType::Set(Box::new(ValueType::DateTime(Moment::EpochSeconds)));
        let instants = json!(["1970-01-01T00:00:01.100Z", "1970-01-01T00:00:01.900Z", "1970-01-01T00:00:02Z"]);
        assert_eq!(attribute(&seconds, &instants), Some(Attribute::Ns(vec!["1".into(), "2".into()])));
        let texts = ValueType::Set(Box::new(ValueType::String));
        assert_eq!(attribute(&texts, &json!(["b", "a", "b"])), Some(Attribute::Ss(vec!["b".into(), "a".into()])));
        let bytes = ValueType::Set(Box::new(ValueType::Binary));
        assert_eq!(attribute(&bytes, &json!(["AQ==", "Ag==", "AQ=="])), Some(Attribute::Bs(vec![vec![1], vec![2]])));
        assert_eq!((attribute(&texts, &json!([])), attribute(&texts, &json!(["a", null]))), (None, None));
    }

    #[test]
    fn json_that_no_item_holds_is_refused() {
        let nested = |depth: usize| (0..depth).fold(json!(1), |inner, _| json!([inner]));
        assert!(attribute(&ValueType::Json, &nested(31)).is_some());
        assert_eq!(attribute(&ValueType::Json, &nested(32)), None);
        assert_eq!(attribute(&ValueType::Json, &json!({ "a": [1e200] })), None);
        assert_eq!(attribute(&ValueType::Json, &json!(1e-7)), Some(Attribute::N("0.0000001".into())));
    }
}
