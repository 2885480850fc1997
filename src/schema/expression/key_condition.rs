//! The condition under which an item has the key of an index: `status = 'OPEN'`. Must not know how it is evaluated.

use crate::schema::expression::condition::Condition;
use crate::schema::expression::operand::{Comparator, Operand, Segment};
use crate::schema::scalar::value_type::ValueType;
use serde_json::Value;

/// A condition over the fields of an item alone.
#[derive(Debug)]
pub struct HeldCondition {
    /// Its text.
    pub text: String,
    /// What it says. Its paths are names of fields.
    pub condition: Condition,
    /// The fields that it reads, each with its type.
    pub fields: Vec<(String, ValueType)>,
}

/// What is known of the items that a find means: fields that have a value, each with it.
pub type GivenValues<'a> = &'a [(&'a str, Value)];

impl HeldCondition {
    /// Whether every item with these values meets it: each of its parts says no more.
    pub fn follows_from(&self, known: GivenValues<'_>) -> bool {
        self.condition.conjuncts().into_iter().all(|part| says(part, known) == Some(true))
    }

    /// Whether no item with these values meets it.
    pub fn contradicts(&self, known: GivenValues<'_>) -> bool {
        self.condition.conjuncts().into_iter().any(|part| says(part, known) == Some(false))
    }

    /// Whether it says of a field that it has this value.
    pub fn says(&self, field: &str, value: &Value) -> bool {
        let is_it = |part: &&Condition| equality(part).is_some_and(|(name, literal)| name == field && literal == value);
        self.condition.conjuncts().iter().any(is_it)
    }
}

/// What known values say of a part of a condition; `None` if they do not decide it.
fn says(part: &Condition, known: GivenValues<'_>) -> Option<bool> {
    let value = |field: &str| known.iter().find(|(name, _)| *name == field).map(|(_, value)| value);
    match part {
        Condition::Compare(Operand::Path(path), Comparator::Equal, Operand::Literal(literal, _)) => {
            Some(value(field_of(&path.segments)?)? == literal)
        }
        Condition::Compare(Operand::Path(path), Comparator::NotEqual, Operand::Literal(literal, _)) => {
            Some(value(field_of(&path.segments)?)? != literal)
        }
        Condition::In(Operand::Path(path), list) => {
            let value = value(field_of(&path.segments)?)?;
            let literals =
                list.iter().map(|one| if let Operand::Literal(literal, _) = one { Some(literal) } else { None });
            let literals: Option<Vec<&Value>> = literals.collect();
            Some(literals?.contains(&value))
        }
        Condition::Exists(path) => value(field_of(&path.segments)?).map(|_| true),
        Condition::NotExists(path) => value(field_of(&path.segments)?).map(|_| false),
        Condition::Or(parts) => match parts.iter().map(|part| says(part, known)).collect::<Vec<_>>() {
            all if all.contains(&Some(true)) => Some(true),
            all if all.iter().all(|one| *one == Some(false)) => Some(false),
            _ => None,
        },
        Condition::Not(inner) => says(inner, known).map(|holds| !holds),
        _ => None,
    }
}

/// The attribute or the field of an equality, with its value; `None` if a condition is none.
pub fn equality(condition: &Condition) -> Option<(&str, &Value)> {
    match condition {
        Condition::Compare(Operand::Path(path), Comparator::Equal, Operand::Literal(literal, _)) => {
            Some((field_of(&path.segments)?, literal))
        }
        _ => None,
    }
}

fn field_of(segments: &[Segment]) -> Option<&str> {
    match segments {
        [Segment::Attribute(name)] => Some(name),
        _ => None,
    }
}
