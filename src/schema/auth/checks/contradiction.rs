//! The condition of a rule in; out: whether nobody can meet it, or nobody without a claim. Must not know callers or
//! items.
//!
//! The condition is written as alternatives of demands that must all hold. Each demand compares a value with literals:
//! a claim, an argument or an attribute. In a rule, a comparison with a missing claim does not hold, and neither does
//! its negation, so that `NOT a = b` demands what `a <> b` does.

use crate::schema::expression::condition::Condition;
use crate::schema::expression::operand::{ArgumentType, Comparator, Operand};
use crate::schema::model::auth::{AuthRule, LetsIn};
use crate::schema::scalar::value_type::ValueType;
use serde_json::Value;

/// The most alternatives that are looked at. A condition with more is taken to hold.
const MAX_ALTERNATIVES: usize = 64;

/// A demand that a condition makes, with `true`, or forbids.
type Demand<'c> = (&'c Condition, bool);

/// Whether no caller and no item meet a condition.
pub fn never_holds(condition: &Condition) -> bool {
    alternatives(condition, true).is_some_and(|all| all.iter().all(|demands| contradict(demands)))
}

/// Whether a rule lets in only callers who are signed in.
pub fn needs_sign_in(rule: &AuthRule) -> bool {
    match &rule.lets_in {
        LetsIn::Everybody => false,
        LetsIn::SignedIn => true,
        LetsIn::If(condition) => demands_claim(condition),
        LetsIn::Exists(lookup) => !lookup.claims().is_empty() || lookup.condition.as_ref().is_some_and(demands_claim),
    }
}

/// Whether no caller without a claim meets a condition: each of its alternatives compares one.
fn demands_claim(condition: &Condition) -> bool {
    alternatives(condition, true)
        .is_some_and(|all| all.iter().all(|demands| demands.iter().any(|(demand, _)| names_claim(demand))))
}

/// Whether a comparison or a function has a claim.
fn names_claim(demand: &Condition) -> bool {
    let is_claim = |operand: &Operand| matches!(operand, Operand::Claim(..));
    match demand {
        Condition::Compare(left, _, right) => is_claim(left) || is_claim(right),
        Condition::Between(value, low, high) => [value, low, high].into_iter().any(is_claim),
        Condition::In(value, list) => is_claim(value) || list.iter().all(is_claim),
        Condition::BeginsWith(_, operand) | Condition::Contains(_, operand) => is_claim(operand),
        _ => false,
    }
}

/// The alternatives of a condition or, with `false`, of its negation; `None` if they are too many.
fn alternatives(condition: &Condition, holds: bool) -> Option<Vec<Vec<Demand<'_>>>> {
    let (parts, all) = match condition {
        Condition::Not(condition) => return alternatives(condition, !holds),
        Condition::And(parts) => (parts, holds),
        Condition::Or(parts) => (parts, !holds),
        other => return Some(vec![vec![(other, holds)]]),
    };
    let mut whole: Vec<Vec<Demand>> = if all { vec![Vec::new()] } else { Vec::new() };
    for part in parts {
        let part = alternatives(part, holds)?;
        if !all {
            whole.extend(part);
        } else if whole.len() * part.len() <= MAX_ALTERNATIVES {
            whole =
                whole.iter().flat_map(|left| part.iter().map(move |right| [left.as_slice(), right].concat())).collect();
        } else {
            return None;
        }
        if whole.len() > MAX_ALTERNATIVES {
            return None;
        }
    }
    Some(whole)
}

/// Whether these demands cannot all hold.
fn contradict(demands: &[Demand]) -> bool {
    let mut limits: Vec<(&Operand, Limits)> = Vec::new();
    for demand in demands {
        match limits_of(demand) {
            Some((_, Limits::Nothing)) => return true,
            Some((subject, more)) => match limits.iter_mut().find(|(known, _)| *known == subject) {
                Some((_, known)) => *known = known.clone().and(more),
                None => limits.push((subject, more)),
            },
            None => {}
        }
    }
    let opposite = |(left, holds): &Demand| demands.iter().any(|(right, others)| left == right && holds != others);
    limits.iter().any(|(_, limits)| *limits == Limits::Nothing) || demands.iter().any(opposite)
}

/// The values that a subject may have.
#[derive(Debug, Clone, PartialEq)]
enum Limits {
    Nothing,
    /// One of these.
    Among(Vec<Value>),
    /// All but these.
    Besides(Vec<Value>),
    /// A number from the first to the last.
    Between(i128, i128),
}

