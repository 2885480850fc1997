//! Item types in, proof out that no item can be taken for one of another type. Must not know finds.
//!
//! Two types of a table can be distinguished if no text fits both partition keys, or both sort keys, or if they have
//! different constants in the same attribute. An item always comes with its keys, whichever index it was read from.
//! Types that only their constants distinguish are marked, so that their writes also check the constants. Of two such
//! types, one may be more specific: its keys are all keys of the other, too. The other type knows of it, so that an
//! item without constants is of the more specific one.
//!
//! Constraints of fields say which texts stand in keys. They count where they distinguish keys, show where a text ends
//! or make a range exact, and only there: elsewhere, an item that is older than the constraint stays what it is.

use crate::schema::diagnostics::diagnostic::Findings;
use crate::schema::diagnostics::rules;
use crate::schema::keys::text_limits::{ONE_LENGTH, text_limits};
use crate::schema::keys::{claims, ranges};
use crate::schema::model::keys::{ItemKeys, NarrowerType};
use crate::schema::model::rules::{Constraint, Format};
use crate::schema::syntax::directives::named;
use crate::schema::table::{KeyAttribute, KeyType, Table};
use crate::schema::template::Template;
use crate::schema::template::limits::Limits;
use crate::schema::types::draft::SchemaDraft;
use std::collections::BTreeSet;
use std::sync::Arc;

/// What the keys of the types say of each other, by their positions.
#[derive(Default)]
struct Relations {
    /// Types that share keys with others.
    sharing: BTreeSet<usize>,
    /// Types, each with a more specific one.
    narrower: Vec<(usize, Arc<NarrowerType>)>,
    /// Types and key attributes that constraints tell from those of others.
    limited: BTreeSet<(usize, String)>,
}

/// Reports every pair of item types that could be confused, at the later one, and marks those that only constants tell
/// apart.
pub fn check(draft: &mut SchemaDraft, findings: &mut Findings) {
    ranges::need_lengths(draft);
    let mut relations = Relations::default();
    let mut pairs: Vec<(usize, usize)> = Vec::new();
    for (position, table) in draft.tables.iter().enumerate() {
        let own = draft.items.values().enumerate().filter(|(_, keys)| keys.table == position);
        pairs.extend(alike(table, &own.collect::<Vec<_>>()));
    }
    pairs.sort_unstable();
    for (position, earlier) in pairs {
        compare(draft, (position, earlier), &mut relations, findings);
    }
    settle(draft, relations);
}

/// The pairs of a table's types whose keys begin alike, the later type first. A literal at the beginning of a key tells
/// all others apart, of which there are many more where a table has many types.
fn alike(table: &Table, types: &[(usize, &ItemKeys)]) -> Vec<(usize, usize)> {
    let of_key = |key: &KeyAttribute| {
        let beginnings = |(position, keys): &(usize, &'_ ItemKeys)| {
            let templates = keys.keys.get(&key.name).filter(|_| key.kind == KeyType::S);
            let texts = templates.map(|templates| templates.iter().map(|one| one.first_literal().to_owned()).collect());
            let texts: Vec<String> = texts.unwrap_or_else(|| vec![String::new()]);
            texts.into_iter().map(|text| (text, *position)).collect::<Vec<_>>()
        };
        let mut beginnings: Vec<(String, usize)> = types.iter().flat_map(beginnings).collect();
        beginnings.sort_unstable();
        beginnings
    };
    let keys: Vec<Vec<(String, usize)>> = table.primary_key().map(of_key).collect();
    let fewest = keys.iter().min_by_key(|beginnings| pairs_of_prefixes(beginnings, None));
    let mut pairs = Vec::new();
    if let Some(beginnings) = fewest {
        pairs_of_prefixes(beginnings, Some(&mut |one, other| pairs.push((one.max(other), one.min(other)))));
    }
    pairs.sort_unstable();
    pairs.dedup();
    pairs.retain(|(one, other)| one != other);
    pairs
}

/// Counts each two of these sorted texts of which the one begins the other, and hands them over.
fn pairs_of_prefixes(sorted: &[(String, usize)], mut take: Option<&mut dyn FnMut(usize, usize)>) -> usize {
    let (mut count, mut open): (usize, Vec<&(String, usize)>) = (0, Vec::new());
    for one in sorted {
        while open.pop_if(|other| !one.0.starts_with(&other.0)).is_some() {}
        if let Some(take) = &mut take {
            open.iter().for_each(|other| take(one.1, other.1));
        }
        count += open.len();
        open.push(one);
    }
    count
}

