//! The actions of a field → calls: puts, deletes and checks here; updates in `updates.rs`, elements of lists in `elements.rs`.

use super::assemble;
use super::conditions::Conditions;
use super::copies;
use super::draft::{Call, Draft, Generated, Gone, IfAbsent, Main, Outcome, Repeat, Role};
use super::engine::{Job, Refusals};
use super::fill::unmade;
use super::hold::Held;
use super::identity;
use super::lookups::{self, Scope, guards_of};
use super::relations::{self, ItemToDelete, ToDelete, Which};
use super::rules;
use super::told::{absent, bad_input, invalid};
use crate::execute::error::{ErrorCode, Refusal};
use crate::execute::expression::condition as filter;
use crate::execute::expression::evaluate;
use crate::execute::expression::scope::argument;
use crate::plan::tree::ReadAction;
use crate::schema::expression::condition::Condition;
use crate::schema::model::source::{Source, TextPart};
use crate::schema::model::write::{Action, ActionKind, WriteReturns, WriteTarget, WrittenValue};
use crate::schema::model::{Field, ObjectType};
use crate::table::attribute::{Item, Key};
use crate::table::call::{Expression, Get};
use crate::table::write::{WriteAction, WriteCall};
use futures_util::future::join;
use indexmap::IndexMap;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// The most calls of a transaction (DynamoDB developer guide, "Amazon DynamoDB transactions: how it works").
pub(super) const MOST_IN_TRANSACTION: usize = 100;

/// A write while it is drafted.
pub(super) struct Drafting<'a, 'j> {
    pub job: &'a Job<'j>,
    pub generated: &'a mut Generated,
    /// Whether an attempt before this one may have been applied.
    pub uncertain: bool,
    pub draft: Draft,
    /// What was found and put so far, by type.
    pub scope: Scope,
}

/// An item that an action is about: its key, and the item where it was read to find it.
pub(super) struct Aim {
    pub key: Key,
    pub item: Option<Arc<Item>>,
}

/// What is known of the attempts before this one.
#[derive(Clone, Copy)]
pub(super) struct Again {
    /// Somebody else was faster.
    pub raced: bool,
    /// One of them may have been applied.
    pub uncertain: bool,
}

/// Drafts all actions of a field.
pub(super) async fn draft(job: &Job<'_>, generated: &mut Generated, Again { raced, uncertain }: Again) -> Result<Draft, Refusals> {
    let mut drafting = Drafting { job, generated, uncertain, draft: Draft::default(), scope: Scope::new() };
    drafting.read_ahead(raced).await?;
    for position in 0..job.write.actions.len() {
        drafting.action(position).await?;
    }
    drafting.check_found()?;
    drafting.draft.take_copies(MOST_IN_TRANSACTION);
    Ok(drafting.draft)
}

impl Drafting<'_, '_> {
    /// Finds the item of the `@find`, and reads in one batch the items that the actions need and whose keys are known by now. The loader
    /// keeps them for the actions.
    async fn read_ahead(&mut self, raced: bool) -> Result<(), Refusals> {
        let job = self.job;
        if let Some(lookup) = &job.planned.found {
            // A find by a key joins the batch. Where a Query finds nothing, no Get is made.
            let by_key = lookup.plan.reads.iter().all(|read| matches!(read.action, ReadAction::Get(_)));
            let gets = if by_key { self.foreseen_reads() } else { Vec::new() };
            let (found, _) = join(self.find(lookup, raced), job.engine.run.loaders.get(gets)).await;
            found?;
        }
        let gets = self.foreseen_reads();
        job.engine.run.loaders.get(gets).await;
        Ok(())
    }

