//! A type that a source describes with its key templates in, the draft of the type out, verified on the items: a hint
//! may be wrong, and then its items are inferred like all others. Of a type that is described without keys,
//! [`described`] takes the name.

pub mod described;

use super::guess::Guess;
use super::names;
use super::scalars::{self, Scalar};
use super::{FieldDraft, KeyDraft, ObjectDraft, PartDraft, TypeDraft};
use crate::infer::shape::columns::Columns;
use crate::infer::shape::row::text;
use crate::schema::table::{KeyType, Table};
use crate::sources::material::{AttributeHint, HintKind, TypeHint};
use crate::table::data::attribute::{Attribute, Item};
use indexmap::IndexSet;
use std::collections::BTreeSet;

/// The draft of a described type, and the positions of its items.
pub struct HintedType {
    /// The type.
    pub ty: TypeDraft,
    /// Its items.
    pub items: Vec<usize>,
}

/// A part of a described template: literal text, or the name of an attribute.
#[derive(Debug, Clone, PartialEq)]
enum HintPart {
    Literal(String),
    Attribute(String, Option<String>),
}

/// The types that hints describe with the whole key of their table.
pub struct Hinted<'a> {
    /// The table and its position.
    pub table: (&'a Table, usize),
    /// Its items.
    pub items: &'a [Item],
    /// Its attributes.
    pub columns: &'a Columns<'a>,
    /// Which items are of a type already.
    pub taken: &'a [bool],
}

