//! The fields of an item in; values in another spelling, values that their fields cannot read, and nulls that the
//! schema excludes, out.

use super::surprise::Surprise;
use crate::execute::values::decode::{self, StoredValue};
use crate::plan::attributes;
use crate::plan::tree::FieldReader;
use crate::schema::model::{FieldKind, Model, ObjectType};
use crate::schema::scalar::value_type::ValueType;
use crate::schema::template::part::Misspelling;
use crate::table::data::attribute::{Attribute, Item};
use apollo_compiler::ast::Type;
use indexmap::IndexMap;
use serde_json::Value;
use std::sync::Arc;

/// The deepest embedded objects that are looked at: as deep as DynamoDB nests attributes.
const MAX_DEPTH: usize = 32;
/// The longest value that is shown, in characters.
const SHOWN: usize = 60;

/// What was found in one item, each once.
pub type Found = IndexMap<Surprise, Misspelling>;

/// What a surprise shows that has no text.
pub fn nothing() -> Misspelling {
    Misspelling { field: String::new(), found: String::new(), own: None }
}

/// How the fields of an item type are read.
pub fn readers(ty: &ObjectType) -> Vec<Arc<FieldReader>> {
    ty.fields.keys().filter_map(|field| attributes::reader(ty, field)).collect()
}

/// Looks at the values of an item of a type.
pub fn look(model: &Model, (ty, readers): (&ObjectType, &[Arc<FieldReader>]), item: &Item, found: &mut Found) {
    for reader in readers {
        let value = Values { model, place: format!("{}.{}", ty.name, reader.field), reader: (&reader.ty, reader) };
        match decode::find(reader, item) {
            None => value.missing(found),
            Some(StoredValue::Attribute(attribute)) => value.look(attribute, MAX_DEPTH, found),
            Some(StoredValue::UnreadValue) => value.misfit("in no form of its key".to_owned(), found),
            Some(StoredValue::Text(_) | StoredValue::Key(_)) => {}
        }
        value.differs(item, found);
    }
}

/// A field whose value is looked at.
struct Values<'a> {
    model: &'a Model,
    /// Its coordinate.
    place: String,
    reader: (&'a Type, &'a FieldReader),
}

impl Values<'_> {
    /// A missing list is an empty one.
    fn missing(&self, found: &mut Found) {
        if self.reader.0.is_non_null() && !self.reader.0.is_list() {
            found.insert(Surprise::Null(self.place.clone()), nothing());
        }
    }

    fn misfit(&self, shown: String, found: &mut Found) {
        found.entry(Surprise::Misfit(self.place.clone())).or_insert(Misspelling { found: shown, ..nothing() });
    }

    fn look(&self, attribute: &Attribute, depth: usize, found: &mut Found) {
        let kind = &self.reader.1.stored.value;
        each(attribute, depth, &mut |value| match (kind, value) {
            (kind, Attribute::S(text)) if kind.is_time() => self.time(kind, text, found),
            (ValueType::Embedded(name), Attribute::M(object)) => {
                if let (Some(ty), Some(depth)) = (self.model.types.get(name), depth.checked_sub(1)) {
                    object_in(self.model, ty, object, depth, found);
                }
            }
            _ => {}
        });
        let is_seen = |kind: &ValueType, value: &Attribute| match (kind, value) {
            (ValueType::Embedded(_), Attribute::M(_)) => true,
            (kind, Attribute::S(_)) => kind.is_time(),
            _ => false,
        };
        let read = |kind: &ValueType, value: &Attribute| match is_seen(kind, value) {
            true => Some(Value::Null),
            false => decode::scalar(kind, value),
        };
        if decode::typed_value(self.reader.0, kind, attribute, &read).is_err() {
            self.misfit(shown(attribute), found);
        } else if has_null(self.reader.0, attribute) {
            found.insert(Surprise::Null(self.place.clone()), nothing());
        }
    }

    fn time(&self, kind: &ValueType, text: &str, found: &mut Found) {
        let own = kind.from_text(text).and_then(|value| kind.to_text(&value));
        if own.as_deref() != Some(text) {
            let kind = if own.is_some() { Surprise::Value } else { Surprise::Unread };
            let field = self.reader.1.field.clone();
            found.insert(kind(self.place.clone()), Misspelling { field, found: text.to_owned(), own });
        }
    }

    /// Whether the attribute of a field in the primary key says something else than the key.
    fn differs(&self, item: &Item, found: &mut Found) {
        let reader = self.reader.1;
        let own = reader.stored.attribute.as_ref().filter(|_| reader.stored.identity > 0);
        let Some(attribute) = own.and_then(|name| item.get(name)) else { return };
        let Some(in_key) = decode::value(reader, item) else { return };
        let read = decode::typed_value(&reader.ty, &reader.stored.value, attribute, &decode::scalar);
        if !matches!(read, Ok(Some(value)) if value == in_key) {
            let text = in_key.as_str().map_or_else(|| in_key.to_string(), str::to_owned);
            let misspelling = Misspelling { found: plain(attribute), own: Some(shortened(&text)), ..nothing() };
            found.insert(Surprise::Differs(self.place.clone()), misspelling);
        }
    }
}

