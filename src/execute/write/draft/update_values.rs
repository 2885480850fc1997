//! Arguments of an `@update`, and the item as far as it is known → the values that it sets and the index keys that
//! follow. Tells whether the item must be read first. Must not know conditions or calls.

use crate::execute::expression::scope::operand_value;
use crate::execute::item::assemble::{self, ItemValues};
use crate::execute::item::index_keys::{self, IndexChanges};
use crate::execute::write::draft::defaults::unmade;
use crate::execute::write::draft::drafting::{Drafting, internal};
use crate::execute::write::job::WriteJob;
use crate::execute::write::messages::{FieldErrors, bad_input, invalid, unnumbered, unreadable};
use crate::execute::write::rules::computed;
use crate::schema::expression::operand::Operand;
use crate::schema::expression::update::Update;
use crate::schema::model::rules::DefaultValue;
use crate::schema::model::write::{Action, ActionKind, WriteTarget};
use crate::schema::model::{Field, FieldKind, Model, ObjectType};
use crate::schema::scalar::value_type::ValueType;
use crate::table::data::attribute::{Attribute, Item, Key};
use serde_json::{Map, Value};

/// What an update sets.
pub struct UpdateValues {
    /// Whether it creates an item that does not exist.
    pub upsert: bool,
    /// The values of the fields in the primary key.
    pub of_key: Map<String, Value>,
    /// The fields that its expression sets to plain values.
    pub by_expression: Map<String, Value>,
    /// The fields that it sets, and the defaults that every write makes; null removes a field.
    pub changed: Map<String, Value>,
    /// The defaults that an upsert gives an item that lacks them.
    pub made: Map<String, Value>,
    /// The index keys that change.
    pub index: IndexChanges,
    /// The index keys that only an item which an upsert makes gets: every item of the key has the same.
    pub of_new: Vec<(String, Attribute)>,
    /// The fields whose current values are needed for defaults of every write.
    pub renewing: Vec<String>,
    /// Whether it sets a unique field.
    pub unique: bool,
    /// Whether the item must be read first.
    pub reads: bool,
    /// The fields of which its expression computes others that Keyfold must know.
    pub computing: Vec<String>,
    /// What the arguments and the expression set, without defaults.
    set: Map<String, Value>,
}

impl Drafting<'_, '_> {
    /// What an update sets, as far as it follows from the arguments and the key.
    pub fn update_values(
        &mut self,
        position: usize,
        action: &Action,
        ty: &ObjectType,
        key: &Key,
    ) -> Result<UpdateValues, FieldErrors> {
        let ActionKind::Update { upsert, expression, moves } = &action.kind else { return Err(internal(&ty.name)) };
        let model = self.job.context.model;
        let mut of_key = assemble::values_of(model, ty, &key_item(key)).known;
        of_key.extend(assemble::number_of(model, ty, &key_item(key)).map(|(number, _)| number));
        let by_expression = self.changed_by(expression.as_deref())?;
        let mut set = self.set_values(position, action, ty)?;
        set.extend(by_expression.clone());
        if *moves {
            // What the key holds already does not change.
            let stored = |field: &str, value: &Value| assemble::attribute(model, ty, field, value).ok();
            set.retain(|field, value| {
                let is_exact = ty.stored(field).is_some_and(|stored| stored.identity > 0);
                !is_exact || of_key.get(field).is_none_or(|was| stored(field, was) != stored(field, value))
            });
        }
        let mut changed = set.clone();
        let known = ItemValues { known: of_key.clone(), unreadable: Vec::new() };
        let renewing = self.renew_defaults(position, ty, (&known, false), &mut changed)?;
        let made = if *upsert { self.made_besides(position, ty, &known, &changed)? } else { Map::new() };
        let index = changed_index_keys(self.job, ty, &changed, &of_key, None)?;
        let unique = touches_guards(ty, &changed);
        let mut values = UpdateValues {
            upsert: *upsert,
            of_key,
            by_expression,
            changed,
            made,
            index,
            of_new: Vec::new(),
            renewing,
            unique,
            reads: false,
            computing: expression.iter().flat_map(|update| computed::sources(ty, update)).collect(),
            set,
        };
        values.reads = expression.as_ref().is_some_and(|update| !update.computed.is_empty())
            || !values.index.unknown.is_empty()
            || !values.renewing.is_empty()
            || values.unique
            || *upsert && values.differ_if_new(self.job, ty)?;
        Ok(values)
    }

