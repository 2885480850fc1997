//! A rule, the caller and the values of a request in; out: whether it holds, or what remains to be asked of the item.
//!
//! A comparison with a claim or an argument that is missing, null or of another type does not hold, and neither does its negation: what is
//! not known lets nobody in. Must not know items.

use super::evaluate;
use super::scope::Scope;
use crate::schema::expression::condition::Condition;
use crate::schema::expression::operand::{ArgumentType, Operand};
use crate::schema::model::auth::{AuthRule, LetsIn};
use serde_json::Value;

/// What is known of a condition before an item is read.
#[derive(Debug, Clone, PartialEq)]
pub enum Settled {
    /// It holds for every item.
    Always,
    /// It holds for none.
    Never,
    /// It holds for the items for which this condition holds, which names no claims and no arguments.
    Open(Box<Condition>),
}

/// Settles a rule for the caller of a request.
pub fn settle_rule(rule: &AuthRule, scope: &Scope<'_>) -> Settled {
    match &rule.lets_in {
        LetsIn::Everybody => Settled::Always,
        LetsIn::SignedIn if scope.caller.is_signed_in() => Settled::Always,
        LetsIn::SignedIn => Settled::Never,
        LetsIn::If(condition) => Settler { scope }.condition(condition, true),
    }
}

struct Settler<'a> {
    scope: &'a Scope<'a>,
}

impl Settler<'_> {
    /// `wanted`: whether the condition itself must hold, and not its negation.
    fn condition(&self, condition: &Condition, wanted: bool) -> Settled {
        match condition {
            Condition::And(all) => self.join(all, wanted, (Settled::Never, Settled::Always), Condition::And),
            Condition::Or(any) => self.join(any, wanted, (Settled::Always, Settled::Never), Condition::Or),
            Condition::Not(inner) => match self.condition(inner, !wanted) {
                Settled::Always => Settled::Never,
                Settled::Never => Settled::Always,
                Settled::Open(open) => Settled::Open(Box::new(Condition::Not(open))),
            },
            leaf => self.leaf(leaf).unwrap_or(if wanted { Settled::Never } else { Settled::Always }),
        }
    }

    /// Joins conditions: one that is `decisive` decides, those that are `neutral` are left out.
    fn join(
        &self,
        conditions: &[Condition],
        wanted: bool,
        (decisive, neutral): (Settled, Settled),
        joined: fn(Vec<Condition>) -> Condition,
    ) -> Settled {
        let mut open = Vec::new();
        for condition in conditions {
            match self.condition(condition, wanted) {
                Settled::Open(condition) => open.push(*condition),
                settled if settled == decisive => return decisive,
                _ => {}
            }
        }
        match open.len() {
            0 => neutral,
            1 => open.pop().map_or(neutral, |only| Settled::Open(Box::new(only))),
            _ => Settled::Open(Box::new(joined(open))),
        }
    }

    /// A comparison or a function. `None` if a value of it is not known.
    fn leaf(&self, leaf: &Condition) -> Option<Settled> {
        let known = match leaf {
            Condition::Compare(left, comparator, right) => Condition::Compare(self.operand(left)?, *comparator, self.operand(right)?),
            Condition::Between(value, low, high) => Condition::Between(self.operand(value)?, self.operand(low)?, self.operand(high)?),
            Condition::In(value, list) => {
                let list: Vec<Operand> = list.iter().flat_map(|operand| self.operands(operand)).collect();
                if list.is_empty() {
                    return None;
                }
                Condition::In(self.operand(value)?, list)
            }
            Condition::BeginsWith(path, operand) => Condition::BeginsWith(path.clone(), self.operand(operand)?),
            Condition::Contains(path, operand) => Condition::Contains(path.clone(), self.operand(operand)?),
            other => other.clone(),
        };
        if !known.attributes().is_empty() {
            return Some(Settled::Open(Box::new(known)));
        }
        let holds = evaluate::holds(&known, None, self.scope).ok()?;
        Some(if holds { Settled::Always } else { Settled::Never })
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

    /// The operands that one of IN stands for: each value of a list.
    fn operands(&self, operand: &Operand) -> Vec<Operand> {
        let (value, kind) = match operand {
            Operand::Claim(claim, kind) => (self.scope.caller.claim(claim), kind),
            Operand::Argument(name, kind) => (self.scope.argument(name), kind),
            other => return vec![other.clone()],
        };
        match value {
            Some(Value::Array(values)) => values.iter().filter_map(|value| literal(value, kind)).collect(),
            Some(value) => literal(value, kind).into_iter().collect(),
            None => Vec::new(),
        }
    }
}

/// A value of the type that a condition compares it as. `None` if it is null or of another type.
fn literal(value: &Value, kind: &ArgumentType) -> Option<Operand> {
    let value = Some(value).filter(|value| !value.is_null() && !value.is_array() && !value.is_object())?;
    kind.0.coerce(value).ok().map(|value| Operand::Literal(value, kind.clone()))
}
