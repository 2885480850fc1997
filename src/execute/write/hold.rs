//! The item that a mutation's `@find` found in, the conditions by which it is still what it was when the write is made out.
//!
//! What is held: that the item is there, the fields that the write takes from it, the index key by which it was found, and the find's
//! filter. They stand in the call that writes or checks the item, or else in a ConditionCheck of its own.

use super::actions::Drafting;
use super::conditions::Conditions;
use super::draft::{Call, Draft, Role};
use super::engine::{Job, Refusals};
use super::identity;
use super::lookups;
use super::told::bad_input;
use crate::execute::error::{ErrorCode, Refusal};
use crate::execute::expression::condition as filter;
use crate::execute::expression::evaluate::{self, equal};
use crate::execute::expression::scope::Scope;
use crate::plan::attributes::{alternatives_of, keys};
use crate::plan::tree::WriteLookup;
use crate::schema::expression::condition::Condition;
use crate::schema::model::ObjectType;
use crate::schema::model::find::{Access, AccessPath, Find, SortAccess, Via};
use crate::schema::table::Table;
use crate::table::attribute::{Item, Key};
use crate::table::write::{WriteAction, WriteCall};
use serde_json::{Map, Value};
use std::sync::Arc;

/// What a found item is held to.
pub(super) struct Held {
    /// The item type.
    pub item: String,
    /// The table.
    table: Arc<str>,
    /// The item's key; of a replicated item, that of the first copy.
    key: Key,
    /// The item as it was found.
    found: Arc<Item>,
    /// The attributes that are as they were.
    attributes: Vec<String>,
    /// The find's filter.
    filter: Option<Condition>,
}

impl Held {
    /// Whether the item, as it is now, still is what it is held to.
    pub fn holds(&self, item: Option<&Item>, scope: &Scope<'_>) -> bool {
        let Some(item) = item else { return false };
        let same = |name: &String| match (self.found.get(name), item.get(name)) {
            (Some(was), Some(is)) => equal(was, is),
            (None, None) => true,
            _ => false,
        };
        self.attributes.iter().all(same) && self.filter.iter().all(|filter| evaluate::holds(filter, Some(item), scope).unwrap_or(false))
    }

    /// Whether more is demanded than that the item is there.
    pub fn demands(&self) -> bool {
        !self.attributes.is_empty() || self.filter.is_some()
    }

    fn is_at(&self, table: &str, key: &Key) -> bool {
        let same = |(name, value): &(String, _), (other, with): &(String, _)| {
            let attribute = |value: &crate::table::attribute::KeyValue| value.clone().into();
            name == other && equal(&attribute(value), &attribute(with))
        };
        let sorts = match (&self.key.sort, &key.sort) {
            (Some(own), Some(other)) => same(own, other),
            (own, other) => own.is_none() && other.is_none(),
        };
        *self.table == *table && same(&self.key.partition, &key.partition) && sorts
    }

    fn demand(&self, ty: &ObjectType, scope: &Scope<'_>, conditions: &mut Conditions) -> Result<(), Refusals> {
        conditions.exists(&self.key.partition.0);
        identity::demand(ty, conditions);
        for name in &self.attributes {
            conditions.unchanged(name, &self.found);
        }
        if let Some(filter) = &self.filter {
            conditions.and(filter::lettered(filter, scope, 'h').map_err(bad_input)?);
        }
        Ok(())
    }
}

impl Drafting<'_, '_> {
    /// Finds the item of the field's `@find`. After a lost race, what an index gave is read from the table: the index may be behind.
    pub(super) async fn find(&mut self, lookup: &WriteLookup, again: bool) -> Result<(), Refusals> {
        let job = self.job;
        let missing = || vec![Refusal::new(ErrorCode::NotFound, format!("There is no such {}.", lookup.item))];
        let Some(find) = &job.write.find else { return Err(missing()) };
        let ty = job.type_named(&lookup.item)?;
        let found = lookups::items(job, lookup, &self.scope).await?.into_iter().next().ok_or_else(missing)?;
        let mut held = held(job, (find, ty), found).ok_or_else(missing)?;
        if again && path_of(find).is_some_and(|path| path.index.is_some()) {
            let is = job.read(&ty.name, &held.key).await?.ok_or_else(missing)?;
            let by_index = index_keys(job, ty, find);
            let still = by_index.iter().all(|name| held.found.get(name) == is.get(name));
            let meant = held.filter.iter().all(|filter| evaluate::holds(filter, Some(&is), &job.scope()).unwrap_or(false));
            if !(still && meant) {
                return Err(missing());
            }
            held.found = is;
        }
        self.scope.insert(lookup.item.clone(), held.found.clone());
        self.draft.found = Some(held.found.clone());
        if job.write.names_found {
            let mut arguments = job.arguments.clone();
            arguments.insert(ty.name.clone(), Value::Object(values(job, ty, &held.found)));
            self.draft.arguments = Some(arguments);
        }
        self.draft.held = Some(held);
        Ok(())
    }

