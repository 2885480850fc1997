//! Item types in, proof out that no item can be taken for one of another type. Must not know finds.
//!
//! Two types of a table are told apart if no text can be of both their partition keys, or of both their sort keys, or if they have
//! different constants in the same attribute. Keys are always there to look at, whichever index an item was read from.

use super::diagnostic::Findings;
use super::directives::named;
use super::draft::Draft;
use super::model::ItemKeys;
use super::table::Table;

/// Reports every pair of item types that could be confused, at the later one.
pub fn check(draft: &Draft, findings: &mut Findings) {
    for (position, (name, keys)) in draft.items.iter().enumerate() {
        for (other_name, other) in draft.items.iter().take(position).filter(|(_, other)| other.table == keys.table) {
            let told_apart = draft.tables.get(keys.table).is_some_and(|table| told_apart(table, keys, other));
            let directive = draft.schema.get_object(name).and_then(|object| object.directives.get("item"));
            if let (false, Some(directive)) = (told_apart, directive) {
                let message = format!("an item could be `{name}` or `{other_name}`: their keys do not tell them apart");
                let help = format!(
                    "give the sort keys different texts, or constants: `attributes: {{ entity: \"{name}\" }}` and likewise for `{other_name}`"
                );
                findings.error("KF0216", &named(directive), message, Some(help));
            }
        }
    }
}

fn told_apart(table: &Table, a: &ItemKeys, b: &ItemKeys) -> bool {
    let disjoint = |key: &str| match (a.keys.get(key), b.keys.get(key)) {
        (Some(a), Some(b)) => a.iter().all(|a| b.iter().all(|b| !a.overlaps(b))),
        _ => false,
    };
    let differ =
        a.constants.iter().any(|(name, value)| b.constants.iter().any(|(other, other_value)| name == other && value != other_value));
    differ || table.primary_key().any(|key| disjoint(&key.name))
}
