//! A checked condition, an item and the values of a request in; whether the condition holds, as DynamoDB evaluates it,
//! out.
//!
//! A comparison with a missing value or a value of another type is false, except `<>`, which is true (DynamoDB
//! developer guide, "Condition and filter expressions, operators, and functions"). Numbers compare by value, with all
//! 38 digits, texts and binaries by bytes.

use super::request_time::RequestTime;
use super::scope::Scope;
use crate::execute::caller::Caller;
use crate::execute::values::encode;
use crate::schema::expression::condition::Condition;
use crate::schema::expression::operand::{Comparator, KeyField, Operand, Path, Segment};
use crate::schema::table::number;
use crate::table::data::attribute::{Attribute, Item};
use serde_json::Map;
use std::borrow::Cow;
use std::cmp::Ordering;

/// Whether the whole condition holds for an item (`None`: there is none). A null argument is DynamoDB's null, as in the
/// expression ([`super::condition::lettered`]). `Err` is a sentence: a value of the request does not fit its use.
pub fn holds(condition: &Condition, item: Option<&Item>, scope: &Scope<'_>) -> Result<bool, String> {
    let nothing = Item::new();
    Evaluation { item: item.unwrap_or(&nothing), scope }.condition(condition)
}

/// Whether a condition that uses nothing of a request holds for an item.
pub fn holds_alone(condition: &Condition, item: &Item) -> bool {
    let (arguments, now, caller) = (Map::new(), RequestTime::at(0), Caller::anonymous());
    let scope = Scope { arguments: &arguments, now: &now, caller: &caller };
    holds(condition, Some(item), &scope).unwrap_or(false)
}

/// The value of an operand; `None` if the item lacks it, or if it does not fit its use.
pub(super) fn value(operand: &Operand, item: &Item, scope: &Scope<'_>) -> Option<Attribute> {
    Evaluation { item, scope }.operand(operand).ok()?.map(Cow::into_owned)
}

struct Evaluation<'a> {
    item: &'a Item,
    scope: &'a Scope<'a>,
}

impl<'a> Evaluation<'a> {
    /// Evaluates every part even if the first one decides: a value that does not fit is an error for any item.
    fn condition(&self, condition: &Condition) -> Result<bool, String> {
        Ok(match condition {
            Condition::And(all) => self.each(all)?.into_iter().all(|holds| holds),
            Condition::Or(any) => self.each(any)?.into_iter().any(|holds| holds),
            Condition::Not(inner) => !self.condition(inner)?,
            Condition::Compare(left, comparator, right) => {
                let (left, right) = (self.operand(left)?, self.operand(right)?);
                let (Some(left), Some(right)) = (left, right) else { return Ok(*comparator == Comparator::NotEqual) };
                compare(&left, *comparator, &right)
            }
            Condition::Between(value, low, high) => {
                let (value, low, high) = (self.operand(value)?, self.operand(low)?, self.operand(high)?);
                let (Some(value), Some(low), Some(high)) = (value, low, high) else { return Ok(false) };
                compare(&value, Comparator::GreaterOrEqual, &low) && compare(&value, Comparator::LessOrEqual, &high)
            }
            Condition::In(value, list) => {
                let (value, mut found) = (self.operand(value)?, false);
                let is = |other: &Attribute| value.as_ref().is_some_and(|value| equal(value, other));
                for operand in list {
                    found |= match self.scope.values(operand)? {
                        Some(values) => values.iter().any(is),
                        None => self.operand(operand)?.is_some_and(|other| is(&other)),
                    };
                }
                found
            }
            Condition::Exists(path) => self.at(path).is_some(),
            Condition::NotExists(path) => self.at(path).is_none(),
            Condition::AttributeType(path, descriptor) => {
                self.at(path).is_some_and(|value| value.descriptor() == descriptor)
            }
            Condition::BeginsWith(path, operand) => match (self.at(path).as_deref(), self.operand(operand)?.as_deref())
            {
                (Some(Attribute::S(text)), Some(Attribute::S(prefix))) => text.starts_with(prefix.as_str()),
                (Some(Attribute::B(bytes)), Some(Attribute::B(prefix))) => bytes.starts_with(prefix),
                _ => false,
            },
            Condition::Contains(path, operand) => {
                let operand = self.operand(operand)?;
                self.at(path).zip(operand).is_some_and(|(whole, part)| contains(&whole, &part))
            }
        })
    }

    fn each(&self, conditions: &[Condition]) -> Result<Vec<bool>, String> {
        conditions.iter().map(|condition| self.condition(condition)).collect()
    }

    /// The value of an operand; `None` if the item lacks it or it has no size.
    fn operand(&self, operand: &Operand) -> Result<Option<Cow<'a, Attribute>>, String> {
        Ok(match operand {
            Operand::Path(path) => self.at(path),
            Operand::Size(path) => self
                .at(path)
                .and_then(|value| size(&value))
                .map(|size| Cow::Owned(Attribute::N(size.to_string().into()))),
            _ => self.scope.value(operand)?.map(Cow::Owned),
        })
    }

    fn at(&self, path: &Path) -> Option<Cow<'a, Attribute>> {
        match path.in_key() {
            Some(field) => in_key(self.item, field).map(Cow::Owned),
            None => at(self.item, &path.segments).map(Cow::Borrowed),
        }
    }
}

