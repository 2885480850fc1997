//! Checks the known values of an update expression against the fields' `@constraint`s. Makes conditions for values that
//! only DynamoDB computes. Must not know calls.
//!
//! A sum is checked through its operand: `stock - :q` is at least 0 if and only if `stock` is at least `:q`. The bounds
//! are computed exactly, in decimals. They are rounded to DynamoDB's 38 digits, to the side on which no storable number
//! lies between.

use crate::execute::constraint::value::broken;
use crate::execute::error::{ErrorCode, FieldError};
use crate::execute::expression::compute;
use crate::execute::expression::evaluate;
use crate::execute::expression::scope::{Scope, operand_value};
use crate::execute::write::messages::FieldErrors;
use crate::schema::expression::condition::Condition;
use crate::schema::expression::operand::{ArgumentType, Comparator, Operand, Path, Segment};
use crate::schema::expression::update::{SetValue, Update};
use crate::schema::model::{Field, FieldKind, Model, ObjectType};
use crate::schema::scalar::decimal::{canonical_decimal, canonical_float};
use crate::schema::scalar::form::MapForm;
use crate::schema::scalar::value_type::ValueType;
use crate::table::data::attribute::Item;
use bigdecimal::num_bigint::Sign;
use bigdecimal::{BigDecimal, RoundingMode};
use serde_json::{Map, Value, json};
use std::num::NonZeroU64;
use std::str::FromStr;

/// Significant digits of a number (DynamoDB developer guide, "Supported data types and naming rules", Number).
const DIGITS: NonZeroU64 = NonZeroU64::MIN.saturating_add(37);

/// A condition that keeps a value computed by DynamoDB within its field's bounds.
#[derive(Debug)]
pub struct ComputedBound {
    /// The condition on the item before the write.
    pub condition: Condition,
    /// The error if it does not hold.
    pub field_error: FieldError,
    /// The attribute with which DynamoDB calculates.
    path: Path,
}

impl ComputedBound {
    /// Whether it does not hold because an item has a null where the bound allows a missing value.
    pub fn meets_null(&self, item: &Item) -> bool {
        matches!(self.condition, Condition::Or(_)) && evaluate::is_null(item, &self.path)
    }

    /// The bound for this item: a null in it counts as missing.
    pub fn for_item(self, item: &Item) -> Self {
        match (evaluate::is_null(item, &self.path), self.condition) {
            (true, Condition::Or(mut any)) => {
                any.push(Condition::AttributeType(self.path.clone(), "NULL".to_owned()));
                Self { condition: Condition::Or(any), ..self }
            }
            (_, condition) => Self { condition, ..self },
        }
    }
}

/// The operands whose values, or elements, are stored in a field with a constraint.
pub fn known<'u>(model: &'u Model, ty: &'u ObjectType, update: &'u Update) -> Vec<(&'u Field, &'u Operand)> {
    let mut known = Vec::new();
    for (path, value) in &update.set {
        if let Some(field) = field_at(model, ty, path) {
            value.operands_set(&mut |operand| known.push((field, operand)));
        }
    }
    for (path, operand) in &update.add {
        known.extend(
            field_at(model, ty, path).filter(|field| kind_of(field).is_some_and(is_set)).map(|field| (field, operand)),
        );
    }
    // A field that is stored only in keys is in no clause.
    let whole = update.changes.iter().filter_map(|(name, operand)| Some((ty.fields.get(name)?, operand.as_ref()?)));
    known.extend(whole);
    known.retain(|(field, operand)| {
        field.rules.constraint.is_some() && !matches!(operand, Operand::Path(_) | Operand::Size(_))
    });
    known
}

/// The errors of values that break their field's constraint.
pub fn keep<'v>(ty: &ObjectType, values: impl Iterator<Item = (&'v String, &'v Value)>) -> Result<(), FieldErrors> {
    let mut field_errors = FieldErrors::new();
    for (name, value) in values {
        let constraint = ty.fields.get(name).and_then(|field| field.rules.constraint.as_ref());
        let sentences = constraint.map(|constraint| broken(constraint, value)).unwrap_or_default();
        field_errors.extend(sentences.into_iter().map(|sentence| broken_constraint(ty, name, &sentence)));
    }
    if field_errors.is_empty() { Ok(()) } else { Err(field_errors) }
}

