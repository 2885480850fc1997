//! A checked condition and the arguments of its field → a filter expression with placeholders.

use super::encode;
use super::placeholders::Placeholders;
use crate::schema::condition::{ArgumentType, Comparator, Condition, Operand};
use crate::table::attribute::Attribute;
use crate::table::call::Expression;
use serde_json::{Map, Value};

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
}

/// An argument, or a field of an input object by its dotted name (`input.name`); `None` where it is not given.
pub fn argument<'v>(arguments: &'v Map<String, Value>, name: &str) -> Option<&'v Value> {
    let mut names = name.split('.');
    let first = arguments.get(names.next()?)?;
    names.try_fold(first, |value, field| value.as_object()?.get(field))
}

/// The expression; `None` where every conjunct has a null argument. `Err` names the argument whose value does not fit.
pub fn expression(condition: &Condition, scope: &Scope<'_>) -> Result<Option<Expression>, String> {
    let is_null = |name: &str| scope.argument(name).is_none_or(Value::is_null);
    let Some(condition) = condition.without(&is_null) else { return Ok(None) };
    let mut writer = Writer { scope, placeholders: Placeholders::new('f') };
    let text = writer.condition(&condition)?;
    Ok(Some(writer.placeholders.expression(text)))
}

/// The expression of the whole condition: an argument that is null or not given is DynamoDB's null, to which nothing compares. `Err`
/// names the argument whose value does not fit.
pub fn whole(condition: &Condition, scope: &Scope<'_>) -> Result<Expression, String> {
    let mut writer = Writer { scope, placeholders: Placeholders::new('f') };
    let text = writer.condition(condition)?;
    Ok(writer.placeholders.expression(text))
}

/// The API value of an operand that is no path: an argument's (null where it is not given), the time, a literal.
pub fn operand_value(operand: &Operand, scope: &Scope<'_>) -> Option<Value> {
    match operand {
        Operand::Argument(name, _) => Some(scope.argument(name).cloned().unwrap_or(Value::Null)),
        Operand::Now(_) => Some(Value::String(scope.now.to_owned())),
        Operand::Literal(value, _) => Some(value.clone()),
        Operand::Path(_) | Operand::Size(_) => None,
    }
}

struct Writer<'a> {
    scope: &'a Scope<'a>,
    placeholders: Placeholders,
}

impl Writer<'_> {
    fn condition(&mut self, condition: &Condition) -> Result<String, String> {
        Ok(match condition {
            Condition::And(all) => self.joined(all, " AND ")?,
            Condition::Or(any) => self.joined(any, " OR ")?,
            Condition::Not(inner) => format!("NOT ({})", self.condition(inner)?),
            Condition::Compare(left, comparator, right) => {
                let sign = match comparator {
                    Comparator::Equal => "=",
                    Comparator::NotEqual => "<>",
                    Comparator::Less => "<",
                    Comparator::LessOrEqual => "<=",
                    Comparator::Greater => ">",
                    Comparator::GreaterOrEqual => ">=",
                };
                format!("{} {sign} {}", self.operand(left)?, self.operand(right)?)
            }
            Condition::Between(value, low, high) => {
                format!("{} BETWEEN {} AND {}", self.operand(value)?, self.operand(low)?, self.operand(high)?)
            }
            Condition::In(value, list) => {
                let value = self.operand(value)?;
                let mut among = Vec::new();
                for operand in list {
                    among.extend(self.operands(operand)?);
                }
                match among.is_empty() {
                    // DynamoDB has no empty IN; nothing is in an empty list.
                    true => format!("(attribute_exists({value}) AND attribute_not_exists({value}))"),
                    false => format!("{value} IN ({})", among.join(", ")),
                }
            }
            Condition::Exists(path) => format!("attribute_exists({})", self.placeholders.path(&path.segments)),
            Condition::NotExists(path) => format!("attribute_not_exists({})", self.placeholders.path(&path.segments)),
            Condition::AttributeType(path, kind) => {
                let path = self.placeholders.path(&path.segments);
                let name = self.placeholders.value(Attribute::S(kind.clone()));
                format!("attribute_type({path}, {name})")
            }
            Condition::BeginsWith(path, operand) => {
                format!("begins_with({}, {})", self.placeholders.path(&path.segments), self.operand(operand)?)
            }
            Condition::Contains(path, operand) => {
                format!("contains({}, {})", self.placeholders.path(&path.segments), self.operand(operand)?)
            }
        })
    }

    fn joined(&mut self, all: &[Condition], with: &str) -> Result<String, String> {
        let parts: Vec<String> = all.iter().map(|part| Ok(format!("({})", self.condition(part)?))).collect::<Result<_, String>>()?;
        Ok(parts.join(with))
    }

    fn operand(&mut self, operand: &Operand) -> Result<String, String> {
        Ok(match operand {
            Operand::Path(path) => self.placeholders.path(&path.segments),
            Operand::Size(path) => format!("size({})", self.placeholders.path(&path.segments)),
            Operand::Argument(name, kind) => {
                let value = self.scope.argument(name).cloned().unwrap_or(Value::Null);
                self.value(kind, &value).ok_or_else(|| format!("Argument \"{name}\" does not fit its use in the filter."))?
            }
            Operand::Now(kind) => {
                let now = Value::String(self.scope.now.to_owned());
                self.value(kind, &now).ok_or_else(|| "The time does not fit its use in the filter.".to_owned())?
            }
            Operand::Literal(value, kind) => {
                self.value(kind, value).ok_or_else(|| "A literal does not fit its use in the filter.".to_owned())?
            }
        })
    }

    /// The operands of IN: a list argument stands for its values.
    fn operands(&mut self, operand: &Operand) -> Result<Vec<String>, String> {
        let Operand::Argument(name, kind) = operand else { return Ok(vec![self.operand(operand)?]) };
        let Some(Value::Array(values)) = self.scope.argument(name) else { return Ok(vec![self.operand(operand)?]) };
        let misfit = || format!("Argument \"{name}\" does not fit its use in the filter.");
        values.clone().iter().map(|value| self.value(kind, value).ok_or_else(misfit)).collect()
    }

    fn value(&mut self, kind: &ArgumentType, value: &Value) -> Option<String> {
        encode::attribute(&kind.0, value).map(|attribute| self.placeholders.value(attribute))
    }
}
