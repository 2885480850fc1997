//! The `@find` of a mutation: finds the item and adds its conditions to the draft. They are part of the call that
//! writes or checks the item, or of a ConditionCheck of their own.

use crate::execute::error::{ErrorCode, FieldError};
use crate::execute::expression::evaluate;
use crate::execute::item::assemble;
use crate::execute::write::draft::call::{CallRole, DraftCall, WriteDraft};
use crate::execute::write::draft::drafting::Drafting;
use crate::execute::write::draft::requirement::{ItemCondition, Reason, RequiredItem, Requirements};
use crate::execute::write::job::WriteJob;
use crate::execute::write::lookup::found_item::FoundItem;
use crate::execute::write::lookup::items;
use crate::execute::write::messages::{FieldErrors, unreadable};
use crate::plan::attributes::keys;
use crate::plan::tree::WriteLookup;
use crate::schema::expression::condition::Condition;
use crate::schema::model::ObjectType;
use crate::schema::model::auth::AuthAction;
use crate::schema::model::find::{Access, AccessPath, Find, SortAccess, Via};
use crate::schema::model::write::{Action, ActionKind};
use crate::schema::table::Table;
use crate::table::data::attribute::{Item, Key};
use crate::table::data::write::{WriteAction, WriteCall};
use serde_json::{Map, Value};
use std::sync::Arc;

