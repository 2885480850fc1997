//! Checked conditions and the arguments of their field → an expression with placeholders.

use super::evaluate;
use super::placeholders::Placeholders;
use super::scope::{MAX_VALUES, Scope};
use crate::schema::expression::condition::Condition;
use crate::schema::expression::operand::{Comparator, Operand, Path};
use crate::table::data::attribute::Attribute;
use crate::table::data::call::Expression;
use std::cmp::Ordering;

/// An attribute that no condition uses otherwise, for the expression that never holds.
const NOTHING: &str = "_";

/// The letter of a filter's placeholders.
const FILTER: char = 'f';

/// The expression of a filter's conjuncts; `None` if there are none. `Err` names the argument whose value does not fit.
pub fn expression(conjuncts: &[&Condition], scope: &Scope<'_>) -> Result<Option<Expression>, String> {
    let mut writer = Writer { scope, placeholders: Placeholders::new(FILTER) };
    let text = match conjuncts {
        [] => return Ok(None),
        [only] => writer.condition(only)?,
        all => writer.joined(all.iter().copied(), " AND ")?,
    };
    Ok(Some(writer.placeholders.expression(text)))
}

/// The expression of the whole condition, with placeholders of this letter. An argument that is null or not given is
/// DynamoDB's null, which has no order and is no prefix. `Err` names the argument whose value does not fit.
pub fn lettered(condition: &Condition, scope: &Scope<'_>, letter: char) -> Result<Expression, String> {
    // Whoever makes a call knows its key, and has decided by it what the key decides. In the text, the name of the key
    // would mean another value, whose negation holds.
    if condition.read_paths().into_iter().any(|path| path.in_key().is_some()) {
        return Err("The condition compares a part of a key.".to_owned());
    }
    let mut writer = Writer { scope, placeholders: Placeholders::new(letter) };
    let text = writer.condition(condition)?;
    Ok(writer.placeholders.expression(text))
}

/// An operand; its value is known unless it is read from the item.
enum Term<'o> {
    Path(&'o Path),
    Size(&'o Path),
    Value(Attribute),
}

impl Term<'_> {
    /// Whether the operand may be ordered.
    fn has_order(&self) -> bool {
        !matches!(self, Self::Value(value) if !matches!(value, Attribute::S(_) | Attribute::N(_) | Attribute::B(_)))
    }

    /// Whether a value may lie between this operand and the other. A value from the item may.
    fn may_reach(&self, high: &Term<'_>) -> bool {
        match (self, high) {
            (Self::Value(low), Term::Value(high)) => evaluate::order(low, high).is_some_and(Ordering::is_le),
            _ => true,
        }
    }
}

/// A comparator as DynamoDB spells it.
fn sign(comparator: Comparator) -> &'static str {
    match comparator {
        Comparator::Equal => "=",
        Comparator::NotEqual => "<>",
        Comparator::Less => "<",
        Comparator::LessOrEqual => "<=",
        Comparator::Greater => ">",
        Comparator::GreaterOrEqual => ">=",
    }
}

struct Writer<'a> {
    scope: &'a Scope<'a>,
    placeholders: Placeholders,
}

impl Writer<'_> {
    fn condition(&mut self, condition: &Condition) -> Result<String, String> {
        Ok(match condition {
            Condition::And(all) => self.joined(all, " AND ")?,
            Condition::Or(any) => self.joined(any, " OR ")?,
            Condition::Not(inner) => format!("NOT ({})", self.condition(inner)?),
            Condition::Compare(left, comparator, right) => {
                let (left, right) = (self.term(left)?, self.term(right)?);
                let ordering = !matches!(comparator, Comparator::Equal | Comparator::NotEqual);
                if ordering && !(left.has_order() && right.has_order()) {
                    return Ok(self.never());
                }
                format!("{} {} {}", self.write(left), sign(*comparator), self.write(right))
            }
            Condition::Between(value, low, high) => {
                let (value, low, high) = (self.term(value)?, self.term(low)?, self.term(high)?);
                if !(value.has_order() && low.has_order() && high.has_order() && low.may_reach(&high)) {
                    return Ok(self.never());
                }
                format!("{} BETWEEN {} AND {}", self.write(value), self.write(low), self.write(high))
            }
            Condition::In(value, list) => {
                let value = self.term(value)?;
                let mut among = Vec::new();
                for operand in list {
                    match self.scope.values(operand)? {
                        Some(values) => among.extend(values.into_iter().map(Term::Value)),
                        None => among.push(self.term(operand)?),
                    }
                }
                match among.len() {
                    0 => self.never(),
                    1..=MAX_VALUES => {
                        let value = self.write(value);
                        let among: Vec<String> = among.into_iter().map(|term| self.write(term)).collect();
                        format!("{value} IN ({})", among.join(", "))
                    }
                    many => {
                        return Err(format!(
                            "The condition has an IN of {many} values; at most {MAX_VALUES} are allowed."
                        ));
                    }
                }
            }
            Condition::Exists(path) => format!("attribute_exists({})", self.placeholders.path(&path.segments)),
            Condition::NotExists(path) => format!("attribute_not_exists({})", self.placeholders.path(&path.segments)),
            Condition::AttributeType(path, kind) => {
                let path = self.placeholders.path(&path.segments);
                let name = self.placeholders.value(Attribute::S(kind.clone().into()));
                format!("attribute_type({path}, {name})")
            }
            Condition::BeginsWith(path, operand) => match self.term(operand)? {
                Term::Value(value) if !matches!(value, Attribute::S(_) | Attribute::B(_)) => self.never(),
                prefix => format!("begins_with({}, {})", self.placeholders.path(&path.segments), self.write(prefix)),
            },
            Condition::Contains(path, operand) => {
                let operand = self.term(operand)?;
                format!("contains({}, {})", self.placeholders.path(&path.segments), self.write(operand))
            }
        })
    }

    /// An expression that never holds. DynamoDB refuses an empty IN, a BETWEEN whose lower bound is above the upper,
    /// and an order of unordered types. Yet a request whose values match no item is no mistake.
    fn never(&mut self) -> String {
        let name = self.placeholders.name(NOTHING);
        format!("attribute_exists({name}) AND attribute_not_exists({name})")
    }

    fn joined<'c>(&mut self, all: impl IntoIterator<Item = &'c Condition>, with: &str) -> Result<String, String> {
        let parts: Vec<String> =
            all.into_iter().map(|part| Ok(format!("({})", self.condition(part)?))).collect::<Result<_, String>>()?;
        Ok(parts.join(with))
    }

    fn term<'o>(&self, operand: &'o Operand) -> Result<Term<'o>, String> {
        Ok(match (operand, self.scope.value(operand)?) {
            (_, Some(value)) => Term::Value(value),
            (Operand::Path(path), None) => Term::Path(path),
            (Operand::Size(path), None) => Term::Size(path),
            (_, None) => return Err("A value of the condition is missing.".to_owned()),
        })
    }

    fn write(&mut self, term: Term<'_>) -> String {
        match term {
            Term::Path(path) => self.placeholders.path(&path.segments),
            Term::Size(path) => format!("size({})", self.placeholders.path(&path.segments)),
            Term::Value(value) => self.placeholders.value(value),
        }
    }
}