    /// The reads of items that the actions need and whose keys are known by now. What does not fit is told by the action itself.
    fn foreseen_reads(&mut self) -> Vec<Get> {
        let job = self.job;
        let mut gets = Vec::new();
        for (position, action) in job.write.actions.iter().enumerate() {
            let Ok(ty) = job.type_named(&action.item) else { continue };
            let WriteTarget::Key(sources) = &action.target else { continue };
            let named = match (&action.kind, &action.at) {
                (ActionKind::Put { .. }, None) => self.values(position, ty, &action.values),
                _ => self.key_values(sources),
            };
            let key = named.and_then(|values| assemble::primary_key(job.engine.run.model, ty, &values).map_err(invalid));
            let Ok(key) = key else { continue };
            let reads = match (&action.kind, &action.at) {
                (ActionKind::Put { replace }, None) => *replace && ty.fields.values().any(|field| field.rules.unique),
                (ActionKind::Update { .. }, None) => self.update_values(position, action, ty, &key).is_ok_and(|values| values.reads),
                (ActionKind::Delete { .. }, None) => self.reads_deleted(position, ty),
                (ActionKind::Update { .. } | ActionKind::Delete { .. }, Some(element)) => element.by.is_some(),
                _ => false,
            };
            if reads {
                gets.push(job.get(ty, &key));
            }
        }
        gets
    }

    async fn action(&mut self, position: usize) -> Result<(), Refusals> {
        let job = self.job;
        let action = &job.write.actions[position];
        self.draft.results.push(Vec::new());
        match (&action.kind, &action.at) {
            (ActionKind::Put { replace }, None) => self.put(position, action, *replace).await,
            (ActionKind::Put { .. }, Some(element)) => self.append(position, action, element).await,
            (ActionKind::Update { .. }, None) => self.update(position, action).await,
            (ActionKind::Update { .. }, Some(element)) => self.change_element(position, action, element).await,
            (ActionKind::Delete { .. }, None) => self.delete(position, action).await,
            (ActionKind::Delete { .. }, Some(element)) => self.remove_element(position, action, element).await,
            (ActionKind::Check, _) => self.check(position, action).await,
        }
    }

    async fn put(&mut self, position: usize, action: &Action, replace: bool) -> Result<(), Refusals> {
        let job = self.job;
        let (model, ty) = (job.engine.run.model, job.type_named(&action.item)?);
        let values = self.values(position, ty, &action.values)?;
        let item = assemble::item(model, ty, &values).map_err(invalid)?;
        let Some(key) = assemble::key_of(model, ty, &item) else { return Err(internal(&ty.name)) };
        let mut conditions = Conditions::default();
        let mut gone = Vec::new();
        if !replace {
            conditions.absent(&key.partition.0);
        } else if ty.fields.values().any(|field| field.rules.unique) {
            // What is written over may hold guards that are none of the new item's.
            let old = job.read(&ty.name, &key).await?;
            self.hold(ty, old.as_deref(), ty.fields.values().filter(|field| field.rules.unique).map(|field| &field.name), &mut conditions);
            match &old {
                None => conditions.absent(&key.partition.0),
                Some(old) => gone = guards_of(job, ty, old),
            }
        }
        let held = self.hold_found(ty, &key, &mut conditions)?;
        if held && !replace {
            // What was found is where the new item is to be.
            let message = action.message.clone().unwrap_or_else(|| format!("There is already such a {}.", ty.name));
            return Err(vec![Refusal::new(ErrorCode::Conflict, message)]);
        }
        if replace {
            identity::demand(ty, &mut conditions);
        }
        self.author(action, &mut conditions)?;
        let repeat = match replace {
            true => self.repeat(held, Repeat::Same),
            false => Repeat::SeenByItem(Box::new(item.clone())),
        };
        let main = Main { repeat, creates: !replace, makes: true, if_absent: IfAbsent::Make, held, ..self.main(action) };
        let call = Call::main(job.table_of(ty), WriteAction::Put(item.clone()), conditions, main);
        self.draft.calls.push(call);
        // Whatever stands in their places, the copies of a new item are what it is.
        self.copies(ty, &key, |number, _| (WriteAction::Put(copies::copy(job, ty, &item, number)), None));
        for field in ty.fields.values().filter(|field| field.rules.unique) {
            let value = values.get(&field.name).unwrap_or(&Value::Null);
            self.guard(ty, &field.name, value, &key, &mut gone)?;
        }
        self.along(ty, gone);
        let item = Arc::new(item);
        self.draft.results[position].push(Outcome::Known(item.clone()));
        self.scope.insert(ty.name.clone(), item);
        Ok(())
    }

