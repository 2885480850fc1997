//! Items of queried ranges that are of none of the types that a read wants in; a line in the log for each form of keys
//! that no type of the table has. Nothing finds such items, so nobody would miss them.

use crate::execute::key::marks::{has_key, misspelt};
use crate::execute::key::shown::shown;
use crate::schema::model::Model;
use crate::schema::model::keys::{PrimaryKey, is_guard_key, is_record_key};
use crate::schema::table::Table;
use crate::table::data::attribute::{Attribute, Item};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// How many items of other types are looked at in each table: a partition may be full of them.
const MAX_LOOKED_AT: u32 = 10_000;
/// The most forms of keys that are reported of each table.
const MAX_FORMS: usize = 10;

/// What is known of the strays of each table, by its position.
#[derive(Debug)]
pub struct Strays(Vec<Arc<TableStrays>>);

/// What is known of the strays of one table.
#[derive(Debug)]
pub struct TableStrays {
    table: String,
    /// The primary keys of the table's types.
    keys: Vec<PrimaryKey>,
    looked_at: AtomicU32,
    /// The forms that were reported.
    forms: Mutex<BTreeSet<String>>,
}

impl Strays {
    /// Of the tables of a model, with nothing looked at.
    pub fn new(model: &Model) -> Self {
        let of_table = |(position, table): (usize, &Table)| {
            let items = model.types.keys().filter_map(|name| model.item(name));
            let keys = items.filter(|(_, keys)| keys.table == position).map(|(_, keys)| keys.primary(table)).collect();
            let (looked_at, forms) = (AtomicU32::new(0), Mutex::default());
            Arc::new(TableStrays { table: table.name.clone(), keys, looked_at, forms })
        };
        Self(model.tables.iter().enumerate().map(of_table).collect())
    }

    /// Of the table at a position.
    pub fn table(&self, table: usize) -> Option<&Arc<TableStrays>> {
        self.0.get(table)
    }
}

impl TableStrays {
    /// Looks at an item that is of none of the types that a read wants, unless enough were looked at.
    pub fn see(&self, item: &Item) {
        if self.looked_at.load(Ordering::Relaxed) < MAX_LOOKED_AT {
            self.looked_at.fetch_add(1, Ordering::Relaxed);
            self.tell(item);
        }
    }

    fn tell(&self, item: &Item) {
        let names: Vec<&str> = self.keys.first().into_iter().flat_map(PrimaryKey::names).collect();
        let Some(values) = names.iter().map(|name| item.get(name)).collect::<Option<Vec<&Attribute>>>() else { return };
        let is_own_key = |text: &str| is_guard_key(text) || is_record_key(text);
        let is_own = matches!(values.first(), Some(Attribute::S(text)) if is_own_key(text.as_str()));
        // The gate has reported a key in another spelling.
        let is_known = |key: &PrimaryKey| has_key(key, item) || misspelt(key, item).is_some();
        if is_own || self.keys.iter().any(is_known) {
            return;
        }
        let form = values.into_iter().map(form).collect::<Vec<_>>().join(" ");
        let mut forms = self.forms.lock().unwrap_or_else(PoisonError::into_inner);
        if forms.len() < MAX_FORMS && forms.insert(form) {
            tracing::warn!(
                table = self.table,
                key = shown(names.into_iter(), item),
                "an item has the key of no type, so no field finds it: `keyfold verify` counts all such items"
            );
        }
    }
}

/// What a key attribute's value has in common with others of its form: its label, which a separator follows, or the one
/// word that it is.
fn form(value: &Attribute) -> &str {
    let Attribute::S(text) = value else { return "" };
    let text = text.as_str();
    let word = text.find(|letter: char| !letter.is_alphabetic()).unwrap_or(text.len());
    let is_label = text[word..].chars().next().is_none_or(|next| matches!(next, '#' | '|' | ':' | '_' | '/'));
    if is_label { &text[..word] } else { "" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_one_form_have_one_label() {
        let form_of = |text: &str| form(&Attribute::S(text.into())).to_owned();
        for (text, label) in [
            ("ORDER#2026-11-01", "ORDER"),
            ("META", "META"),
            ("be07c1aa-3f2a", ""),
            ("3f2abe07", ""),
            ("ann@example.com", ""),
            ("#META#", ""),
            ("", ""),
        ] {
            assert_eq!(form_of(text), label, "{text}");
        }
    }
}
