//! A condition and an item in; whether the item meets it out. An operand that the item does not have meets nothing, but
//! it differs from everything.

use crate::store::data::attribute::{Attribute, Item};
use crate::store::expressions::condition::{Comparator, Condition};
use std::cmp::Ordering;

impl Condition {
    /// Whether an item meets the condition; one that is not there has no attributes.
    pub fn holds(&self, item: &Item) -> bool {
        match self {
            Self::Compare(comparator, left, right) => compare(*comparator, left.value(item), right.value(item)),
            Self::Between(value, low, high) => {
                let value = value.value(item);
                compare(Comparator::GreaterOrEqual, value.clone(), low.value(item))
                    && compare(Comparator::LessOrEqual, value, high.value(item))
            }
            Self::In(value, operands) => {
                let value = value.value(item);
                operands.iter().any(|operand| compare(Comparator::Equal, value.clone(), operand.value(item)))
            }
            Self::AttributeExists(path) => path.find(item).is_some(),
            Self::AttributeNotExists(path) => path.find(item).is_none(),
            Self::AttributeType(path, kind) => path.find(item).is_some_and(|value| value.kind() == kind),
            Self::BeginsWith(value, start) => match (value.value(item), start.value(item)) {
                (Some(Attribute::S(text)), Some(Attribute::S(start))) => text.starts_with(&start),
                (Some(Attribute::B(bytes)), Some(Attribute::B(start))) => bytes.starts_with(&start),
                _ => false,
            },
            Self::Contains(value, part) => match (value.value(item), part.value(item)) {
                (Some(value), Some(part)) => contains(&value, &part),
                _ => false,
            },
            Self::Not(condition) => !condition.holds(item),
            Self::And(left, right) => left.holds(item) && right.holds(item),
            Self::Or(left, right) => left.holds(item) || right.holds(item),
        }
    }
}

fn compare(comparator: Comparator, left: Option<Attribute>, right: Option<Attribute>) -> bool {
    let (Some(left), Some(right)) = (left, right) else { return comparator == Comparator::NotEqual };
    let order = order(&left, &right);
    match comparator {
        Comparator::Equal => left == right,
        Comparator::NotEqual => left != right,
        Comparator::Less => order == Some(Ordering::Less),
        Comparator::LessOrEqual => matches!(order, Some(Ordering::Less | Ordering::Equal)),
        Comparator::Greater => order == Some(Ordering::Greater),
        Comparator::GreaterOrEqual => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
    }
}

/// The order of two texts, numbers or binaries; others have none.
fn order(left: &Attribute, right: &Attribute) -> Option<Ordering> {
    let is_ordered = left.kind() == right.kind() && matches!(left.kind(), "S" | "N" | "B");
    is_ordered.then(|| left.cmp(right))
}

/// A text has a part, a set or list an element.
fn contains(value: &Attribute, part: &Attribute) -> bool {
    match (value, part) {
        (Attribute::S(text), Attribute::S(part)) => text.contains(part.as_str()),
        (Attribute::B(bytes), Attribute::B(part)) => {
            part.is_empty() || bytes.windows(part.len()).any(|window| window == part)
        }
        (Attribute::Ss(set), Attribute::S(text)) => set.contains(text),
        (Attribute::Ns(set), Attribute::N(number)) => set.contains(number),
        (Attribute::Bs(set), Attribute::B(bytes)) => set.contains(bytes),
        (Attribute::L(elements), part) => elements.contains(part),
        _ => false,
    }
}