impl Hinted<'_> {
    /// The type of a hint; `None` if it has no templates for the table's key, or no item that has them while the table
    /// has items.
    pub fn ty(
        &self,
        hint: &TypeHint,
        is_taken: &dyn Fn(&str) -> bool,
        objects: &mut Vec<ObjectDraft>,
    ) -> Option<HintedType> {
        let (table, position) = self.table;
        let keys: Vec<(&str, Vec<HintPart>)> =
            hint.keys.iter().map(|key| (key.attribute.as_str(), parts(&key.template))).collect();
        let own = |name: &str| keys.iter().find(|(key, _)| *key == name).map(|(_, parts)| parts);
        let primary: Vec<(&str, &Vec<HintPart>)> =
            table.primary_key().map(|key| Some((key.name.as_str(), own(&key.name)?))).collect::<Option<_>>()?;
        let mut items: Vec<usize> = (0..self.items.len())
            .filter(|at| !self.taken[*at] && self.is_of(&self.items[*at], hint, &primary))
            .collect();
        // What one item of a type has beside its key, the others have.
        for part in primary.iter().flat_map(|(_, parts)| parts.iter()) {
            if let HintPart::Attribute(name, _) = part
                && items.iter().any(|at| self.items[*at].contains_key(name))
            {
                items.retain(|at| self.items[*at].contains_key(name));
            }
        }
        // Templates of free texts alone say nothing that items do not.
        let says_nothing = primary.iter().all(|(key, parts)| is_itself(key, parts));
        if !self.items.is_empty() && (items.is_empty() || says_nothing && hint.constants.is_empty()) {
            return None;
        }
        let name = names::free(&names::type_name(&hint.name), is_taken);
        let mut ty = TypeDraft {
            name,
            table: position,
            count: items.len(),
            keys: Vec::new(),
            constants: self.constants(hint, &items),
            fields: Vec::new(),
            relations: Vec::new(),
            read_only: false,
            guesses: Vec::new(),
            questions: Vec::new(),
        };
        self.add_fields(&mut ty, hint, &keys, (&items, objects));
        for (attribute, parts) in &keys {
            self.add_key(&mut ty, (attribute, parts), &items);
        }
        let is_field = |ty: &TypeDraft, key: &str| ty.fields.iter().any(|field| named(field, key));
        ty.leave_half_indexes_out(table, &|ty, key| Some(ty.key(key).is_some() || is_field(ty, key)));
        Some(HintedType { ty, items })
    }

    /// The constants of a hint, and the discriminator if all items have it alike.
    fn constants(&self, hint: &TypeHint, items: &[usize]) -> Vec<(String, String)> {
        let mut constants = hint.constants.clone();
        let Some(name) = self.columns.discriminator else { return constants };
        let mut texts = items.iter().map(|at| self.items[*at].get(name).and_then(text));
        let first = texts.next().flatten();
        let is_known = constants.iter().any(|(known, _)| known == name);
        if let Some(constant) = first.filter(|first| !is_known && texts.all(|text| text.as_ref() == Some(first))) {
            constants.push((name.to_owned(), constant.into_owned()));
        }
        constants
    }

    /// Whether an item has the constants and the keys of a hint, and its attributes agree with its keys.
    fn is_of(&self, item: &Item, hint: &TypeHint, primary: &[(&str, &Vec<HintPart>)]) -> bool {
        let has_constant =
            |(name, constant): &(String, String)| item.get(name).and_then(text).is_some_and(|text| text == *constant);
        let has_key = |(name, parts): &(&str, &Vec<HintPart>)| {
            let Some(key) = item.get(name).and_then(text) else { return false };
            read(parts, &key).is_some_and(|values| {
                values.iter().all(|(name, value)| {
                    item.get(name).and_then(text).is_none_or(|text| text == *value || text.to_lowercase() == *value)
                })
            })
        };
        hint.constants.iter().all(has_constant) && primary.iter().all(has_key)
    }

    /// Adds the fields in the templates, those of the hint, and what items have beside them.
    fn add_fields(
        &self,
        ty: &mut TypeDraft,
        hint: &TypeHint,
        keys: &[(&str, Vec<HintPart>)],
        (items, objects): (&[usize], &mut Vec<ObjectDraft>),
    ) {
        let in_keys = |primary: bool| {
            keys.iter()
                .filter(move |(key, _)| self.table.0.is_primary_key(key) == primary)
                .flat_map(|(_, parts)| parts)
                .filter_map(|part| if let HintPart::Attribute(name, _) = part { Some(name.as_str()) } else { None })
        };
        let of_key: Vec<&str> = in_keys(true).collect();
        let of_items = items.iter().flat_map(|at| self.items[*at].keys().map(|name| &**name));
        let all: Vec<&str> = in_keys(true)
            .chain(in_keys(false))
            .chain(hint.attributes.iter().map(|attribute| attribute.name.as_str()))
            .chain(of_items.filter(|name| !keys.iter().any(|(key, _)| key == name)))
            .collect();
        for attribute in all {
            let is_constant = ty.constants.iter().any(|(name, _)| name == attribute);
            let is_known = ty.fields.iter().any(|field| named(field, attribute));
            // A key attribute with a template of other fields is no field.
            let is_made = keys.iter().any(|(key, parts)| *key == attribute && !is_itself(key, parts));
            if is_constant || is_known || is_made {
                continue;
            }
            let said = hint.attributes.iter().find(|known| known.name == attribute);
            let mut field = self.field(ty, attribute, said, (items, objects));
            field.required = of_key.contains(&attribute);
            if field.required && field.scalar == "String" {
                field.scalar = "ID".to_owned();
            }
            // A name in the key that no item has is the template's own.
            let is_said = self.items.is_empty() && said.is_some();
            if field.required && field.texts.is_empty() && !is_said {
                field.attribute = None;
            }
            if field.texts.is_empty() {
                field.texts = self.texts_in_keys(items, keys, attribute);
            }
            ty.fields.push(field);
        }
    }

    /// The field of an attribute, by its values or by what the hint says of it.
    fn field(
        &self,
        ty: &TypeDraft,
        attribute: &str,
        said: Option<&AttributeHint>,
        (items, objects): (&[usize], &mut Vec<ObjectDraft>),
    ) -> FieldDraft {
        let values: Vec<&Attribute> = items.iter().filter_map(|at| self.items[*at].get(attribute)).collect();
        let scalar = match said.and_then(|said| said.kind.as_ref()) {
            _ if !values.is_empty() => scalars::scalar_of_values(&values, attribute, &ty.name, objects),
            Some(kind) => hinted_scalar(kind),
            None => Scalar { name: "String".to_owned(), ..Scalar::default() },
        };
        let wanted = said.and_then(|said| said.field.as_deref()).unwrap_or(attribute);
        let name = names::free(&names::field_name(wanted), |name| ty.fields.iter().any(|field| field.name == name));
        let texts: BTreeSet<String> = values.iter().filter_map(|value| text(value)).map(Into::into).collect();
        FieldDraft {
            name,
            scalar: scalar.name,
            attribute: Some(attribute.to_owned()),
            stored: scalar.stored,
            texts: texts.into_iter().collect(),
            guess: scalar.guess,
            hint: Some(attribute.to_owned()),
            ..FieldDraft::default()
        }
    }

    /// The texts that the keys of items have where the templates have a name.
    fn texts_in_keys(&self, items: &[usize], keys: &[(&str, Vec<HintPart>)], name: &str) -> Vec<String> {
        let mut texts = BTreeSet::new();
        for (key, parts) in keys {
            for item in items {
                let Some(key) = self.items[*item].get(key).and_then(text) else { continue };
                let values = read(parts, &key).unwrap_or_default();
                texts.extend(values.into_iter().filter(|(known, _)| known == name).map(|(_, text)| text.to_owned()));
            }
        }
        texts.into_iter().collect()
    }

    fn add_key(&self, ty: &mut TypeDraft, (attribute, parts): (&str, &[HintPart]), items: &[usize]) {
        let table = self.table.0;
        let Some(key) = table.key_attributes().into_iter().find(|key| key.name == attribute) else { return };
        let field_of = |ty: &TypeDraft, name: &str| ty.fields.iter().position(|field| named(field, name));
        let fits =
            |at: &usize| self.items[*at].get(attribute).and_then(text).is_none_or(|key| read(parts, &key).is_some());
        if !table.is_primary_key(attribute) && !items.iter().all(fits) {
            ty.read_only = true;
            ty.guesses.push(format!("{attribute} has another form than its template says: it is left out"));
            return;
        }
        if is_itself(attribute, parts) {
            // The key of the table is the field; the key of an index needs no template.
            let Some(field) = field_of(ty, attribute) else { return };
            if table.is_primary_key(attribute) {
                ty.fields[field].attribute = None;
                ty.keys.push(KeyDraft { attribute: attribute.to_owned(), parts: vec![PartDraft::Field(field, None)] });
            }
            return;
        }
        let parts: Option<Vec<PartDraft>> = parts
            .iter()
            .map(|part| match part {
                HintPart::Literal(text) => Some(PartDraft::Literal(text.clone())),
                HintPart::Attribute(name, form) => {
                    let field = field_of(ty, name)?;
                    let form = form.clone().or_else(|| stored_form(&ty.fields[field], key.kind));
                    Some(PartDraft::Field(field, form))
                }
            })
            .collect();
        if let Some(parts) = parts {
            ty.keys.push(KeyDraft { attribute: attribute.to_owned(), parts });
        }
    }
}

