//! A checked condition and the arguments of its field → a filter expression with placeholders.
//!
//! Names and values always go through placeholders, so reserved words and odd names need no care
//! (DynamoDB developer guide, "Expression attribute names (aliases)").

use super::encode;
use crate::schema::condition::{ArgumentType, Comparator, Condition, Operand, Path, Segment};
use crate::table::attribute::Attribute;
use crate::table::call::Expression;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Values of the request that a condition may use.
pub struct Scope<'a> {
    /// The field's coerced arguments.
    pub arguments: &'a Map<String, Value>,
    /// `:now`, as a canonical DateTime.
    pub now: &'a str,
}

/// The expression; `None` where every conjunct has a null argument. `Err` names the argument whose value does not fit.
pub fn expression(condition: &Condition, scope: &Scope<'_>) -> Result<Option<Expression>, String> {
    let is_null = |name: &str| scope.arguments.get(name).is_none_or(Value::is_null);
    let Some(condition) = condition.without(&is_null) else { return Ok(None) };
    let mut writer = Writer { scope, names: BTreeMap::new(), values: BTreeMap::new() };
    let text = writer.condition(&condition)?;
    Ok(Some(Expression { text, names: writer.names, values: writer.values }))
}

struct Writer<'a> {
    scope: &'a Scope<'a>,
    names: BTreeMap<String, String>,
    values: BTreeMap<String, Attribute>,
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
            Condition::Exists(path) => format!("attribute_exists({})", self.path(path)),
            Condition::NotExists(path) => format!("attribute_not_exists({})", self.path(path)),
            Condition::AttributeType(path, kind) => {
                let path = self.path(path);
                let name = self.placeholder(Attribute::S(kind.clone()));
                format!("attribute_type({path}, {name})")
            }
            Condition::BeginsWith(path, operand) => format!("begins_with({}, {})", self.path(path), self.operand(operand)?),
            Condition::Contains(path, operand) => format!("contains({}, {})", self.path(path), self.operand(operand)?),
        })
    }

    fn joined(&mut self, all: &[Condition], with: &str) -> Result<String, String> {
        let parts: Vec<String> = all.iter().map(|part| Ok(format!("({})", self.condition(part)?))).collect::<Result<_, String>>()?;
        Ok(parts.join(with))
    }

    fn operand(&mut self, operand: &Operand) -> Result<String, String> {
        Ok(match operand {
            Operand::Path(path) => self.path(path),
            Operand::Size(path) => format!("size({})", self.path(path)),
            Operand::Argument(name, kind) => {
                let value = self.scope.arguments.get(name).cloned().unwrap_or(Value::Null);
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
        let Some(Value::Array(values)) = self.scope.arguments.get(name) else { return Ok(vec![self.operand(operand)?]) };
        let misfit = || format!("Argument \"{name}\" does not fit its use in the filter.");
        values.clone().iter().map(|value| self.value(kind, value).ok_or_else(misfit)).collect()
    }

    fn value(&mut self, kind: &ArgumentType, value: &Value) -> Option<String> {
        encode::attribute(&kind.0, value).map(|attribute| self.placeholder(attribute))
    }

    /// The placeholder of a value, the same one for equal values.
    fn placeholder(&mut self, attribute: Attribute) -> String {
        if let Some((name, _)) = self.values.iter().find(|(_, known)| **known == attribute) {
            return name.clone();
        }
        let name = format!(":f{}", self.values.len());
        self.values.insert(name.clone(), attribute);
        name
    }

    fn path(&mut self, path: &Path) -> String {
        let mut text = String::new();
        for segment in &path.segments {
            match segment {
                Segment::Attribute(name) => {
                    if !text.is_empty() {
                        text.push('.');
                    }
                    text.push_str(&self.name(name));
                }
                Segment::Index(position) => text.push_str(&format!("[{position}]")),
            }
        }
        text
    }

    fn name(&mut self, attribute: &str) -> String {
        if let Some((name, _)) = self.names.iter().find(|(_, known)| *known == attribute) {
            return name.clone();
        }
        let name = format!("#f{}", self.names.len());
        self.names.insert(name.clone(), attribute.to_owned());
        name
    }
}
