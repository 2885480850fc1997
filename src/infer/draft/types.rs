//! A group of items with its keys in, an item type with its fields out.

use super::align::{Likeness, common_form};
use super::guess::Guess;
use super::names;
use super::scalars::{self, Scalar};
use super::templates::{GroupKeys, GroupPart, GuessedKey, KeyedField, Templates};
use super::{FieldDraft, KeyDraft, ObjectDraft, PartDraft, TypeDraft};
use crate::table::data::attribute::{Attribute, Item};
use indexmap::IndexMap;
use std::collections::BTreeSet;

/// The most texts of a field that are kept.
const MAX_TEXTS: usize = 10_000;

/// The type of a group. `is_taken` says which names of types are taken.
pub fn type_of(
    templates: &Templates<'_, '_>,
    table: usize,
    objects: &mut Vec<ObjectDraft>,
    is_taken: &dyn Fn(&str) -> bool,
) -> TypeDraft {
    let name = names::free(&templates.type_name(), is_taken);
    let keys = templates.keys(&name);
    let mut ty = TypeDraft {
        name,
        table,
        count: templates.group.rows.len(),
        keys: Vec::new(),
        constants: constants(templates),
        fields: Vec::new(),
        relations: Vec::new(),
        read_only: false,
        guesses: Vec::new(),
        questions: keys.questions.clone(),
    };
    Fields { templates, keys: &keys, objects }.add_to(&mut ty);
    add_keys(&mut ty, templates, &keys);
    ty
}

fn constants(templates: &Templates<'_, '_>) -> Vec<(String, String)> {
    let kind = templates.group.signature.kind.clone();
    templates.columns.discriminator.zip(kind).map(|(name, kind)| (name.to_owned(), kind)).into_iter().collect()
}

/// What the fields of a type are made from.
struct Fields<'a, 'r, 'i> {
    templates: &'a Templates<'r, 'i>,
    keys: &'a GroupKeys,
    objects: &'a mut Vec<ObjectDraft>,
}

impl<'i> Fields<'_, '_, 'i> {
    /// Adds the fields in the keys, in their order, and then the others.
    fn add_to(&mut self, ty: &mut TypeDraft) {
        let mut values = self.values();
        for (position, field) in self.keys.fields.iter().enumerate() {
            let of_attribute = field.attribute.as_deref().or(field.own.as_deref());
            let own = of_attribute.and_then(|name| values.shift_remove(name));
            let others: Vec<String> = values.keys().map(|name| names::field_name(name)).collect();
            let field = self.key_field(ty, (position, field), own.as_deref(), &others);
            ty.fields.push(field);
        }
        for (attribute, values) in values {
            let name =
                names::free(&names::field_name(attribute), |name| ty.fields.iter().any(|field| field.name == name));
            let scalar = scalars::scalar_of_values(&values, attribute, &ty.name, self.objects);
            let texts = texts_of(&values);
            ty.fields.push(FieldDraft { texts, ..stored_field(name, attribute, scalar) });
        }
    }

    /// The values of each attribute that is no key made for the table.
    fn values(&self) -> IndexMap<&'i str, Vec<&'i Attribute>> {
        let mut values: IndexMap<&'i str, Vec<&'i Attribute>> = IndexMap::new();
        let columns = self.templates.columns;
        for row in &self.templates.group.rows {
            let item: &'i Item = self.templates.rows[*row].item;
            for (name, value) in item.members() {
                let is_own = self.keys.fields.iter().any(|field| field.own.as_deref() == Some(name));
                if is_own || columns.shows_values(name) {
                    values.entry(name).or_default().push(value);
                }
            }
        }
        values
    }

    fn key_field(
        &mut self,
        ty: &TypeDraft,
        (position, field): (usize, &KeyedField),
        values: Option<&[&Attribute]>,
        others: &[String],
    ) -> FieldDraft {
        let places: Vec<(&Option<Likeness>, &Vec<String>)> = self
            .keys
            .keys
            .iter()
            .flat_map(|key| &key.parts)
            .filter_map(|part| match part {
                GroupPart::Field(at, likeness, texts) if *at == position => Some((likeness, texts)),
                _ => None,
            })
            .collect();
        let texts: BTreeSet<&String> = places.iter().flat_map(|(_, texts)| texts.iter()).collect();
        let mut scalar = match (values, &field.attribute, &field.own) {
            (Some(values), Some(name), _) | (Some(values), None, Some(name)) => {
                scalars::scalar_of_values(values, name, &ty.name, self.objects)
            }
            _ => scalars::scalar_of_texts(texts.iter().map(|text| text.as_str())),
        };
        let is_cased = places.iter().any(|(likeness, _)| matches!(likeness, Some(Likeness::Lower | Likeness::Upper)));
        let is_mixed = scalar.guess == Some(Guess::SeveralForms);
        if is_cased || is_mixed || scalar.name == "JSON" || scalar.name == "String" && field.primary {
            let name = if field.primary { "ID" } else { "String" };
            scalar = Scalar { name: name.to_owned(), stored: None, guess: None };
        }
        let name = names::free(&field_name(field, &scalar, &ty.name), |name| {
            ty.fields.iter().any(|field| field.name == name)
                || values.is_none() && others.iter().any(|other| other == name)
        });
        let mut texts: Vec<String> = texts.into_iter().take(MAX_TEXTS).cloned().collect();
        texts.extend(values.filter(|_| texts.is_empty()).map(texts_of).unwrap_or_default());
        let draft = match field.attribute.as_deref().or(field.own.as_deref()) {
            Some(attribute) if values.is_some() => stored_field(name, attribute, scalar),
            _ => FieldDraft { name, scalar: scalar.name, guess: scalar.guess, ..FieldDraft::default() },
        };
        // The key of the table is the field itself.
        let is_key = field.own.as_deref().is_some_and(|own| self.templates.columns.primary.contains(&own));
        let attribute = draft.attribute.clone().filter(|_| !is_key);
        // Other programs read the attribute that repeats a part of the key.
        let attribute = attribute.or_else(|| field.attribute.clone().filter(|_| values.is_some()));
        FieldDraft { attribute, required: field.primary, texts, ..draft }
    }
}