/// The error of a value that does not come directly from an argument.
pub fn broken_constraint(ty: &ObjectType, field: &str, sentence: &str) -> FieldError {
    FieldError::new(ErrorCode::BadUserInput, format!("{}.{field} {}.", ty.name, sentence.trim_end_matches('.')))
}

/// The conditions that keep computed values within the bounds of their fields, and of their fields' types.
pub fn bounds(model: &Model, ty: &ObjectType, update: &Update, scope: &Scope<'_>) -> Vec<ComputedBound> {
    let mut all = Vec::new();
    let number_at = |path: &Path| {
        let field = field_at(model, ty, path)?;
        // The elements of a whole list or set are known, or they cannot be checked.
        if field.ty.is_list() && !matches!(path.segments.last(), Some(Segment::Index(_))) {
            return None;
        }
        Some(field)
    };
    for (path, value) in &update.set {
        if let Some(field) = number_at(path)
            && let Some(sum) = Sum::new(value, path, scope)
        {
            all.extend(sum.bounds(ty, field));
        }
    }
    for (path, operand) in &update.add {
        if let Some(field) = number_at(path)
            && let Some(amount) = number(operand, scope)
        {
            let sum = Sum {
                path: path.clone(),
                missing: Some(BigDecimal::from(0)),
                negated: false,
                amount,
                argument: argument_of(operand),
            };
            all.extend(sum.bounds(ty, field));
        }
    }
    all
}

/// A computed value: an attribute (or its negative) plus a known amount.
struct Sum {
    path: Path,
    /// The value used if the item lacks the attribute.
    missing: Option<BigDecimal>,
    negated: bool,
    amount: BigDecimal,
    argument: Option<String>,
}

impl Sum {
    /// `None` if the value is known, or if it cannot be bounded.
    fn new(value: &SetValue, target: &Path, scope: &Scope<'_>) -> Option<Self> {
        let base = |value: &SetValue| match value {
            SetValue::Operand(Operand::Path(path)) => Some((path.clone(), None)),
            SetValue::IfNotExists(path, otherwise) => match &**otherwise {
                SetValue::Operand(operand) => Some((path.clone(), Some(number(operand, scope)?))),
                _ => None,
            },
            _ => None,
        };
        let amount = |value: &SetValue| match value {
            SetValue::Operand(operand) => Some((number(operand, scope)?, argument_of(operand))),
            _ => None,
        };
        let sum = |one: &SetValue, other: &SetValue, negated: bool, sign: i32| {
            let ((path, missing), (amount, argument)) = (base(one)?, amount(other)?);
            Some(Self { path, missing, negated, amount: amount * sign, argument })
        };
        match value {
            SetValue::Plus(one, other) => sum(one, other, false, 1).or_else(|| sum(other, one, false, 1)),
            SetValue::Minus(one, other) => sum(one, other, false, -1).or_else(|| sum(other, one, true, 1)),
            SetValue::Operand(Operand::Path(path)) if path != target => Some(Self {
                path: path.clone(),
                missing: None,
                negated: false,
                amount: BigDecimal::from(0),
                argument: None,
            }),
            _ => None,
        }
    }

    fn bounds(&self, ty: &ObjectType, field: &Field) -> Vec<ComputedBound> {
        let bound = |limit: Option<String>, least: bool, sentence: &str| {
            let limit = limit?;
            let exact = BigDecimal::from_str(&limit).ok()?;
            // attribute + amount ≥ limit if attribute ≥ limit − amount; amount − attribute ≥ limit if attribute ≤
            // amount − limit.
            let (edge, at_least) = match self.negated {
                false => (&exact - &self.amount, least),
                true => (&self.amount - &exact, !least),
            };
            let (rounding, comparator) = match at_least {
                true => (RoundingMode::Ceiling, Comparator::GreaterOrEqual),
                false => (RoundingMode::Floor, Comparator::LessOrEqual),
            };
            let text = canonical_decimal(&edge.with_precision_round(DIGITS, rounding).to_plain_string()).ok()?;
            let edge_operand = Operand::Literal(Value::String(text), ArgumentType(ValueType::Decimal));
            let compare = Condition::Compare(Operand::Path(self.path.clone()), comparator, edge_operand);
            let keeps = |missing: &BigDecimal| if at_least { *missing >= edge } else { *missing <= edge };
            // Without a value that replaces it, DynamoDB says that the attribute is missing.
            let condition = match self.missing.as_ref().is_none_or(keeps) {
                true => Condition::Or(vec![Condition::NotExists(self.path.clone()), compare]),
                false => compare,
            };
            let mut field_error = broken_constraint(ty, &field.name, &sentence.replace("{}", &limit));
            field_error
                .details
                .extend(self.argument.as_ref().map(|name| ("argument", json!(name.split('.').collect::<Vec<_>>()))));
            Some(ComputedBound { condition, field_error, path: self.path.clone() })
        };
        let (least, most) = self.limits(field);
        let least = bound(least, true, "must be {} or more, but would be less");
        let most = bound(most, false, "must be {} or less, but would be more");
        least.into_iter().chain(most).collect()
    }

