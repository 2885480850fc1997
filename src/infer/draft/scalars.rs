//! The values of a field in, its type in GraphQL out, with what `@attribute` must say for it.

use super::align::common_form;
use super::guess::Guess;
use super::names;
use super::{ApiDraft, FieldDraft, ObjectDraft};
use crate::infer::shape::atoms::{Atom, atom};
use crate::schema::scalar::date_time;
use crate::schema::scalar::time_form::TimeForm;
use crate::table::data::attribute::{Attribute, Item};
use indexmap::IndexMap;
use std::collections::BTreeSet;

/// The type of a field.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Scalar {
    /// Its name, such as `Int` or `[String!]`.
    pub name: String,
    /// More arguments of `@attribute`.
    pub stored: Option<String>,
    /// What is guessed.
    pub guess: Option<Guess>,
}

/// The deepest objects that get types of their own.
const MAX_DEPTH: usize = 3;
/// The most fields of an object that gets a type of its own.
const MAX_MEMBERS: usize = 40;
/// From how many items on a set of texts may be an enum.
const ENUM_ITEMS: usize = 6;
/// The most values of an enum.
const ENUM_VALUES: usize = 8;
/// Epoch seconds of 2001 to 2039.
const SECONDS: std::ops::Range<i64> = 1_000_000_000..2_200_000_000;

impl Scalar {
    fn plain(name: &str) -> Self {
        Self { name: name.to_owned(), ..Self::default() }
    }
}

/// Whether the texts of a form are digits of which an id, a code or a telephone number may consist as well.
pub fn may_be_id(form: &TimeForm) -> bool {
    form.is_epoch() || form.text() == "%Y%m%d"
}

/// The type of texts that are times of one form; `None` if they are none.
fn time_of(form: &TimeForm) -> Option<Scalar> {
    let text = form.text();
    let in_form = |name: &str| Scalar { stored: Some(format!("form: \"{text}\"")), ..Scalar::plain(name) };
    match text {
        _ if may_be_id(form) => None,
        "%Y-%m-%d" => Some(Scalar::plain("Date")),
        "%Y-%m-%dT%H:%M:%S.%3fZ" => Some(Scalar::plain("DateTime")),
        _ if !text.contains("%H") => Some(in_form("Date")),
        _ if form.zone().is_some() => Some(in_form("DateTime")),
        _ => Some(in_form("LocalDateTime")),
    }
}

/// The type of a field that no attribute has, by its texts in keys.
pub fn scalar_of_texts<'t>(texts: impl Iterator<Item = &'t str> + Clone) -> Scalar {
    let scalar = common_form(texts.clone()).as_ref().and_then(time_of);
    // Each placeholder says its form.
    scalar.map_or_else(|| Scalar::plain("ID"), |scalar| Scalar { stored: None, ..scalar })
}

/// The type of an attribute with these values. `objects` gets the types of objects in them.
pub fn scalar_of_values(values: &[&Attribute], name: &str, parent: &str, objects: &mut Vec<ObjectDraft>) -> Scalar {
    Values { parent, name, depth: 0 }.scalar(values, objects)
}

/// Gives objects inside items names that no item type has, and none that GraphQL or Keyfold has.
pub fn rename_objects(draft: &mut ApiDraft) {
    for position in 0..draft.objects.len() {
        let own = draft.objects[position].name.clone();
        let is_taken = |name: &str| {
            names::RESERVED.contains(&name)
                || draft.types.iter().any(|ty| ty.name == name)
                || draft.objects.iter().enumerate().any(|(at, object)| at != position && object.name == name)
        };
        let name = names::free(&own, is_taken);
        if name == own {
            continue;
        }
        let of_types = draft.types.iter_mut().flat_map(|ty| &mut ty.fields);
        let of_objects = draft.objects.iter_mut().flat_map(|object| &mut object.fields);
        for field in of_types.chain(of_objects) {
            if field.named_type() == own {
                field.scalar = field.scalar.replace(&own, &name);
            }
        }
        draft.objects[position].name = name;
    }
}

/// Whose values are looked at.
struct Values<'a> {
    parent: &'a str,
    name: &'a str,
    depth: usize,
}