/// Compares two types of a table, and reports them at the later one if they could be confused.
fn compare(
    draft: &SchemaDraft,
    (position, earlier): (usize, usize),
    relations: &mut Relations,
    findings: &mut Findings,
) {
    let (Some((name, keys)), Some((other_name, other))) =
        (draft.items.get_index(position), draft.items.get_index(earlier))
    else {
        return;
    };
    let Some(table) = draft.tables.get(keys.table) else { return };
    for key in limited_keys(table, keys, other) {
        relations.limited.extend([(position, key.clone()), (earlier, key)]);
    }
    if !share_keys(table, keys, other) {
        return;
    }
    relations.sharing.extend([earlier, position]);
    match (is_within(table, keys, other), is_within(table, other, keys)) {
        (true, false) => relations.narrower.push((earlier, Arc::new(narrow(table, name, keys)))),
        (false, true) => relations.narrower.push((position, Arc::new(narrow(table, other_name, other)))),
        _ => {}
    }
    let directive = draft.schema.get_object(name).and_then(|object| object.directives.get("item"));
    if let (Some(claims), Some(directive)) = (claims::apart(table, keys, other), directive) {
        let message = format!(
            "an item of `{other_name}` could have a key of `{name}`, but not with the same {claims} in the same place"
        );
        let help = "begin both keys alike up to the claim, or put different texts into the sort keys";
        findings.error(rules::KF0601, &named(directive), message, Some(help.into()));
        return;
    }
    if let (false, Some(directive)) = (constants_differ(keys, other), directive) {
        let message = format!("an item could be `{name}` or `{other_name}`: their keys do not distinguish them");
        let excluded = constraint_apart(table, (name, keys), (other_name, other));
        let help = format!(
            "put different texts into the sort keys, or add constants: `attributes: {{ entity: \"{name}\" }}`, and another for `{other_name}`{excluded}"
        );
        findings.error(rules::KF0216, &named(directive), message, Some(help.into()));
    }
}

/// Gives the types what was found. Constraints that distinguish no keys, and that no template relies on, are forgotten.
fn settle(draft: &mut SchemaDraft, relations: Relations) {
    for (position, keys) in draft.items.values_mut().enumerate() {
        keys.shares_keys = relations.sharing.contains(&position);
        for (attribute, templates) in &mut keys.keys {
            let is_limited = relations.limited.contains(&(position, attribute.clone()));
            if !is_limited && !are_alternatives_limited(templates) {
                templates.iter_mut().for_each(|template| *template = template.relied_on());
            }
        }
        let primary = draft.tables.get(keys.table).map(|table| keys.primary(table));
        keys.limited = primary.filter(|primary| primary.has_limits).map(Arc::new);
    }
    for (position, narrower) in relations.narrower {
        if let Some((_, keys)) = draft.items.get_index_mut(position) {
            keys.narrower.push(narrower);
        }
    }
}

/// Whether an item of the one type can have the primary key of an item of the other.
fn share_keys(table: &Table, a: &ItemKeys, b: &ItemKeys) -> bool {
    table.primary_key().all(|key| match (a.keys.get(&key.name), b.keys.get(&key.name)) {
        // The text of a value says nothing of its number: an instant may be stored as an epoch.
        (Some(a), Some(b)) if key.kind == KeyType::S => overlap(a, b),
        _ => true,
    })
}

fn overlap(a: &[Template], b: &[Template]) -> bool {
    a.iter().any(|a| b.iter().any(|b| a.overlaps(b)))
}

/// The key attributes in which constraints distinguish the two types. There are none if another attribute does.
fn limited_keys(table: &Table, a: &ItemKeys, b: &ItemKeys) -> Vec<String> {
    let plain = |keys: &ItemKeys| {
        let mut plain = keys.clone();
        plain.keys.values_mut().flatten().for_each(|template| *template = template.relied_on());
        plain
    };
    let has_limits = |keys: &ItemKeys| keys.keys.values().flatten().any(Template::has_limits);
    if !(has_limits(a) || has_limits(b)) || !share_keys(table, &plain(a), &plain(b)) {
        return Vec::new();
    }
    let is_apart = |key: &&KeyAttribute| match (a.keys.get(&key.name), b.keys.get(&key.name)) {
        (Some(a), Some(b)) => key.kind == KeyType::S && !overlap(a, b),
        _ => false,
    };
    table.primary_key().filter(is_apart).map(|key| key.name.clone()).collect()
}

