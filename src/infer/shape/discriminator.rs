//! The attribute that names the type of each item, found by what it does: each of its texts goes with one form of keys,
//! and different texts with different forms, or with other attributes.

use super::atoms::{Atom, atom};
use super::columns::Columns;
use super::groups::{GroupShape, RowGroup, groups};
use super::row::Row;
use crate::table::data::attribute::Attribute;
use std::collections::{BTreeMap, BTreeSet};

/// Names that programs give to this attribute, in lower case: a hint where few items say little.
const USUAL: [&str; 15] = [
    "type",
    "entitytype",
    "entity",
    "_type",
    "__edb_e__",
    "_et",
    "kind",
    "itemtype",
    "objecttype",
    "model",
    "__typename",
    "_class",
    "recordtype",
    "et",
    "entity_type",
];
/// The share of items that have it.
const SHARE: f64 = 0.7;
/// The share of an attribute's texts that go with one form of keys each.
const FAITHFUL: f64 = 0.8;
/// The share of forms that have one text each.
const DISTINCT: f64 = 0.6;

/// The attribute that names types, if there is one.
pub fn discriminator<'i>(rows: &[Row<'i>], columns: &Columns<'i>) -> Option<&'i str> {
    let groups = groups(rows, columns);
    let group_of = group_of_rows(&groups, rows.len());
    let mut candidates: BTreeMap<&str, usize> = BTreeMap::new();
    for row in rows {
        for (name, _) in row
            .item
            .members()
            .filter(|(name, value)| matches!(value, Attribute::S(_)) && !columns.keys.contains(&&***name))
        {
            *candidates.entry(name).or_default() += 1;
        }
    }
    candidates
        .into_iter()
        .filter(|(_, count)| *count as f64 >= SHARE * rows.len() as f64)
        .filter_map(|(name, count)| Some((score(name, rows, (&groups, &group_of))?, count, name)))
        .max_by(|one, other| (one.0, one.1).cmp(&(other.0, other.1)).then(other.2.cmp(one.2)))
        .map(|(_, _, name)| name)
}

fn group_of_rows(groups: &[RowGroup<'_>], rows: usize) -> Vec<usize> {
    let mut of = vec![0; rows];
    for (position, group) in groups.iter().enumerate() {
        for row in &group.rows {
            of[*row] = position;
        }
    }
    of
}

/// How well an attribute names types; `None` if it does not.
fn score(name: &str, rows: &[Row<'_>], (groups, group_of): (&[RowGroup<'_>], &[usize])) -> Option<u32> {
    let mut texts: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (position, row) in rows.iter().enumerate() {
        if let Some(Attribute::S(text)) = row.item.get(name) {
            texts.entry(text.as_str()).or_default().push(position);
        }
    }
    let is_usual = USUAL.contains(&name.to_lowercase().as_str());
    let count: usize = texts.values().map(Vec::len).sum();
    if !texts.keys().all(|text| is_name(text)) || !is_usual && texts.len() * 2 > count {
        return None;
    }
    let mut faithful = 0;
    let mut forms: BTreeSet<usize> = BTreeSet::new();
    for rows in texts.values() {
        let mut seen: BTreeMap<usize, usize> = BTreeMap::new();
        rows.iter().for_each(|row| *seen.entry(group_of[*row]).or_default() += 1);
        let (form, most) = seen.into_iter().max_by_key(|(_, count)| *count)?;
        faithful += usize::from(most as f64 >= FAITHFUL * rows.len() as f64);
        forms.insert(form);
    }
    let are_faithful = faithful as f64 >= FAITHFUL * texts.len() as f64;
    let are_distinct = forms.len() as f64 >= DISTINCT * texts.len() as f64 || differ(&texts, rows);
    let is_proved = texts.len() > 1 && are_faithful && are_distinct && forms.len() * 2 > groups.len().min(texts.len());
    match (is_usual, is_proved) {
        (true, true) => Some(3),
        (false, true) => Some(2),
        // A table of one type, or too few items to say.
        (true, false) => (texts.len() == 1 || are_faithful && are_distinct).then_some(1),
        (false, false) => None,
    }
}

/// Whether a text may be the name of a type.
fn is_name(text: &str) -> bool {
    let letters = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-' | ' ' | '.' | '#' | ':');
    text.starts_with(char::is_alphabetic)
        && text.len() <= 40
        && text.chars().all(letters)
        && !matches!(atom(text), Atom::Uuid | Atom::Ulid | Atom::Address)
}

/// Whether the items of different texts have other attributes.
fn differ(texts: &BTreeMap<&str, Vec<usize>>, rows: &[Row<'_>]) -> bool {
    let names =
        |members: &Vec<usize>| RowGroup::new(GroupShape { kind: None, keys: Vec::new() }, members.clone(), rows).names;
    let sets: BTreeSet<BTreeSet<&str>> = texts.values().map(names).collect();
    sets.len() as f64 >= DISTINCT * texts.len() as f64 && texts.len() > 1
}