    /// The least and the greatest value that the field may get: by its constraint, or else by its type. The limits of a
    /// type are far away, so that only a caller's amount can go beyond them, and only to its own side.
    fn limits(&self, field: &Field) -> (Option<String>, Option<String>) {
        let constraint = field.rules.constraint.as_ref();
        let of_type = match kind_of(field).map(ValueType::plain).filter(|_| self.argument.is_some()) {
            Some(ValueType::Int) => Some((i32::MIN.to_string(), i32::MAX.to_string())),
            Some(ValueType::Long) => Some((i64::MIN.to_string(), i64::MAX.to_string())),
            _ => None,
        };
        let (least, most) = of_type.unzip();
        let (falls, grows) =
            (self.negated || self.amount.sign() == Sign::Minus, self.negated || self.amount.sign() == Sign::Plus);
        let set = |limit: Option<f64>| limit.and_then(canonical_float);
        (
            set(constraint.and_then(|rules| rules.min)).or(least.filter(|_| falls)),
            set(constraint.and_then(|rules| rules.max)).or(most.filter(|_| grows)),
        )
    }
}

fn argument_of(operand: &Operand) -> Option<String> {
    match operand {
        Operand::Argument(name, _) => Some(name.clone()),
        _ => None,
    }
}

/// The number that an operand gives.
fn number(operand: &Operand, scope: &Scope<'_>) -> Option<BigDecimal> {
    compute::number(&operand_value(operand, scope)?)
}

/// The field that a stored path leads to. For an element, its list; for an entry that is no object, its field.
fn field_at<'m>(model: &'m Model, ty: &'m ObjectType, path: &Path) -> Option<&'m Field> {
    let mut found: Option<&Field> = None;
    let mut owner = Some(ty);
    let mut map: Option<&MapForm> = None;
    for segment in &path.segments {
        let Segment::Attribute(name) = segment else { continue };
        if let Some(form) = map.take() {
            // The segment is the key of an entry.
            owner = model.types.get(&form.element);
            found = form.value.as_ref().and_then(|value| owner?.fields.get(&value.field));
            continue;
        }
        let holds = |field: &&Field| match &field.kind {
            FieldKind::Stored(stored) => {
                stored.attribute.as_ref().map_or(stored.keys.first() == Some(name), |own| own == name)
            }
            _ => false,
        };
        let field = owner?.fields.values().find(holds)?;
        (found, owner, map) = match kind_of(field)? {
            ValueType::Map(form) => (Some(field), None, Some(&**form)),
            ValueType::Embedded(inner) => (Some(field), model.types.get(inner), None),
            _ => (Some(field), None, None),
        };
    }
    found
}

fn kind_of(field: &Field) -> Option<&ValueType> {
    match &field.kind {
        FieldKind::Stored(stored) => Some(&stored.value),
        _ => None,
    }
}

fn is_set(kind: &ValueType) -> bool {
    matches!(kind, ValueType::Set(_))
}

/// Checks values of the found item, which only a draft knows, against their fields' constraints.
pub fn keep_found(
    model: &Model,
    ty: &ObjectType,
    update: &Update,
    scopes: (&Scope<'_>, &Map<String, Value>),
) -> Result<(), FieldErrors> {
    let (scope, arguments) = scopes;
    let mut field_errors = FieldErrors::new();
    for (field, operand) in known(model, ty, update) {
        let brought = matches!(operand, Operand::Argument(name, _) if name.split('.').next().is_some_and(|first| arguments.contains_key(first)));
        let (Some(constraint), Some(value), false) = (&field.rules.constraint, operand_value(operand, scope), brought)
        else {
            continue;
        };
        field_errors
            .extend(broken(constraint, &value).iter().map(|sentence| broken_constraint(ty, &field.name, sentence)));
    }
    if field_errors.is_empty() { Ok(()) } else { Err(field_errors) }
}