    /// A guard for a unique value; one that the item has already stays as it is, and is taken out of those that go.
    pub fn guard(&mut self, ty: &ObjectType, field: &str, value: &Value, owner: &Key, gone: &mut Vec<Key>) -> Result<(), Refusals> {
        let model = self.job.engine.run.model;
        let Some(guard) = assemble::guard(model, ty, field, value, owner).map_err(invalid)? else { return Ok(()) };
        let key = assemble::key_of(model, ty, &guard);
        if let Some(kept) = gone.iter().position(|gone| key.as_ref() == Some(gone)) {
            gone.remove(kept);
            return Ok(());
        }
        let mut conditions = Conditions::default();
        conditions.absent(&owner.partition.0);
        self.draft.calls.push(Call {
            write: WriteCall { table: self.job.table_of(ty), action: WriteAction::Put(guard), condition: conditions.build() },
            role: Role::Guard(ty.name.clone(), field.to_owned()),
        });
        Ok(())
    }

    /// Deletes that go along with another call.
    pub fn along(&mut self, ty: &ObjectType, keys: Vec<Key>) {
        let table = self.job.table_of(ty);
        self.draft.calls.extend(keys.into_iter().map(|key| Call::along(table.clone(), WriteAction::Delete(key))));
    }

    async fn delete(&mut self, position: usize, action: &Action) -> Result<(), Refusals> {
        let job = self.job;
        let ty = job.type_named(&action.item)?;
        let alone = job.write.actions.len() == 1;
        let beside = self.reads_deleted(position, ty);
        let cascades = job.planned.actions.get(position).is_some_and(|lookups| !lookups.cascade.is_empty());
        let unique = ty.fields.values().any(|field| field.rules.unique);
        let many = matches!(&action.target, WriteTarget::Read { many: true, .. });
        let copied = job.engine.run.model.item(&ty.name).is_some_and(|(_, keys)| keys.replicas().is_some());
        let given_back = matches!(job.write.returns, WriteReturns::Item(of) | WriteReturns::Items(of) if of == position);
        for aim in self.aims(position, action, ty).await? {
            let item = match aim.item {
                Some(item) => Some(item),
                None if beside => job.read(&ty.name, &aim.key).await?,
                None => None,
            };
            let read = item.is_some() || beside;
            let mut conditions = Conditions::default();
            match &item {
                None if read && alone => {
                    // There is nothing to delete, and nothing to give back.
                    self.draft.results[position].push(Outcome::Nothing);
                    // A delete that broke off may have left copies.
                    self.draft.behind.extend(copied.then(|| (ty.name.clone(), aim.key)));
                    continue;
                }
                // Alone, DeleteItem itself says whether there was an item.
                None if alone && action.condition.is_none() => {}
                _ => conditions.exists(&aim.key.partition.0),
            }
            identity::demand(ty, &mut conditions);
            let held = self.hold_found(ty, &aim.key, &mut conditions)?;
            // What is given back must be what is deleted, and a version does not prove it: an item that is put again begins at 1. Else it is
            // enough that the guards are still the item's.
            let names_it = |name: &String| *name == aim.key.partition.0 || aim.key.sort.iter().any(|(sort, _)| sort == name);
            let in_key = |field: &&Field| {
                let stored = ty.stored(&field.name);
                stored.and_then(|stored| stored.attribute.as_ref().or(stored.keys.first())).is_some_and(names_it)
            };
            let told = |field: &&Field| given_back && !in_key(field);
            let held_fields = ty.fields.values().filter(|field| field.rules.unique || told(field)).map(|field| &field.name);
            self.hold(ty, item.as_deref(), held_fields, &mut conditions);
            let version = self.expected_version(ty, action, &mut conditions);
            self.author(action, &mut conditions)?;
            let if_absent = match alone {
                true if read => IfAbsent::ReadAgain,
                true if action.condition.is_none() && version.is_none() => IfAbsent::Nothing,
                _ => IfAbsent::NotFound,
            };
            let repeat = if held { Repeat::Never } else { Repeat::Gone };
            let relies = (unique || given_back) && item.is_some();
            let main = Main { version, if_absent, held, relies, repeat, ..self.main(action) };
            let call = Call::main(job.table_of(ty), WriteAction::Delete(aim.key.clone()), conditions, main);
            self.draft.calls.push(call);
            self.copies(ty, &aim.key, |_, key| (WriteAction::Delete(key), None));
            match item {
                Some(item) => {
                    self.along(ty, guards_of(job, ty, &item));
                    if cascades {
                        self.cascade(position, &item).await?;
                    }
                    self.draft.results[position].push(Outcome::Known(item));
                }
                None => self.draft.results[position].push(Outcome::Answer(ty.name.clone(), aim.key)),
            }
        }
        let demands = self.draft.calls.iter().any(Call::demands);
        if many && alone && !demands && self.draft.size() > MOST_IN_TRANSACTION {
            self.delete_in_batches(position, ty);
        }
        Ok(())
    }