    /// What an update sets on an item that was read; `None` if it does not exist and an upsert creates it.
    pub fn update_values_of(
        &mut self,
        position: usize,
        ty: &ObjectType,
        values: UpdateValues,
        item: Option<&Item>,
    ) -> Result<UpdateValues, FieldErrors> {
        let model = self.job.context.model;
        let mut known = item.map(|item| assemble::values_of(model, ty, item)).unwrap_or_default();
        known.known.extend(item.and_then(|item| assemble::number_of(model, ty, item)).map(|(number, _)| number));
        known.known.extend(values.of_key.clone());
        let mut changed = values.set.clone();
        if let Some(ActionKind::Update { expression: Some(update), .. }) =
            self.job.action(position).map(|action| &action.kind)
        {
            changed.extend(computed::values(ty, update, &known, &self.draft.scope(self.job))?);
        }
        // A new item gets all its defaults below, in the order in which they depend on each other.
        if item.is_some() {
            self.renew_defaults(position, ty, (&known, true), &mut changed)?;
        }
        let made = if values.upsert { self.made_besides(position, ty, &known, &changed)? } else { Map::new() };
        if item.is_none()
            && let Some(field) = never_made(ty, &[&made, &changed, &values.of_key])
        {
            return Err(unmade(ty, field));
        }
        let all: Map<String, Value> = changed.iter().chain(&made).map(copied).collect();
        let index = match item {
            Some(_) => changed_index_keys(self.job, ty, &all, &values.of_key, Some(&known))?,
            None => {
                index_keys::index_keys(model, ty, self.job.context.caller, &all, &values.of_key).map_err(invalid)?
            }
        };
        let unique = values.unique || touches_guards(ty, &made) || touches_guards(ty, &changed);
        Ok(UpdateValues { changed, made, index, of_new: Vec::new(), unique, reads: true, ..values })
    }

    /// The fields that arguments set.
    pub fn set_values(
        &mut self,
        position: usize,
        action: &Action,
        ty: &ObjectType,
    ) -> Result<Map<String, Value>, FieldErrors> {
        let mut set = Map::new();
        for (field, written) in &action.values {
            let Some(definition) = ty.fields.get(field).filter(|field| !field.rules.version) else { continue };
            let Some(value) = self.written_value((position, ty), field, written)? else { continue };
            if value.is_null() && definition.ty.is_non_null() && !definition.ty.is_list() {
                return Err(bad_input(format!("{}.{field} must not be null.", ty.name)));
            }
            // A value of a found item is complete, and may differ in the next attempt.
            let value = match written.is_brought() {
                true => self.fill_embedded(position, definition, value)?,
                false => value,
            };
            set.insert(field.clone(), value);
        }
        Ok(set)
    }

    /// The fields that an expression sets to plain values. The checker makes sure that no others are in composite keys.
    pub fn changed_by(&self, expression: Option<&Update>) -> Result<Map<String, Value>, FieldErrors> {
        let mut changed = Map::new();
        for (field, operand) in expression.iter().flat_map(|update| &update.changes) {
            // An argument that is not given changes nothing.
            let absent = |name: &str| self.draft.scope(self.job).argument(name).is_none();
            if let Some(operand) =
                operand.as_ref().filter(|operand| !matches!(operand, Operand::Argument(name, _) if absent(name)))
            {
                let value = operand_value(operand, &self.draft.scope(self.job));
                changed.insert(field.clone(), value.ok_or_else(|| internal(field))?);
            }
        }
        Ok(changed)
    }

