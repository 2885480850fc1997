//! `@update` of an item → its call: what is set, the index keys and guards that follow from it, and what that takes to be known.

use super::actions::{Aim, Drafting, internal, misfit};
use super::assemble::{self, IndexChanges};
use super::conditions::Conditions;
use super::copies;
use super::draft::{Call, IfAbsent, Main, Outcome, Repeat};
use super::engine::Refusals;
use super::fill::unmade;
use super::identity;
use super::lookups::guards_of;
use super::rules;
use super::told::absent;
use crate::execute::error::{ErrorCode, Refusal};
use crate::execute::expression::condition as filter;
use crate::execute::expression::scope::operand_value;
use crate::execute::expression::update::{Changes, attribute as path};
use crate::schema::expression::condition::Condition;
use crate::schema::expression::operand::Operand;
use crate::schema::expression::update::Update;
use crate::schema::model::write::{Action, ActionKind};
use crate::schema::model::{Field, FieldKind, Model, ObjectType};
use crate::schema::scalar::value_type::ValueType;
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
        let given = self.set_values(position, action, ty)?;
        let by_expression = self.changed_by(expression.as_ref())?;
        let mut changed = given.clone();
        changed.extend(by_expression.clone());
        let before = changed.clone();
        let mut item = aim.item.clone();
        let of_key = assemble::values_of(model, ty, &key_item(&aim));
        let renewing = self.renew_defaults(position, ty, (&of_key, false), &mut changed)?;
        // What an item was read for is held, also where it was read to find it.
        let mut index = index_changes(job, ty, &changed, &of_key, None)?;
        let unique: Vec<&String> = ty.fields.values().filter(|field| field.rules.unique).map(|field| &field.name).collect();
        let mut changes_unique = unique.iter().any(|field| changed.contains_key(*field));
        let mut was_read = item.is_some();
        // What an update makes is in the indexes like what a put makes, and there are copies and guards of it; so it must be known whether
        // it makes it.
        let may_be_new = *upsert
            && (model.item(&ty.name).is_some_and(|(_, keys)| keys.keys.len() > of_key_len(model, keys.table) || keys.replicas().is_some())
                || unique.iter().any(|field| ty.defaults.contains(field)));
        let new = if *upsert { self.made_besides(position, ty, &of_key, &changed) } else { Map::new() };
        let incomplete = |made: &Map<String, Value>, changed: &Map<String, Value>| {
            let lacks = |name: &&String| !(made.contains_key(*name) || changed.contains_key(*name) || of_key.contains_key(*name));
            let never_null = |name: &&String| ty.fields.get(*name).is_some_and(|field| field.ty.is_non_null());
            ty.defaults.iter().filter(|_| *upsert).find(|name| never_null(name) && lacks(name)).cloned()
        };
        let unknown = !index.unknown.is_empty() || !renewing.is_empty() || incomplete(&new, &changed).is_some();
        if item.is_none() && (unknown || changes_unique || may_be_new) {
            item = job.read(&ty.name, &aim.key).await?;
            was_read = true;
            if item.is_none() && !upsert {
                return Err(vec![absent(&ty.name, action.condition.as_ref(), action.message.as_deref())]);
            }
        }
        // The item as it is known, what changes of it, and what an upsert makes of what it lacks.
        let mut known = item.as_deref().map(|item| assemble::values_of(model, ty, item)).unwrap_or_default();
        known.extend(of_key.clone());
        if was_read {
            changed = before;
            // Of a new item, every default is made in its turn.
            if item.is_some() {
                self.renew_defaults(position, ty, (&known, true), &mut changed)?;
            }
        }
        let made = if *upsert { self.made_besides(position, ty, &known, &changed) } else { Map::new() };
        if let Some(field) = incomplete(&made, &changed).filter(|_| was_read && item.is_none()) {
            return Err(unmade(ty, &field));
        }
        let mut conditions = Conditions::default();
        if was_read {
            let mut changed = changed.clone();
            changed.extend(made.clone());
            index = match &item {
                Some(old) => index_changes(job, ty, &changed, &of_key, Some(old))?,
                None => assemble::index_keys(model, ty, &changed, &of_key).map_err(misfit)?,
            };
            changes_unique |= unique.iter().any(|field| made.contains_key(*field));
            match &item {
                Some(old) => {
                    let needed = index_changes(job, ty, &changed, &of_key, None)?.unknown;
                    let of_index = made.keys().filter(|field| ty.stored(field).is_some() && !index.set.is_empty());
                    let held = needed.iter().chain(&renewing).chain(of_index).chain(unique.iter().copied().filter(|_| changes_unique));
                    self.hold(ty, Some(old), held, &mut conditions);
                }
                None => conditions.absent(&aim.key.partition.0),
            }
        }
        let set: Map<String, Value> = changed.iter().filter(|(field, _)| !by_expression.contains_key(*field)).map(copied).collect();
        // An upsert that has seen the item makes none: it would lack the defaults of what it was seen to have.
        if !upsert || item.is_some() {
            conditions.exists(&aim.key.partition.0);
        }
        identity::demand(ty, &mut conditions);
        let held = self.hold_found(ty, &aim.key, &mut conditions)?;
        let version = self.expected_version(ty, action, &mut conditions);
        self.author(action, &mut conditions)?;
        rules::keep(ty, changed.iter().chain(&made).filter(|(field, _)| !by_expression.contains_key(*field)))?;
        let mut bounds = Vec::new();
        if let Some(update) = expression {
            let scope = self.draft.scope(job);
            rules::keep_found(model, ty, update, (&scope, job.arguments))?;
            bounds = rules::bounds(model, ty, update, &scope);
            let mut all: Vec<Condition> = bounds.iter().map(|bound| bound.condition.clone()).collect();
            if let Some(last) = all.pop() {
                // DynamoDB refuses parentheses around parentheses.
                let whole = if all.is_empty() { last } else { Condition::And(all.into_iter().chain([last]).collect()) };
                conditions.and(filter::lettered(&whole, &scope, 'b').map_err(unfit)?);
            }
        }
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
        let initial = if *upsert { initial(model, ty, &of_key.iter().chain(&made).map(copied).collect())? } else { Vec::new() };
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
            for (attribute, value) in &initial {
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
        let if_absent = if *upsert { IfAbsent::Make } else { IfAbsent::NotFound };
        let main = Main { version, makes: *upsert, if_absent, held, relies, bounds, repeat, ..self.main(action) };
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
            values.extend(made);
            for field in unique {
                self.guard(ty, field, values.get(field).unwrap_or(&Value::Null), &aim.key, &mut gone)?;
            }
            self.along(ty, gone);
        }
        self.draft.results[position].push(Outcome::Answer(ty.name.clone(), aim.key));
        Ok(())
    }

    /// What is set without an expression: what the arguments bring.
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
        Ok(set)
    }

    /// The fields that an expression sets to plain values; the checker sees to it that no others are in composite keys.
    fn changed_by(&self, expression: Option<&Update>) -> Result<Map<String, Value>, Refusals> {
        let mut changed = Map::new();
        for (field, operand) in expression.iter().flat_map(|update| &update.changes) {
            // An argument that is not given changes nothing.
            let absent = |name: &str| self.draft.scope(self.job).argument(name).is_none();
            if let Some(operand) = operand.as_ref().filter(|operand| !matches!(operand, Operand::Argument(name, _) if absent(name))) {
                let value = operand_value(operand, &self.draft.scope(self.job));
                changed.insert(field.clone(), value.ok_or_else(|| internal(field))?);
            }
        }
        Ok(changed)
    }

    /// The defaults of what the item lacks and the update does not change: the same that a put of the item would make.
    fn made_besides(
        &mut self,
        position: usize,
        ty: &ObjectType,
        known: &Map<String, Value>,
        changed: &Map<String, Value>,
    ) -> Map<String, Value> {
        let mut values = known.clone();
        values.extend(changed.clone());
        self.make_defaults(position, ty, &mut values);
        for field in ty.fields.values().filter(|field| begins_empty(field) && !values.contains_key(&field.name)).collect::<Vec<_>>() {
            values.insert(field.name.clone(), Value::Array(Vec::new()));
        }
        values.into_iter().filter(|(field, _)| !known.contains_key(field) && !changed.contains_key(field)).collect()
    }
}

