//! `@update` of an item → its call: what it sets, the index keys and guards that follow, and conditions that the values
//! read are unchanged.

use crate::execute::expression::narrow::KnownAttributes;
use crate::execute::expression::settle::Residual;
use crate::execute::expression::stored_form::StoredForm;
use crate::execute::expression::update::Changes;
use crate::execute::expression::update::attribute as path;
use crate::execute::item::conditions::Conditions;
use crate::execute::item::places::{PlacedUpdate, UpdatePlaces};
use crate::execute::item::{assemble, identity, replicas};
use crate::execute::values::encode;
use crate::execute::values::invalid_value::InvalidValue;
use crate::execute::write::calls::draft::{DraftCall, ResultItem};
use crate::execute::write::calls::requirement::{ItemCondition, Reason, Requirements};
use crate::execute::write::draft::defaults::fill_object;
use crate::execute::write::draft::drafting::{Drafting, OldGuards, TargetItem, UniqueValue, if_absent, internal};
use crate::execute::write::draft::update_values::{UpdateValues, copied};
use crate::execute::write::job::WriteJob;
use crate::execute::write::messages::{FieldErrors, absent, bad_input, invalid};
use crate::execute::write::rules::expression::{self, ComputedBound};
use crate::execute::write::rules::item_rules::ItemRules;
use crate::schema::expression::update::Update;
use crate::schema::model::write::{Action, ActionKind};
use crate::schema::model::{Model, ObjectType};
use crate::table::data::attribute::{Attribute, Item, Key};
use crate::table::data::write::WriteAction;
use serde_json::{Map, Value};
use std::sync::Arc;

/// What an update changes of an item.
struct ItemChanges {
    /// Changes that all replicas share.
    changes: Changes,
    /// The index keys that it sets, as the first replica has them.
    keys: Item,
    /// The index keys that it removes.
    removed: Vec<String>,
    /// The attributes that it sets only if the item lacks them.
    initial: Vec<(String, Attribute)>,
}

impl ItemChanges {
    /// The changes of the replica with this number. Only index keys differ.
    pub fn for_replica(&self, job: &WriteJob<'_>, ty: &ObjectType, number: u8) -> Changes {
        let mut changes = self.changes.clone();
        for (attribute, value) in replicas::replica(job.context.model, ty, &self.keys, number) {
            changes.set(&path(&attribute), value);
        }
        for attribute in &self.removed {
            changes.remove(&path(attribute));
        }
        count_versions(ty, &mut changes);
        for (attribute, value) in &self.initial {
            changes.initial(&path(attribute), value.clone());
        }
        changes
    }
}

