//! Key bindings in; whether they surely make equal keys, out. Must not know reads.

use crate::plan::tree::*;
use crate::schema::template::Template;
use crate::schema::template::part::Part;

/// Whether two keys have the same template and sources for the partition, and for what else they bind whole. Equal
/// values are found when the plan runs.
pub fn same_partition(one: &KeyBinding, other: &KeyBinding, arguments: &[Arguments]) -> bool {
    let (Some(left), Some(right)) = (&one.partition, &other.partition) else { return false };
    let same = |left: &Template, right: &Template| same_template((one, left), (other, right), arguments);
    one.equal.len() == other.equal.len()
        && same(left, right)
        && one.equal.iter().zip(&other.equal).all(|(left, right)| same(&left.template, &right.template))
}

/// Whether two keys have the same partition, and the same template and sources for what they bind of the sort key.
pub fn same_key(one: &KeyBinding, other: &KeyBinding, arguments: &[Arguments]) -> bool {
    let same_sort = match (&one.sort, &other.sort) {
        (Some(left), Some(right)) => same_template((one, left), (other, right), arguments),
        (left, right) => left.is_none() && right.is_none(),
    };
    same_sort && same_partition(one, other, arguments)
}

/// Whether two templates have the same text, with the same sources. Of shards and replicas, the run chooses the number.
fn same_template(
    (one, left): (&KeyBinding, &Template),
    (other, right): (&KeyBinding, &Template),
    arguments: &[Arguments],
) -> bool {
    let same = |(left, right): (&Part, &Part)| match (left, right) {
        (Part::Literal(left), Part::Literal(right)) => left == right,
        (Part::Placeholder { field: left, .. }, Part::Placeholder { field: right, .. }) => {
            match (one.fields.get(left.as_str()), other.fields.get(right.as_str())) {
                (Some(left), Some(right)) => same_source(left, right, arguments),
                (None, None) => left == right,
                _ => false,
            }
        }
        _ => false,
    };
    left.parts.len() == right.parts.len() && left.parts.iter().zip(&right.parts).all(same)
}

fn same_source(left: &ValueSource, right: &ValueSource, arguments: &[Arguments]) -> bool {
    match (left, right) {
        (ValueSource::Argument(left, name), ValueSource::Argument(right, other)) => {
            let value = |of: &ArgumentsId, name: &str| {
                let name = name.split('.').next().unwrap_or_default();
                Some(&arguments.get(*of)?.values.get(name)?.1)
            };
            let same_place = left == right && name == other;
            let same_end = || name.split_once('.').map(|(_, end)| end) == other.split_once('.').map(|(_, end)| end);
            same_place || same_end() && value(left, name).is_some_and(|own| value(right, other) == Some(own))
        }
        (ValueSource::Claim(left), ValueSource::Claim(right)) => left == right,
        (ValueSource::Field(left, reader), ValueSource::Field(right, other)) => {
            (left, &reader.field) == (right, &other.field)
        }
        (ValueSource::Text(left), ValueSource::Text(right)) => {
            let same = |(left, right): (&SourceText, &SourceText)| match (left, right) {
                (SourceText::Literal(left), SourceText::Literal(right)) => left == right,
                (SourceText::Value(left), SourceText::Value(right)) => same_source(left, right, arguments),
                _ => false,
            };
            left.len() == right.len() && left.iter().zip(right).all(same)
        }
        _ => false,
    }
}