    /// Whether an item that is deleted is read before: a lone DeleteItem tells what was there, a transaction does not.
    fn reads_deleted(&self, position: usize, ty: &ObjectType) -> bool {
        let job = self.job;
        let cascades = job.planned.actions.get(position).is_some_and(|lookups| !lookups.cascade.is_empty());
        let copied = job.engine.run.model.item(&ty.name).is_some_and(|(_, keys)| keys.replicas().is_some());
        job.write.actions.len() > 1 || cascades || copied || ty.fields.values().any(|field| field.rules.unique)
    }

    /// The relations of a deleted item: in the same transaction if they fit, else before it, so that a crash leaves an item that can be
    /// deleted again, and never a relation of nothing.
    async fn cascade(&mut self, position: usize, item: &Arc<Item>) -> Result<(), Refusals> {
        let related = relations::of_item(self.job, position, item, Which::All).await?;
        let stages = related.to_delete(self.job, position);
        let count: usize = stages.iter().flat_map(|(_, items)| items.values()).map(|item| 1 + item.others.len()).sum();
        let fits = self.draft.size() + count <= MOST_IN_TRANSACTION;
        let places = stages.iter().filter(|_| fits).flat_map(|(table, items)| items.keys().map(|key| (table.clone(), key.clone())));
        let (places, sources) = (places.collect(), related.sources(self.job, position));
        self.draft.cascades.push(Gone { action: position, item: item.clone(), sources, places, ahead: !fits });
        for (table, items) in stages {
            if fits {
                let calls = items.into_iter().flat_map(|(key, item)| item.calls(&table, key));
                self.draft.calls.extend(calls.map(|write| Call { write, role: Role::Along }));
            } else {
                self.draft.first.push((table, items));
            }
        }
        Ok(())
    }

    /// Deletes more items than a transaction takes: the caller demands nothing of them and the delete can be repeated, so it needs no
    /// transaction.
    fn delete_in_batches(&mut self, position: usize, ty: &ObjectType) {
        let items = self.draft.results[position].iter().filter_map(|outcome| match outcome {
            Outcome::Known(item) => relations::to_delete(self.job, ty, item),
            _ => None,
        });
        let items: ToDelete = items.collect();
        self.draft.copied.clear();
        // What goes along but for the guards: the relations of a cascade.
        for call in self.draft.calls.drain(..).filter(|call| matches!(call.role, Role::Along)) {
            if let WriteAction::Delete(key) = call.write.action
                && !items.values().any(|item| item.others.contains(&key))
            {
                let related = ItemToDelete { condition: call.write.condition, others: Vec::new() };
                self.draft.first.push((call.write.table, ToDelete::from([(key, related)])));
            }
        }
        self.draft.first.push((self.job.table_of(ty), items));
    }

    async fn check(&mut self, position: usize, action: &Action) -> Result<(), Refusals> {
        let ty = self.job.type_named(&action.item)?;
        for aim in self.aims(position, action, ty).await? {
            let mut conditions = Conditions::default();
            let held = self.hold_found(ty, &aim.key, &mut conditions)?;
            if let Some(condition) = &action.condition {
                let scope = self.draft.scope(self.job);
                identity::demand_of(ty, (condition, written(condition, &scope)?), &scope, &mut conditions);
            }
            let main = Main { held, ..self.main(action) };
            self.draft.calls.push(Call::main(self.job.table_of(ty), WriteAction::Check(aim.key), conditions, main));
        }
        Ok(())
    }