impl<'a> Drafting<'a, '_> {
    pub async fn update(&mut self, position: usize, action: &Action) -> Result<(), FieldErrors> {
        let ty = self.job.type_named(&action.item)?;
        let targets = self.target_items(position, action, ty).await?;
        if action.moves() {
            self.read_moved(position, action, (ty, &targets)).await?;
        }
        for target in targets {
            self.update_one((position, action), ty, target).await?;
        }
        Ok(())
    }

    /// Changes one item, or makes it.
    async fn update_one(
        &mut self,
        (position, action): (usize, &Action),
        ty: &'a ObjectType,
        target: TargetItem,
    ) -> Result<(), FieldErrors> {
        let job = self.job;
        let ActionKind::Update { upsert, expression, .. } = &action.kind else { return Err(internal(&ty.name)) };
        let key = &target.key;
        if action.moves() && self.moved_key(position, action, (ty, key)).await?.is_some() {
            return self.move_one((position, action), ty, target).await;
        }
        if *upsert && !identity::is_key_of(ty, key) {
            return Err(bad_input(format!("The key of this {} would break the constraints of its fields.", ty.name)));
        }
        let mut values = self.update_values(position, action, ty, key)?;
        let was_read = target.item.is_some() || values.reads;
        let rules = self.item_rules(action, ty, key).await?;
        let item = match target.item {
            None if values.reads => self.read_to_update(action, (ty, key), (&rules, *upsert)).await?,
            item => item,
        };
        let mut requires = Requirements::default();
        if was_read {
            values = self.update_values_of(position, ty, values, item.as_deref())?;
            self.hold_values(ty, &values, item.as_ref(), &mut requires);
        }
        let ruled = self.rule_of_update(ty, (&rules, key), (&values, *upsert))?;
        let (rule, may_make) = ruled.ok_or_else(|| vec![absent(action.type_name(), action)])?;
        require_item(action, *upsert, may_make, item.is_some(), &mut requires);
        // A new item holds nothing of one that has expired.
        requires.unexpired(ty, if may_make { Reason::Expired } else { gone(action, *upsert) });
        requires.ruled(rule, *upsert);
        self.hold_found(ty, key, &mut requires);
        self.expected_version(ty, action, &mut requires);
        self.author(action, &mut requires);
        expression::keep(ty, values.kept())?;
        let form = self.stored_form(ty, key, item.as_ref()).await?;
        if let Some(update) = expression {
            self.keep_expression(ty, update, form.item(), &mut requires)?;
        }
        // An item that an upsert makes has nothing yet.
        let new = (was_read && item.is_none()).then(Item::new);
        let places = self.place(ty, expression.as_deref(), new.as_ref().or_else(|| form.item()))?;
        requires.placed(&places);
        let changes = self.item_changes(ty, (expression.as_deref(), &places), &values, form)?;
        let of_first = changes.for_replica(job, ty, 0);
        // A new item is in the form that is written.
        requires.form(of_first.granted().filter(|_| new.is_none()));
        let takes_null = of_first.tell_null();
        let call = self.main(position, (ty, key), WriteAction::Update(key.clone(), of_first.expression()), requires)?;
        self.draft.calls.push(DraftCall { takes_null, ..call });
        self.update_replicas(ty, key, &changes, *upsert && item.is_none());
        if values.unique {
            self.update_guards((position, ty), values, item.as_deref(), key)?;
        }
        self.draft.results[position].push(ResultItem::Answer(ty.name.clone(), target.key));
        Ok(())
    }

    /// Reads the item of an update. `None`: it does not exist, and an upsert may make it.
    async fn read_to_update(
        &mut self,
        action: &Action,
        (ty, key): (&ObjectType, &Key),
        (rules, upsert): (&ItemRules<'_>, bool),
    ) -> Result<Option<Arc<Item>>, FieldErrors> {
        if upsert {
            let item = self.job.read(&ty.name, key).await?;
            rules.check_replaced(item.as_deref())?;
            return Ok(item);
        }
        let missing = || vec![absent(action.type_name(), action)];
        // Whom the rules refuse any item with the key does not learn whether there is one.
        rules.for_stored(key)?.ok_or_else(missing)?;
        let item = self.job.read(&ty.name, key).await?;
        rules.admitted(item).await?.ok_or_else(missing).map(Some)
    }

    /// Adds that the values which an update uses are as they were read.
    fn hold_values(
        &self,
        ty: &ObjectType,
        values: &UpdateValues,
        item: Option<&Arc<Item>>,
        requires: &mut Requirements,
    ) {
        let Some(old) = item else { return requires.add(ItemCondition::Absent, Reason::Race) };
        self.hold(ty, old, values.taken(ty).chain(values.sources(ty, old)), requires);
        // A guard gets the time that its item has, and one that has it already is not written.
        if values.unique {
            requires.unchanged(identity::expires(ty).map(str::to_owned).iter(), old);
        }
        values.left(ty, old).for_each(|attribute| requires.has(attribute));
    }

    /// Updates the other replicas of an item. `is_new`: none of them exists.
    fn update_replicas(&mut self, ty: &ObjectType, key: &Key, changes: &ItemChanges, is_new: bool) {
        let job = self.job;
        self.replicas(ty, key, |number, key| {
            let mut conditions = Conditions::default();
            match is_new {
                true => conditions.absent(&key.partition.0),
                false => conditions.exists(&key.partition.0),
            }
            (WriteAction::Update(key, changes.for_replica(job, ty, number).expression()), conditions.build())
        });
    }

    /// What the rules demand of the item that an update finds, and whether the update may make a new one. `None`: the
    /// key decides that the item is hidden, so it counts as missing.
    fn rule_of_update(
        &self,
        ty: &ObjectType,
        (rules, key): (&ItemRules<'_>, &Key),
        (values, upsert): (&UpdateValues, bool),
    ) -> Result<Option<(Residual, bool)>, FieldErrors> {
        let model = self.job.context.model;
        let mut changed = KnownAttributes::from_key(key);
        for (field, value) in &values.changed {
            if let Some(attribute) = ty.stored(field).and_then(|stored| stored.attribute.as_ref()) {
                changed.set(attribute, assemble::attribute(model, ty, field, value).map_err(invalid)?);
            }
        }
        values.index.set.iter().for_each(|(attribute, value)| changed.set(attribute, Some(value.clone())));
        values.index.remove.iter().for_each(|attribute| changed.set(attribute, None));
        let initial = self.initial_of(ty, values)?;
        let rule = rules.for_changed(key, &changed, &initial);
        for (attribute, value) in initial {
            changed.set(&attribute, Some(value));
        }
        let may_make = upsert && rules.lets_make(&changed.into_item());
        if rule == Residual::Never && !may_make {
            return if !upsert && rules.for_stored(key)?.is_none() { Ok(None) } else { Err(rules.refused(None)) };
        }
        Ok(Some((rule, may_make)))
    }

    /// What an upsert sets of an item that lacks it.
    fn initial_of(&self, ty: &ObjectType, values: &UpdateValues) -> Result<Vec<(String, Attribute)>, FieldErrors> {
        let of_new: Map<String, Value> = values.of_key.iter().chain(&values.made).map(copied).collect();
        if !values.upsert {
            return Ok(Vec::new());
        }
        let mut initial = initial(self.job.context.model, ty, &of_new)?;
        initial.extend(values.of_new.iter().cloned());
        Ok(initial)
    }

    /// What an expression does about the objects that it writes into.
    fn place(
        &self,
        ty: &ObjectType,
        update: Option<&Update>,
        item: Option<&Item>,
    ) -> Result<UpdatePlaces, FieldErrors> {
        let mut places = UpdatePlaces::default();
        let Some(update) = update.filter(|update| update.set.iter().any(|(path, _)| path.segments.len() > 1)) else {
            return Ok(places);
        };
        let (scope, context) = (self.draft.scope(self.job), self.job.context);
        let fill = |of: &ObjectType, values: &mut Map<String, Value>| fill_object(context, of, values).is_ok();
        let placed = PlacedUpdate { model: context.model, ty, update, scope: &scope, fill: &fill };
        placed.place_all(item, &mut places).map_err(invalid)?;
        Ok(places)
    }

    /// Checks an expression against the constraints of its fields. Adds the bounds of values that DynamoDB computes.
    pub fn keep_expression(
        &self,
        ty: &ObjectType,
        update: &Update,
        item: Option<&Item>,
        requires: &mut Requirements,
    ) -> Result<(), FieldErrors> {
        let job = self.job;
        let scope = self.draft.scope(job);
        expression::keep_found(job.context.model, ty, update, (&scope, job.arguments()))?;
        let bounds = expression::bounds(job.context.model, ty, update, &scope).into_iter();
        let bounds: Vec<ComputedBound> =
            bounds.map(|bound| if let Some(item) = item { bound.for_item(item) } else { bound }).collect();
        if !bounds.is_empty() {
            // Each bound says itself what follows.
            requires.add(ItemCondition::Bounds(bounds), Reason::OtherForm);
        }
        Ok(())
    }

    /// What an update changes of an item.
    fn item_changes(
        &self,
        ty: &ObjectType,
        (expression, places): (Option<&Update>, &UpdatePlaces),
        values: &UpdateValues,
        form: StoredForm,
    ) -> Result<ItemChanges, FieldErrors> {
        let job = self.job;
        let model = job.context.model;
        let mut changes = match expression {
            Some(update) => {
                Changes::new(model, (update, &places.made), &self.draft.scope(job), form).map_err(bad_input)?
            }
            None => Changes::over(form),
        };
        let set: Map<String, Value> =
            values.changed.iter().filter(|(field, _)| !values.by_expression.contains_key(*field)).map(copied).collect();
        for (field, value) in &set {
            let Some((stored, attribute)) =
                ty.stored(field).and_then(|stored| Some((stored, stored.attribute.as_ref()?)))
            else {
                continue;
            };
            match assemble::attribute(model, ty, field, value).map_err(invalid)? {
                Some(value) => {
                    let unfit = |message| invalid(InvalidValue { field: field.clone(), message });
                    changes.set_field(&path(attribute), &stored.value, value).map_err(unfit)?;
                }
                None => _ = changes.remove(&path(attribute)),
            };
        }
        // Once a field's key is gone, an attribute of its name would be read in its place.
        let nulls = values.changed.iter().filter(|(_, value)| value.is_null());
        for formerly in nulls.filter_map(|(field, _)| ty.stored(field)?.formerly.as_ref()) {
            changes.remove(&path(formerly));
        }
        let initial = self.initial_of(ty, values)?;
        Ok(ItemChanges {
            changes,
            keys: values.index.set.iter().cloned().collect(),
            removed: values.index.remove.clone(),
            initial,
        })
    }

    /// Puts the guards of the unique values that an update sets, and deletes those of values that it replaces.
    pub fn update_guards(
        &mut self,
        (position, ty): (usize, &ObjectType),
        values: UpdateValues,
        item: Option<&Item>,
        key: &Key,
    ) -> Result<(), FieldErrors> {
        let model = self.job.context.model;
        let mut gone = item.map(|item| OldGuards::new(self.job, ty, item)).unwrap_or_default();
        let mut after = item.map(|item| assemble::values_of(model, ty, item).known).unwrap_or_default();
        let set =
            ty.time_field().and_then(|field| Some((field, values.changed.get(field).or(values.made.get(field))?)));
        let time = match set {
            Some((field, value)) => assemble::attribute(model, ty, field, value).map_err(invalid)?,
            None => gone.time.clone(),
        };
        after.extend(values.changed);
        after.extend(values.made);
        for field in ty.fields.values().filter(|field| field.rules.unique) {
            let value = after.get(&field.name).unwrap_or(&Value::Null);
            let time = time.as_ref();
            self.guard(UniqueValue { action: position, ty, field: &field.name, value, time }, key, Some(&mut gone))?;
        }
        self.delete_guards(ty, key, gone.keys);
        Ok(())
    }
}

/// What follows if there is no item to update, and none may be made.
fn gone(action: &Action, upsert: bool) -> Reason {
    if upsert { Reason::Forbidden } else { if_absent(action, Reason::NotFound) }
}

/// Adds what an update demands of the existence of its item, which `was_read`.
fn require_item(action: &Action, upsert: bool, may_make: bool, was_read: bool, requires: &mut Requirements) {
    let gone = if may_make { Reason::Race } else { gone(action, upsert) };
    // An upsert that has read an existing item must not create it: the new item would lack the defaults of fields that
    // the item had.
    if !upsert || was_read {
        requires.add(ItemCondition::Exists, gone);
    }
    requires.add(ItemCondition::OfType, if may_make { Reason::AlreadyExists } else { gone });
    if !may_make {
        requires.add(ItemCondition::Exists, gone);
    }
}

/// What an upsert sets if the item lacks it: constants, key fields with an attribute of their own, and defaults of
/// fields that are not set.
fn initial(model: &Model, ty: &ObjectType, made: &Map<String, Value>) -> Result<Vec<(String, Attribute)>, FieldErrors> {
    let mut initial = Vec::new();
    if let Some((_, keys)) = model.item(&ty.name) {
        for (name, value) in &keys.constants {
            initial.push((name.clone(), encode::constant(value)));
        }
    }
    let is_key =
        |name: &String| model.item(&ty.name).is_some_and(|(_, keys)| model.tables[keys.table].is_primary_key(name));
    for (field, made) in made {
        let Some(attribute) =
            ty.stored(field).and_then(|stored| stored.attribute.as_ref()).filter(|name| !is_key(name))
        else {
            continue;
        };
        if let Some(value) = assemble::attribute(model, ty, field, made).map_err(invalid)? {
            initial.push((attribute.clone(), value));
        }
    }
    Ok(initial)
}

/// Increments every version field.
pub fn count_versions(ty: &ObjectType, changes: &mut Changes) {
    let versions = ty.fields.values().filter(|field| field.rules.version);
    for attribute in versions.filter_map(|field| ty.stored(&field.name)?.attribute.as_ref()) {
        changes.increment(&path(attribute));
    }
}
