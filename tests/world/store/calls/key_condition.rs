//! The key condition of a Query in; its partition and the condition on the sort key out, or why it is none (developer
//! guide, "Key condition expressions for the Query operation").

use crate::store::data::attribute::Attribute;
use crate::store::data::definition::{KeyAttribute, KeySchema};
use crate::store::data::key::check;
use crate::store::error::{Answer, ModelError};
use crate::store::expressions::condition::{Comparator, Condition};
use crate::store::expressions::operand::Operand;
use crate::store::expressions::placeholders::Placeholders;

/// What a Query looks for.
pub struct KeyCondition {
    pub partition: Attribute,
    pub sort: Option<Condition>,
}

impl KeyCondition {
    pub fn parse(text: &str, placeholders: &Placeholders, keys: &KeySchema) -> Answer<Self> {
        let condition = Condition::parse("KeyConditionExpression", text, placeholders)?;
        let (mut partition, mut sort) = (None, None);
        for part in parts(condition) {
            let (name, values) = subject(&part).ok_or_else(unsupported)?;
            let is_equality = matches!(part, Condition::Compare(Comparator::Equal, ..));
            let sort_key = keys.sort.as_ref().filter(|key| key.name == name);
            match (name == keys.partition.name, sort_key) {
                (true, _) if is_equality && partition.is_none() => {
                    check_values(&values, &keys.partition)?;
                    partition = values.first().map(|value| (*value).clone());
                }
                (false, Some(key)) if sort.is_none() => {
                    check_values(&values, key)?;
                    sort = Some(part.clone());
                }
                _ => return Err(unsupported()),
            }
        }
        let missing =
            || ModelError::invalid(format!("Query condition missed key schema element: {}", keys.partition.name));
        Ok(Self { partition: partition.ok_or_else(missing)?, sort })
    }
}

fn parts(condition: Condition) -> Vec<Condition> {
    match condition {
        Condition::And(left, right) => [parts(*left), parts(*right)].concat(),
        other => vec![other],
    }
}

/// The attribute that a part is about, and the values that it is compared with; `None` if a key condition has no such
/// part.
fn subject(part: &Condition) -> Option<(String, Vec<&Attribute>)> {
    let (subject, values) = match part {
        Condition::Compare(Comparator::NotEqual, ..) => return None,
        Condition::Compare(_, subject, value) | Condition::BeginsWith(subject, value) => (subject, vec![value]),
        Condition::Between(subject, low, high) => (subject, vec![low, high]),
        _ => return None,
    };
    match subject {
        Operand::Path(path) if path.steps.is_empty() => {
            let values: Option<Vec<&Attribute>> = values.into_iter().map(Operand::literal).collect();
            Some((path.attribute.clone(), values?))
        }
        _ => None,
    }
}

fn check_values(values: &[&Attribute], key: &KeyAttribute) -> Answer<()> {
    for value in values {
        if !key.is_of_type(value) {
            return Err(ModelError::parameters("Condition parameter type does not match schema type"));
        }
        check(value, usize::MAX)?;
    }
    Ok(())
}

fn unsupported() -> ModelError {
    ModelError::invalid("Query key condition not supported")
}
