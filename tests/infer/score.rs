//! Two schemas of one table's items in; how many types of the first the second has, by keys and by identities of
//! fields, out.

use keyfold::schema::model::Model;
use keyfold::schema::model::keys::{ConstantValue, ItemKeys};
use keyfold::table::data::attribute::{Attribute, Item};
use std::collections::BTreeMap;
use std::fmt;

/// A type as its keys have it.
#[derive(Debug, Clone, PartialEq)]
pub struct KeyedType {
    /// Its name.
    pub name: String,
    /// The templates of the table's key attributes, with `{}` for each field.
    pub primary: BTreeMap<String, Vec<String>>,
    /// The templates of the keys of indexes.
    pub indexes: BTreeMap<String, Vec<String>>,
    /// Which places of the keys hold one field: the number of each place's field, counted as they come.
    pub identity: Vec<usize>,
}

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
    /// Types with a primary key that came back, under the same name.
    pub names: usize,
    /// Items of all types.
    pub items: usize,
    /// Items that a type of the second schema covers.
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
        self.names += other.names;
        self.items += other.items;
        self.covered += other.covered;
    }
}

impl fmt::Display for Score {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { types, keys, all_keys, identities, names, items, covered, .. } = self;
        write!(
            formatter,
            "{keys} of {types} primary keys, {all_keys} with all indexes, {identities} identities, {names} names; {covered} of {items} items"
        )
    }
}

/// Scores the types that were inferred for a table against those that its items were written by.
pub fn score(types: &[KeyedType], guesses: &[KeyedType]) -> Score {
    let mut score = Score::default();
    for ty in types {
        score.types += 1;
        let same = guesses.iter().filter(|guess| guess.primary == ty.primary);
        let Some(guess) = same.max_by_key(|guess| (guess.identity == ty.identity, guess.indexes == ty.indexes)) else {
            score.notes.push(format!("{}: no type with the keys {:?}", ty.name, ty.primary));
            continue;
        };
        score.keys += 1;
        score.all_keys += usize::from(guess.indexes == ty.indexes);
        score.identities += usize::from(guess.identity == ty.identity);
        score.names += usize::from(guess.name == ty.name);
        if guess.indexes != ty.indexes {
            score.notes.push(format!("{}: indexes {:?} instead of {:?}", ty.name, guess.indexes, ty.indexes));
        } else if guess.identity != ty.identity {
            score.notes.push(format!("{}: fields {:?} instead of {:?}", ty.name, guess.identity, ty.identity));
        }
    }
    score
}

/// Counts the items that types of a model cover.
pub fn count_covered(model: &Model, table: &str, items: &[Item], score: &mut Score) {
    for item in items.iter().filter(|item| !is_guard(item)) {
        score.items += 1;
        let mut of_table = types(model).filter(|(_, keys)| model.tables[keys.table].name == table);
        if of_table.any(|(_, keys)| is_item(model, keys, item)) {
            score.covered += 1;
        } else {
            let key: Vec<_> = item.members().take(2).collect();
            score.notes.push(format!("not covered: {key:?}"));
        }
    }
}

/// The types of a table in a model. With items, only those that have some.
pub fn keyed_types(model: &Model, table: &str, items: Option<&[Item]>) -> Vec<KeyedType> {
    let of_table = types(model).filter(|(_, keys)| model.tables[keys.table].name == table);
    let has_items = |keys: &ItemKeys| items.is_none_or(|items| items.iter().any(|item| is_item(model, keys, item)));
    of_table
        .filter(|(_, keys)| has_items(keys))
        .map(|(name, keys)| KeyedType {
            name: name.to_owned(),
            primary: shapes(model, keys, true),
            indexes: shapes(model, keys, false),
            identity: identity(model, keys),
        })
        .collect()
}

fn types(model: &Model) -> impl Iterator<Item = (&str, &ItemKeys)> {
    model.types.keys().filter_map(|name| Some((name.as_str(), model.item(name)?.1)))
}

fn is_guard(item: &Item) -> bool {
    item.members().any(|(_, value)| matches!(value, Attribute::S(text) if text.as_str().starts_with("Unique#")))
}

/// Whether the keys and constants of an item are those of a type.
pub fn is_item(model: &Model, keys: &ItemKeys, item: &Item) -> bool {
    let has_key = |attribute: &str| match (item.get(attribute), keys.keys.get(attribute)) {
        (Some(Attribute::S(text)), Some(templates)) => {
            templates.iter().any(|template| template.read(text.as_str()).is_some())
        }
        (Some(Attribute::N(_) | Attribute::B(_)), Some(_)) => true,
        _ => false,
    };
    let has_constant = |(name, value): &(String, ConstantValue)| match (item.get(name), value) {
        (Some(Attribute::S(text)), ConstantValue::Text(constant)) => text.as_str() == constant,
        (found, _) => found.is_none(),
    };
    model.tables[keys.table].primary_key().all(|key| has_key(&key.name)) && keys.constants.iter().all(has_constant)
}

/// The templates of the keys with `{}` for each field: of the table, or of its indexes.
fn shapes(model: &Model, keys: &ItemKeys, primary: bool) -> BTreeMap<String, Vec<String>> {
    let table = &model.tables[keys.table];
    let of_kind = keys.keys.iter().filter(|(name, _)| table.is_primary_key(name) == primary);
    let shape = |written: String| {
        let rest = |part: &str| part.split_once('}').map(|(_, rest)| format!("{{}}{rest}")).unwrap_or_default();
        let (first, others) =
            written.split_once('{').map_or((written.as_str(), None), |(first, rest)| (first, Some(rest)));
        format!("{first}{}", others.iter().flat_map(|rest| rest.split('{')).map(rest).collect::<String>())
    };
    of_kind
        .map(|(name, templates)| {
            (name.clone(), templates.iter().map(|template| shape(template.as_written(usize::MAX))).collect())
        })
        .collect()
}

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
