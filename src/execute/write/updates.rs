//! `@update` of an item → its call: what is set, the index keys and guards that follow from it, and what that takes to be known.

use super::actions::{Aim, Drafting, internal, misfit};
use super::assemble::{self, IndexChanges};
use super::conditions::Conditions;
use super::copies;
use super::draft::{Call, Main, Outcome, Repeat};
use super::engine::Refusals;
use super::identity;
use super::lookups::guards_of;
use super::told::absent;
use crate::execute::error::{ErrorCode, Refusal};
use crate::execute::filter::operand_value;
use crate::execute::update::{Changes, attribute as path};
use crate::schema::model::{Model, ObjectType};
use crate::schema::write::{Action, ActionKind, Update};
use crate::table::attribute::{Attribute, Item};
use crate::table::write::WriteAction;
use serde_json::{Map, Value};

impl Drafting<'_, '_> {
    pub(super) async fn update(&mut self, position: usize, action: &Action) -> Result<(), Refusals> {
        let ty = self.job.type_named(&action.item)?;
        for aim in self.aims(position, action, ty).await? {
            self.update_one(position, action, ty, aim).await?;
        }
        Ok(())
    }

    async fn update_one(&mut self, position: usize, action: &Action, ty: &ObjectType, aim: Aim) -> Result<(), Refusals> {
        let job = self.job;
        let model = job.engine.run.model;
        let ActionKind::Update { upsert, expression } = &action.kind else { return Err(internal(&ty.name)) };
        let set = self.set_values(position, action, ty)?;
        let mut changed = set.clone();
        changed.extend(self.changed_by(expression.as_ref())?);
        let mut item = aim.item.clone();
        let of_key = assemble::values_of(model, ty, &key_item(&aim));
        // What an item was read for is held, also where it was read to find it.
        let mut index = index_changes(job, ty, &changed, &of_key, None)?;
        let unique: Vec<&String> = ty.fields.values().filter(|field| field.rules.unique).map(|field| &field.name).collect();
        let changes_unique = unique.iter().any(|field| changed.contains_key(*field));
        let mut was_read = item.is_some();
        // What an update makes is in the indexes like what a put makes, and there are copies of it; so it must be known whether it makes it.
        let may_be_new = *upsert
            && model.item(&ty.name).is_some_and(|(_, keys)| keys.keys.len() > of_key_len(model, keys.table) || keys.replicas().is_some());
        if item.is_none() && (!index.unknown.is_empty() || changes_unique || may_be_new) {
            item = job.read(&ty.name, &aim.key).await?;
            was_read = true;
            if item.is_none() && !upsert {
                return Err(vec![absent(&ty.name, action.condition.as_ref(), action.message.as_deref())]);
            }
        }
        let mut conditions = Conditions::default();
        if was_read {
            match &item {
                Some(old) => {
                    let held = index.unknown.iter().chain(unique.iter().copied().filter(|_| changes_unique));
                    self.hold(ty, Some(old), held, &mut conditions);
                }
                None => {
                    conditions.absent(&aim.key.partition.0);
                    self.add_defaults(position, ty, &mut changed);
                }
            }
            index = match &item {
                Some(old) => index_changes(job, ty, &changed, &of_key, Some(old))?,
                None => assemble::index_keys(model, ty, &changed, &of_key).map_err(misfit)?,
            };
        }
        if !upsert {
            conditions.exists(&aim.key.partition.0);
        }
        identity::demand(ty, &mut conditions);
        let held = self.hold_found(ty, &aim.key, &mut conditions)?;
        let version = self.expected_version(ty, action, &mut conditions);
        self.author(action, &mut conditions)?;
        let mut changes = match expression {
            Some(update) => Changes::of(model, update, &self.draft.scope(job)).map_err(unfit)?,
            None => Changes::default(),
        };
        for (field, value) in &set {
            let Some(attribute) = ty.stored(field).and_then(|stored| stored.attribute.clone()) else { continue };
            match assemble::attribute(model, ty, field, value).map_err(misfit)? {
                Some(value) => changes.set(&path(&attribute), value),
                None => changes.remove(&path(&attribute)),
            };
        }
        // The keys of an index are each copy's own.
        let keys: Item = index.set.into_iter().collect();
        let counts = ty.fields.values().any(|field| field.rules.version);
        let made = if *upsert { self.initial(position, ty, &set)? } else { Vec::new() };
        let of_copy = |number: u8| {
            let mut changes = changes.clone();
            let mut keys: Vec<(String, Attribute)> = copies::copy(job, ty, &keys, number).into_iter().collect();
            keys.sort_by(|(one, _), (other, _)| one.cmp(other));
            for (attribute, value) in keys {
                changes.set(&path(&attribute), value);
            }
            for attribute in &index.remove {
                changes.remove(&path(attribute));
            }
            count_versions(ty, &mut changes);
            for (attribute, value) in &made {
                changes.initial(&path(attribute), value.clone());
            }
            changes.expression()
        };
        let repeat = match expression {
            // It changes the version that it demands, so that it is made once at most.
            _ if counts && version.is_some() => Repeat::Same,
            Some(update) if !update.has_same_effect_twice() => Repeat::Never,
            _ if counts => Repeat::Never,
            _ => Repeat::Same,
        };
        let repeat = self.repeat(held, repeat);
        let relies = was_read && item.is_some();
        let main = Main { version, makes: *upsert, must_exist: !upsert, held, relies, repeat, ..self.main(action) };
        let write = WriteAction::Update(aim.key.clone(), of_copy(0));
        self.draft.calls.push(Call::main(job.table_of(ty), write, conditions, main));
        self.copies(ty, &aim.key, |number, key| {
            let mut there = Conditions::default();
            match &item {
                None if *upsert => there.absent(&key.partition.0),
                _ => there.exists(&key.partition.0),
            }
            (WriteAction::Update(key, of_copy(number)), there.build())
        });
        if changes_unique {
            let mut gone = item.as_deref().map(|item| guards_of(job, ty, item)).unwrap_or_default();
            let mut values = item.as_deref().map(|item| assemble::values_of(model, ty, item)).unwrap_or_default();
            values.extend(changed);
            for field in unique {
                self.guard(ty, field, values.get(field).unwrap_or(&Value::Null), &aim.key, &mut gone)?;
            }
            self.along(ty, gone);
        }
        self.draft.results[position].push(Outcome::Answer(ty.name.clone(), aim.key));
        Ok(())
    }