impl<'a> Drafting<'a, '_> {
    /// Finds the item. After a lost race, an item that an index gave is read from the table, because the index may lag.
    pub async fn find(&mut self, lookup: &WriteLookup, again: bool) -> Result<(), FieldErrors> {
        let job = self.job;
        let missing = || vec![FieldError::new(ErrorCode::NotFound, format!("This {} does not exist.", lookup.item))];
        let Some(find) = &job.write.find else { return Err(missing()) };
        let ty = job.type_named(&lookup.item)?;
        let mut found = None;
        for item in items::items(job, lookup, &self.scope).await? {
            if self.may_read(ty, &item).await? {
                found = Some(item);
                break;
            }
        }
        let found = found.ok_or_else(missing)?;
        let mut held = held(job, (find, ty), found).ok_or_else(missing)?;
        if again && path_of(find).is_some_and(|path| path.index.is_some()) {
            let is = job.read(&ty.name, &held.key).await?.ok_or_else(missing)?;
            let by_index = index_keys(job, ty, find);
            let still = by_index.iter().all(|name| held.found.get(name) == is.get(name));
            let may_read = self.may_read(ty, &is).await?;
            let meant =
                held.filter.iter().all(|filter| evaluate::holds(filter, Some(&is), &job.scope()).unwrap_or(false));
            if !(still && meant && may_read) {
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
        self.draft.held = Some(Arc::new(held));
        Ok(())
    }

    /// Whether the item is there for the caller. What is found may be copied and compared, so the rules for reads hold.
    /// Fails if the caller sees that it exists, but may not read it.
    async fn may_read(&mut self, ty: &'a ObjectType, item: &Arc<Item>) -> Result<bool, FieldErrors> {
        let rules = self.demanded(ty, vec![(ty.name.clone(), &ty.auth, AuthAction::Read)], (item, true)).await?;
        rules.admits(item).await
    }

    /// Fails if the condition or the expression of an action names a field of the found item whose value cannot be
    /// read.
    pub fn check_named(&self, action: &Action) -> Result<(), FieldErrors> {
        let job = self.job;
        let Some(held) = self.draft.held.as_ref().filter(|_| job.write.names_found) else { return Ok(()) };
        let ty = job.type_named(&held.item)?;
        let mut names: Vec<&str> = action.condition.iter().flat_map(Condition::arguments).collect();
        if let ActionKind::Update { expression: Some(expression), .. } = &action.kind {
            names.extend(expression.arguments());
        }
        let values = assemble::values_of(job.context.model, ty, &held.found);
        let of_found = names.into_iter().filter_map(|name| name.split_once('.')).filter(|(first, _)| *first == ty.name);
        match of_found.map(|(_, field)| field).find(|field| values.is_unreadable(field)) {
            Some(field) => Err(unreadable(ty, field)),
            None => Ok(()),
        }
    }

    /// Adds the conditions of the found item to those of the item under this key. Gives `false` if that is another
    /// item.
    pub fn hold_found(&mut self, ty: &ObjectType, key: &Key, requires: &mut Requirements) -> bool {
        let Some(held) = self.draft.held.as_ref().filter(|held| held.is_at(&self.job.table_of(ty), key)) else {
            return false;
        };
        requires.add(ItemCondition::Found(held.clone()), Reason::Race);
        true
    }

    /// Adds a ConditionCheck of the found item if no call is about it.
    pub fn check_found(&mut self) -> Result<(), FieldErrors> {
        let WriteDraft { held, calls, first, .. } = &mut self.draft;
        let by_call = calls.iter().any(|call| call.requires.found().is_some());
        let Some(held) = held.clone().filter(|_| !by_call) else { return Ok(()) };
        let mut requires = Requirements::default();
        requires.add(ItemCondition::Found(held.clone()), Reason::Race);
        let of = RequiredItem { job: self.job, ty: self.job.type_named(&held.item)?, key: &held.key, letter: 'g' };
        let condition = requires.text(of, &self.job.scope())?;
        let is_it = |call: &&mut DraftCall| match &call.write.action {
            WriteAction::Delete(key) => held.is_at(&call.write.table, key),
            _ => false,
        };
        let action = WriteAction::Check(held.key.clone());
        let write = WriteCall { table: held.table.clone(), action, condition };
        let mut check = DraftCall::new(write, CallRole::Found, requires);
        // A call that deletes the found item as a dependent takes over the conditions.
        if let Some(known) = calls.iter_mut().find(is_it) {
            check.write.action = known.write.action.clone();
            check.also(known.write.condition.take());
            *known = check;
        } else if !first.iter().any(|(table, items)| items.keys().any(|key| held.is_at(table, key))) {
            calls.push(check);
        }
        Ok(())
    }
}

fn held(job: &WriteJob<'_>, (find, ty): (&Find, &ObjectType), found: Arc<Item>) -> Option<FoundItem> {
    let model = job.context.model;
    let key = assemble::key_of(model, ty, &found)?;
    let mut attributes = index_keys(job, ty, find);
    for field in &job.write.held {
        attributes.extend(assemble::determining_attributes(ty, field, &found).into_iter().cloned());
    }
    let is_primary =
        |name: &str| *name == *key.partition.0 || key.sort.as_ref().is_some_and(|(sort, _)| *name == **sort);
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
    Some(FoundItem { item: ty.name.clone(), table: job.table_of(ty), key, found, attributes: known, filter })
}

/// The index key attributes by which an item is found.
fn index_keys(job: &WriteJob<'_>, ty: &ObjectType, find: &Find) -> Vec<String> {
    let (Some(path), Some(table)) = (path_of(find), table(job, ty)) else { return Vec::new() };
    let (partition, sort) = table.keys_of(path.index);
    match &path.access {
        _ if path.index.is_none() => Vec::new(),
        Access::Query { sort: SortAccess::All, .. } => vec![partition.name.clone()],
        _ => std::iter::once(partition).chain(sort).map(|key| key.name.clone()).collect(),
    }
}

/// The access path of a mutation's find.
fn path_of(find: &Find) -> Option<&AccessPath> {
    match &find.via {
        Via::Keys(paths) => paths.first(),
        Via::AbstractType(_) | Via::Through(_) => None,
    }
}

fn table<'j>(job: &WriteJob<'j>, ty: &ObjectType) -> Option<&'j Table> {
    job.context.model.tables.get(keys(ty)?.table)
}

/// The API values of every stored field of an item; null if it has none.
fn values(job: &WriteJob<'_>, ty: &ObjectType, item: &Item) -> Map<String, Value> {
    let mut values = assemble::values_of(job.context.model, ty, item).known;
    for name in ty.fields.keys().filter(|name| ty.stored(name).is_some()) {
        values.entry(name.clone()).or_insert(Value::Null);
    }
    values
}