/// Whether a field is the one that a hint calls so.
fn named(field: &FieldDraft, name: &str) -> bool {
    field.hint.as_deref() == Some(name)
}

/// Whether a key is the attribute of its own name, as `customer_id` with `{customer_id}`.
fn is_itself(key: &str, parts: &[HintPart]) -> bool {
    matches!(parts, [HintPart::Attribute(name, _)] if name == key)
}

/// The form of a time that the attribute has, for its text in a key.
fn stored_form(field: &FieldDraft, kind: KeyType) -> Option<String> {
    let form = field.stored.as_deref()?.strip_prefix("form: \"")?.strip_suffix('"')?;
    (kind == KeyType::S).then(|| form.to_owned())
}

/// The parts of a template: `${name}` and `{name}` are attributes.
fn parts(template: &str) -> Vec<HintPart> {
    let mut parts: Vec<HintPart> = Vec::new();
    let mut rest = template;
    while let Some(open) = rest.find('{') {
        let Some(close) = rest[open..].find('}').map(|at| open + at) else { break };
        let before = rest[..open].strip_suffix('$').unwrap_or(&rest[..open]);
        if !before.is_empty() {
            parts.push(HintPart::Literal(before.to_owned()));
        }
        let (name, form) = rest[open + 1..close]
            .split_once(':')
            .map_or((&rest[open + 1..close], None), |(name, form)| (name, Some(form.to_owned())));
        parts.push(HintPart::Attribute(name.to_owned(), form));
        rest = &rest[close + 1..];
    }
    if !rest.is_empty() {
        parts.push(HintPart::Literal(rest.to_owned()));
    }
    parts
}

