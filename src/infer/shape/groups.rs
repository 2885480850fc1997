//! Rows in, groups of rows whose keys are equal but for their values out.
//!
//! A word is a label or a value, and no single key says which. It is a value if another attribute repeats it, if many
//! words stand in its place, or if all labels are in another case. Then groups that differ in words become one, where
//! these words look like values: they stand behind a label, and the items have the same attributes whatever they are.

use super::atoms::{Atom, atom};
use super::columns::Columns;
use super::row::Row;
use super::tokens::KeyToken;
use crate::table::data::attribute::Attribute;
use indexmap::IndexMap;
use std::collections::{BTreeMap, BTreeSet};

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
pub struct GroupShape {
    /// The text of the discriminator.
    pub kind: Option<String>,
    /// The key attributes of the table, in their order.
    pub keys: Vec<Skeleton>,
}

/// Rows whose keys are equal but for their values.
#[derive(Debug, Clone)]
pub struct RowGroup<'i> {
    /// What they share.
    pub signature: GroupShape,
    /// Their positions.
    pub rows: Vec<usize>,
    /// The attributes beside their keys.
    pub names: BTreeSet<&'i str>,
}

impl<'i> RowGroup<'i> {
    /// The group of these rows.
    pub fn new(signature: GroupShape, members: Vec<usize>, rows: &[Row<'i>]) -> Self {
        let mut names = BTreeSet::new();
        for row in members.iter().map(|member| &rows[*member]) {
            names.extend(row.item.keys().map(|name| &**name).filter(|name| !row.keys.contains_key(name)));
        }
        Self { signature, rows: members, names }
    }
}

/// From how many words on in one place they are values, whatever else shows.
const CROWD: usize = 12;
/// From how many words on a word with a value of its own behind it is a value.
const SEVERAL: usize = 5;
/// From how many words on a first word is a value, if nothing else shows it.
const MANY: usize = 4;
/// The share of attributes that two groups of one type have in common.
const ALIKE: f64 = 0.6;
/// The most groups; those with most rows stay.
const MOST_GROUPS: usize = 1_000;

/// The groups of the rows, in the order of their first rows.
pub fn groups<'i>(rows: &[Row<'i>], columns: &Columns<'_>) -> Vec<RowGroup<'i>> {
    let words = Words::new(rows, columns);
    let mut found: IndexMap<GroupShape, Vec<usize>> = IndexMap::new();
    for (position, row) in rows.iter().enumerate() {
        found.entry(signature(row, columns, &words)).or_default().push(position);
    }
    // What is rarer than a thousand other forms shows nothing.
    found.sort_by(|_, one, _, other| other.len().cmp(&one.len()).then(one.cmp(other)));
    found.truncate(MOST_GROUPS);
    found.sort_by(|_, one, _, other| one.cmp(other));
    let mut groups: Vec<RowGroup<'i>> =
        found.into_iter().map(|(signature, members)| RowGroup::new(signature, members, rows)).collect();
    while let Some(merged) = merge_words(&groups, rows) {
        groups = merged;
    }
    while merge_pairs(&mut groups, &words) {}
    groups
}

/// Which words of a table are values, by all of its keys.
struct Words {
    /// The case in which the labels are, if it is one.
    case: Option<Case>,
    /// How many words stand in a place, up to a crowd: the key, its length, the position, and the text before it.
    counts: BTreeMap<(usize, usize, usize, String), usize>,
}

/// The case of a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Case {
    Upper,
    Lower,
    Mixed,
}

fn case(word: &str) -> Case {
    match (word.chars().any(char::is_uppercase), word.chars().any(char::is_lowercase)) {
        (_, false) => Case::Upper,
        (false, true) => Case::Lower,
        (true, true) => Case::Mixed,
    }
}

