//! Field values → key attributes and primary keys, and the order of key values.
//!
//! A value that no key can hold (empty, too long, too wide for its padding) is no error: no item has it, so nothing is
//! found.

use super::bound::BoundFields;
use crate::execute::values::bound::BoundValue;
use crate::plan::tree::KeyBinding;
use crate::schema::scalar::date_time::epoch_millis;
use crate::schema::scalar::value_type::{Moment, ValueType};
use crate::schema::table::number as decimal;
use crate::schema::table::{KeyType, Table};
use crate::schema::template::Template;
use crate::schema::template::part::Part;
use crate::table::data::attribute::{Attribute, Item, Key, KeyValue};
use crate::table::data::limits::{PARTITION_KEY_BYTES, SORT_KEY_BYTES};
use base64::{Engine, engine::general_purpose::STANDARD};
use smallvec::SmallVec;
use std::cmp::Ordering;
use std::sync::Arc;

/// The most keys or ranges that the list arguments of one field may make.
pub const MAX_COMBINATIONS: usize = 100;

/// The last character, with which a range without an upper bound ends.
pub(super) const LAST: char = '\u{10FFFF}';

/// Field → value, for one key. A key has few fields.
#[derive(Debug, Clone)]
pub struct FieldValues<'s>(BoundFields<'s>);

/// Values for each of several keys or ranges. Most rows make one.
pub type Combinations<'s> = SmallVec<[FieldValues<'s>; 1]>;

impl<'s> FieldValues<'s> {
    /// These values, each of another field.
    pub fn new(fields: BoundFields<'s>) -> Self {
        Self(fields)
    }

    /// The value of a field.
    pub fn get(&self, field: &str) -> Option<&BoundValue<'s>> {
        self.0.iter().find(|(known, _)| **known == *field).map(|(_, value)| value)
    }

    /// Sets the value of a field.
    pub fn insert(&mut self, field: Arc<str>, value: BoundValue<'s>) {
        match self.0.iter_mut().find(|(known, _)| *known == field) {
            Some((_, known)) => *known = value,
            None => self.0.push((field, value)),
        }
    }
}

/// The primary key that the values make; `None` where no item can have it.
pub fn primary_key(key: &KeyBinding, values: &FieldValues<'_>) -> Option<Key> {
    let value = |field: &str| values.get(field);
    let text = |template: &Template| template.render(&value).ok().flatten();
    let partition = {
        let template = key.partition.as_ref()?;
        key_value(key.partition_attribute.kind, template, text(template)?, PARTITION_KEY_BYTES)?
    };
    let sort = match (&key.sort_attribute, &key.names.1, &key.sort) {
        (Some(attribute), Some(name), Some(template)) => {
            Some((name.clone(), key_value(attribute.kind, template, text(template)?, SORT_KEY_BYTES)?))
        }
        (None, ..) => None,
        _ => return None,
    };
    Some(Key { partition: (key.names.0.clone(), partition), sort })
}

/// The key value of a template's text. A number key holds an instant as its epoch.
pub(super) fn key_value(kind: KeyType, template: &Template, text: String, longest: usize) -> Option<KeyValue> {
    match kind {
        KeyType::S => (1..=longest).contains(&text.len()).then_some(KeyValue::S(text)),
        KeyType::N => match template.parts.as_slice() {
            [Part::Placeholder { value, .. }] => number(value, text).map(KeyValue::N),
            _ => None,
        },
        KeyType::B => STANDARD.decode(text).ok().filter(|bytes| (1..=longest).contains(&bytes.len())).map(KeyValue::B),
    }
}

/// The primary key of an item; `None` where an attribute of it is missing or of no key type.
pub fn key_of(table: &Table, item: &Item) -> Option<Key> {
    Key::new(item, &table.partition.name, table.sort.as_ref().map(|sort| sort.name.as_str()))
}

/// The number in which a value is stored: an instant as its epoch, anything else as it is.
pub(super) fn number(kind: &ValueType, text: String) -> Option<String> {
    match kind {
        ValueType::DateTime(moment) => {
            let millis = epoch_millis(&text)?;
            Some(if *moment == Moment::EpochSeconds { millis.div_euclid(1000) } else { millis }.to_string())
        }
        _ => Some(text),
    }
}

/// The order of a stored attribute and a key value; `None` if the attribute is of no key type.
pub fn compare_stored(stored: &Attribute, value: &KeyValue) -> Option<Ordering> {
    match (stored, value) {
        (Attribute::S(stored), KeyValue::S(value)) => Some(stored.as_str().cmp(value)),
        (Attribute::N(stored), KeyValue::N(value)) => Some(decimal::compare(stored, value)),
        (Attribute::B(stored), KeyValue::B(value)) => Some(stored.cmp(value)),
        _ => KeyValue::new(stored).map(|stored| compare(&stored, value)),
    }
}

/// The order of key values as DynamoDB sorts them: strings by their UTF-8 bytes, numbers by value, binaries by unsigned
/// bytes.
pub fn compare(left: &KeyValue, right: &KeyValue) -> Ordering {
    match (left, right) {
        (KeyValue::N(left), KeyValue::N(right)) => decimal::compare(left, right),
        _ => left.cmp(right),
    }
}
