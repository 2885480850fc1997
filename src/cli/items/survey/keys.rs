//! An item with its fields in; keys that its fields would not make, out.

use super::surprise::SurpriseKind;
use super::values::{Found, nothing, plain};
use crate::execute::caller::Caller;
use crate::execute::item::key_values::key_value;
use crate::execute::item::{assemble, replicas};
use crate::execute::key::{marks, sharding};
use crate::schema::model::keys::ItemKeys;
use crate::schema::model::{Model, ObjectType};
use crate::schema::table::{KeyAttribute, Table, number};
use crate::schema::template::Template;
use crate::schema::template::part::Misspelling;
use crate::table::data::attribute::{Attribute, Item};
use serde_json::{Map, Value};
use std::cmp::Ordering;
use std::sync::Arc;

/// Finds the keys of an item that its fields would not make.
pub fn survey_keys<'m>(model: &'m Model, (ty, keys): (&ObjectType, &ItemKeys), item: &Item, found: &mut Found) {
    let table = &model.tables[keys.table];
    let first;
    let item = match keys.replicas() {
        Some(_) => {
            first = replicas::first(model, &ty.name, Arc::new(item.clone()));
            &*first
        }
        None => item,
    };
    let known = assemble::values_of(model, ty, item);
    let mut values = claims(keys, table, item);
    values.extend(assemble::number_of(model, ty, item).map(|(number, _)| number));
    values.extend(known.known);
    let given = |field: &str| values.get(field).cloned();
    let caller = Caller::anonymous();
    let value = sharding::item_values(table, keys, &caller, &given);
    let made = |key: &'m KeyAttribute| -> Option<MadeKey<'m>> {
        let templates = keys.keys.get(&key.name)?;
        // What cannot be read makes no key.
        let is_unread = |field: &str| known.unreadable.iter().any(|other| other == field);
        if templates.iter().flat_map(Template::deciding_fields).any(is_unread) {
            return None;
        }
        // A value that its key cannot hold is one that a write refuses.
        let made = key_value(table, key, templates, &value).ok()?.map(Attribute::from);
        let there = item.get(&key.name);
        // Another spelling of the same value is said elsewhere.
        let is_spelling =
            there.is_some_and(|there| templates.iter().any(|template| marks::misspelling(template, there).is_some()));
        Some(MadeKey { name: &key.name, there: there.cloned(), made, is_spelling })
    };
    for key in table.primary_key().filter_map(made).filter(MadeKey::is_other) {
        found.insert(SurpriseKind::Misplaced.at(format!("{}.{}", ty.name, key.name)), key.misspelling());
    }
    for index in &table.indexes {
        let of_index = || index.keys().all();
        let is_there = of_index().all(|key| item.contains_key(&key.name));
        let of_fields: Vec<MadeKey<'_>> =
            of_index().filter(|key| !table.is_primary_key(&key.name)).filter_map(made).collect();
        // An item without one of the keys is not in the index, whatever the other is.
        let is_made = of_index().all(|key| {
            item.contains_key(&key.name) || of_fields.iter().any(|made| made.name == key.name && made.made.is_some())
        });
        for key in of_fields {
            let surprise = match (&key.there, &key.made) {
                (Some(_), Some(_)) if is_there && key.is_other() => SurpriseKind::Stale,
                (Some(_), None) if is_there => SurpriseKind::Left,
                (None, Some(_)) if is_made => SurpriseKind::Missing,
                _ => continue,
            };
            found.insert(surprise.at(format!("{}.{}", ty.name, key.name)), key.misspelling());
        }
    }
}

/// A key attribute as an item has it, and as its fields make it.
struct MadeKey<'t> {
    /// The attribute.
    name: &'t str,
    there: Option<Attribute>,
    made: Option<Attribute>,
    is_spelling: bool,
}

impl MadeKey<'_> {
    /// Whether the item has another value than the fields make.
    fn is_other(&self) -> bool {
        match (&self.there, &self.made) {
            (Some(Attribute::N(one)), Some(Attribute::N(other))) => number::compare(one, other) != Ordering::Equal,
            (Some(one), Some(other)) => one != other && !self.is_spelling,
            _ => false,
        }
    }

    fn misspelling(&self) -> Misspelling {
        let text = |value: &Option<Attribute>| value.as_ref().map(plain);
        Misspelling { found: text(&self.there).unwrap_or_default(), own: text(&self.made), ..nothing() }
    }
}

/// The claims in the primary key of an item, by their paths.
pub fn claims(keys: &ItemKeys, table: &Table, item: &Item) -> Map<String, Value> {
    let claims: Vec<String> = keys.claims().iter().map(ToString::to_string).collect();
    if claims.is_empty() {
        return Map::new();
    }
    let of_key = |key: &KeyAttribute| match (item.get(&key.name), keys.keys.get(&key.name)) {
        (Some(Attribute::S(text)), Some(templates)) => {
            templates.iter().find_map(|template| template.read(text)).unwrap_or_default()
        }
        _ => Vec::new(),
    };
    table.primary_key().flat_map(of_key).filter(|(name, _)| claims.contains(name)).collect()
}
