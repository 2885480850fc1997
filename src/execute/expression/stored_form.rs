//! The form in which an item has what an update changes, as far as it is known, in; out: what the update writes in its
//! place, and what it takes for granted of the item. Must not know how expressions are written.
//!
//! Two forms that other programs write need care. DynamoDB's null is a value for DynamoDB, but a field of it is null,
//! as a missing one. And some fields are read of an attribute of another type than the one that is written: that type
//! stays, so that its other readers can still read it. An update does not read its item for this. What it takes for
//! granted is a condition of its call, and if that fails, or DynamoDB cannot calculate with what there is, the update
//! is made again of the item as it is.

use super::evaluate;
use crate::schema::expression::condition::Condition;
use crate::schema::expression::operand::{Path, Segment};
use crate::schema::scalar::decimal::canonical_decimal;
use crate::schema::scalar::value_type::ValueType;
use crate::table::data::attribute::{Attribute, Item};
use crate::table::data::text::Text;
use std::sync::Arc;

/// What an update knows of its item, and what it takes for granted.
#[derive(Debug, Clone, Default)]
pub struct StoredForm {
    /// The item, if it was read.
    item: Option<Arc<Item>>,
    /// The attributes that have the type of a key, so that nobody can give them another.
    keys: Vec<String>,
    /// What is taken for granted.
    granted: Vec<Condition>,
    /// Whether a null anywhere would make a difference to a missing value.
    tells_null: bool,
}

impl StoredForm {
    /// The form of an item, if it was read, in a table with these key attributes.
    pub fn new(item: Option<Arc<Item>>, keys: Vec<String>) -> Self {
        Self { item, keys, ..Self::default() }
    }

    /// The item, if it was read.
    pub fn item(&self) -> Option<&Item> {
        self.item.as_deref()
    }

    /// What the update takes for granted of the item.
    pub fn granted(&self) -> Option<Condition> {
        match self.granted.as_slice() {
            [] => None,
            [one] => Some(one.clone()),
            all => Some(Condition::And(all.to_vec())),
        }
    }

    /// Whether DynamoDB may refuse to make of a null what it makes of a missing value.
    pub fn tells_null(&self) -> bool {
        self.tells_null
    }

    /// Whether the item is known to have DynamoDB's null at a path. The update then relies on it.
    pub fn takes_null(&mut self, path: &[Segment]) -> bool {
        self.tells_null = true;
        let is_null = self.at(path).is_some_and(|value| matches!(value, Attribute::Null));
        if is_null {
            self.grant(has_type(path, "NULL"));
        }
        is_null
    }

    /// Takes for granted that there is no null at a path that DynamoDB would take for a value.
    pub fn grant_no_null(&mut self, path: &[Segment]) {
        if !self.is_key(path) {
            self.grant(Condition::Not(Box::new(has_type(path, "NULL"))));
        }
    }

    /// A new value of a field as it is written: in the type that the attribute has, if a field of this kind reads that.
    /// `Err` is a sentence about the value, which that type cannot hold.
    pub fn kept_type(&mut self, path: &[Segment], kind: &ValueType, value: Attribute) -> Result<Attribute, String> {
        let value = match (kind, value) {
            (ValueType::Id, Attribute::L(elements)) => return self.kept_elements(path, elements).map(Attribute::L),
            (_, value) => value,
        };
        let others = read_besides(kind, &value);
        if others.is_empty() || self.is_key(path) {
            return Ok(value);
        }
        if let Some(other) = self.at(path).map(Attribute::descriptor).filter(|is| others.contains(is)) {
            self.grant(has_type(path, other));
            return in_type(other, value).ok_or_else(|| {
                let form = if other == "NS" { "a set of numbers" } else { "a number" };
                format!("It is stored as {form} in this item, and the value is none in its usual spelling.")
            });
        }
        for other in others {
            self.grant(Condition::Not(Box::new(has_type(path, other))));
        }
        Ok(value)
    }

    /// The elements of a list of IDs, in the type that the first one has: one program writes them all in one.
    fn kept_elements(&mut self, path: &[Segment], elements: Vec<Attribute>) -> Result<Vec<Attribute>, String> {
        let first: Vec<Segment> = path.iter().cloned().chain([Segment::Index(0)]).collect();
        elements.into_iter().map(|element| self.kept_type(&first, &ValueType::Id, element)).collect()
    }

    fn at(&self, path: &[Segment]) -> Option<&Attribute> {
        self.item.as_ref().and_then(|item| evaluate::at(item, path))
    }

    fn is_key(&self, path: &[Segment]) -> bool {
        matches!(path, [Segment::Attribute(name)] if self.keys.contains(name))
    }

    fn grant(&mut self, condition: Condition) {
        if !self.granted.contains(&condition) {
            self.granted.push(condition);
        }
    }
}

/// Whether a condition relies on a null.
pub fn relies_on_null(granted: &Condition) -> bool {
    match granted {
        Condition::And(all) => all.iter().any(relies_on_null),
        Condition::AttributeType(_, kind) => kind == "NULL",
        _ => false,
    }
}

fn has_type(path: &[Segment], kind: &str) -> Condition {
    Condition::AttributeType(Path { segments: path.to_vec() }, kind.to_owned())
}

/// The types of attributes, besides the value's own, of which a field of this kind is read.
fn read_besides(kind: &ValueType, value: &Attribute) -> &'static [&'static str] {
    match (kind, value) {
        (ValueType::Id, Attribute::S(_)) => &["N"],
        (ValueType::Set(element), Attribute::Ss(_)) if matches!(**element, ValueType::Id) => &["L", "NS"],
        (ValueType::Set(_), Attribute::Ss(_) | Attribute::Ns(_) | Attribute::Bs(_)) => &["L"],
        _ => &[],
    }
}

/// A text or a set as an attribute of another type; `None` if it would be read as another value.
fn in_type(kind: &str, value: Attribute) -> Option<Attribute> {
    let is_number = |text: &Text| canonical_decimal(text).is_ok_and(|canonical| canonical == **text);
    match (kind, value) {
        ("N", Attribute::S(text)) => is_number(&text).then_some(Attribute::N(text)),
        ("NS", Attribute::Ss(texts)) => texts.iter().all(is_number).then_some(Attribute::Ns(texts)),
        ("L", Attribute::Ss(texts)) => Some(Attribute::L(texts.into_iter().map(Attribute::S).collect())),
        ("L", Attribute::Ns(numbers)) => Some(Attribute::L(numbers.into_iter().map(Attribute::N).collect())),
        ("L", Attribute::Bs(bytes)) => Some(Attribute::L(bytes.into_iter().map(Attribute::B).collect())),
        _ => None,
    }
}
