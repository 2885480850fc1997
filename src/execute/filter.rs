//! A checked condition and the arguments of its field → an expression with placeholders.

use super::placeholders::Placeholders;
use super::{encode, evaluate};
use crate::schema::condition::{Comparator, Condition, Operand, Path};
use crate::table::attribute::{Attribute, Item};
use crate::table::call::Expression;
use serde_json::{Map, Value};
use std::cmp::Ordering;

/// Most values of an IN (DynamoDB developer guide, "Constraints in Amazon DynamoDB", expression parameters).
const MOST_VALUES: usize = 100;
/// The name of an attribute that no condition asks for otherwise: what never holds is said of it.
const NOTHING: &str = "_";

/// Values of the request that a condition may use.
pub struct Scope<'a> {
    /// The field's coerced arguments.
    pub arguments: &'a Map<String, Value>,
    /// `:now`, as a canonical DateTime.
    pub now: &'a str,
}

impl Scope<'_> {
    /// An argument, or a field of an input object by its dotted name (`input.name`); `None` where it is not given.
    pub fn argument(&self, name: &str) -> Option<&Value> {
        argument(self.arguments, name)
    }

    /// The value of an operand; `None` of one that is read from the item. `Err` names the argument whose value does not fit.
    pub(super) fn value(&self, operand: &Operand) -> Result<Option<Attribute>, String> {
        let (kind, value, what) = match operand {
            Operand::Path(_) | Operand::Size(_) => return Ok(None),
            Operand::Argument(name, kind) => (kind, self.argument(name).unwrap_or(&Value::Null), format!("Argument \"{name}\"")),
            Operand::Now(kind) => (kind, &Value::String(self.now.to_owned()), "The time".to_owned()),
            Operand::Literal(value, kind) => (kind, value, "A literal".to_owned()),
        };
        encode::attribute(&kind.0, value).map(Some).ok_or_else(|| format!("{what} does not fit its use in the condition."))
    }

    /// The values that an operand of IN stands for: of a list argument, each of its values.
    pub(super) fn values(&self, operand: &Operand) -> Result<Option<Vec<Attribute>>, String> {
        if let Operand::Argument(name, kind) = operand
            && let Some(Value::Array(values)) = self.argument(name)
        {
            if values.len() > MOST_VALUES {
                return Err(format!("Argument \"{name}\" has {} values, and a condition takes at most {MOST_VALUES}.", values.len()));
            }
            let misfit = || format!("Argument \"{name}\" does not fit its use in the condition.");
            return values.iter().map(|value| encode::attribute(&kind.0, value).ok_or_else(misfit)).collect::<Result<_, _>>().map(Some);
        }
        Ok(self.value(operand)?.map(|value| vec![value]))
    }
}

/// An argument, or a field of an input object by its dotted name (`input.name`); `None` where it is not given.
pub fn argument<'v>(arguments: &'v Map<String, Value>, name: &str) -> Option<&'v Value> {
    let mut names = name.split('.');
    let first = arguments.get(names.next()?)?;
    names.try_fold(first, |value, field| value.as_object()?.get(field))
}

/// A condition without the conjuncts whose argument is null, to be evaluated on items.
pub struct Sieve<'a> {
    condition: Option<Condition>,
    scope: Scope<'a>,
}

impl<'a> Sieve<'a> {
    /// A find's filter. `Err` names the argument whose value does not fit, whatever the items are.
    pub fn new(condition: &Condition, scope: Scope<'a>) -> Result<Self, String> {
        let is_null = |name: &str| scope.argument(name).is_none_or(Value::is_null);
        let condition = condition.without(&is_null);
        if let Some(condition) = &condition {
            evaluate::holds(condition, None, &scope)?;
        }
        Ok(Self { condition, scope })
    }

    /// Whether an item meets it.
    pub fn lets_through(&self, item: &Item) -> Result<bool, String> {
        self.condition.as_ref().map_or(Ok(true), |condition| evaluate::holds(condition, Some(item), &self.scope))
    }
}

