//! A filter's condition and an item in, whether the condition holds out, as DynamoDB defines it (developer guide,
//! "Condition and filter expressions, operators, and functions").

use super::values::{attribute_of, compare, equal};
use keyfold::schema::expression::condition::Condition;
use keyfold::schema::expression::operand::{Comparator, Operand, Path, Segment};
use keyfold::schema::scalar::aws::AwsScalar;
use keyfold::schema::scalar::date_time::instant_text;
use keyfold::schema::scalar::value_type::ValueType;
use keyfold::table::data::attribute::{Attribute, Item};
use serde_json::{Map, Value};
use std::cmp::Ordering;
use std::time::{SystemTime, UNIX_EPOCH};

/// Whether an item matches a filter. A part of an AND whose argument is null is dropped.
pub fn lets_in(filter: &Condition, arguments: &Map<String, Value>, item: &Item) -> bool {
    left_of(filter, arguments).is_none_or(|filter| holds(&filter, arguments, item))
}

/// Whether each argument of the parts that are not dropped can be what the field beside it keeps: a time in a form may
/// be too coarse.
pub fn fits(filter: &Condition, arguments: &Map<String, Value>) -> bool {
    left_of(filter, arguments).iter().flat_map(operands).all(|operand| match operand {
        Operand::Argument(name, kind) if matches!(kind.0, ValueType::InForm(..)) => match argument(arguments, name) {
            Value::Array(values) => values.iter().all(|value| kind.0.coerce(value).is_ok()),
            value => kind.0.coerce(&value).is_ok(),
        },
        _ => true,
    })
}

fn left_of(filter: &Condition, arguments: &Map<String, Value>) -> Option<Condition> {
    filter.without(&|name| argument(arguments, name).is_null())
}

fn operands(condition: &Condition) -> Vec<&Operand> {
    match condition {
        Condition::And(all) | Condition::Or(all) => all.iter().flat_map(operands).collect(),
        Condition::Not(condition) => operands(condition),
        Condition::Compare(left, _, right) => vec![left, right],
        Condition::Between(value, lower, upper) => vec![value, lower, upper],
        Condition::In(value, list) => std::iter::once(value).chain(list).collect(),
        Condition::BeginsWith(_, operand) | Condition::Contains(_, operand) => vec![operand],
        Condition::Exists(_) | Condition::NotExists(_) | Condition::AttributeType(..) => Vec::new(),
    }
}

fn argument(arguments: &Map<String, Value>, name: &str) -> Value {
    let mut names = name.split('.');
    let first = names.next().and_then(|name| arguments.get(name)).cloned().unwrap_or_default();
    names.fold(first, |value, name| value.get(name).cloned().unwrap_or_default())
}

fn holds(condition: &Condition, arguments: &Map<String, Value>, item: &Item) -> bool {
    let value = |operand: &Operand| values(operand, arguments, item).into_iter().next();
    match condition {
        Condition::And(all) => all.iter().all(|one| holds(one, arguments, item)),
        Condition::Or(any) => any.iter().any(|one| holds(one, arguments, item)),
        Condition::Not(one) => !holds(one, arguments, item),
        Condition::Compare(left, comparator, right) => {
            let (left, right) = (value(left), value(right));
            let (Some(left), Some(right)) = (left, right) else {
                // A missing value equals nothing, so it differs from everything.
                return *comparator == Comparator::NotEqual;
            };
            let order = compare(&left, &right);
            match comparator {
                Comparator::Equal => equal(&left, &right),
                Comparator::NotEqual => !equal(&left, &right),
                Comparator::Less => order == Some(Ordering::Less),
                Comparator::LessOrEqual => order.is_some_and(Ordering::is_le),
                Comparator::Greater => order == Some(Ordering::Greater),
                Comparator::GreaterOrEqual => order.is_some_and(Ordering::is_ge),
            }
        }
        Condition::Between(one, low, high) => match (value(one), value(low), value(high)) {
            (Some(one), Some(low), Some(high)) => {
                compare(&low, &one).is_some_and(Ordering::is_le) && compare(&one, &high).is_some_and(Ordering::is_le)
            }
            _ => false,
        },
        Condition::In(one, among) => {
            let Some(one) = value(one) else { return false };
            among.iter().flat_map(|operand| values(operand, arguments, item)).any(|other| equal(&one, &other))
        }
        Condition::Exists(path) => at(path, item).is_some(),
        Condition::NotExists(path) => at(path, item).is_none(),
        Condition::AttributeType(path, kind) => at(path, item).is_some_and(|attribute| kind_of(attribute) == kind),
        Condition::BeginsWith(path, start) => match (at(path, item), value(start)) {
            (Some(Attribute::S(text)), Some(Attribute::S(start))) => text.starts_with(&*start),
            (Some(Attribute::B(bytes)), Some(Attribute::B(start))) => bytes.starts_with(&start),
            _ => false,
        },
        Condition::Contains(path, part) => match (at(path, item), value(part)) {
            (Some(Attribute::S(text)), Some(Attribute::S(part))) => text.contains(&*part),
            (Some(list), Some(part)) => {
                super::values::elements(list).is_some_and(|all| all.iter().any(|one| equal(one, &part)))
            }
            _ => false,
        },
    }
}

/// The values of an operand: none if the attribute is missing, several for a list argument.
fn values(operand: &Operand, arguments: &Map<String, Value>, item: &Item) -> Vec<Attribute> {
    let size = |path: &Path| {
        let size = match at(path, item)? {
            Attribute::S(text) => text.len(),
            Attribute::B(bytes) => bytes.len(),
            Attribute::M(map) => map.len(),
            list => super::values::elements(list)?.len(),
        };
        Some(Attribute::N(size.to_string().into()))
    };
    match operand {
        Operand::Path(path) => at(path, item).cloned().into_iter().collect(),
        Operand::Size(path) => size(path).into_iter().collect(),
        Operand::Argument(name, kind) => match argument(arguments, name) {
            Value::Array(values) => values.iter().filter_map(|value| attribute_of(&kind.0, value)).collect(),
            value => attribute_of(&kind.0, &value).into_iter().collect(),
        },
        Operand::Now(kind) => {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis() as i64;
            let time = match kind.0.as_aws() {
                Some(AwsScalar::Timestamp) => (now / 1000).into(),
                _ => instant_text(now).into(),
            };
            attribute_of(&kind.0, &time).into_iter().collect()
        }
        Operand::Literal(value, kind) => attribute_of(&kind.0, value).into_iter().collect(),
        // Nobody asks, and nobody has claims.
        Operand::Claim(_, kind) => attribute_of(&kind.0, &Value::Null).into_iter().collect(),
    }
}

fn at<'i>(path: &Path, item: &'i Item) -> Option<&'i Attribute> {
    let mut segments = path.segments.iter();
    let Segment::Attribute(first) = segments.next()? else { return None };
    segments.try_fold(item.get(first)?, |attribute, segment| match (segment, attribute) {
        (Segment::Attribute(name), Attribute::M(map)) => map.get(name),
        (Segment::Index(index), Attribute::L(values)) => values.get(*index as usize),
        _ => None,
    })
}

fn kind_of(attribute: &Attribute) -> &'static str {
    match attribute {
        Attribute::S(_) => "S",
        Attribute::N(_) => "N",
        Attribute::B(_) => "B",
        Attribute::Bool(_) => "BOOL",
        Attribute::Null => "NULL",
        Attribute::Ss(_) => "SS",
        Attribute::Ns(_) => "NS",
        Attribute::Bs(_) => "BS",
        Attribute::L(_) => "L",
        Attribute::M(_) => "M",
    }
}
