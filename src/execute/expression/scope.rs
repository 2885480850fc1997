//! The values of a request that expressions use: arguments, the time and literals, as API values and as attributes. Must not know items.

use crate::execute::values::encode;
use crate::schema::expression::operand::Operand;
use crate::table::data::attribute::Attribute;
use serde_json::{Map, Value};

/// Most values of an IN (DynamoDB developer guide, "Constraints in Amazon DynamoDB", expression parameters).
pub(super) const MOST_VALUES: usize = 100;

/// Values of the request that a condition may use.
pub struct Scope<'a> {
    /// The field's coerced arguments.
    pub arguments: &'a Map<String, Value>,
    /// `:now`, as a canonical DateTime.
    pub now: &'a str,
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
            Operand::Argument(name, kind) => (kind, self.argument(name).unwrap_or(&Value::Null), format!("Argument \"{name}\"")),
            Operand::Now(kind) => (kind, &Value::String(self.now.to_owned()), "The time".to_owned()),
            Operand::Literal(value, kind) => (kind, value, "A literal".to_owned()),
        };
        encode::attribute(&kind.0, value).map(Some).ok_or_else(|| format!("{what} does not fit its use in the condition."))
    }

    /// The values of an operand of IN: each value of a list argument.
    pub(super) fn values(&self, operand: &Operand) -> Result<Option<Vec<Attribute>>, String> {
        if let Operand::Argument(name, kind) = operand
            && let Some(Value::Array(values)) = self.argument(name)
        {
            if values.len() > MOST_VALUES {
                return Err(format!("Argument \"{name}\" has {} values; a condition takes at most {MOST_VALUES}.", values.len()));
            }
            let misfit = || format!("Argument \"{name}\" does not fit its use in the condition.");
            return values.iter().map(|value| encode::attribute(&kind.0, value).ok_or_else(misfit)).collect::<Result<_, _>>().map(Some);
        }
        Ok(self.value(operand)?.map(|value| vec![value]))
    }
}

/// An argument, or a field of an input object by its dotted name (`input.name`); `None` where it is not given.
pub fn argument<'v>(arguments: &'v Map<String, Value>, name: &str) -> Option<&'v Value> {
    let mut names = name.split('.');
    let first = arguments.get(names.next()?)?;
    names.try_fold(first, |value, field| value.as_object()?.get(field))
}

/// The API value of an operand: an argument (null if it is not given), the time or a literal. `None` for a path.
pub fn operand_value(operand: &Operand, scope: &Scope<'_>) -> Option<Value> {
    match operand {
        Operand::Argument(name, _) => Some(scope.argument(name).cloned().unwrap_or(Value::Null)),
        Operand::Now(_) => Some(Value::String(scope.now.to_owned())),
        Operand::Literal(value, _) => Some(value.clone()),
        Operand::Path(_) | Operand::Size(_) => None,
    }
}