/// The expression; `None` where every conjunct has a null argument. `Err` names the argument whose value does not fit.
pub fn expression(condition: &Condition, scope: &Scope<'_>) -> Result<Option<Expression>, String> {
    let is_null = |name: &str| scope.argument(name).is_none_or(Value::is_null);
    condition.without(&is_null).map(|condition| whole(&condition, scope)).transpose()
}

/// The expression of the whole condition: an argument that is null or not given is DynamoDB's null, which is less or greater than nothing
/// and begins nothing. `Err` names the argument whose value does not fit.
pub fn whole(condition: &Condition, scope: &Scope<'_>) -> Result<Expression, String> {
    lettered(condition, scope, 'f')
}

/// The same with placeholders of this letter, for a call that has another condition.
pub fn lettered(condition: &Condition, scope: &Scope<'_>, letter: char) -> Result<Expression, String> {
    let mut writer = Writer { scope, placeholders: Placeholders::new(letter) };
    let text = writer.condition(condition)?;
    Ok(writer.placeholders.expression(text))
}

/// The API value of an operand that is no path: an argument's (null where it is not given), the time, a literal.
pub fn operand_value(operand: &Operand, scope: &Scope<'_>) -> Option<Value> {
    match operand {
        Operand::Argument(name, _) => Some(scope.argument(name).cloned().unwrap_or(Value::Null)),
        Operand::Now(_) => Some(Value::String(scope.now.to_owned())),
        Operand::Literal(value, _) => Some(value.clone()),
        Operand::Path(_) | Operand::Size(_) => None,
    }
}

/// An operand whose value is known if the request tells it.
enum Term<'o> {
    Path(&'o Path),
    Size(&'o Path),
    Value(Attribute),
}

impl Term<'_> {
    /// Whether it may be less or greater than another.
    fn has_order(&self) -> bool {
        !matches!(self, Self::Value(value) if !matches!(value, Attribute::S(_) | Attribute::N(_) | Attribute::B(_)))
    }

    /// Whether something may lie between it and the other; what only the item tells, may.
    fn may_reach(&self, high: &Term<'_>) -> bool {
        match (self, high) {
            (Self::Value(low), Term::Value(high)) => evaluate::order(low, high).is_some_and(Ordering::is_le),
            _ => true,
        }
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
                let sign = match comparator {
                    Comparator::Equal => "=",
                    Comparator::NotEqual => "<>",
                    Comparator::Less => "<",
                    Comparator::LessOrEqual => "<=",
                    Comparator::Greater => ">",
                    Comparator::GreaterOrEqual => ">=",
                };
                let (left, right) = (self.term(left)?, self.term(right)?);
                let ordering = !matches!(comparator, Comparator::Equal | Comparator::NotEqual);
                if ordering && !(left.has_order() && right.has_order()) {
                    return Ok(self.never());
                }
                format!("{} {sign} {}", self.write(left), self.write(right))
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
                    1..=MOST_VALUES => {
                        let value = self.write(value);
                        let among: Vec<String> = among.into_iter().map(|term| self.write(term)).collect();
                        format!("{value} IN ({})", among.join(", "))
                    }
                    many => return Err(format!("The condition has an IN of {many} values, and takes at most {MOST_VALUES}.")),
                }
            }
            Condition::Exists(path) => format!("attribute_exists({})", self.placeholders.path(&path.segments)),
            Condition::NotExists(path) => format!("attribute_not_exists({})", self.placeholders.path(&path.segments)),
            Condition::AttributeType(path, kind) => {
                let path = self.placeholders.path(&path.segments);
                let name = self.placeholders.value(Attribute::S(kind.clone()));
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

    /// What never holds. DynamoDB refuses an IN of nothing, a BETWEEN whose bounds are the wrong way round, and an order of what has
    /// none; yet that a request's values meet no item is no mistake.
    fn never(&mut self) -> String {
        let name = self.placeholders.name(NOTHING);
        format!("attribute_exists({name}) AND attribute_not_exists({name})")
    }

    fn joined(&mut self, all: &[Condition], with: &str) -> Result<String, String> {
        let parts: Vec<String> = all.iter().map(|part| Ok(format!("({})", self.condition(part)?))).collect::<Result<_, String>>()?;
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