    /// Adds the conditions of the found item to those of a call on the item under this key, if that is the one; whether it is.
    pub(super) fn hold_found(&mut self, ty: &ObjectType, key: &Key, conditions: &mut Conditions) -> Result<bool, Refusals> {
        let job = self.job;
        let Some(held) = self.draft.held.as_ref().filter(|held| held.is_at(&job.table_of(ty), key)) else { return Ok(false) };
        held.demand(job.type_named(&held.item)?, &job.scope(), conditions)?;
        Ok(true)
    }

    /// Holds the found item by a check of its own, where no call is about it.
    pub(super) fn check_found(&mut self) -> Result<(), Refusals> {
        let Draft { held, calls, first, .. } = &mut self.draft;
        let by_call = calls.iter().any(|call| matches!(&call.role, Role::Main(main) if main.held));
        let Some(held) = held.as_ref().filter(|_| !by_call) else { return Ok(()) };
        let mut conditions = Conditions::lettered('g');
        held.demand(self.job.type_named(&held.item)?, &self.job.scope(), &mut conditions)?;
        let is_it = |call: &&mut Call| match &call.write.action {
            WriteAction::Delete(key) => held.is_at(&call.write.table, key),
            _ => false,
        };
        // What goes along is held as it goes.
        if let Some(along) = calls.iter_mut().find(is_it) {
            conditions.extend(along.write.condition.take());
            along.write.condition = conditions.build();
            along.role = Role::Held;
            return Ok(());
        }
        if first.iter().any(|(table, items)| items.keys().any(|key| held.is_at(table, key))) {
            return Ok(());
        }
        let action = WriteAction::Check(held.key.clone());
        let write = WriteCall { table: held.table.clone(), action, condition: conditions.build() };
        calls.push(Call { write, role: Role::Held });
        Ok(())
    }
}

impl Draft {
    /// The values that conditions and expressions may name: the arguments, and the found item's fields where they name some.
    pub fn scope<'s>(&'s self, job: &Job<'s>) -> Scope<'s> {
        Scope { arguments: self.arguments.as_ref().unwrap_or(job.arguments), now: job.engine.run.now }
    }
}

fn held(job: &Job<'_>, (find, ty): (&Find, &ObjectType), found: Arc<Item>) -> Option<Held> {
    let model = job.engine.run.model;
    let key = super::assemble::key_of(model, ty, &found)?;
    let mut attributes = index_keys(job, ty, find);
    for field in &job.write.held {
        attributes.extend(attributes_of(job, ty, field, &found));
    }
    let is_primary = |name: &String| *name == key.partition.0 || key.sort.as_ref().is_some_and(|(sort, _)| name == sort);
    let mut known: Vec<String> = Vec::new();
    for name in attributes {
        if !is_primary(&name) && !known.contains(&name) {
            known.push(name);
        }
    }
    let filter = find.filter.as_ref().and_then(|filter| {
        let is_null = |name: &str| job.scope().argument(name).is_none_or(Value::is_null);
        filter.without(&is_null)
    });
    Some(Held { item: ty.name.clone(), table: job.table_of(ty), key, found, attributes: known, filter })
}

/// The attributes in which a field's value stands: its own, or the keys that tell it. The table's own key does not change.
fn attributes_of(job: &Job<'_>, ty: &ObjectType, field: &str, found: &Item) -> Vec<String> {
    let Some(stored) = ty.stored(field) else { return Vec::new() };
    let table = table(job, ty);
    if stored.keys.iter().any(|key| table.is_some_and(|table| table.primary_key().any(|primary| primary.name == *key))) {
        return Vec::new();
    }
    match &stored.attribute {
        Some(attribute) if found.contains_key(attribute) => vec![attribute.clone()],
        // Of several keys that hold a field, the find asked for the first.
        None => stored.keys.first().cloned().into_iter().collect(),
        Some(own) => {
            let told = stored.keys.iter().chain(alternatives_of(ty, field)).filter(|key| found.contains_key(*key));
            std::iter::once(own).chain(told).cloned().collect()
        }
    }
}

/// The index key attributes by which an item is found.
fn index_keys(job: &Job<'_>, ty: &ObjectType, find: &Find) -> Vec<String> {
    let (Some(path), Some(table)) = (path_of(find), table(job, ty)) else { return Vec::new() };
    let (partition, sort) = table.keys_of(path.index);
    match &path.access {
        _ if path.index.is_none() => Vec::new(),
        Access::Query { sort: SortAccess::All, .. } => vec![partition.name.clone()],
        _ => std::iter::once(partition).chain(sort).map(|key| key.name.clone()).collect(),
    }
}

/// The one way in which a mutation's find reads.
fn path_of(find: &Find) -> Option<&AccessPath> {
    match &find.via {
        Via::Keys(paths) => paths.first(),
        Via::Mixed(_) | Via::Through(_) => None,
    }
}

fn table<'j>(job: &Job<'j>, ty: &ObjectType) -> Option<&'j Table> {
    job.engine.run.model.tables.get(keys(ty)?.table)
}

/// The API values of every stored field of an item, null where it has none.
fn values(job: &Job<'_>, ty: &ObjectType, item: &Item) -> Map<String, Value> {
    let mut values = super::assemble::values_of(job.engine.run.model, ty, item);
    for name in ty.fields.keys().filter(|name| ty.stored(name).is_some()) {
        values.entry(name.clone()).or_insert(Value::Null);
    }
    values
}