impl Limits {
    /// The values that both allow; of limits that are not compared, the first.
    fn and(self, other: Self) -> Self {
        let kept = match (&self, &other) {
            (Self::Nothing, _) | (_, Self::Nothing) => return Self::Nothing,
            // Two values of different types may be one value in two forms.
            (Self::Among(one), Self::Among(two) | Self::Besides(two)) | (Self::Besides(two), Self::Among(one))
                if one
                    .iter()
                    .chain(two)
                    .any(|value| std::mem::discriminant(value) != std::mem::discriminant(&one[0])) =>
            {
                return self;
            }
            (Self::Among(one), Self::Among(two)) => {
                one.iter().filter(|value| two.contains(value)).cloned().collect::<Vec<_>>()
            }
            (Self::Among(one), Self::Besides(two)) | (Self::Besides(two), Self::Among(one)) => {
                one.iter().filter(|value| !two.contains(value)).cloned().collect()
            }
            (Self::Besides(one), Self::Besides(two)) => return Self::Besides(one.iter().chain(two).cloned().collect()),
            (Self::Between(one, last), Self::Between(two, end)) => {
                let (first, last) = (*one.max(two), *last.min(end));
                return if first > last { Self::Nothing } else { Self::Between(first, last) };
            }
            (Self::Among(values), Self::Between(first, last)) | (Self::Between(first, last), Self::Among(values)) => {
                values
                    .iter()
                    .filter(|value| whole(value).is_none_or(|value| (*first..=*last).contains(&value)))
                    .cloned()
                    .collect()
            }
            (Self::Between(..), Self::Besides(_)) | (Self::Besides(_), Self::Between(..)) => return self,
        };
        if kept.is_empty() { Self::Nothing } else { Self::Among(kept) }
    }
}

/// The subject of a demand and the values that the demand allows it; `None` if the demand compares in another way.
fn limits_of<'c>((condition, holds): &Demand<'c>) -> Option<(&'c Operand, Limits)> {
    match condition {
        Condition::Compare(Operand::Literal(value, kind), comparator, subject) => {
            Some((subject, compared((subject, kind), mirrored(*comparator), value, *holds)?))
        }
        Condition::Compare(subject, comparator, Operand::Literal(value, kind)) => {
            Some((subject, compared((subject, kind), *comparator, value, *holds)?))
        }
        Condition::Between(subject, Operand::Literal(first, kind), Operand::Literal(last, _)) if *holds => {
            let lower = compared((subject, kind), Comparator::GreaterOrEqual, first, true)?;
            Some((subject, lower.and(compared((subject, kind), Comparator::LessOrEqual, last, true)?)))
        }
        Condition::In(subject, values) => {
            let mut literals = Vec::new();
            for value in values {
                let Operand::Literal(value, kind) = value else { return None };
                literals.push(Some(value.clone()).filter(|_| is_exact(kind))?);
            }
            Some((subject, if *holds { Limits::Among(literals) } else { Limits::Besides(literals) }))
        }
        _ => None,
    }
}

/// What the comparison of a subject with a literal allows.
fn compared(
    (subject, kind): (&Operand, &ArgumentType),
    comparator: Comparator,
    value: &Value,
    holds: bool,
) -> Option<Limits> {
    let comparator = if holds { comparator } else { negated(comparator) };
    if value.is_null() {
        return (matches!(subject, Operand::Claim(..)) && comparator == Comparator::Equal).then_some(Limits::Nothing);
    }
    match comparator {
        _ if !is_exact(kind) => return None,
        Comparator::Equal => return Some(Limits::Among(vec![value.clone()])),
        Comparator::NotEqual => return Some(Limits::Besides(vec![value.clone()])),
        _ => {}
    }
    let bound = whole(value).filter(|_| matches!(kind.0, ValueType::Int | ValueType::Long | ValueType::Decimal))?;
    // Whole numbers have a next one. Of others, the bound itself is taken to be allowed.
    let step = i128::from(matches!(kind.0, ValueType::Int | ValueType::Long) && matches!(subject, Operand::Path(_)));
    Some(match comparator {
        Comparator::Less => Limits::Between(i128::MIN, bound - step),
        Comparator::LessOrEqual => Limits::Between(i128::MIN, bound),
        Comparator::Greater => Limits::Between(bound + step, i128::MAX),
        _ => Limits::Between(bound, i128::MAX),
    })
}

/// A literal that is a whole number. A Decimal is a text.
fn whole(value: &Value) -> Option<i128> {
    value.as_i64().or_else(|| value.as_str()?.parse().ok()).map(i128::from)
}

/// Whether two literals of the type are the same value only if they are written alike.
fn is_exact(kind: &ArgumentType) -> bool {
    matches!(
        kind.0,
        ValueType::Id
            | ValueType::String
            | ValueType::Int
            | ValueType::Long
            | ValueType::Boolean
            | ValueType::Enum(_)
            | ValueType::Decimal
    )
}

fn mirrored(comparator: Comparator) -> Comparator {
    match comparator {
        Comparator::Less => Comparator::Greater,
        Comparator::LessOrEqual => Comparator::GreaterOrEqual,
        Comparator::Greater => Comparator::Less,
        Comparator::GreaterOrEqual => Comparator::LessOrEqual,
        same => same,
    }
}

fn negated(comparator: Comparator) -> Comparator {
    match comparator {
        Comparator::Equal => Comparator::NotEqual,
        Comparator::NotEqual => Comparator::Equal,
        Comparator::Less => Comparator::GreaterOrEqual,
        Comparator::LessOrEqual => Comparator::Greater,
        Comparator::Greater => Comparator::LessOrEqual,
        Comparator::GreaterOrEqual => Comparator::Less,
    }
}
