//! The attributes of a table: which are keys that were made for the table, and which show values.

use super::atoms::{Atom, atom};
use super::tokens;
use crate::schema::table::{KeyType, Table};
use crate::table::data::attribute::{Attribute, Item};
use std::collections::{BTreeMap, BTreeSet};

/// The most labels without a separator behind them.
const MOST_PREFIXES: usize = 100;
/// From how many items on a word that all of them have is a label.
const LABELS: usize = 3;

/// What is known of the attributes of a table.
#[derive(Debug)]
pub struct Columns<'i> {
    /// The key attributes of the table and its indexes.
    pub keys: Vec<&'i str>,
    /// Those of the table.
    pub primary: Vec<&'i str>,
    /// Key attributes of indexes that are fields by themselves, as `customer_id`.
    pub natural: BTreeSet<&'i str>,
    /// The characters that separate the parts of each key attribute.
    separators: BTreeMap<&'i str, Vec<char>>,
    /// Labels that stand before values without a separator, by the key attribute that begins with them.
    prefixes: BTreeMap<&'i str, BTreeSet<&'i str>>,
    /// The attribute that names the type of an item.
    pub discriminator: Option<&'i str>,
}

impl<'i> Columns<'i> {
    /// The attributes of a table with these items. The discriminator is found later.
    pub fn new(table: &'i Table, items: &[&'i Item]) -> Self {
        let keys: Vec<&str> = table.key_attributes().into_iter().map(|key| key.name.as_str()).collect();
        let primary: Vec<&str> = table.primary_key().map(|key| key.name.as_str()).collect();
        let mut columns = Self {
            keys,
            primary,
            natural: BTreeSet::new(),
            separators: BTreeMap::new(),
            prefixes: BTreeMap::new(),
            discriminator: None,
        };
        columns.find_separators(items);
        columns.find_prefixes(items);
        let is_number =
            |name: &str| table.key_attributes().into_iter().any(|key| key.name == name && key.kind != KeyType::S);
        // Nothing is composed for a key of several attributes, so a hyphen in one is a part of its text.
        let several = table.indexes.iter().filter(|index| index.partition.len() > 1 || index.sort.len() > 1);
        let of_several: BTreeSet<&str> = several.flat_map(|index| index.keys().all()).map(|key| &*key.name).collect();
        let is_plain = |name: &'i str| tokens::separators(texts(items, name)).into_iter().all(tokens::is_weak);
        columns.natural = columns
            .keys
            .iter()
            .copied()
            .filter(|key| !columns.primary.contains(key))
            .filter(|key| is_number(key) || of_several.contains(key) && is_plain(key) || columns.is_natural(key, items))
            .collect();
        columns
    }

    /// The characters that separate the parts of a key attribute.
    pub fn separators(&self, key: &str) -> &[char] {
        self.separators.get(key).map_or(&[], Vec::as_slice)
    }

    /// The length of the label with which a text of a key attribute begins, if no separator follows it.
    pub fn prefix(&self, key: &str, text: &str) -> Option<usize> {
        let known = self.prefixes.get(key)?;
        tokens::prefix(text).filter(|length| known.contains(&text[..*length]))
    }

    /// Attributes without separators of their own have those of the others, for rare items in another form.
    fn find_separators(&mut self, items: &[&'i Item]) {
        for key in self.keys.clone() {
            self.separators.insert(key, tokens::separators(texts(items, key)));
        }
        let all: BTreeSet<char> =
            self.separators.values().flatten().copied().filter(|letter| !tokens::is_weak(*letter)).collect();
        for separators in self.separators.values_mut() {
            if separators.is_empty() || separators.iter().any(|letter| !tokens::is_weak(*letter)) {
                separators
                    .extend(all.iter().filter(|letter| !separators.contains(letter)).copied().collect::<Vec<_>>());
            }
        }
    }

    /// Texts that begin with several labels, whose items have other attributes each.
    fn find_prefixes(&mut self, items: &[&'i Item]) {
        for key in self.keys.clone() {
            let mut found: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
            let mut count = 0;
            for item in items {
                let Some(Attribute::S(text)) = item.get(key) else { continue };
                let text = text.as_str();
                let first = text.split(|letter| self.separators(key).contains(&letter)).next().unwrap_or_default();
                if let Some(length) = tokens::prefix(first) {
                    count += 1;
                    let names = item.keys().map(|name| &**name).filter(|name| !self.keys.contains(name));
                    found.entry(&text[..length]).or_default().extend(names);
                }
            }
            if found.len() < 2 || found.len() > MOST_PREFIXES || found.len() * 2 > count.max(4) {
                continue;
            }
            let sets: Vec<&BTreeSet<&str>> = found.values().collect();
            let pairs =
                sets.iter().enumerate().flat_map(|(at, one)| sets[at + 1..].iter().map(move |other| (one, other)));
            let (alike, all) = pairs.fold((0, 0), |(alike, all), (one, other)| {
                let common = one.intersection(other).count();
                (alike + usize::from(2 * common > one.union(other).count()), all + 1)
            });
            if alike * 2 <= all {
                self.prefixes.insert(key, found.into_keys().collect());
            }
        }
    }

    /// Whether the values of an attribute may stand in keys.
    pub fn shows_values(&self, attribute: &str) -> bool {
        self.discriminator != Some(attribute) && (!self.keys.contains(&attribute) || self.natural.contains(attribute))
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
            .filter(|(text, _)| tokens::split(text, self.separators(key), &[]).len() > 1)
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

/// The texts of a key attribute.
fn texts<'i>(items: &[&'i Item], key: &str) -> impl Iterator<Item = &'i str> {
    items.iter().filter_map(move |item| match item.get(key) {
        Some(Attribute::S(text)) => Some(text.as_str()),
        _ => None,
    })
}

/// Whether the values are labels: a few words in capitals, or one word that many items have.
fn is_constant_label(values: &BTreeMap<&str, Vec<&Item>>, count: usize) -> bool {
    let are_words = values.keys().all(|text| atom(text) == Atom::Word);
    let are_capitals = values.keys().all(|text| text.chars().all(|letter| !letter.is_lowercase()));
    are_words && count >= 2 * values.len() && count >= LABELS && (values.len() == 1 || are_capitals)
}