impl Words {
    fn new(rows: &[Row<'_>], columns: &Columns<'_>) -> Self {
        let mut first: BTreeSet<&str> = BTreeSet::new();
        let mut places: BTreeMap<(usize, usize, usize, String), BTreeSet<&str>> = BTreeMap::new();
        for row in rows {
            for (key, tokens) in
                columns.primary.iter().enumerate().filter_map(|(at, key)| Some((at, row.keys.get(key)?)))
            {
                for (position, token) in tokens.iter().enumerate().filter(|(_, token)| atom(&token.text) == Atom::Word)
                {
                    let before = position.checked_sub(1).map_or("", |before| tokens[before].text.as_str());
                    let place = (key, tokens.len(), position, before.to_owned());
                    let words = places.entry(place).or_default();
                    if words.len() < CROWD {
                        words.insert(&token.text);
                    }
                    if position == 0 && tokens.len() > 1 {
                        first.insert(&token.text);
                    }
                }
            }
        }
        let cases: BTreeSet<Case> = first.iter().map(|word| case(word)).collect();
        let case = (first.len() > 1 && cases.len() == 1).then(|| cases.into_iter().next()).flatten();
        let counts = places.into_iter().map(|(place, words)| (place, words.len())).collect();
        Self { case, counts }
    }

    /// How many words stand in a place, up to a crowd.
    fn count(&self, (key, position): Place, length: usize, before: &str) -> usize {
        self.counts.get(&(key, length, position, before.to_owned())).copied().unwrap_or_default()
    }

    /// Whether a word at a place of a key is a value.
    fn is_value(&self, (key, position): Place, tokens: &[KeyToken]) -> bool {
        let before = position.checked_sub(1).map_or("", |before| tokens[before].text.as_str());
        // Behind a value, a word in another case may be a label.
        let is_behind_label = position > 0 && atom(before) == Atom::Word;
        let is_other_case =
            self.case.is_some_and(|labels| labels == case(before) && labels != case(&tokens[position].text));
        is_behind_label && is_other_case
            || (position > 0 || tokens.len() == 1) && self.count((key, position), tokens.len(), before) >= CROWD
    }
}

/// What a row shows of the type that it is of.
fn signature(row: &Row<'_>, columns: &Columns<'_>, words: &Words) -> GroupShape {
    let kind = columns.discriminator.and_then(|name| match row.item.get(name) {
        Some(Attribute::S(text)) => Some(text.as_str().to_owned()),
        _ => None,
    });
    let keys = columns.primary.iter().enumerate().map(|(at, key)| skeleton(row, (at, key), words)).collect();
    GroupShape { kind, keys }
}

fn skeleton(row: &Row<'_>, (at, key): (usize, &str), words: &Words) -> Skeleton {
    let Some(tokens) = row.keys.get(key) else { return vec![(String::new(), Slot::Value)] };
    let slot = |(position, token): (usize, &KeyToken)| {
        let is_value = row.has_text(&token.text, key)
            || !matches!(atom(&token.text), Atom::Word)
            || words.is_value((at, position), tokens);
        match is_value && !token.label && !token.text.is_empty() {
            true => Slot::Value,
            false => Slot::Label(token.text.clone()),
        }
    };
    tokens.iter().enumerate().map(|token| (token.1.before.clone(), slot(token))).collect()
}

/// The place of a word: the key, and the position in it.
type Place = (usize, usize);

/// The groups with those merged that differ in one first word only, which is a value; `None` if there are none.
fn merge_words<'i>(groups: &[RowGroup<'i>], rows: &[Row<'i>]) -> Option<Vec<RowGroup<'i>>> {
    let mut candidates: IndexMap<(GroupShape, Place), Vec<usize>> = IndexMap::new();
    for (position, group) in groups.iter().enumerate() {
        for place in places(&group.signature).into_iter().filter(|place| place.1 == 0) {
            candidates.entry((with_value(&group.signature, place), place)).or_default().push(position);
        }
    }
    // The merge of most groups first: a value has more words than a label has neighbours.
    let mut candidates: Vec<_> = candidates.into_iter().collect();
    candidates.sort_by_key(|(_, members)| std::cmp::Reverse(members.len()));
    let ((signature, _), members) =
        candidates.into_iter().find(|((_, place), members)| is_first_value(groups, members, *place))?;
    let mut merged = Vec::with_capacity(groups.len());
    let mut all: Vec<usize> = members.iter().flat_map(|position| groups[*position].rows.clone()).collect();
    all.sort_unstable();
    for (position, group) in groups.iter().enumerate() {
        if members.first() == Some(&position) {
            merged.push(RowGroup::new(signature.clone(), std::mem::take(&mut all), rows));
        } else if !members.contains(&position) {
            merged.push(group.clone());
        }
    }
    Some(merged)
}

/// The places of words.
fn places(signature: &GroupShape) -> Vec<Place> {
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

fn with_value(signature: &GroupShape, (key, position): Place) -> GroupShape {
    let mut with = signature.clone();
    with.keys[key][position].1 = Slot::Value;
    with
}

/// Whether the first words of these groups are values. The groups are equal otherwise.
fn is_first_value(groups: &[RowGroup<'_>], members: &[usize], (key, position): Place) -> bool {
    let Some(first) = members.first().map(|member| &groups[*member]) else { return false };
    let skeleton = &first.signature.keys[key];
    let next = skeleton.get(position + 1).map(|(_, slot)| slot);
    if members.len() < 2 || !members.iter().all(|member| are_alike(&groups[*member], first)) {
        return false;
    }
    let count: usize = members.iter().map(|member| groups[*member].rows.len()).sum();
    match next {
        // A word alone, or before a label, as in `alice#timeline`.
        None | Some(Slot::Label(_)) => members.len() >= MANY || members.len() * 2 > count,
        Some(Slot::Value) => members.len() >= 2 * MANY && members.len() * 4 > count,
    }
}

/// Joins groups that are one: they differ in words behind the first label only, and have the same attributes. Whether
/// there were any.
fn merge_pairs(groups: &mut Vec<RowGroup<'_>>, words: &Words) -> bool {
    let (mut one, mut has_merged) = (0, false);
    while one < groups.len() {
        let mut other = one + 1;
        while other < groups.len() {
            if are_one(&groups[one], &groups[other], words) {
                let gone = groups.remove(other);
                let known = &mut groups[one];
                known.signature = joined(&known.signature, &gone.signature);
                known.rows.extend(gone.rows);
                known.rows.sort_unstable();
                known.names.extend(gone.names);
                has_merged = true;
            } else {
                other += 1;
            }
        }
        one += 1;
    }
    has_merged
}

fn are_one(one: &RowGroup<'_>, other: &RowGroup<'_>, words: &Words) -> bool {
    let (first, second) = (&one.signature, &other.signature);
    if first.kind != second.kind || first.keys.len() != second.keys.len() {
        return false;
    }
    let (mut differ, mut is_open) = (false, false);
    for (key, (mine, others)) in first.keys.iter().zip(&second.keys).enumerate() {
        if mine.len() != others.len() {
            return false;
        }
        for (position, (mine_at, others_at)) in mine.iter().zip(others).enumerate() {
            if mine_at.0 != others_at.0 {
                return false;
            }
            if mine_at.1 == others_at.1 {
                continue;
            }
            differ = true;
            let has_value = matches!(mine_at.1, Slot::Value) || matches!(others_at.1, Slot::Value);
            let is_text = |slot: &Slot| !matches!(slot, Slot::Label(text) if text.is_empty());
            // Two words that stand before other words may be two values, as a state and a city.
            let is_word =
                |slot: Option<&(String, Slot)>| matches!(slot, Some((_, Slot::Label(text))) if !text.is_empty());
            let are_before_words = is_word(mine.get(1)) && is_word(others.get(1)) && mine.get(1) != others.get(1);
            is_open |= position == 0;
            let may_be_value = position > 0 || has_value && mine.len() == 1 && key == 0 || are_before_words && key > 0;
            if !may_be_value || !is_text(&mine_at.1) || !is_text(&others_at.1) {
                return false;
            }
            // A label with a value of its own may follow another.
            let is_value = |slot: Option<&(String, Slot)>| matches!(slot, Some((_, Slot::Value)));
            let before_value = is_value(mine.get(position + 1)) || is_value(others.get(position + 1));
            if before_value && !has_value && key > 0 {
                let before = position.checked_sub(1).and_then(|before| mine.get(before));
                if let Some((_, Slot::Label(before))) = before
                    && words.count((key, position), mine.len(), before) < SEVERAL
                {
                    return false;
                }
                is_open = true;
            }
        }
    }
    let common = one.names.intersection(&other.names).count();
    let fewest = one.names.len().min(other.names.len());
    let is_alike = common as f64 >= ALIKE * fewest as f64 && (fewest > 0 || one.names.len() == other.names.len());
    differ && is_alike && (!is_open || are_alike(one, other) && fewest > 0)
}

/// What two signatures have in common: values where they differ.
fn joined(one: &GroupShape, other: &GroupShape) -> GroupShape {
    let mut joined = one.clone();
    for (mine, others) in joined.keys.iter_mut().zip(&other.keys) {
        for (slot, other) in mine.iter_mut().zip(others) {
            if slot.1 != other.1 {
                slot.1 = Slot::Value;
            }
        }
    }
    joined
}

/// Whether two groups have items with mostly the same attributes.
fn are_alike(one: &RowGroup<'_>, other: &RowGroup<'_>) -> bool {
    let all = one.names.union(&other.names).count();
    all == 0 || one.names.intersection(&other.names).count() as f64 >= ALIKE * all as f64
}
