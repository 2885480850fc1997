//! A table of a world in; what its items were, one change after the other, out, as checks read them.

use crate::store::ModelStore;
use crate::store::data::attribute::{Attribute, Item};
use crate::store::data::table::Version;

/// All that the items ever were whose partition begins so, each with its partition.
pub fn histories<'s>(store: &'s ModelStore, prefix: &'s str) -> impl Iterator<Item = (&'s str, &'s [Version])> {
    histories_in(store, "world", prefix)
}

/// The same of a table.
pub fn histories_in<'s>(
    store: &'s ModelStore,
    table: &str,
    prefix: &'s str,
) -> impl Iterator<Item = (&'s str, &'s [Version])> + use<'s> {
    let table = store.table(table).expect("a table of the schema");
    table.keys().filter_map(move |key| match &key.partition {
        Attribute::S(partition) if partition.starts_with(prefix) => Some((partition.as_str(), table.versions(key))),
        _ => None,
    })
}

/// A text of an item; an empty one if it has none.
pub fn text<'i>(item: &'i Item, name: &str) -> &'i str {
    match item.get(name) {
        Some(Attribute::S(text)) => text,
        _ => "",
    }
}
