//! Rows in, groups of rows whose keys are equal but for their values out.
//!
//! A word is a label or a value, and no single key says which. A row begins in the group of all its words. Then groups
//! that differ in one word only become one, where that word looks like a value: it stands behind a label, or the items
//! have the same attributes whatever the word is.

use super::atoms::{Atom, atom};
use super::columns::Columns;
use super::row::Row;
use crate::table::data::attribute::Attribute;
use indexmap::IndexMap;
use std::collections::BTreeSet;

/// What a place of a key holds in all items of a group.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Slot {
    /// This text.
    Label(String),
    /// A text of each item's own.
    Value,
}

/// A key as its group has it: separators and slots.
pub type Skeleton = Vec<(String, Slot)>;

/// What the rows of a group share.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Signature {
    /// The text of the discriminator.
    pub kind: Option<String>,
    /// The key attributes of the table, in their order.
    pub keys: Vec<Skeleton>,
}

/// Rows whose keys are equal but for their values.
#[derive(Debug, Clone)]
pub struct Group {
    /// What they share.
    pub signature: Signature,
    /// Their positions.
    pub rows: Vec<usize>,
}

/// From how many words on a first word is a value, if nothing else shows it.
const MANY: usize = 4;
/// The share of attributes that two groups of one type have in common.
const ALIKE: f64 = 0.6;

/// The groups of the rows, in the order of their first rows.
pub fn groups(rows: &[Row<'_>], columns: &Columns<'_>) -> Vec<Group> {
    let mut found: IndexMap<Signature, Vec<usize>> = IndexMap::new();
    for (position, row) in rows.iter().enumerate() {
        found.entry(signature(row, columns)).or_default().push(position);
    }
    let mut groups: Vec<Group> = found.into_iter().map(|(signature, rows)| Group { signature, rows }).collect();
    while let Some(merged) = merge_once(&groups, rows) {
        groups = merged;
    }
    groups
}

/// What a row shows of the type that it is of.
pub fn signature(row: &Row<'_>, columns: &Columns<'_>) -> Signature {
    let kind = columns.discriminator.and_then(|name| match row.item.get(name) {
        Some(Attribute::S(text)) => Some(text.as_str().to_owned()),
        _ => None,
    });
    let keys = columns.primary.iter().map(|key| skeleton(row, key)).collect();
    Signature { kind, keys }
}

fn skeleton(row: &Row<'_>, key: &str) -> Skeleton {
    let Some(tokens) = row.keys.get(key) else { return vec![(String::new(), Slot::Value)] };
    let slot = |text: &str| {
        let is_value = row.has_text(text, key) || !matches!(atom(text), Atom::Word);
        if is_value && !text.is_empty() { Slot::Value } else { Slot::Label(text.to_owned()) }
    };
    tokens.iter().map(|token| (token.before.clone(), slot(&token.text))).collect()
}

/// The place of a word: the key, and the position in it.
type Place = (usize, usize);

/// The groups with those merged that differ in one word only; `None` if there are none.
fn merge_once(groups: &[Group], rows: &[Row<'_>]) -> Option<Vec<Group>> {
    let mut candidates: IndexMap<(Signature, Place), Vec<usize>> = IndexMap::new();
    for (position, group) in groups.iter().enumerate() {
        for place in places(&group.signature) {
            candidates.entry((with_value(&group.signature, place), place)).or_default().push(position);
        }
    }
    // The merge of most groups first: a value has more words than a label has neighbours.
    let mut candidates: Vec<_> = candidates.into_iter().collect();
    candidates.sort_by_key(|(_, members)| std::cmp::Reverse(members.len()));
    let ((signature, _), members) =
        candidates.into_iter().find(|((_, place), members)| is_value(groups, members, *place, rows))?;
    let mut merged = Vec::with_capacity(groups.len());
    let mut all: Vec<usize> = members.iter().flat_map(|position| groups[*position].rows.clone()).collect();
    all.sort_unstable();
    for (position, group) in groups.iter().enumerate() {
        if members.first() == Some(&position) {
            merged.push(Group { signature: signature.clone(), rows: std::mem::take(&mut all) });
        } else if !members.contains(&position) {
            merged.push(group.clone());
        }
    }
    Some(merged)
}

/// The places of words.
fn places(signature: &Signature) -> Vec<Place> {
    let mut places = Vec::new();
    for (key, skeleton) in signature.keys.iter().enumerate() {
        for (position, (_, slot)) in skeleton.iter().enumerate() {
            if matches!(slot, Slot::Label(text) if !text.is_empty()) {
                places.push((key, position));
            }
        }
    }
    places
}

fn with_value(signature: &Signature, (key, position): Place) -> Signature {
    let mut with = signature.clone();
    with.keys[key][position].1 = Slot::Value;
    with
}

/// Whether the words of these groups at the place are values. The groups are equal otherwise. Groups that have a value
/// there already are among them.
fn is_value(groups: &[Group], members: &[usize], (key, position): Place, rows: &[Row<'_>]) -> bool {
    let Some(first) = members.first().map(|member| &groups[*member]) else { return false };
    let skeleton = &first.signature.keys[key];
    let before = position.checked_sub(1).and_then(|before| skeleton.get(before)).map(|(_, slot)| slot);
    let next = skeleton.get(position + 1).map(|(_, slot)| slot);
    let is_behind_label = matches!(before, Some(Slot::Label(text)) if !text.is_empty());
    let has_values = groups.iter().any(|group| {
        group.signature == with_value(&first.signature, (key, position)) && are_alike(group, first, rows)
    });
    if has_values && (is_behind_label || position > 0) {
        return true;
    }
    if members.len() < 2 && !has_values {
        return false;
    }
    let are_all_alike = members.iter().all(|member| are_alike(&groups[*member], first, rows));
    if is_behind_label {
        // `#TAG#red` and `#TAG#blue`; a label with a value of its own may follow a label, too.
        return are_all_alike && (!matches!(next, Some(Slot::Value)) || members.len() >= MANY || has_common(groups, members, rows));
    }
    let count: usize = members.iter().map(|member| groups[*member].rows.len()).sum();
    let is_last = next.is_none();
    let is_before_label = matches!(next, Some(Slot::Label(text)) if !text.is_empty());
    let is_alone = skeleton.len() == 1 || position > 0;
    are_all_alike
        && match (is_alone || is_before_label, is_last || is_before_label) {
            (true, true) => members.len() >= MANY || members.len() * 2 > count || has_values,
            _ => members.len() >= 2 * MANY && members.len() * 4 > count,
        }
}

/// Whether two groups have items with mostly the same attributes.
fn are_alike(one: &Group, other: &Group, rows: &[Row<'_>]) -> bool {
    let (one, other) = (names(one, rows), names(other, rows));
    let all = one.union(&other).count();
    all == 0 || one.intersection(&other).count() as f64 >= ALIKE * all as f64
}

/// Whether the groups have attributes beside their keys, so that being alike says something.
fn has_common(groups: &[Group], members: &[usize], rows: &[Row<'_>]) -> bool {
    members.iter().all(|member| names(&groups[*member], rows).len() >= 3)
}

/// The names of the attributes that show values in a group.
pub fn names<'i>(group: &Group, rows: &[Row<'i>]) -> BTreeSet<&'i str> {
    group
        .rows
        .iter()
        .flat_map(|row| rows[*row].item.keys().map(|name| &**name))
        .filter(|name| group.rows.iter().any(|row| !rows[*row].keys.contains_key(name)))
        .collect()
}
