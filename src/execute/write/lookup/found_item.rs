//! The item that a mutation's `@find` found, and the conditions that it is unchanged.

use crate::execute::expression::evaluate::{self, equal};
use crate::execute::expression::scope::Scope;
use crate::execute::item::conditions::Conditions;
use crate::execute::item::identity;
use crate::execute::values::expiry::PassedTimes;
use crate::execute::write::job::WriteJob;
use crate::schema::expression::condition::Condition;
use crate::schema::model::ObjectType;
use crate::schema::model::write::Write;
use crate::table::data::attribute::{AttributeName, Item, Key};
use std::sync::Arc;

/// A found item and its conditions.
#[derive(Debug)]
pub struct FoundItem {
    /// Its name in scope.
    pub alias: String,
    /// The name by which conditions and expressions have its fields, as an argument.
    pub argument: String,
    /// The position among the finds of the schema; `None` if an action looked the item up.
    pub find: Option<usize>,
    /// The position of the element for which it was found.
    pub element: Option<usize>,
    /// The item type.
    pub item: String,
    /// The table.
    pub table: Arc<str>,
    /// The item's key; for a replicated item, the key of the first replica.
    pub key: Key,
    /// The item as it was found.
    pub found: Arc<Item>,
    /// The attributes that must be unchanged.
    pub attributes: Vec<String>,
    /// The find's filter.
    pub filter: Option<Condition>,
}

impl FoundItem {
    /// An item that an action looked up by an index: it must still have the index keys.
    pub fn looked_up(
        job: &WriteJob<'_>,
        ty: &ObjectType,
        (key, item): (&Key, Option<&Arc<Item>>),
        index_keys: &[String],
    ) -> Option<Self> {
        Some(Self {
            alias: String::new(),
            argument: String::new(),
            find: None,
            element: None,
            item: ty.name.clone(),
            table: job.table_of(ty),
            key: key.clone(),
            found: item?.clone(),
            attributes: beyond_key(key, index_keys.to_vec()),
            filter: None,
        })
    }

    /// Whether a find in the schema has this alias.
    pub fn has_alias(&self, write: &Write, alias: &str) -> bool {
        self.find.and_then(|find| write.finds.get(find)).is_some_and(|find| find.alias == alias)
    }

    /// Whether the item as it is now meets the conditions.
    pub fn holds(&self, item: Option<&Item>, scope: &Scope<'_>) -> bool {
        let Some(item) = item else { return false };
        let same = |name: &String| match (self.found.get(name), item.get(name)) {
            (Some(was), Some(is)) => equal(was, is),
            (None, None) => true,
            _ => false,
        };
        self.attributes.iter().all(same)
            && self.filter.iter().all(|filter| evaluate::holds(filter, Some(item), scope).unwrap_or(false))
    }

    pub fn is_at(&self, table: &str, key: &Key) -> bool {
        let same = |(name, value): &(AttributeName, _), (other, with): &(AttributeName, _)| {
            let attribute = |value: &crate::table::data::attribute::KeyValue| value.clone().into();
            name == other && equal(&attribute(value), &attribute(with))
        };
        let sorts = match (&self.key.sort, &key.sort) {
            (Some(own), Some(other)) => same(own, other),
            (own, other) => own.is_none() && other.is_none(),
        };
        *self.table == *table && same(&self.key.partition, &key.partition) && sorts
    }

    /// Demands that the item is there and unchanged. Its filter is demanded beside those of other finds of the item.
    pub fn demand(&self, ty: &ObjectType, passed: PassedTimes, conditions: &mut Conditions) {
        conditions.exists(&self.key.partition.0);
        identity::demand((ty, &self.key), conditions);
        identity::demand_unexpired(ty, passed, conditions);
        for name in &self.attributes {
            conditions.unchanged(name, &self.found);
        }
    }
}

/// Those of these attributes that are not in the key itself, each once.
pub fn beyond_key(key: &Key, attributes: Vec<String>) -> Vec<String> {
    let is_primary =
        |name: &str| *name == *key.partition.0 || key.sort.as_ref().is_some_and(|(sort, _)| *name == **sort);
    let mut known: Vec<String> = Vec::new();
    for name in attributes {
        if !is_primary(&name) && !known.contains(&name) {
            known.push(name);
        }
    }
    known
}