    /// The defaults, as a put would make them, of fields that the item lacks and the update does not set.
    pub fn made_besides(
        &mut self,
        position: usize,
        ty: &ObjectType,
        known: &ItemValues,
        changed: &Map<String, Value>,
    ) -> Result<Map<String, Value>, FieldErrors> {
        let mut values = known.known.clone();
        values.extend(changed.clone());
        let is_set = |field: &str| changed.contains_key(field) || known.has(field);
        let lacking = ty
            .defaults
            .iter()
            .filter(|name| !is_set(name))
            .filter_map(|name| ty.fields.get(name)?.rules.default.as_ref());
        if let Some(of) =
            lacking.flat_map(DefaultValue::fields).find(|of| !changed.contains_key(*of) && known.is_unreadable(of))
        {
            return Err(unreadable(ty, of));
        }
        self.make_defaults(position, ty, &mut values);
        self.make_inexact(position, ty, &mut values)?;
        for field in ty
            .fields
            .values()
            .filter(|field| begins_empty(field) && !values.contains_key(&field.name))
            .collect::<Vec<_>>()
        {
            values.insert(field.name.clone(), Value::Array(Vec::new()));
        }
        Ok(values.into_iter().filter(|(field, _)| !is_set(field)).collect())
    }

    /// The fields that the key does not always have as they were given, because it has them in one case or in one of
    /// its alternatives: a new item has them in attributes, too.
    fn make_inexact(
        &self,
        position: usize,
        ty: &ObjectType,
        values: &mut Map<String, Value>,
    ) -> Result<(), FieldErrors> {
        let action = self.job.action(position);
        let Some(WriteTarget::Key(sources)) = action.map(|action| &action.target) else { return Ok(()) };
        for (field, value) in self.key_values(sources)? {
            let is_exact = ty.stored(&field).is_some_and(|stored| stored.identity > 0);
            if !is_exact && !values.contains_key(&field) {
                values.insert(field, value);
            }
        }
        Ok(())
    }
}

impl UpdateValues {
    /// Whether an upsert writes something different if it creates the item. `if_not_exists` covers both cases if only
    /// attributes of single fields differ, or index keys that follow from the primary key, and no default is made of a
    /// field that the item may have.
    pub fn differ_if_new(&mut self, job: &WriteJob<'_>, ty: &ObjectType) -> Result<bool, FieldErrors> {
        let model = job.context.model;
        // Replicas and guards are separate calls, which `if_not_exists` does not cover.
        if model.item(&ty.name).is_some_and(|(_, keys)| keys.replicas().is_some()) {
            return Ok(true);
        }
        if touches_guards(ty, &self.made) {
            return Ok(true);
        }
        if never_made(ty, &[&self.made, &self.changed, &self.of_key]).is_some() {
            return Ok(true);
        }
        let is_given = |field: &str| self.changed.contains_key(field) || self.of_key.contains_key(field);
        let open = ty
            .defaults
            .iter()
            .filter(|field| !is_given(field))
            .filter_map(|field| ty.fields.get(field)?.rules.default.as_ref());
        if open.flat_map(|default| default.fields()).any(|of| !is_given(of)) {
            return Ok(true);
        }
        let all: Map<String, Value> = self.changed.iter().chain(&self.made).map(copied).collect();
        let of_new = index_keys::index_keys(model, ty, job.context.caller, &all, &self.of_key).map_err(invalid)?;
        let follow = index_keys::fixed_index_keys(model, ty, &self.of_key).map_err(invalid)?;
        let is_set = |name: &str| self.index.set.iter().any(|(set, _)| set == name);
        let (own, others): (Vec<_>, Vec<_>) =
            of_new.set.into_iter().partition(|(name, _)| follow.contains(name) && !is_set(name));
        self.of_new = own;
        Ok(others.len() != self.index.set.len() || others.iter().any(|key| !self.index.set.contains(key)))
    }

    /// What it sets, without what its expression brings: the constraints of these values are checked with the
    /// arguments.
    pub fn kept(&self) -> impl Iterator<Item = (&String, &Value)> {
        self.changed.iter().chain(&self.made).filter(|(field, _)| !self.by_expression.contains_key(*field))
    }