impl Values<'_> {
    fn scalar(&self, values: &[&Attribute], objects: &mut Vec<ObjectDraft>) -> Scalar {
        let values: Vec<&Attribute> =
            values.iter().copied().filter(|value| !matches!(value, Attribute::Null)).collect();
        let kinds: BTreeSet<&str> = values.iter().map(|value| value.descriptor()).collect();
        let kinds: Vec<&str> = kinds.into_iter().collect();
        match kinds.as_slice() {
            [] => Scalar { guess: Some(Guess::AlwaysNull), ..Scalar::plain("String") },
            ["S"] => self.text(&values),
            ["N"] => self.number(&values),
            ["BOOL"] => Scalar::plain("Boolean"),
            ["B"] => Scalar::plain("Binary"),
            ["SS"] => Scalar { stored: Some("stored: SET".to_owned()), ..Scalar::plain("[String!]") },
            ["NS"] => Scalar { stored: Some("stored: SET".to_owned()), ..Scalar::plain("[Decimal!]") },
            ["L"] => self.list(&values, objects),
            ["M"] => self.object(&values, objects).map_or_else(|| Scalar::plain("JSON"), |name| Scalar::plain(&name)),
            kinds => {
                let types = kinds.iter().map(|kind| (*kind).to_owned()).collect();
                Scalar { guess: Some(Guess::SeveralTypes(types)), ..Scalar::plain("JSON") }
            }
        }
    }

    fn text(&self, values: &[&Attribute]) -> Scalar {
        let texts: Vec<&str> = values.iter().filter_map(|value| as_text(value)).collect();
        if let Some(scalar) = common_form(texts.iter().copied()).as_ref().and_then(time_of) {
            return scalar;
        }
        if texts.iter().all(|text| date_time::instant_clock(text).is_some()) {
            return Scalar { guess: Some(Guess::SeveralForms), ..Scalar::plain("DateTime") };
        }
        let distinct: BTreeSet<&str> = texts.iter().copied().collect();
        let are_words = distinct.iter().all(|text| matches!(atom(text), Atom::Word));
        if texts.len() >= ENUM_ITEMS && distinct.len() <= ENUM_VALUES && texts.len() >= 3 * distinct.len() && are_words
        {
            let texts = distinct.into_iter().map(str::to_owned).collect();
            return Scalar { guess: Some(Guess::Enum(texts, values.len())), ..Scalar::plain("String") };
        }
        let lower = self.name.to_lowercase();
        let is_id = lower == "id" || self.name.ends_with("Id") || self.name.ends_with("ID") || lower.ends_with("_id");
        let are_ids = distinct.iter().all(|text| matches!(atom(text), Atom::Uuid | Atom::Ulid));
        Scalar::plain(if is_id || are_ids { "ID" } else { "String" })
    }

    fn number(&self, values: &[&Attribute]) -> Scalar {
        let whole: Option<Vec<i64>> =
            values.iter().map(|value| as_text(value).and_then(|text| text.parse().ok())).collect();
        let Some(whole) = whole else { return Scalar::plain("Decimal") };
        let is_time = ["at", "time", "date", "on", "ttl", "expires", "expiry", "timestamp"]
            .iter()
            .any(|end| self.name.to_lowercase().ends_with(end));
        let within = |range: std::ops::Range<i64>| whole.iter().all(|number| range.contains(number));
        let are_many = whole.iter().collect::<BTreeSet<_>>().len() >= 3;
        if within(SECONDS) && (is_time || are_many) {
            let stored = Some("stored: EPOCH_SECONDS".to_owned());
            return Scalar { stored, guess: Some(Guess::EpochSeconds(values.len())), ..Scalar::plain("DateTime") };
        }
        if within(SECONDS.start * 1000..SECONDS.end * 1000) && (is_time || are_many) {
            let stored = Some("stored: EPOCH_MILLIS".to_owned());
            return Scalar { stored, guess: Some(Guess::EpochMillis(values.len())), ..Scalar::plain("DateTime") };
        }
        Scalar::plain(if whole.iter().all(|number| i32::try_from(*number).is_ok()) { "Int" } else { "Long" })
    }

    fn list(&self, values: &[&Attribute], objects: &mut Vec<ObjectDraft>) -> Scalar {
        let mut elements: Vec<&Attribute> = Vec::new();
        for value in values {
            if let Attribute::L(list) = value {
                elements.extend(list);
            }
        }
        if elements.is_empty() || elements.iter().any(|element| matches!(element, Attribute::Null)) {
            return Scalar::plain("JSON");
        }
        let singular = self.name.strip_suffix('s').unwrap_or(self.name);
        let of = Values { name: singular, ..*self }.scalar(&elements, objects);
        match of.name.as_str() {
            // Elements have no form of their own, and a list of lists has no type.
            _ if of.stored.is_some() || of.name.starts_with('[') => Scalar::plain("JSON"),
            "JSON" => Scalar::plain("JSON"),
            name => Scalar::plain(&format!("[{name}!]")),
        }
    }

    /// The type of maps that mostly have the same members.
    fn object(&self, values: &[&Attribute], objects: &mut Vec<ObjectDraft>) -> Option<String> {
        let maps: Vec<&Item> =
            values.iter().filter_map(|value| if let Attribute::M(map) = value { Some(map) } else { None }).collect();
        let mut members: IndexMap<&str, Vec<&Attribute>> = IndexMap::new();
        for map in &maps {
            for (name, value) in map.members() {
                members.entry(name).or_default().push(value);
            }
        }
        let total: usize = members.values().map(Vec::len).sum();
        let is_loose = total * 2 < members.len() * maps.len();
        if members.is_empty() || members.len() > MAX_MEMBERS || is_loose || self.depth >= MAX_DEPTH {
            return None;
        }
        let name = format!("{}{}", self.parent, names::type_name(self.name));
        let name = names::free(&name, |name| objects.iter().any(|object| object.name == name));
        let position = objects.len();
        objects.push(ObjectDraft { name: name.clone(), fields: Vec::new() });
        let mut fields: Vec<FieldDraft> = Vec::new();
        for (member, values) in members {
            let inner = Values { parent: &name, name: member, depth: self.depth + 1 };
            let scalar = inner.scalar(&values, objects);
            let field = names::free(&names::field_name(member), |name| fields.iter().any(|field| field.name == name));
            fields.push(FieldDraft {
                attribute: (field != member || scalar.stored.is_some()).then(|| member.to_owned()),
                name: field,
                scalar: scalar.name,
                stored: scalar.stored,
                guess: scalar.guess,
                ..FieldDraft::default()
            });
        }
        objects[position].fields = fields;
        Some(name)
    }
}

fn as_text(value: &Attribute) -> Option<&str> {
    match value {
        Attribute::S(text) | Attribute::N(text) => Some(text.as_str()),
        _ => None,
    }
}
