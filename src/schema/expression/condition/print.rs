//! A condition as text: in the grammar that the parser reads, with stored attribute names and the fewest parentheses.

use crate::schema::expression::condition::Condition;
use crate::schema::expression::operand::{Comparator, Operand, Path, Segment};
use crate::schema::scalar::value_type::ValueType;
use serde_json::Value;
use std::fmt::{Display, Formatter, Result};

impl Display for Condition {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Condition::And(conditions) => {
                chain(f, conditions, " AND ", |inner| matches!(inner, Condition::And(_) | Condition::Or(_)))
            }
            Condition::Or(conditions) => chain(f, conditions, " OR ", |inner| matches!(inner, Condition::Or(_))),
            Condition::Not(condition) => {
                f.write_str("NOT ")?;
                inner(f, condition, matches!(**condition, Condition::And(_) | Condition::Or(_)))
            }
            Condition::Compare(left, comparator, right) => write!(f, "{left} {comparator} {right}"),
            Condition::Between(value, lower, upper) => write!(f, "{value} BETWEEN {lower} AND {upper}"),
            Condition::In(value, list) => {
                write!(f, "{value} IN (")?;
                for (position, operand) in list.iter().enumerate() {
                    write!(f, "{}{operand}", if position == 0 { "" } else { ", " })?;
                }
                f.write_str(")")
            }
            Condition::Exists(path) => write!(f, "attribute_exists({path})"),
            Condition::NotExists(path) => write!(f, "attribute_not_exists({path})"),
            Condition::BeginsWith(path, operand) => write!(f, "begins_with({path}, {operand})"),
            Condition::Contains(path, operand) => write!(f, "contains({path}, {operand})"),
            Condition::AttributeType(path, descriptor) => write!(f, "attribute_type({path}, '{descriptor}')"),
        }
    }
}

fn chain(
    f: &mut Formatter<'_>,
    conditions: &[Condition],
    between: &str,
    parentheses: fn(&Condition) -> bool,
) -> Result {
    for (position, condition) in conditions.iter().enumerate() {
        f.write_str(if position == 0 { "" } else { between })?;
        inner(f, condition, parentheses(condition))?;
    }
    Ok(())
}

fn inner(f: &mut Formatter<'_>, condition: &Condition, parentheses: bool) -> Result {
    if parentheses { write!(f, "({condition})") } else { write!(f, "{condition}") }
}

impl Display for Comparator {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(match self {
            Comparator::Equal => "=",
            Comparator::NotEqual => "<>",
            Comparator::Less => "<",
            Comparator::LessOrEqual => "<=",
            Comparator::Greater => ">",
            Comparator::GreaterOrEqual => ">=",
        })
    }
}

impl Display for Operand {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Operand::Path(path) => write!(f, "{path}"),
            Operand::Size(path) => write!(f, "size({path})"),
            Operand::Argument(name, _) => write!(f, ":{name}"),
            Operand::Claim(claim, _) => write!(f, ":{claim}"),
            Operand::Now(_) => f.write_str(":now"),
            // A Decimal is text in JSON and a number in a condition.
            Operand::Literal(Value::String(number), kind) if matches!(kind.0, ValueType::Decimal) => {
                f.write_str(number)
            }
            Operand::Literal(Value::String(text), _) => write!(f, "'{}'", text.replace('\'', "''")),
            Operand::Literal(value, _) => write!(f, "{value}"),
        }
    }
}

impl Display for Path {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        for (position, segment) in self.segments.iter().enumerate() {
            match segment {
                Segment::Attribute(name) if position == 0 => f.write_str(name)?,
                Segment::Attribute(name) => write!(f, ".{name}")?,
                Segment::Index(index) => write!(f, "[{index}]")?,
                Segment::InKey(field) => f.write_str(&field.name)?,
            }
        }
        Ok(())
    }
}
