//! A rule, the caller and the values of a request in; out: whether it holds, or what remains to be asked of the item.
//!
//! A comparison with a claim or an argument that is missing, null or of another type does not hold, and neither does
//! its negation: what is not known lets nobody in. Must not know items.

use super::evaluate;
use super::scope::{self, Scope};
use crate::schema::expression::condition::Condition;
use crate::schema::expression::operand::{ArgumentType, Operand};
use crate::schema::model::auth::{AuthRule, LetsIn, RuleLookup};
use crate::schema::scalar::value_type::ValueType;
use crate::table::data::attribute::Item;
use serde_json::Value;

/// What is known of a condition before an item is read.
#[derive(Debug, Clone, PartialEq)]
pub enum Residual {
    /// It holds for every item.
    Always,
    /// It holds for none.
    Never,
    /// It holds for the items for which this condition holds, which names no claims and no arguments.
    Open(Box<Condition>),
}

/// Settles a rule for the caller of a request.
pub fn settle_rule(rule: &AuthRule, scope: &Scope<'_>) -> Residual {
    match &rule.lets_in {
        LetsIn::Everybody => Residual::Always,
        LetsIn::SignedIn if scope.caller.is_signed_in() => Residual::Always,
        LetsIn::SignedIn => Residual::Never,
        LetsIn::If(condition) => settle(condition, scope),
        // Its look-up decides.
        LetsIn::Exists(_) => Residual::Never,
    }
}

/// Settles a condition.
pub fn settle(condition: &Condition, scope: &Scope<'_>) -> Residual {
    let settler = Settler { scope };
    by_leaves(condition, true, &|leaf, wanted| settler.leaf(leaf, wanted).unwrap_or_else(|| Residual::known(!wanted)))
}

/// Settles what the item of a look-up must meet. No item has a key of a claim that the caller lacks.
pub fn settle_lookup(lookup: &RuleLookup, scope: &Scope<'_>) -> Residual {
    if lookup.claims().into_iter().any(|claim| scope.caller.text(claim).is_none()) {
        return Residual::Never;
    }
    lookup.condition.as_ref().map_or(Residual::Always, |condition| settle(condition, scope))
}

struct Settler<'a> {
    scope: &'a Scope<'a>,
}

impl Residual {
    /// What is known to hold for every item, or for none.
    pub fn known(holds: bool) -> Self {
        if holds { Self::Always } else { Self::Never }
    }

    /// Whether it holds for an item. A condition that cannot be evaluated does not.
    pub fn is_met(&self, item: &Item, scope: &Scope<'_>) -> bool {
        match self {
            Self::Always => true,
            Self::Never => false,
            Self::Open(condition) => evaluate::holds(condition, Some(item), scope).unwrap_or(false),
        }
    }
}

/// Settles a condition by its comparisons and functions. `leaf` gets each with whether it must hold, or its negation.
pub(super) fn by_leaves(condition: &Condition, wanted: bool, leaf: &dyn Fn(&Condition, bool) -> Residual) -> Residual {
    let each =
        |conditions: &[Condition]| conditions.iter().map(|condition| by_leaves(condition, wanted, leaf)).collect();
    match condition {
        Condition::And(all) => all_of(each(all)),
        Condition::Or(any) => one_of(each(any)),
        Condition::Not(inner) => match by_leaves(inner, !wanted, leaf) {
            Residual::Always => Residual::Never,
            Residual::Never => Residual::Always,
            Residual::Open(open) => Residual::Open(Box::new(Condition::Not(open))),
        },
        other => leaf(other, wanted),
    }
}

/// What holds if all of these hold.
pub fn all_of(all: Vec<Residual>) -> Residual {
    join(all, (Residual::Never, Residual::Always), Condition::And)
}

/// What holds if one of these holds.
pub fn one_of(any: Vec<Residual>) -> Residual {
    join(any, (Residual::Always, Residual::Never), Condition::Or)
}

/// Joins conditions, each once: one that is `decisive` decides, those that are `neutral` are left out.
fn join(
    all: Vec<Residual>,
    (decisive, neutral): (Residual, Residual),
    joined: fn(Vec<Condition>) -> Condition,
) -> Residual {
    let mut open: Vec<Condition> = Vec::new();
    for settled in all {
        match settled {
            Residual::Open(condition) if open.contains(&condition) => {}
            Residual::Open(condition) => open.push(*condition),
            settled if settled == decisive => return decisive,
            _ => {}
        }
    }
    match open.len() {
        0 => neutral,
        1 => open.pop().map_or(neutral, |only| Residual::Open(Box::new(only))),
        _ => Residual::Open(Box::new(joined(open))),
    }
}