fn stored_field(name: String, attribute: &str, scalar: Scalar) -> FieldDraft {
    FieldDraft {
        attribute: (name != attribute || scalar.stored.is_some()).then(|| attribute.to_owned()),
        name,
        scalar: scalar.name,
        stored: scalar.stored,
        guess: scalar.guess,
        ..FieldDraft::default()
    }
}

fn texts_of(values: &[&Attribute]) -> Vec<String> {
    let texts: BTreeSet<&str> = values
        .iter()
        .filter_map(|value| match value {
            Attribute::S(text) | Attribute::N(text) => Some(text.as_str()),
            _ => None,
        })
        .collect();
    texts.into_iter().take(MAX_TEXTS).map(str::to_owned).collect()
}

/// The name of a field in keys: of its attribute, or of the label before it.
fn field_name(field: &KeyedField, scalar: &Scalar, parent: &str) -> String {
    if let Some(attribute) = field.attribute.as_deref().or(field.own.as_deref()) {
        return names::field_name(attribute);
    }
    if let Some(name) = &field.named {
        return names::field_name(name);
    }
    let label = field.label.as_deref().map(names::type_name);
    let ending = match scalar.name.as_str() {
        "Date" => "Date",
        "DateTime" | "LocalDateTime" => "At",
        _ => "Id",
    };
    match label {
        // `INV` before the number of an invoice. Only a part of the table's key is the item's own.
        Some(label) if !(field.primary && parent.to_lowercase().starts_with(&label.to_lowercase())) => {
            names::decapitalised(&format!("{label}{ending}"))
        }
        _ if ending == "Id" => "id".to_owned(),
        _ => ending.to_lowercase(),
    }
}

/// Adds the templates. An index whose keys cannot be said is left out, and then nothing may write the items.
fn add_keys(ty: &mut TypeDraft, templates: &Templates<'_, '_>, keys: &GroupKeys) {
    for key in &keys.keys {
        let name = key.attribute.as_str();
        let is_primary = templates.columns.primary.contains(&name);
        if templates.columns.natural.contains(name) && !is_primary {
            continue;
        }
        let cannot_be_said = !is_primary && (key.odd > 0 || !is_explained(templates, keys, key));
        if cannot_be_said {
            ty.read_only = true;
            ty.guesses.push(format!("{name} is left out: it has several forms, or only some of the items have it"));
            continue;
        }
        let parts = key
            .parts
            .iter()
            .map(|part| match part {
                GroupPart::Literal(text) => PartDraft::Literal(text.clone()),
                GroupPart::Field(field, likeness, texts) => {
                    PartDraft::Field(*field, form(&ty.fields[*field], likeness.as_ref(), texts))
                }
            })
            .collect();
        ty.keys.push(KeyDraft { attribute: name.to_owned(), parts });
    }
    // A key that is a field by itself says nothing of the others.
    let natural = &templates.columns.natural;
    ty.leave_half_indexes_out(templates.table, &|ty, key| (!natural.contains(key)).then(|| ty.key(key).is_some()));
}

/// Whether each item without a key lacks a field of its template: then the index is sparse as indexes are. Of a key
/// that all items have, this holds.
fn is_explained(templates: &Templates<'_, '_>, keys: &GroupKeys, key: &GuessedKey) -> bool {
    let attributes = key.parts.iter().filter_map(|part| match part {
        GroupPart::Field(field, ..) => keys.fields[*field].attribute.as_deref(),
        GroupPart::Literal(_) => None,
    });
    let attributes: Vec<&str> = attributes.collect();
    let rows = templates.group.rows.iter().map(|row| templates.rows[*row].item);
    rows.filter(|item| !item.contains_key(&key.attribute))
        .all(|item| attributes.iter().any(|name| !item.contains_key(name)))
}

/// The form of a field's text in a key.
fn form(field: &FieldDraft, likeness: Option<&Likeness>, texts: &[String]) -> Option<String> {
    let of_texts = || common_form(texts.iter().map(String::as_str)).map(|form| form.text().to_owned());
    match likeness {
        Some(Likeness::Lower) => return Some("lower".to_owned()),
        Some(Likeness::Upper) => return Some("upper".to_owned()),
        Some(Likeness::Padded(width)) => return Some(format!("0{width}")),
        _ => {}
    }
    match (field.scalar.as_str(), likeness) {
        ("Date" | "DateTime" | "LocalDateTime", Some(Likeness::Time(form, _))) => usual(&field.scalar, form.clone()),
        ("Date" | "DateTime" | "LocalDateTime", _) => of_texts().and_then(|form| usual(&field.scalar, form)),
        _ => None,
    }
}

/// The form, unless it is the one that Keyfold writes by itself.
fn usual(scalar: &str, form: String) -> Option<String> {
    let is_usual = match scalar {
        "Date" => form == "%Y-%m-%d",
        "DateTime" => form == "%Y-%m-%dT%H:%M:%S.%3fZ",
        _ => false,
    };
    (!is_usual).then_some(form)
}