/// Whether constraints distinguish the alternatives of a key.
fn are_alternatives_limited(templates: &[Template]) -> bool {
    let plain: Vec<Template> = templates.iter().map(Template::relied_on).collect();
    plain.iter().enumerate().any(|(position, one)| plain[..position].iter().any(|other| one.overlaps(other)))
}

/// The end of a help line: a constraint that would distinguish the types. Empty if none is known.
fn constraint_apart(table: &Table, one: (&str, &ItemKeys), other: (&str, &ItemKeys)) -> String {
    if let Some((field, letter)) = separated(table, one, other) {
        return format!("; or exclude `{letter}` from `{field}`: `@constraint(pattern: \"[^{letter}]+\")`");
    }
    let ulid = text_limits(&Constraint { format: Some(Format::Ulid), ..Constraint::default() });
    let is_apart = |keys: &ItemKeys, others: &ItemKeys, field: &str| {
        let changed = with_limits(keys, &|own, limits| match (own == field, limits) {
            (true, None) => ulid.clone(),
            (_, limits) => limits.cloned(),
        });
        !share_keys(table, &changed, others)
    };
    let of_one = primary_fields(table, one.1).into_iter().filter(|field| is_apart(one.1, other.1, field));
    let of_other = primary_fields(table, other.1).into_iter().filter(|field| is_apart(other.1, one.1, field));
    let mut found = of_one.map(|field| (one.0, field)).chain(of_other.map(|field| (other.0, field)));
    found.next().map_or_else(String::new, |(name, field)| {
        format!("; or say the form of `{name}.{field}`, if it has one: {ONE_LENGTH}")
    })
}

/// The fields of a type's primary key.
fn primary_fields(table: &Table, keys: &ItemKeys) -> Vec<String> {
    let templates = table.primary_key().filter_map(|key| keys.keys.get(&key.name)).flatten();
    templates.flat_map(Template::fields).map(str::to_owned).collect()
}

/// Keys with other limits.
fn with_limits(keys: &ItemKeys, of: &dyn Fn(&str, Option<&Limits>) -> Option<Limits>) -> ItemKeys {
    let mut changed = keys.clone();
    changed.keys.values_mut().flatten().for_each(|template| *template = template.clone().limited(of));
    changed
}

/// A field, and the first character of a literal, such that the types could be distinguished if no value of the field
/// held the character.
fn separated(table: &Table, one: (&str, &ItemKeys), other: (&str, &ItemKeys)) -> Option<(String, char)> {
    let templates = |keys: &'_ ItemKeys| {
        table.primary_key().filter_map(|key| keys.keys.get(&key.name)).flatten().cloned().collect::<Vec<_>>()
    };
    let letters: BTreeSet<char> =
        templates(one.1).iter().chain(&templates(other.1)).flat_map(Template::separators).collect();
    for ((name, keys), others) in [(one, other.1), (other, one.1)] {
        for field in primary_fields(table, keys) {
            for letter in &letters {
                let limited = with_limits(keys, &|own, limits| match own == field {
                    true => Some(limits.unwrap_or(&Limits::NONE).clone().without(*letter)),
                    false => limits.cloned(),
                });
                if !share_keys(table, &limited, others) {
                    return Some((format!("{name}.{field}"), *letter));
                }
            }
        }
    }
    None
}

/// Whether every primary key of the one type is one of the other, too.
fn is_within(table: &Table, one: &ItemKeys, other: &ItemKeys) -> bool {
    !other.primary(table).repeats
        && table.primary_key().all(|key| match (one.keys.get(&key.name), other.keys.get(&key.name)) {
            (Some(own), Some(others)) => own.iter().all(|own| own.is_within(others)),
            _ => false,
        })
}

fn narrow(table: &Table, name: &str, keys: &ItemKeys) -> NarrowerType {
    NarrowerType { item: name.to_owned(), key: keys.primary(table), constants: keys.constants.clone() }
}

fn constants_differ(a: &ItemKeys, b: &ItemKeys) -> bool {
    a.constants
        .iter()
        .any(|(name, value)| b.constants.iter().any(|(other, other_value)| name == other && value != other_value))
}
