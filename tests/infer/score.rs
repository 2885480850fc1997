//! Two models of one table's items in; how many types of the first the second has, by keys and by identities of fields,
//! out.

use keyfold::schema::model::Model;
use keyfold::schema::model::keys::{ConstantValue, ItemKeys};
use keyfold::schema::template::Template;
use keyfold::table::data::attribute::{Attribute, Item};
use std::fmt;

/// How much came back.
#[derive(Debug, Default)]
pub struct Score {
    /// Types with items.
    pub types: usize,
    /// Types whose primary key came back.
    pub keys: usize,
    /// Types with a primary key that came back, all keys of indexes as well.
    pub all_keys: usize,
    /// Types whose primary key came back with the same fields in the same places.
    pub identities: usize,
    /// Items of all types.
    pub items: usize,
    /// Items that a type of the second model covers.
    pub covered: usize,
    /// What did not come back.
    pub notes: Vec<String>,
}

impl Score {
    /// Adds another score.
    pub fn add(&mut self, other: Score) {
        self.types += other.types;
        self.keys += other.keys;
        self.all_keys += other.all_keys;
        self.identities += other.identities;
        self.items += other.items;
        self.covered += other.covered;
    }
}

impl fmt::Display for Score {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { types, keys, all_keys, identities, items, covered, .. } = self;
        write!(
            formatter,
            "{keys} of {types} primary keys, {all_keys} with all indexes, {identities} identities; {covered} of {items} items"
        )
    }
}

/// Scores a model against the one that the items were written by.
pub fn score(model: &Model, inferred: &Model, items: &[(String, Vec<Item>)]) -> Score {
    let mut score = Score::default();
    for (table, items) in items {
        let of_table = |model: &Model| model.tables.iter().position(|known| known.name == *table);
        let (Some(own), other) = (of_table(model), of_table(inferred)) else { continue };
        let guesses: Vec<(&str, &ItemKeys)> = types(inferred).filter(|(_, keys)| Some(keys.table) == other).collect();
        for item in items.iter().filter(|item| !is_guard(item)) {
            let is_of = |keys: &ItemKeys| is_item(inferred, keys, item);
            score.items += 1;
            if guesses.iter().any(|(_, keys)| is_of(keys)) {
                score.covered += 1;
            } else {
                score.notes.push(format!("not covered: {:?}", key_texts(inferred, other, item)));
            }
        }
        for (name, keys) in types(model).filter(|(_, keys)| keys.table == own) {
            if !items.iter().any(|item| is_item(model, keys, item)) {
                continue;
            }
            score.types += 1;
            let primary = |model: &Model, keys: &ItemKeys| shapes(model, keys, true);
            let same = guesses.iter().filter(|(_, guess)| primary(inferred, guess) == primary(model, keys));
            let Some((_, guess)) = same.clone().max_by_key(|(_, guess)| {
                (
                    identity(model, keys) == identity(inferred, guess),
                    shapes(inferred, guess, false) == shapes(model, keys, false),
                )
            }) else {
                score.notes.push(format!("{name}: no type with the keys {:?}", primary(model, keys)));
                continue;
            };
            score.keys += 1;
            score.all_keys += usize::from(shapes(inferred, guess, false) == shapes(model, keys, false));
            if shapes(inferred, guess, false) != shapes(model, keys, false) {
                score.notes.push(format!(
                    "{name}: indexes {:?} instead of {:?}",
                    shapes(inferred, guess, false),
                    shapes(model, keys, false)
                ));
            }
            score.identities += usize::from(identity(model, keys) == identity(inferred, guess));
            if identity(model, keys) != identity(inferred, guess) {
                score.notes.push(format!(
                    "{name}: fields {:?} instead of {:?}",
                    identity(inferred, guess),
                    identity(model, keys)
                ));
            }
        }
    }
    score
}

fn types(model: &Model) -> impl Iterator<Item = (&str, &ItemKeys)> {
    model.types.keys().filter_map(|name| Some((name.as_str(), model.item(name)?.1)))
}

fn is_guard(item: &Item) -> bool {
    item.members().any(|(_, value)| matches!(value, Attribute::S(text) if text.as_str().starts_with("Unique#")))
}

/// Whether the keys and constants of an item are those of a type.
fn is_item(model: &Model, keys: &ItemKeys, item: &Item) -> bool {
    let has_key = |attribute: &str| match (item.get(attribute), keys.keys.get(attribute)) {
        (Some(Attribute::S(text)), Some(templates)) => {
            templates.iter().any(|template| template.read(text.as_str()).is_some())
        }
        (Some(Attribute::N(_) | Attribute::B(_)), Some(_)) => true,
        _ => false,
    };
    let has_constant = |(name, value): &(String, ConstantValue)| matches!((item.get(name), value), (Some(Attribute::S(text)), ConstantValue::Text(constant)) if text.as_str() == constant);
    model.tables[keys.table].primary_key().all(|key| has_key(&key.name))
        && keys.constants.iter().all(|constant| has_constant(constant) || item.get(&constant.0).is_none())
}

fn key_texts(model: &Model, table: Option<usize>, item: &Item) -> Vec<String> {
    let keys = table.map(|table| model.tables[table].primary_key().collect::<Vec<_>>()).unwrap_or_default();
    keys.iter().map(|key| format!("{:?}", item.get(&key.name))).collect()
}

/// The templates of the keys with `{}` for each field: of the table, or of its indexes.
fn shapes(model: &Model, keys: &ItemKeys, primary: bool) -> Vec<(String, Vec<String>)> {
    let table = &model.tables[keys.table];
    let mut found: Vec<(String, Vec<String>)> = keys
        .keys
        .iter()
        .filter(|(name, _)| table.is_primary_key(name) == primary)
        .map(|(name, templates)| (name.clone(), templates.iter().map(|template| shape(template)).collect()))
        .collect();
    found.sort();
    found
}

fn shape(template: &Template) -> String {
    let written = template.as_written(usize::MAX);
    let mut shape = String::new();
    let mut depth = 0;
    for letter in written.chars() {
        match letter {
            '{' => depth += 1,
            '}' => {
                depth -= 1;
                shape.push_str("{}");
            }
            letter if depth == 0 => shape.push(letter),
            _ => {}
        }
    }
    shape
}

/// Which places of the table's keys hold one field: the number of each place's field, counted as they come.
fn identity(model: &Model, keys: &ItemKeys) -> Vec<usize> {
    let table = &model.tables[keys.table];
    let mut seen: Vec<String> = Vec::new();
    let mut places = Vec::new();
    for template in table.key_attributes().into_iter().filter_map(|key| keys.keys.get(&key.name)).flatten() {
        let written = template.as_written(usize::MAX);
        for field in written.split('{').skip(1).filter_map(|part| part.split(['}', ':']).next()) {
            let place = seen.iter().position(|known| known == field).unwrap_or_else(|| {
                seen.push(field.to_owned());
                seen.len() - 1
            });
            places.push(place);
        }
    }
    places
}