/// Looks at the values of an object inside an item.
fn object_in(model: &Model, ty: &ObjectType, object: &Item, depth: usize, found: &mut Found) {
    for field in ty.fields.values() {
        let (FieldKind::Stored(stored), Some(reader)) = (&field.kind, attributes::reader(ty, &field.name)) else {
            continue;
        };
        let value = Values { model, place: format!("{}.{}", ty.name, field.name), reader: (&field.ty, &reader) };
        let there = stored.attribute.as_ref().and_then(|name| object.get(name));
        match there.filter(|value| !matches!(value, Attribute::Null)) {
            Some(attribute) => value.look(attribute, depth, found),
            None => value.missing(found),
        }
    }
}

/// Whether a list has a null where its type excludes one.
fn has_null(ty: &Type, attribute: &Attribute) -> bool {
    match (ty, attribute) {
        (Type::List(inner) | Type::NonNullList(inner), Attribute::L(values)) => {
            values.iter().any(|value| match value {
                Attribute::Null => inner.is_non_null(),
                value => has_null(inner, value),
            })
        }
        _ => false,
    }
}

/// A value, or each element of a list.
fn each<'v>(value: &'v Attribute, depth: usize, see: &mut dyn FnMut(&'v Attribute)) {
    match (value, depth.checked_sub(1)) {
        (Attribute::L(values), Some(depth)) => values.iter().for_each(|value| each(value, depth, see)),
        (Attribute::L(_), None) => {}
        _ => see(value),
    }
}

/// A value with the type in which it is stored.
fn shown(attribute: &Attribute) -> String {
    let kind = attribute.descriptor();
    match attribute {
        Attribute::S(_) | Attribute::N(_) | Attribute::Bool(_) => format!("{kind} \"{}\"", plain(attribute)),
        Attribute::L(_) => "a list with values of another type, or none where one belongs".to_owned(),
        _ => format!("of the type {kind}"),
    }
}

/// A value as text.
pub fn plain(attribute: &Attribute) -> String {
    match attribute {
        Attribute::S(text) => shortened(text),
        Attribute::N(text) => shortened(text),
        Attribute::Bool(boolean) => boolean.to_string(),
        Attribute::B(bytes) => shortened(&decode::base64(bytes)),
        other => other.descriptor().to_owned(),
    }
}

fn shortened(text: &str) -> String {
    let plain = |letter: char| if letter.is_control() { '\u{fffd}' } else { letter };
    let mut short: String = text.chars().take(SHOWN).map(plain).collect();
    if text.chars().nth(SHOWN).is_some() {
        short.push('…');
    }
    short
}