/// Whether a list that nothing brings is empty: one that is never null. A set has no empty form.
fn begins_empty(field: &Field) -> bool {
    let FieldKind::Stored(stored) = &field.kind else { return false };
    field.ty.is_list() && field.ty.is_non_null() && !matches!(stored.value, ValueType::Set(_))
}

/// What an item is given besides when an update makes it: constants, key fields that have an attribute of their own, and defaults of fields
/// that are not set.
fn initial(model: &Model, ty: &ObjectType, made: &Map<String, Value>) -> Result<Vec<(String, Attribute)>, Refusals> {
    let mut initial = Vec::new();
    if let Some((_, keys)) = model.item(&ty.name) {
        for (name, value) in &keys.constants {
            initial.push((name.clone(), Attribute::S(value.clone())));
        }
    }
    let is_key = |name: &String| {
        model.item(&ty.name).is_some_and(|(_, keys)| model.tables[keys.table].primary_key().any(|primary| primary.name == *name))
    };
    for (field, made) in made {
        let Some(attribute) = ty.stored(field).and_then(|stored| stored.attribute.as_ref()).filter(|name| !is_key(name)) else { continue };
        if let Some(value) = assemble::attribute(model, ty, field, made).map_err(misfit)? {
            initial.push((attribute.clone(), value));
        }
    }
    Ok(initial)
}

fn copied((field, value): (&String, &Value)) -> (String, Value) {
    (field.clone(), value.clone())
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