    /// What is known of an action's main call, as far as it is the same for all kinds.
    pub fn main(&self, action: &Action) -> Main {
        Main {
            item: action.item.clone(),
            condition: action.condition.clone(),
            message: action.message.clone(),
            creates: false,
            makes: false,
            if_absent: IfAbsent::NotFound,
            many: matches!(&action.target, WriteTarget::Read { many: true, .. }),
            held: false,
            relies: false,
            bounds: Vec::new(),
            version: None,
            repeat: Repeat::Same,
        }
    }

    /// How a call may be repeated that is perhaps held to what was found: if it was applied, what it demands may not hold any more.
    pub fn repeat(&self, held: bool, repeat: Repeat) -> Repeat {
        if held && self.draft.held.as_ref().is_some_and(Held::demands) { Repeat::Never } else { repeat }
    }

    /// The author's condition.
    pub fn author(&self, action: &Action, conditions: &mut Conditions) -> Result<(), Refusals> {
        if let Some(condition) = &action.condition {
            conditions.and(written(condition, &self.draft.scope(self.job))?);
        }
        Ok(())
    }

    /// The version that the caller says it has seen.
    pub fn expected_version(&self, ty: &ObjectType, action: &Action, conditions: &mut Conditions) -> Option<(String, Value)> {
        let field = ty.fields.values().find(|field| field.rules.version)?;
        let expected = self.given(action.values.get(&field.name)?.source.as_ref()?).filter(|value| !value.is_null())?;
        let (attribute, value) = attribute_of(self.job.engine.run.model, ty, &field.name, &expected)?;
        conditions.equals(&attribute, value);
        Some((attribute, expected))
    }

