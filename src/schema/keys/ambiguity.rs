//! Item types in, proof out that no item can be taken for one of another type. Must not know finds.
//!
//! Two types of a table can be told apart if no text fits both partition keys, or both sort keys, or if they have different constants in
//! the same attribute. An item always comes with its keys, whichever index it was read from. Types that only their constants tell apart are
//! marked, so that their writes also check the constants. Of two such types, one may be more specific: its keys are all keys of the other,
//! too. The other type knows of it, so that an item without constants is of the more specific one.

use crate::schema::diagnostics::diagnostic::Findings;
use crate::schema::keys::claims;
use crate::schema::model::keys::{ItemKeys, NarrowerType};
use crate::schema::syntax::directives::named;
use crate::schema::table::Table;
use crate::schema::types::draft::SchemaDraft;
use std::sync::Arc;

/// Reports every pair of item types that could be confused, at the later one, and marks those that only constants tell apart.
pub fn check(draft: &mut SchemaDraft, findings: &mut Findings) {
    let mut sharing: Vec<usize> = Vec::new();
    let mut narrower: Vec<(usize, Arc<NarrowerType>)> = Vec::new();
    for (position, (name, keys)) in draft.items.iter().enumerate() {
        for (earlier, (other_name, other)) in draft.items.iter().enumerate().take(position) {
            let table = draft.tables.get(keys.table).filter(|table| other.table == keys.table && share_keys(table, keys, other));
            let Some(table) = table else { continue };
            sharing.extend([earlier, position]);
            match (is_within(table, keys, other), is_within(table, other, keys)) {
                (true, false) => narrower.push((earlier, Arc::new(narrow(table, name, keys)))),
                (false, true) => narrower.push((position, Arc::new(narrow(table, other_name, other)))),
                _ => {}
            }
            let directive = draft.schema.get_object(name).and_then(|object| object.directives.get("item"));
            if let (Some(claims), Some(directive)) = (claims::apart(table, keys, other), directive) {
                let message =
                    format!("an item of `{other_name}` could have a key of `{name}`, but not with the same {claims} in the same place");
                let help = "begin both keys alike up to the claim, or put different texts into the sort keys";
                findings.error("KF0601", &named(directive), message, Some(help.into()));
                continue;
            }
            if let (false, Some(directive)) = (constants_differ(keys, other), directive) {
                let message = format!("an item could be `{name}` or `{other_name}`: their keys do not distinguish them");
                let help = format!(
                    "put different texts into the sort keys, or add constants: `attributes: {{ entity: \"{name}\" }}`, and another for `{other_name}`"
                );
                findings.error("KF0216", &named(directive), message, Some(help));
            }
        }
    }
    for position in sharing {
        if let Some((_, keys)) = draft.items.get_index_mut(position) {
            keys.shares_keys = true;
        }
    }
    for (position, narrower) in narrower {
        if let Some((_, keys)) = draft.items.get_index_mut(position) {
            keys.narrower.push(narrower);
        }
    }
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

/// Whether an item of the one type can have the primary key of an item of the other.
fn share_keys(table: &Table, a: &ItemKeys, b: &ItemKeys) -> bool {
    let disjoint = |key: &str| match (a.keys.get(key), b.keys.get(key)) {
        (Some(a), Some(b)) => a.iter().all(|a| b.iter().all(|b| !a.overlaps(b))),
        _ => false,
    };
    !table.primary_key().any(|key| disjoint(&key.name))
}

fn constants_differ(a: &ItemKeys, b: &ItemKeys) -> bool {
    a.constants.iter().any(|(name, value)| b.constants.iter().any(|(other, other_value)| name == other && value != other_value))
}