    /// The attributes that tell the values for which an upsert makes no default, because the item has them.
    pub fn left<'v>(&'v self, ty: &'v ObjectType, item: &'v Item) -> impl Iterator<Item = &'v String> {
        let is_left = |field: &&String| !self.changed.contains_key(*field) && !self.made.contains_key(*field);
        let defaults = ty.defaults.iter().filter(move |field| self.upsert && is_left(field));
        defaults
            .flat_map(|field| assemble::determining_attributes(ty, field, item))
            .filter(|attribute| item.contains_key(attribute.as_str()))
    }

    /// The fields that decide the defaults which the item lacks: those that an upsert makes of them, and those that it
    /// cannot make while one of them is null.
    pub fn sources<'v>(&'v self, ty: &'v ObjectType, item: &'v Item) -> impl Iterator<Item = &'v String> {
        let is_null = |attribute: &&String| matches!(item.get(attribute.as_str()), None | Some(Attribute::Null));
        let is_lacking = move |field: &&String| {
            let is_set = self.set.contains_key(*field) || self.of_key.contains_key(*field);
            self.upsert && !is_set && assemble::determining_attributes(ty, field, item).iter().all(is_null)
        };
        let defaults = ty.defaults.iter().filter(is_lacking).filter_map(|field| ty.fields.get(field));
        let sources = defaults.filter_map(|field| field.rules.default.as_ref()).flat_map(DefaultValue::fields);
        let own = sources.filter_map(|field| ty.fields.get_key_value(field)).map(|(name, _)| name);
        own.filter(|field| !self.set.contains_key(*field) && !self.of_key.contains_key(*field))
    }

    /// The fields whose current values the update uses.
    pub fn taken<'v>(&'v self, ty: &'v ObjectType) -> impl Iterator<Item = &'v String> {
        let of_index = self.made.keys().filter(|field| ty.stored(field).is_some() && !self.index.set.is_empty());
        let unique = ty.fields.values().filter(|field| self.unique && field.rules.unique).map(|field| &field.name);
        self.index.taken.iter().chain(&self.renewing).chain(&self.computing).chain(of_index).chain(unique)
    }
}

/// Whether an update that sets these fields writes guards: those of unique values, or all if the item's time changes.
fn touches_guards(ty: &ObjectType, set: &Map<String, Value>) -> bool {
    let mut unique = ty.fields.values().filter(|field| field.rules.unique).peekable();
    let sets_time = unique.peek().is_some() && ty.time_field().is_some_and(|field| set.contains_key(field));
    sets_time || unique.any(|field| set.contains_key(&field.name))
}

/// A never-null field with a default that has no value here.
fn never_made<'t>(ty: &'t ObjectType, values: &[&Map<String, Value>]) -> Option<&'t String> {
    let lacks = |name: &&String| !values.iter().any(|values| values.contains_key(*name));
    let never_null = |name: &&String| ty.fields.get(*name).is_some_and(|field| field.ty.is_non_null());
    ty.defaults.iter().find(|name| never_null(name) && lacks(name))
}

/// Whether a list starts empty: it is never null. A set has no empty form.
fn begins_empty(field: &Field) -> bool {
    let FieldKind::Stored(stored) = &field.kind else { return false };
    field.ty.is_list() && field.ty.is_non_null() && !matches!(stored.value, ValueType::Set(_))
}

/// The index keys that change. `all` holds the item's values if it was read.
fn changed_index_keys(
    job: &WriteJob<'_>,
    ty: &ObjectType,
    changed: &Map<String, Value>,
    of_key: &Map<String, Value>,
    all: Option<&ItemValues>,
) -> Result<IndexChanges, FieldErrors> {
    let model: &Model = job.context.model;
    let known = |field: &str| match (of_key.get(field), all) {
        (Some(value), _) => Some(Some(value.clone())),
        (None, Some(all)) if !all.is_unreadable(field) => Some(all.known.get(field).cloned()),
        (None, _) => None,
    };
    let mut changes = index_keys::index_changes(model, ty, job.context.caller, changed, &known).map_err(invalid)?;
    if changes.lacks_number {
        return Err(unnumbered(&ty.name));
    }
    // Of an item that was read, only a value that cannot be read is not known.
    if let (Some(_), Some(field)) = (all, changes.unknown.first()) {
        return Err(unreadable(ty, field));
    }
    changes.taken.retain(|field| !of_key.contains_key(field));
    Ok(changes)
}

/// An item of nothing but its primary key.
pub fn key_item(key: &Key) -> Item {
    let parts = std::iter::once(&key.partition).chain(&key.sort);
    parts.map(|(name, value)| (name.clone(), value.clone().into())).collect()
}

pub fn copied((field, value): (&String, &Value)) -> (String, Value) {
    (field.clone(), value.clone())
}