impl Settler<'_> {
    /// A comparison or a function that must hold or, with `false`, its negation. `None` if a value of it is not known.
    fn leaf(&self, leaf: &Condition, wanted: bool) -> Option<Residual> {
        if let Condition::Compare(left, comparator, right) = leaf
            && let (Some(left), Some(right)) = (self.text(left), self.text(right))
        {
            return Some(Residual::known(evaluate::compare_texts(left, *comparator, right)));
        }
        let known = match leaf {
            Condition::Compare(left, comparator, right) => {
                Condition::Compare(self.operand(left)?, *comparator, self.operand(right)?)
            }
            Condition::Between(value, low, high) => {
                Condition::Between(self.operand(value)?, self.operand(low)?, self.operand(high)?)
            }
            Condition::In(value, list) => {
                let (value, mut among) = (self.operand(value)?, Vec::new());
                for operand in list {
                    match self.operands(operand) {
                        Some(values) => among.extend(values),
                        // What a missing list would hold is not known, so no value is known to be outside of it.
                        None if !wanted => return None,
                        None => {}
                    }
                }
                // An empty list holds no value.
                if among.is_empty() {
                    return Some(Residual::Never);
                }
                Condition::In(value, among)
            }
            Condition::BeginsWith(path, operand) => Condition::BeginsWith(path.clone(), self.operand(operand)?),
            Condition::Contains(path, operand) => Condition::Contains(path.clone(), self.operand(operand)?),
            other => other.clone(),
        };
        if !known.attributes().is_empty() {
            return Some(Residual::Open(Box::new(known)));
        }
        evaluate::holds(&known, None, self.scope).ok().map(Residual::known)
    }

    /// The text of an operand of the type ID or String. Most rules compare such texts, and this copies none.
    fn text<'o>(&'o self, operand: &'o Operand) -> Option<&'o str> {
        let (value, kind) = match operand {
            Operand::Claim(claim, kind) => (self.scope.caller.claim(claim)?, kind),
            Operand::Argument(name, kind) => (self.scope.argument(name)?, kind),
            Operand::Literal(value, kind) => (value, kind),
            Operand::Path(_) | Operand::Size(_) | Operand::Now(_) => return None,
        };
        matches!(kind.0, ValueType::Id | ValueType::String).then(|| value.as_str())?
    }

    /// The operand with its value in place of its name. `None` if there is no value.
    fn operand(&self, operand: &Operand) -> Option<Operand> {
        match operand {
            Operand::Claim(claim, kind) => literal(self.scope.caller.claim(claim)?, kind),
            Operand::Argument(name, kind) => {
                let value = self.scope.argument(name).filter(|value| !value.is_null())?;
                Some(Operand::Literal(value.clone(), kind.clone()))
            }
            Operand::Path(_) | Operand::Size(_) | Operand::Now(_) | Operand::Literal(..) => Some(operand.clone()),
        }
    }

    /// The operands that one of IN stands for: each value of a list that fits. `None` if there is no value, or none of
    /// several fits.
    fn operands(&self, operand: &Operand) -> Option<Vec<Operand>> {
        let (value, kind) = match operand {
            Operand::Claim(claim, kind) => (self.scope.caller.claim(claim), kind),
            Operand::Argument(name, kind) => (self.scope.argument(name), kind),
            other => return Some(vec![other.clone()]),
        };
        match value? {
            Value::Array(values) => {
                let fitting: Vec<Operand> = values.iter().filter_map(|value| literal(value, kind)).collect();
                (values.is_empty() || !fitting.is_empty()).then_some(fitting)
            }
            value => literal(value, kind).map(|value| vec![value]),
        }
    }
}

/// A value of the type that a condition compares it as. `None` if it is null or of another type.
fn literal(value: &Value, kind: &ArgumentType) -> Option<Operand> {
    let value = Some(value).filter(|value| !value.is_null() && !value.is_array() && !value.is_object())?;
    scope::claim_value(value, &kind.0).map(|value| Operand::Literal(value, kind.clone()))
}