/// The value of a field in an item's key, as its attribute would hold it.
fn in_key(item: &Item, field: &KeyField) -> Option<Attribute> {
    match item.get(&field.key)? {
        Attribute::S(key) => encode::attribute(&field.value, &field.text.read(key)?),
        _ => None,
    }
}

/// What an item has at a path.
pub(in crate::execute) fn at<'i>(item: &'i Item, path: &[Segment]) -> Option<&'i Attribute> {
    let (Segment::Attribute(first), rest) = path.split_first()? else { return None };
    rest.iter().try_fold(item.get(first)?, |value, segment| match (value, segment) {
        (Attribute::M(map), Segment::Attribute(name)) => map.get(name),
        (Attribute::L(list), Segment::Index(position)) => list.get(usize::try_from(*position).ok()?),
        _ => None,
    })
}

/// Whether an item has DynamoDB's null at a path.
pub(in crate::execute) fn is_null(item: &Item, path: &Path) -> bool {
    matches!(at(item, &path.segments), Some(Attribute::Null))
}

/// The order of two values of one ordered type: texts by UTF-8 bytes, binaries by bytes, numbers by value.
pub(super) fn order(left: &Attribute, right: &Attribute) -> Option<Ordering> {
    match (left, right) {
        (Attribute::S(left), Attribute::S(right)) => Some(left.cmp(right)),
        (Attribute::N(left), Attribute::N(right)) => Some(number::compare(left, right)),
        (Attribute::B(left), Attribute::B(right)) => Some(left.cmp(right)),
        _ => None,
    }
}

fn compare(left: &Attribute, comparator: Comparator, right: &Attribute) -> bool {
    match comparator {
        Comparator::Equal => equal(left, right),
        Comparator::NotEqual => !equal(left, right),
        _ => order(left, right).is_some_and(|order| is_met(comparator, order)),
    }
}

/// Whether two values that compare so meet a comparator.
fn is_met(comparator: Comparator, order: Ordering) -> bool {
    match comparator {
        Comparator::Equal => order.is_eq(),
        Comparator::NotEqual => order.is_ne(),
        Comparator::Less => order.is_lt(),
        Comparator::LessOrEqual => order.is_le(),
        Comparator::Greater => order.is_gt(),
        Comparator::GreaterOrEqual => order.is_ge(),
    }
}

/// Whether two texts meet a comparator.
pub(super) fn compare_texts(left: &str, comparator: Comparator, right: &str) -> bool {
    is_met(comparator, left.cmp(right))
}

/// Whether two values are equal: sets in any order, lists in order, maps by name.
pub(in crate::execute) fn equal(left: &Attribute, right: &Attribute) -> bool {
    match (left, right) {
        (Attribute::Bool(left), Attribute::Bool(right)) => left == right,
        (Attribute::Null, Attribute::Null) => true,
        (Attribute::Ss(left), Attribute::Ss(right)) => same_set(left, right, |one, other| one == other),
        (Attribute::Ns(left), Attribute::Ns(right)) => same_set(left, right, |one, other| same_number(one, other)),
        (Attribute::Bs(left), Attribute::Bs(right)) => same_set(left, right, |one, other| one == other),
        (Attribute::L(left), Attribute::L(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| equal(left, right))
        }
        (Attribute::M(left), Attribute::M(right)) => same_item(left, right),
        _ => order(left, right) == Some(Ordering::Equal),
    }
}

/// Whether two items are equal, whatever the notation of their numbers and the order of their sets.
pub(in crate::execute) fn same_item(left: &Item, right: &Item) -> bool {
    left.len() == right.len() && left.iter().all(|(name, left)| right.get(name).is_some_and(|right| equal(left, right)))
}

/// A set holds each value once, so two sets of one size are equal if one contains all of the other.
fn same_set<T>(left: &[T], right: &[T], same: impl Fn(&T, &T) -> bool) -> bool {
    left.len() == right.len() && left.iter().all(|one| right.iter().any(|other| same(one, other)))
}

fn same_number(one: &str, other: &str) -> bool {
    number::compare(one, other) == Ordering::Equal
}

/// Whether a text or binary contains a part, a set an element, a list a value.
fn contains(whole: &Attribute, part: &Attribute) -> bool {
    match (whole, part) {
        (Attribute::S(text), Attribute::S(part)) => text.contains(part.as_str()),
        (Attribute::B(bytes), Attribute::B(part)) => {
            part.is_empty() || bytes.windows(part.len()).any(|window| window == part)
        }
        (Attribute::Ss(texts), Attribute::S(part)) => texts.contains(part),
        (Attribute::Ns(numbers), Attribute::N(part)) => numbers.iter().any(|number| same_number(number, part)),
        (Attribute::Bs(all), Attribute::B(part)) => all.contains(part),
        (Attribute::L(values), _) => values.iter().any(|value| equal(value, part)),
        _ => false,
    }
}

/// `size`: the length of a text in UTF-16 code units, the length of a binary in bytes, or the number of elements.
/// Numbers, Booleans and null have none. (The guide says "the length of the string"; DynamoDB counts code units.)
fn size(value: &Attribute) -> Option<usize> {
    Some(match value {
        Attribute::S(text) => text.encode_utf16().count(),
        Attribute::B(bytes) => bytes.len(),
        Attribute::Ss(texts) | Attribute::Ns(texts) => texts.len(),
        Attribute::Bs(all) => all.len(),
        Attribute::L(values) => values.len(),
        Attribute::M(map) => map.len(),
        Attribute::N(_) | Attribute::Bool(_) | Attribute::Null => return None,
    })
}
