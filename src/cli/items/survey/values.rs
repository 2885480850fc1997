//! The fields of an item in; values in another spelling, values that their fields cannot read, and nulls that the
//! schema excludes, out.

use super::surprise::{Surprise, SurpriseKind};
use crate::execute::values::decode::{self, StoredValue};
use crate::execute::values::entries;
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

/// Finds what surprises about the values of an item of a type.
pub fn survey_values(model: &Model, (ty, readers): (&ObjectType, &[Arc<FieldReader>]), item: &Item, found: &mut Found) {
    for reader in readers {
        let value = Values { model, place: format!("{}.{}", ty.name, reader.field), reader: (&reader.ty, reader) };
        match stored(reader, item) {
            None => value.missing(found),
            Some(StoredValue::Attribute(attribute)) => value.survey(attribute, MAX_DEPTH, found),
            Some(StoredValue::UnreadValue) => _ = found.insert(SurpriseKind::Formless.at(&value.place), nothing()),
            Some(StoredValue::Text(_) | StoredValue::Key(_)) => {}
        }
        value.differs(item, found);
    }
}

/// A field's value as every read finds it. A field that is never null and has an attribute of its own is asked for by
/// that alone.
fn stored<'i>(reader: &FieldReader, item: &'i Item) -> Option<StoredValue<'i>> {
    match reader.stored.attribute.as_ref().filter(|_| reader.ty.is_non_null() && reader.stored.identity == 0) {
        Some(own) => item.get(own).filter(|value| !matches!(value, Attribute::Null)).map(StoredValue::Attribute),
        None => decode::find(reader, item),
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
            found.insert(SurpriseKind::Null.at(&self.place), nothing());
        }
    }

    fn misfit(&self, shown: String, found: &mut Found) {
        found.entry(SurpriseKind::Misfit.at(&self.place)).or_insert(Misspelling { found: shown, ..nothing() });
    }

    fn survey(&self, attribute: &Attribute, depth: usize, found: &mut Found) {
        if let ValueType::Map(form) = &self.reader.1.stored.value {
            return match entries::objects(form, attribute) {
                Some(objects) => {
                    let object = ValueType::Embedded(form.element.clone());
                    self.survey_as(&object, &Attribute::L(objects), depth, found);
                }
                None => self.misfit(described(attribute), found),
            };
        }
        self.survey_as(&self.reader.1.stored.value, attribute, depth, found);
    }

    /// Looks at a value of this type.
    fn survey_as(&self, kind: &ValueType, attribute: &Attribute, depth: usize, found: &mut Found) {
        self.times(attribute, depth, found);
        each(attribute, depth, &mut |value| {
            if let (ValueType::Embedded(name), Attribute::M(object)) = (kind, value)
                && let (Some(ty), Some(depth)) = (self.model.types.get(name), depth.checked_sub(1))
            {
                survey_object(self.model, ty, object, depth, found);
            }
        });
        // `times` reports times, and `survey_object` reports the fields of objects.
        let read = |kind: &ValueType, value: &Attribute| match (kind, value) {
            (ValueType::Embedded(_), Attribute::M(_)) => Some(Value::Null),
            (kind, Attribute::S(text)) if kind.is_time() && kind.from_text(text).is_none() => Some(Value::Null),
            _ => decode::scalar(kind, value),
        };
        if decode::typed_value(self.reader.0, kind, attribute, &read).is_err() {
            self.misfit(described(attribute), found);
        } else if has_null(self.reader.0, attribute) {
            found.insert(SurpriseKind::Null.at(&self.place), nothing());
        }
    }

    /// Looks at the times in a value: one, or the elements of a list or a set.
    fn times(&self, attribute: &Attribute, depth: usize, found: &mut Found) {
        let (kind, elements) = match &self.reader.1.stored.value {
            ValueType::Set(element) => (&**element, decode::elements(attribute)),
            kind => (kind, None),
        };
        if !kind.is_time() {
            return;
        }
        let mut see = |value: &Attribute| {
            if let Attribute::S(text) = value {
                self.time(kind, text, found);
            }
        };
        match elements {
            Some(elements) => elements.iter().for_each(see),
            None => each(attribute, depth, &mut see),
        }
    }

    fn time(&self, kind: &ValueType, text: &str, found: &mut Found) {
        let own = kind.from_text(text).and_then(|value| kind.to_text(&value));
        if own.as_deref() != Some(text) {
            let kind = if own.is_some() { SurpriseKind::Value } else { SurpriseKind::Unread };
            let field = self.reader.1.field.clone();
            found.insert(kind.at(&self.place), Misspelling { field, found: text.to_owned(), own });
        }
    }

    /// Whether the attribute of a field in the primary key says something else than the key, or the same in another
    /// spelling.
    fn differs(&self, item: &Item, found: &mut Found) {
        let reader = self.reader.1;
        let own = reader.stored.attribute.as_ref().filter(|_| reader.stored.identity > 0);
        let there = own.and_then(|name| item.get(name)).filter(|value| !matches!(value, Attribute::Null));
        let (Some(attribute), Some(in_key)) = (there, decode::value(reader, item)) else { return };
        let read = decode::typed_value(&reader.ty, &reader.stored.value, attribute, &decode::scalar);
        if matches!(read, Ok(Some(value)) if value == in_key) {
            return self.times(attribute, MAX_DEPTH, found);
        }
        let text = in_key.as_str().map_or_else(|| in_key.to_string(), str::to_owned);
        let misspelling = Misspelling { found: plain(attribute), own: Some(shortened(&text)), ..nothing() };
        found.insert(SurpriseKind::Differs.at(&self.place), misspelling);
    }
}

/// Finds what surprises about the values of an object inside an item.
fn survey_object(model: &Model, ty: &ObjectType, object: &Item, depth: usize, found: &mut Found) {
    for field in ty.fields.values() {
        let (FieldKind::Stored(stored), Some(reader)) = (&field.kind, attributes::reader(ty, &field.name)) else {
            continue;
        };
        let value = Values { model, place: format!("{}.{}", ty.name, field.name), reader: (&field.ty, &reader) };
        let there = stored.attribute.as_ref().and_then(|name| object.get(name));
        match there.filter(|value| !matches!(value, Attribute::Null)) {
            Some(attribute) => value.survey(attribute, depth, found),
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
fn described(attribute: &Attribute) -> String {
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