    /// What is set without an expression: what the arguments bring, and defaults that are made at every write.
    fn set_values(&mut self, position: usize, action: &Action, ty: &ObjectType) -> Result<Map<String, Value>, Refusals> {
        let mut set = Map::new();
        for (field, written) in &action.values {
            let Some(definition) = ty.fields.get(field).filter(|field| !field.rules.version) else { continue };
            let Some(value) = written.source.as_ref().and_then(|source| self.given(source)) else { continue };
            if value.is_null() && definition.ty.is_non_null() && !definition.ty.is_list() {
                let message = format!("{}.{field} must not be null.", ty.name);
                return Err(vec![Refusal::new(ErrorCode::BadUserInput, message)]);
            }
            let value = self.fill_embedded(position, definition, value);
            set.insert(field.clone(), value);
        }
        for field in ty.fields.values() {
            let Some(default) = field.rules.default.as_ref().filter(|default| default.every_write) else { continue };
            if set.contains_key(&field.name) {
                continue;
            }
            if let Some(made) = self.default_of(position, field, default, &set) {
                set.insert(field.name.clone(), made);
            }
        }
        Ok(set)
    }

    /// The fields that an expression sets to plain values; the checker sees to it that no others are in composite keys.
    fn changed_by(&self, expression: Option<&Update>) -> Result<Map<String, Value>, Refusals> {
        let mut changed = Map::new();
        for (field, operand) in expression.iter().flat_map(|update| &update.changes) {
            if let Some(operand) = operand {
                let value = operand_value(operand, &self.draft.scope(self.job));
                changed.insert(field.clone(), value.ok_or_else(|| internal(field))?);
            }
        }
        Ok(changed)
    }

    /// The defaults of fields that a new item is not given otherwise.
    fn add_defaults(&mut self, position: usize, ty: &ObjectType, values: &mut Map<String, Value>) {
        for field in ty.fields.values().filter(|field| !field.rules.version) {
            let (Some(default), false) = (&field.rules.default, values.contains_key(&field.name)) else { continue };
            let made = self.default_of(position, field, default, values);
            values.extend(made.map(|made| (field.name.clone(), made)));
        }
    }

    /// What an item is given besides when an update makes it: constants, and defaults of fields that are not set.
    fn initial(&mut self, position: usize, ty: &ObjectType, set: &Map<String, Value>) -> Result<Vec<(String, Attribute)>, Refusals> {
        let model = self.job.engine.run.model;
        let mut initial = Vec::new();
        if let Some((_, keys)) = model.item(&ty.name) {
            for (name, value) in &keys.constants {
                initial.push((name.clone(), Attribute::S(value.clone())));
            }
        }
        for field in ty.fields.values().filter(|field| !set.contains_key(&field.name)) {
            let (Some(default), Some(stored)) = (&field.rules.default, ty.stored(&field.name)) else { continue };
            let Some(attribute) = &stored.attribute else { continue };
            let Some(made) = self.default_of(position, field, default, set) else { continue };
            if let Some(value) = assemble::attribute(model, ty, &field.name, &made).map_err(misfit)? {
                initial.push((attribute.clone(), value));
            }
        }
        Ok(initial)
    }
}

fn index_changes(
    job: &super::engine::Job<'_>,
    ty: &ObjectType,
    changed: &Map<String, Value>,
    of_key: &Map<String, Value>,
    item: Option<&Item>,
) -> Result<IndexChanges, Refusals> {
    let model = job.engine.run.model;
    let old = item.map(|item| assemble::values_of(model, ty, item));
    let known = |field: &str| match (of_key.get(field), &old) {
        (Some(value), _) => Some(Some(value.clone())),
        (None, Some(old)) => Some(old.get(field).cloned()),
        (None, None) => None,
    };
    assemble::index_changes(model, ty, changed, &known).map_err(misfit)
}

/// The number of attributes of a table's primary key.
fn of_key_len(model: &Model, table: usize) -> usize {
    model.tables.get(table).map_or(0, |table| table.primary_key().count())
}

/// An item of nothing but its primary key.
fn key_item(aim: &Aim) -> Item {
    let parts = std::iter::once(&aim.key.partition).chain(&aim.key.sort);
    parts.map(|(name, value)| (name.clone(), value.clone().into())).collect()
}

/// One more for every version field; whether there is one.
pub(super) fn count_versions(ty: &ObjectType, changes: &mut Changes) -> bool {
    let versions = ty.fields.values().filter(|field| field.rules.version);
    let mut counts = false;
    for attribute in versions.filter_map(|field| ty.stored(&field.name)?.attribute.as_ref()) {
        counts |= changes.increment(&path(attribute));
    }
    counts
}

/// An argument that does not fit its use.
fn unfit(why: String) -> Refusals {
    vec![Refusal::new(ErrorCode::BadUserInput, why)]
}
