//! The values of a request that expressions use: arguments, claims, the time and literals, as API values and as
//! attributes. Must not know items.

use super::request_time::RequestTime;
use crate::execute::caller::Caller;
use crate::execute::values::encode;
use crate::schema::expression::claim::ClaimPath;
use crate::schema::expression::operand::{ArgumentType, Operand};
use crate::schema::scalar::value_type::ValueType;
use crate::table::data::attribute::Attribute;
use serde_json::{Map, Value};

/// Most values of an IN (DynamoDB developer guide, "Constraints in Amazon DynamoDB", expression parameters).
pub(super) const MAX_VALUES: usize = 100;

/// Values of the request that a condition may use.
pub struct Scope<'a> {
    /// The field's coerced arguments.
    pub arguments: &'a Map<String, Value>,
    /// `:now`.
    pub now: &'a RequestTime,
    /// The caller, whose claims it may name.
    pub caller: &'a Caller,
}

impl Scope<'_> {
    /// An argument, or a field of an input object by its dotted name (`input.name`); `None` where it is not given.
    pub fn argument(&self, name: &str) -> Option<&Value> {
        argument(self.arguments, name)
    }

    /// The value of an operand; `None` if it is read from the item. `Err` names the argument whose value does not fit.
    pub(in crate::execute) fn value(&self, operand: &Operand) -> Result<Option<Attribute>, String> {
        let (kind, value, what) = match operand {
            Operand::Path(_) | Operand::Size(_) => return Ok(None),
            Operand::Argument(name, kind) => {
                (kind, self.argument(name).unwrap_or(&Value::Null), format!("Argument \"{name}\""))
            }
            Operand::Claim(claim, kind) => return Ok(encode::attribute(&kind.0, &self.claim(claim, &kind.0))),
            Operand::Now(kind) => (kind, &now(kind, self.now), "The time".to_owned()),
            Operand::Literal(value, kind) => (kind, value, "A literal".to_owned()),
        };
        encode::attribute(&kind.0, value).map(Some).ok_or_else(|| misfit(&what, &kind.0, value))
    }

    /// A claim as a value of a type; null if the caller has none that fits.
    pub(in crate::execute) fn claim(&self, claim: &ClaimPath, kind: &ValueType) -> Value {
        let single = self.caller.claim(claim).filter(|value| !value.is_array() && !value.is_object());
        single.and_then(|value| claim_value(value, kind)).unwrap_or(Value::Null)
    }

    /// The values of an operand of IN: each value of a list argument.
    pub(super) fn values(&self, operand: &Operand) -> Result<Option<Vec<Attribute>>, String> {
        if let Operand::Argument(name, kind) = operand
            && let Some(Value::Array(values)) = self.argument(name)
        {
            if values.len() > MAX_VALUES {
                return Err(format!(
                    "Argument \"{name}\" has {} values; a condition takes at most {MAX_VALUES}.",
                    values.len()
                ));
            }
            let what = format!("Argument \"{name}\"");
            return values
                .iter()
                .map(|value| encode::attribute(&kind.0, value).ok_or_else(|| misfit(&what, &kind.0, value)))
                .collect::<Result<_, _>>()
                .map(Some);
        }
        if let Operand::Claim(claim, kind) = operand
            && let Some(Value::Array(values)) = self.caller.claim(claim)
        {
            let fitting =
                values.iter().filter(|value| !value.is_null()).filter_map(|value| claim_value(value, &kind.0));
            let among: Vec<Attribute> = fitting.filter_map(|value| encode::attribute(&kind.0, &value)).collect();
            if among.len() > MAX_VALUES {
                return Err(format!("A claim has {} values; a condition takes at most {MAX_VALUES}.", among.len()));
            }
            return Ok(Some(among));
        }
        Ok(self.value(operand)?.map(|value| vec![value]))
    }
}

/// A claim as a value of a type; `None` if it does not fit. A number and its text are one claim: issuers write either.
pub(super) fn claim_value(value: &Value, kind: &ValueType) -> Option<Value> {
    match (kind.in_api(), value) {
        (ValueType::Decimal | ValueType::Id, Value::Number(number)) => {
            kind.coerce(&Value::String(number.to_string())).ok()
        }
        (api @ (ValueType::Int | ValueType::Float), Value::String(text)) => api.from_text(text),
        _ => kind.coerce(value).ok(),
    }
}

/// The time as a value of the type beside which it stands: cut to what that keeps.
pub(super) fn now(kind: &ArgumentType, now: &RequestTime) -> Value {
    let now = Value::from(now.text());
    kind.0.cut(&now).unwrap_or(now)
}

/// Why a value cannot be compared with what a field of this type keeps.
fn misfit(what: &str, kind: &ValueType, value: &Value) -> String {
    match (kind, kind.coerce(value)) {
        (ValueType::InForm(..), Err(sentence)) => format!("{what} does not fit its use in the condition: {sentence}"),
        _ => format!("{what} does not fit its use in the condition."),
    }
}

/// An argument, or what is inside it by its dotted name: a field of an input object (`input.name`), or an element of a
/// list (`lines.3.sku`). `None` where it is not given.
pub fn argument<'v>(arguments: &'v Map<String, Value>, name: &str) -> Option<&'v Value> {
    // No name of the schema contains a dot, so most are found as they are.
    if let Some(value) = arguments.get(name) {
        return Some(value);
    }
    let mut names = name.split('.');
    let first = arguments.get(names.next()?)?;
    names.try_fold(first, |value, name| match value {
        Value::Object(fields) => fields.get(name),
        Value::Array(elements) => elements.get(name.parse::<usize>().ok()?),
        _ => None,
    })
}

/// The API value of an operand: an argument (null if it is not given), the time or a literal. `None` for a path.
pub fn operand_value(operand: &Operand, scope: &Scope<'_>) -> Option<Value> {
    match operand {
        Operand::Argument(name, _) => Some(scope.argument(name).cloned().unwrap_or(Value::Null)),
        Operand::Now(kind) => Some(now(kind, scope.now)),
        Operand::Literal(value, _) => Some(value.clone()),
        Operand::Claim(claim, kind) => Some(scope.claim(claim, &kind.0)),
        Operand::Path(_) | Operand::Size(_) => None,
    }
}
