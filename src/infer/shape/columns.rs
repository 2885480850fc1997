//! The attributes of a table: which are keys that were made for the table, and which show values.

use super::atoms::{Atom, atom};
use super::tokens;
use crate::schema::table::{KeyType, Table};
use crate::table::data::attribute::{Attribute, Item};
use std::collections::{BTreeMap, BTreeSet};

/// What is known of the attributes of a table.
#[derive(Debug)]
pub struct Columns<'i> {
    /// The key attributes of the table and its indexes.
    pub keys: Vec<&'i str>,
    /// Those of the table.
    pub primary: Vec<&'i str>,
    /// Key attributes of indexes that are fields by themselves, as `customer_id`.
    pub natural: BTreeSet<&'i str>,
    /// The characters that separate the parts of keys.
    pub separators: Vec<char>,
    /// The attribute that names the type of an item.
    pub discriminator: Option<&'i str>,
}

impl<'i> Columns<'i> {
    /// The attributes of a table with these items. The discriminator is found later.
    pub fn new(table: &'i Table, items: &[&'i Item]) -> Self {
        let keys: Vec<&str> = table.key_attributes().into_iter().map(|key| key.name.as_str()).collect();
        let primary: Vec<&str> = table.primary_key().map(|key| key.name.as_str()).collect();
        let texts = items.iter().flat_map(|item| {
            let of_key = |key: &&'i str| match item.get(key) {
                Some(Attribute::S(text)) => Some(text.as_str()),
                _ => None,
            };
            keys.iter().filter_map(of_key).collect::<Vec<_>>()
        });
        let separators = tokens::separators(texts);
        let mut columns = Self { keys, primary, natural: BTreeSet::new(), separators, discriminator: None };
        let is_number = |name: &str| {
            table.key_attributes().into_iter().any(|key| key.name == name && key.kind != KeyType::S)
        };
        columns.natural = columns
            .keys
            .iter()
            .copied()
            .filter(|key| !columns.primary.contains(key))
            .filter(|key| is_number(key) || columns.is_natural(key, items))
            .collect();
        columns
    }

    /// Whether the values of an attribute may stand in keys.
    pub fn shows_values(&self, attribute: &str) -> bool {
        self.discriminator != Some(attribute)
            && (!self.keys.contains(&attribute) || self.natural.contains(attribute))
    }

    /// Whether the key of an index is a field by itself: it is not put together of other texts, and no other attribute
    /// has its values.
    fn is_natural(&self, key: &str, items: &[&Item]) -> bool {
        let mut values: BTreeMap<&str, Vec<&Item>> = BTreeMap::new();
        for item in items {
            if let Some(Attribute::S(text)) = item.get(key) {
                values.entry(text.as_str()).or_default().push(item);
            }
        }
        if values.is_empty() {
            return false;
        }
        let count: usize = values.values().map(Vec::len).sum();
        let composed = values
            .iter()
            .filter(|(text, _)| {
                let tokens = tokens::split(text, &self.separators, &[]);
                tokens.len() > 1 && tokens.iter().any(|token| atom(&token.text) == Atom::Word)
            })
            .map(|(_, items)| items.len())
            .sum::<usize>();
        composed * 2 < count && !self.is_copy(key, items) && !is_constant_label(&values, count)
    }

    /// Whether another attribute, not a key, has the same text in all items with the key.
    fn is_copy(&self, key: &str, items: &[&Item]) -> bool {
        let having: Vec<&&Item> = items.iter().filter(|item| item.contains_key(key)).collect();
        let Some(first) = having.first() else { return false };
        let others = first.keys().filter(|name| !self.keys.contains(&&***name));
        others.into_iter().any(|name| having.iter().all(|item| item.get(name) == item.get(key)))
    }
}

/// Whether the values are labels: a few words in capitals, or one word that many items have.
fn is_constant_label(values: &BTreeMap<&str, Vec<&Item>>, count: usize) -> bool {
    let are_words = values.keys().all(|text| atom(text) == Atom::Word);
    let are_capitals = values.keys().all(|text| text.chars().all(|letter| !letter.is_lowercase()));
    are_words && count >= 2 * values.len() && (values.len() == 1 || are_capitals)
}
