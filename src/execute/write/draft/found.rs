//! The `@find`s of a mutation: finds the items and adds their conditions to the draft. They are part of the call that
//! writes or checks an item, or of a ConditionCheck of their own.

use crate::execute::error::{ErrorCode, FieldError};
use crate::execute::expression::evaluate;
use crate::execute::item::assemble;
use crate::execute::write::calls::draft::{CallRole, DraftCall, WriteDraft};
use crate::execute::write::calls::requirement::{ItemCondition, Reason, RequiredItem, Requirements};
use crate::execute::write::draft::drafting::Drafting;
use crate::execute::write::elements::ElementFind;
use crate::execute::write::job::WriteJob;
use crate::execute::write::lookup::found_item::{FoundItem, beyond_key};
use crate::execute::write::lookup::items::{self, LookupNames};
use crate::execute::write::lookup::targets::{self, index_keys, path_of};
use crate::execute::write::messages::{FieldErrors, at_element, name_elements, one_of_several, several, unreadable};
use crate::schema::expression::condition::Condition;
use crate::schema::model::ObjectType;
use crate::schema::model::auth::AuthAction;
use crate::schema::model::source::Source;
use crate::schema::model::write::{Action, ActionKind, WriteFind};
use crate::table::data::attribute::{Item, Key};
use crate::table::data::call::Get;
use crate::table::data::write::{WriteAction, WriteCall};
use futures_util::future::{join, join_all};
use indexmap::IndexMap;
use serde_json::{Map, Value};
use std::sync::Arc;