/// The text of each attribute in a key; `None` if the key has another form.
fn read<'k>(parts: &[HintPart], key: &'k str) -> Option<Vec<(String, &'k str)>> {
    let mut values = Vec::new();
    let mut rest = key;
    for (position, part) in parts.iter().enumerate() {
        match part {
            HintPart::Literal(text) => rest = rest.strip_prefix(text.as_str())?,
            HintPart::Attribute(name, _) => {
                let end = match parts.get(position + 1) {
                    Some(HintPart::Literal(next)) => rest.find(next.as_str())?,
                    _ => rest.len(),
                };
                if end == 0 {
                    return None;
                }
                values.push((name.clone(), &rest[..end]));
                rest = &rest[end..];
            }
        }
    }
    rest.is_empty().then_some(values)
}

/// The type that a source says.
fn hinted_scalar(kind: &HintKind) -> Scalar {
    let named = |name: &str| Scalar { name: name.to_owned(), ..Scalar::default() };
    match kind {
        HintKind::Text | HintKind::Time | HintKind::Date => named("String"),
        HintKind::Id => named("ID"),
        HintKind::Integer => named("Int"),
        HintKind::Decimal => named("Decimal"),
        HintKind::Boolean => named("Boolean"),
        HintKind::Enum(values) => {
            let texts: IndexSet<String> = values.iter().filter(|text| !text.is_empty()).cloned().collect();
            let texts: Vec<String> = texts.into_iter().collect();
            let guess = (!texts.is_empty()).then_some(Guess::Enum(texts, 0));
            Scalar { guess, ..named("String") }
        }
        HintKind::List(of) => match hinted_scalar(of).name {
            name if name.starts_with('[') || name == "JSON" => named("JSON"),
            name => named(&format!("[{name}!]")),
        },
        HintKind::Set(of) => match hinted_scalar(of).name.as_str() {
            name @ ("String" | "ID" | "Int" | "Decimal") => {
                Scalar { stored: Some("stored: SET".to_owned()), ..named(&format!("[{name}!]")) }
            }
            _ => named("JSON"),
        },
        HintKind::Any => named("JSON"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_of_others_are_read() {
        let literal = |text: &str| HintPart::Literal(text.to_owned());
        let name = |name: &str| HintPart::Attribute(name.to_owned(), None);
        assert_eq!(parts("USER#{user_id}"), [literal("USER#"), name("user_id")]);
        assert_eq!(parts("USER#${user_id}#x"), [literal("USER#"), name("user_id"), literal("#x")]);
        assert_eq!(parts("PROFILE"), [literal("PROFILE")]);
        assert_eq!(read(&parts("A#{x}#{y}"), "A#1#2#3"), Some(vec![("x".to_owned(), "1"), ("y".to_owned(), "2#3")]));
        assert_eq!(read(&parts("A#{x}"), "A#"), None);
        assert_eq!(read(&parts("A#{x}"), "B#1"), None);
    }
}