    /// Demands that fields are as they were read.
    pub fn hold<'f>(&self, ty: &ObjectType, item: Option<&Item>, fields: impl Iterator<Item = &'f String>, conditions: &mut Conditions) {
        let Some(item) = item else { return };
        for field in fields {
            if let Some(attribute) = ty.stored(field).and_then(|stored| stored.attribute.as_ref().or(stored.keys.first())) {
                conditions.unchanged(attribute, item);
            }
        }
    }

    /// The items that an action is about. With a key, one; else those that a lookup finds: none is refused, unless many are meant or
    /// they are to be deleted.
    pub async fn aims(&mut self, position: usize, action: &Action, ty: &ObjectType) -> Result<Vec<Aim>, Refusals> {
        let model = self.job.engine.run.model;
        let many = match &action.target {
            WriteTarget::Key(sources) => {
                let values = self.key_values(sources)?;
                let key = assemble::primary_key(model, ty, &values).map_err(invalid)?;
                return Ok(vec![Aim { key, item: None }]);
            }
            WriteTarget::Read { many, .. } => *many,
        };
        let lookup = self.job.planned.actions.get(position).and_then(|lookups| lookups.target.as_ref());
        let Some(lookup) = lookup else { return Err(internal(&ty.name)) };
        let ambiguous = || bad_input(format!("This names more than one {}; say which.", ty.name));
        let found = lookups::items(self.job, lookup, &self.scope).await.map_err(|refusals| match refusals.first() {
            Some(refusal) if refusal.code == ErrorCode::LimitExceeded && !many => ambiguous(),
            _ => refusals,
        })?;
        if found.is_empty() && !many && !matches!(action.kind, ActionKind::Delete { .. }) {
            return Err(vec![absent(&ty.name, action.condition.as_ref(), action.message.as_deref())]);
        }
        if found.len() > 1 && !many {
            return Err(ambiguous());
        }
        // Of many, those that do not meet the condition are not meant.
        let scope = self.draft.scope(self.job);
        let mut aims = Vec::with_capacity(found.len());
        for item in found {
            let meant = match action.condition.as_ref().filter(|_| many) {
                Some(condition) => evaluate::holds(condition, Some(&item), &scope).map_err(bad_input)?,
                None => true,
            };
            if let (true, Some(key)) = (meant, assemble::key_of(model, ty, &item)) {
                aims.push(Aim { key, item: Some(item) });
            }
        }
        Ok(aims)
    }

    /// The values of a key's fields.
    pub fn key_values(&self, sources: &IndexMap<String, Source>) -> Result<Map<String, Value>, Refusals> {
        let mut values = Map::new();
        for (field, source) in sources {
            match self.given(source) {
                Some(value) if !value.is_null() => values.insert(field.clone(), value),
                _ => return Err(bad_input(format!("\"{field}\" is needed to name the item."))),
            };
        }
        Ok(values)
    }

    /// The values of a put: what is given, and defaults where nothing is. Generated values stay the same over all attempts.
    pub fn values(
        &mut self,
        position: usize,
        ty: &ObjectType,
        written: &IndexMap<String, WrittenValue>,
    ) -> Result<Map<String, Value>, Refusals> {
        let mut values = Map::new();
        for (field, written) in written {
            let Some(value) = written.source.as_ref().and_then(|source| self.given(source)) else { continue };
            let replaced = value.is_null() && written.default.is_some() && ty.fields.get(field).is_some_and(|field| field.ty.is_non_null());
            if !replaced {
                // What was found is whole, and may be another at the next attempt.
                let value = match (ty.fields.get(field), &written.source) {
                    (Some(field), Some(Source::Argument(_))) => self.fill_embedded(position, field, value),
                    _ => value,
                };
                values.insert(field.clone(), value);
            }
        }
        self.make_defaults(position, ty, &mut values);
        // Lists that begin empty without being told.
        for (name, written) in written {
            let (Some(default), Some(field)) = (&written.default, ty.fields.get(name)) else { continue };
            if !values.contains_key(name) {
                let made = self.default_of(position, field, default, &values);
                if made.is_none() && field.ty.is_non_null() {
                    return Err(unmade(ty, name));
                }
                values.extend(made.map(|made| (name.clone(), made)));
            }
        }
        rules::keep(ty, values.iter())?;
        for field in ty.fields.values().filter(|field| field.rules.version) {
            values.insert(field.name.clone(), json!(1));
        }
        for (name, field) in &ty.fields {
            if values.get(name).is_some_and(Value::is_null) && field.ty.is_non_null() && !field.ty.is_list() {
                return Err(bad_input(format!("{}.{name} must not be null.", ty.name)));
            }
        }
        Ok(values)
    }

    /// What a source brings: `None` where it brings nothing, null where it brings null.
    pub fn given(&self, source: &Source) -> Option<Value> {
        match source {
            Source::Argument(name) => argument(self.job.arguments, name).cloned(),
            Source::Item(ty, field) => {
                let item = self.scope.get(ty)?;
                let ty = self.job.type_named(ty).ok()?;
                // What the item lacks is null, not missing: no default takes its place.
                Some(assemble::values_of(self.job.engine.run.model, ty, item).get(field).cloned().unwrap_or(Value::Null))
            }
            Source::Parent(_) => None,
            Source::Text(parts) => {
                let mut text = String::new();
                for part in parts {
                    match part {
                        TextPart::Literal(literal) => text.push_str(literal),
                        TextPart::Value(source) => match self.given(source)? {
                            Value::Null => return Some(Value::Null),
                            Value::String(value) => text.push_str(&value),
                            value => text.push_str(&value.to_string()),
                        },
                    }
                }
                Some(Value::String(text))
            }
        }
    }
}

/// The author's condition as it is sent.
fn written(condition: &Condition, scope: &crate::execute::expression::scope::Scope<'_>) -> Result<Expression, Refusals> {
    filter::whole(condition, scope).map_err(bad_input)
}

/// The attribute in which a field's value is kept as it is, and the value as it is kept.
pub(super) fn attribute_of(
    model: &crate::schema::model::Model,
    ty: &ObjectType,
    field: &str,
    value: &Value,
) -> Option<(String, crate::table::attribute::Attribute)> {
    let name = ty.stored(field)?.attribute.clone()?;
    Some((name, assemble::attribute(model, ty, field, value).ok()??))
}

pub(super) fn internal(what: &str) -> Refusals {
    vec![Refusal::new(ErrorCode::Internal, format!("The write cannot be made: {what}."))]
}