impl<'a> Drafting<'a, '_> {
    /// Finds the items, by one wave of reads, or by several if what one finds is in the key of another. The first wave
    /// also makes these Gets: the loader keeps what they read.
    pub async fn find_all(&mut self, mut gets: Vec<Get>) -> Result<(), FieldErrors> {
        let job = self.job;
        let waves = job.write.waves_of_finds();
        for wave in 0..=waves.iter().max().copied().unwrap_or(0) {
            let is_now = |place: &usize| {
                let find = job.directives.finds.get(*place);
                find.and_then(|find| waves.get(find.position)) == Some(&wave)
            };
            let places: Vec<usize> = (0..job.directives.finds.len()).filter(is_now).collect();
            self.find_wave(&places, std::mem::take(&mut gets)).await?;
        }
        if job.write.finds.iter().any(|find| find.is_named) {
            self.name_found()?;
        }
        Ok(())
    }

    /// Makes the finds at these positions.
    async fn find_wave(&mut self, places: &[usize], gets: Vec<Get>) -> Result<(), FieldErrors> {
        let job = self.job;
        let finds: Vec<&ElementFind<'_>> = places.iter().filter_map(|place| job.directives.finds.get(*place)).collect();
        let read = self.read_finds(&finds, gets).await?;
        self.read_rules_of(&finds, &read).await?;
        let mut tried: Vec<(&ElementFind<'_>, bool)> = Vec::new();
        for (place, (find, items)) in finds.iter().zip(read).enumerate() {
            let ty = job.type_named(&find.declared.find.item)?;
            let held = match items {
                Ok(items) => self.find_one(find, ty, items).await,
                Err(errors) => Err(one_of_several(errors, find.declared.type_name())),
            };
            let is_missing = tried.iter().any(|(_, is_found)| !is_found) && find.declared.alternative.is_none();
            match held.map_err(|errors| name_element(find, errors)) {
                Ok(held) => {
                    tried.push((find, held.is_some()));
                    held.into_iter().for_each(|held| self.hold_item(find, ty, held));
                }
                // All elements that are missing are reported together.
                Err(_) if is_missing => {}
                Err(errors) => return Err(errors),
            }
            let first = |find: &ElementFind<'_>| find.declared.first(find.position);
            if finds.get(place + 1).is_none_or(|next| first(next) != first(find)) {
                check_tried(&std::mem::take(&mut tried))?;
            }
        }
        Ok(())
    }

    /// What each of these finds reads, with these Gets, by one wave of reads.
    async fn read_finds(
        &self,
        finds: &[&ElementFind<'_>],
        mut gets: Vec<Get>,
    ) -> Result<Vec<Result<Vec<Arc<Item>>, FieldErrors>>, FieldErrors> {
        let job = self.job;
        let keys = finds.iter().map(|find| self.element_key(find)).collect::<Result<Vec<_>, _>>()?;
        for (find, key) in finds.iter().zip(&keys) {
            let ty = job.type_named(&find.declared.find.item)?;
            gets.extend(key.as_ref().map(|key| job.get(ty, key)));
        }
        let lookups = finds.iter().filter_map(|find| {
            let lookup = job.planned.found.get(find.position)?.as_ref()?;
            let names = LookupNames { find: &find.declared.find, element: find.names(job.write), before: 0 };
            Some(items::items(job, (lookup, names), &self.scope))
        });
        let (looked_up, _) = join(join_all(lookups), job.context.loaders.get(gets)).await;
        let mut looked_up = looked_up.into_iter();
        let mut read = Vec::with_capacity(finds.len());
        for (find, key) in finds.iter().zip(&keys) {
            read.push(match key {
                Some(key) => job.read(&find.declared.find.item, key).await.map(|item| item.into_iter().collect()),
                None => looked_up.next().unwrap_or_else(|| Ok(Vec::new())),
            });
        }
        Ok(read)
    }

    /// Reads what rules look up for the items that were found for elements, by one batch.
    async fn read_rules_of(
        &self,
        finds: &[&ElementFind<'_>],
        read: &[Result<Vec<Arc<Item>>, FieldErrors>],
    ) -> Result<(), FieldErrors> {
        let job = self.job;
        let mut gets = Vec::new();
        for (find, items) in finds.iter().zip(read).filter(|(find, _)| find.element.is_some()) {
            let ty = job.type_named(&find.declared.find.item)?;
            let demanded = [(ty.name.clone(), &ty.auth, AuthAction::Read)];
            gets.extend(items.iter().flatten().flat_map(|item| self.lookups_ahead(ty, &demanded, item)));
        }
        job.context.loaders.get(gets).await;
        Ok(())
    }

    /// The key of a find for an element; `None` if a lookup finds its item.
    fn element_key(&self, find: &ElementFind<'_>) -> Result<Option<Key>, FieldErrors> {
        let job = self.job;
        if job.planned.found.get(find.position).is_none_or(Option::is_some) {
            return Ok(None);
        }
        let Some(path) = path_of(&find.declared.find) else { return Ok(None) };
        let source = |(field, source): (&String, &Source)| (field.clone(), find.source(job.write, source));
        let sources: IndexMap<String, Source> = path.bindings.iter().map(source).collect();
        let ty = job.type_named(&find.declared.find.item)?;
        self.key(ty, &sources).map(Some).map_err(|errors| name_element(find, errors))
    }

    /// The item that is there for the caller, with what must hold of it; several are an error. After a lost race, and
    /// of several items, what an index gave is read from the table, because the index may lag.
    async fn find_one(
        &mut self,
        find: &ElementFind<'_>,
        ty: &'a ObjectType,
        items: Vec<Arc<Item>>,
    ) -> Result<Option<FoundItem>, FieldErrors> {
        let job = self.job;
        let items = match self.earlier.raced || items.len() > 1 {
            true => targets::still_indexed(job, (ty, &find.declared.find), items).await?,
            false => items,
        };
        let mut found = None;
        for item in items {
            if self.may_read(ty, &item).await? && found.replace(item).is_some() {
                return Err(several(find.declared.type_name()));
            }
        }
        let held = found.and_then(|found| held(job, (find, ty), found));
        // What is read by its key alone, or again, may not match the filter.
        let is_meant = |held: &FoundItem| {
            let scope = job.scope();
            held.filter.iter().all(|filter| evaluate::holds(filter, Some(&held.found), &scope).unwrap_or(false))
        };
        Ok(held.filter(is_meant))
    }

    /// Puts a found item in scope, and holds it.
    fn hold_item(&mut self, find: &ElementFind<'_>, ty: &ObjectType, held: FoundItem) {
        self.scope.insert(find.alias.to_string(), &ty.name, held.found.clone());
        self.draft.held.push(Arc::new(held));
    }

    /// Adds the fields of the found items that conditions or expressions name to the arguments.
    fn name_found(&mut self) -> Result<(), FieldErrors> {
        let job = self.job;
        let mut arguments = job.arguments().clone();
        for find in job.write.finds.iter().filter(|find| find.is_named) {
            let held = self.draft.held.iter().filter(|held| held.has_alias(job.write, &find.alias));
            let mut found: Vec<(Option<usize>, Value)> = Vec::new();
            for held in held {
                let ty = job.type_named(&held.item)?;
                found.push((held.element, Value::Object(values(job, ty, &held.found))));
            }
            found.sort_by_key(|(element, _)| *element);
            let mut found = found.into_iter().map(|(_, value)| value);
            let value = match &find.each {
                Some(_) => Value::Array(found.collect()),
                None => found.next().unwrap_or_default(),
            };
            arguments.insert(find.alias.clone(), value);
        }
        self.draft.arguments = Some(arguments);
        Ok(())
    }

    /// Whether the item is there for the caller. What is found may be copied and compared, so the rules for reads hold.
    /// Fails if the caller sees that it exists, but may not read it.
    async fn may_read(&mut self, ty: &'a ObjectType, item: &Arc<Item>) -> Result<bool, FieldErrors> {
        let rules = self.demanded(ty, vec![(ty.name.clone(), &ty.auth, AuthAction::Read)], (item, true)).await?;
        rules.admits(item).await
    }

    /// Fails if the condition or the expression of an action names a field of a found item whose value cannot be read.
    pub fn check_named(&self, action: &Action) -> Result<(), FieldErrors> {
        if self.draft.arguments.is_none() {
            return Ok(());
        }
        let mut names: Vec<&str> = action.condition.iter().flat_map(Condition::arguments).collect();
        if let ActionKind::Update { expression: Some(expression), .. } = &action.kind {
            names.extend(expression.arguments());
        }
        self.check_readable(names)
    }

    /// Fails if one of these names is a field of a found item whose value cannot be read.
    pub fn check_readable(&self, names: Vec<&str>) -> Result<(), FieldErrors> {
        let job = self.job;
        for (held, field) in names.into_iter().filter_map(|name| {
            let (found, field) = name.rsplit_once('.')?;
            Some((self.draft.held.iter().find(|held| held.argument == found)?, field))
        }) {
            let ty = job.type_named(&held.item)?;
            if assemble::values_of(job.context.model, ty, &held.found).is_unreadable(field) {
                return Err(unreadable(ty, field));
            }
        }
        Ok(())
    }

    /// Adds the conditions of the found items under this key to those of its call. Gives `false` if there is none.
    pub fn hold_found(&mut self, ty: &ObjectType, key: &Key, requires: &mut Requirements) -> bool {
        if self.draft.held.is_empty() {
            return false;
        }
        let table = self.job.table_of(ty);
        let mut is_found = false;
        for held in self.draft.held.iter().filter(|held| held.is_at(&table, key)) {
            requires.add(ItemCondition::Found(held.clone()), Reason::Race);
            is_found = true;
        }
        is_found
    }

    /// Adds a ConditionCheck of each found item that no call is about.
    pub fn check_found(&mut self) -> Result<(), FieldErrors> {
        for held in self.draft.held.clone() {
            self.check_item(&held)?;
        }
        Ok(())
    }

    fn check_item(&mut self, held: &Arc<FoundItem>) -> Result<(), FieldErrors> {
        let job = self.job;
        let WriteDraft { held: all, calls, first, .. } = &mut self.draft;
        if calls.iter().any(|call| call.requires.found().any(|found| found.is_at(&held.table, &held.key))) {
            return Ok(());
        }
        let mut requires = Requirements::default();
        for same in all.iter().filter(|other| other.is_at(&held.table, &held.key)) {
            requires.add(ItemCondition::Found(same.clone()), Reason::Race);
        }
        let of =
            RequiredItem { job, ty: job.type_named(&held.item)?, key: &held.key, letter: 'g', meets_expired: false };
        let condition = requires.text(of, &job.scope())?;
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

/// Checks what the finds of one directive found, for each element by one of their alternatives.
fn check_tried(tried: &[(&ElementFind<'_>, bool)]) -> Result<(), FieldErrors> {
    let Some((first, _)) = tried.first() else { return Ok(()) };
    let (name, list) = (first.declared.type_name(), first.declared.each.as_deref());
    let own = tried.iter().filter(|(find, _)| find.position == first.position);
    let mut missing: Vec<&ElementFind<'_>> = Vec::new();
    for (find, _) in own {
        match tried.iter().filter(|(other, is_found)| *is_found && other.element == find.element).count() {
            0 => missing.push(find),
            1 => {}
            _ => return Err(name_element(find, several(name))),
        }
    }
    if missing.is_empty() {
        return Ok(());
    }
    let error = FieldError::new(ErrorCode::NotFound, format!("This {name} does not exist."));
    let elements: Vec<usize> = missing.iter().filter_map(|find| find.element).collect();
    Err(vec![list.map_or(error.clone(), |list| name_elements(error, list, &elements))])
}

/// Errors of a find, at the place of its element.
fn name_element(find: &ElementFind<'_>, errors: FieldErrors) -> FieldErrors {
    at_element(find.declared.each.as_deref().zip(find.element), errors)
}

fn held(job: &WriteJob<'_>, (element, ty): (&ElementFind<'_>, &ObjectType), found: Arc<Item>) -> Option<FoundItem> {
    let model = job.context.model;
    let WriteFind { find, held: fields, .. } = element.declared;
    let key = assemble::key_of(model, ty, &found)?;
    let mut attributes = index_keys(job, ty, find);
    for field in fields {
        attributes.extend(assemble::determining_attributes(ty, field, &found).into_iter().cloned());
    }
    let attributes = beyond_key(&key, attributes);
    let filter = element.filter(job.write).and_then(|filter| {
        let is_null = |name: &str| job.scope().argument(name).is_none_or(Value::is_null);
        filter.without(&is_null)
    });
    let (alias, item, table) = (element.alias.to_string(), ty.name.clone(), job.table_of(ty));
    let argument = element
        .element
        .map_or_else(|| element.declared.alias.clone(), |position| format!("{}.{position}", element.declared.alias));
    let (find, element) = (Some(element.position), element.element);
    Some(FoundItem { alias, argument, find, element, item, table, key, found, attributes, filter })
}

/// The API values of every stored field of an item; null if it has none.
fn values(job: &WriteJob<'_>, ty: &ObjectType, item: &Item) -> Map<String, Value> {
    let mut values = assemble::values_of(job.context.model, ty, item).known;
    for name in ty.fields.keys().filter(|name| ty.stored(name).is_some()) {
        values.entry(name.clone()).or_insert(Value::Null);
    }
    values
}
