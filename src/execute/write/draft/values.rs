//! Sources of an action → values: of arguments, of a put, of a key; and the items that the action is about.

use crate::execute::context::ExecutionContext;
use crate::execute::expression::evaluate;
use crate::execute::item::assemble;
use crate::execute::write::draft::defaults::unmade;
use crate::execute::write::draft::drafting::{Drafting, TargetItem, internal};
use crate::execute::write::elements::MAX_IN_TRANSACTION;
use crate::execute::write::lookup::found_item::FoundItem;
use crate::execute::write::lookup::source_value::source_value;
use crate::execute::write::lookup::targets::{self, LookedUp};
use crate::execute::write::messages::{FieldErrors, absent, bad_input, invalid, one_of_several, several};
use crate::execute::write::rules::arguments::computed_value;
use crate::execute::write::rules::expression;
use crate::execute::write::rules::item_rules::ItemRules;
use crate::schema::model::ObjectType;
use crate::schema::model::find::Access;
use crate::schema::model::source::Source;
use crate::schema::model::write::{Action, ActionKind, GivenValue, WriteTarget, WrittenValue};
use crate::table::data::attribute::Key;
use indexmap::IndexMap;
use serde_json::{Map, Value, json};
use std::sync::Arc;

impl Drafting<'_, '_> {
    /// What the lookup of the action at a position finds, which may be made already.
    pub async fn look_up(&mut self, position: usize) -> LookedUp {
        let found = match self.looked_up.remove(&position) {
            Some(found) => found,
            None => match self.decided_by_key(position) {
                Some(decided) => decided,
                None => targets::look_up(self.job, &self.scope, position).await,
            },
        }?;
        let job = self.job;
        let Some(Action { item, target: WriteTarget::Read { find, many }, .. }) = job.action(position) else {
            return Ok(found);
        };
        match self.earlier.raced || found.len() > 1 && !many {
            true => targets::still_indexed(job, (job.type_named(item)?, find), found).await,
            false => Ok(found),
        }
    }

    /// What the lookup of one of several types finds, if its whole key decides that rules refuse or hide it: then
    /// nothing is read.
    pub fn decided_by_key(&self, position: usize) -> Option<LookedUp> {
        let job = self.job;
        let action = job.action(position).filter(|action| action.alternative.is_some())?;
        let WriteTarget::Read { find, many: false } = &action.target else { return None };
        let path = targets::path_of(find).filter(|path| matches!(path.access, Access::Get { .. }))?;
        let ty = job.type_named(&action.item).ok()?;
        let key = self.key(ty, &path.bindings).ok()?;
        match ItemRules::new(job.context, ty, job.write.demanded(action, ty)).for_stored(&key) {
            Ok(Some(_)) => None,
            Ok(None) => Some(Ok(Vec::new())),
            Err(errors) => Some(Err(errors)),
        }
    }

    /// The items that an action is about: one by its key, or those that a lookup finds. Finding none is an error,
    /// unless the action is a delete or may affect many items.
    pub async fn target_items(
        &mut self,
        position: usize,
        action: &Action,
        ty: &ObjectType,
    ) -> Result<Vec<TargetItem>, FieldErrors> {
        let model = self.job.context.model;
        let WriteTarget::Read { many, .. } = action.target else {
            return Ok(vec![TargetItem { key: self.known_key(ty, action)?, item: None }]);
        };
        let found = self
            .look_up(position)
            .await
            .map_err(|errors| if many { errors } else { one_of_several(errors, action.type_name()) })?;
        let found = targets::there(self.job, (action, ty), found).await?;
        let deletes = matches!(action.kind, ActionKind::Delete { .. }) && action.at.is_none();
        if found.is_empty() && !many && !deletes {
            return Err(vec![absent(action.type_name(), action)]);
        }
        if found.len() > 1 && !many {
            return Err(several(action.type_name()));
        }
        let by_index = match &action.target {
            WriteTarget::Read { find, .. } => targets::index_keys(self.job, ty, find),
            WriteTarget::Key(_) | WriteTarget::Found(_) => Vec::new(),
        };
        // Of many items, skip those that do not meet the author's condition.
        let scope = self.draft.scope(self.job);
        let mut aims = Vec::with_capacity(found.len());
        for item in found {
            let meant = match action.condition.as_ref().filter(|_| many) {
                Some(condition) => evaluate::holds(condition, Some(&item), &scope).map_err(bad_input)?,
                None => true,
            };
            if let (true, Some(key)) = (meant, assemble::key_of(model, ty, &item)) {
                aims.push(TargetItem { key, item: Some(item) });
            }
        }
        // What a transaction cannot hold is deleted without conditions.
        if !by_index.is_empty() && aims.len() <= MAX_IN_TRANSACTION {
            let held = aims
                .iter()
                .filter_map(|aim| FoundItem::looked_up(self.job, ty, (&aim.key, aim.item.as_ref()), &by_index));
            self.draft.held.extend(held.map(Arc::new));
        }
        Ok(aims)
    }

    /// The key of an action's item, as far as it is known without a read for the action.
    pub fn known_key(&self, ty: &ObjectType, action: &Action) -> Result<Key, FieldErrors> {
        let held = |alias: &String| self.draft.held.iter().find(|held| held.alias == *alias);
        match &action.target {
            WriteTarget::Key(sources) => self.key(ty, sources),
            WriteTarget::Found(alias) => held(alias).map(|held| held.key.clone()).ok_or_else(|| internal(&ty.name)),
            WriteTarget::Read { .. } => Err(internal(&ty.name)),
        }
    }

    /// The values of a key's fields, without null.
    pub fn key_values(&self, sources: &IndexMap<String, Source>) -> Result<Map<String, Value>, FieldErrors> {
        let mut values = Map::new();
        for (field, source) in sources {
            values.extend(self.given(source)?.filter(|value| !value.is_null()).map(|value| (field.clone(), value)));
        }
        Ok(values)
    }

    /// The primary key that these give. A field that only a longer alternative of a key has may be null.
    pub fn key(&self, ty: &ObjectType, sources: &IndexMap<String, Source>) -> Result<Key, FieldErrors> {
        let values = self.key_values(sources)?;
        let ExecutionContext { model, caller, .. } = self.job.context;
        assemble::primary_key(model, ty, caller, &values).map_err(|mistake| {
            match sources.keys().find(|field| !values.contains_key(*field)) {
                Some(field) => bad_input(format!("\"{field}\" is needed to find the item.")),
                None => invalid(mistake),
            }
        })
    }

    /// The values of a put: given values, and defaults for the rest. Generated values stay the same in all attempts.
    pub fn values(
        &mut self,
        position: usize,
        ty: &ObjectType,
        written: &IndexMap<String, WrittenValue>,
    ) -> Result<Map<String, Value>, FieldErrors> {
        let mut values = Map::new();
        for (field, written) in written {
            let Some(value) = self.written_value((position, ty), field, written)? else { continue };
            let replaced = value.is_null()
                && written.default.is_some()
                && ty.fields.get(field).is_some_and(|field| field.ty.is_non_null());
            if !replaced {
                // Only an argument is filled in. Values of a found item are complete, and may differ in the next
                // attempt.
                let value = match ty.fields.get(field).filter(|_| written.is_brought()) {
                    Some(field) => self.fill_embedded(position, field, value)?,
                    None => value,
                };
                values.insert(field.clone(), value);
            }
        }
        self.make_defaults(position, ty, &mut values);
        // Lists that start empty without a declared default.
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
        expression::keep(ty, values.iter())?;
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

    /// What the action at a position gives a field of a type, by its source or made for it; `None` if it has none, or
    /// if that is not given.
    pub fn written_value(
        &mut self,
        (position, ty): (usize, &ObjectType),
        field: &str,
        written: &WrittenValue,
    ) -> Result<Option<Value>, FieldErrors> {
        match (&written.given, ty.fields.get(field)) {
            (Some(GivenValue::Source(source)), _) => self.given(source),
            (Some(GivenValue::Made(made)), Some(field)) => Ok(self.default_of(position, field, made, &Map::new())),
            (Some(GivenValue::Computed(computed)), Some(field)) => {
                computed_value(ty, field, computed, &self.draft.scope(self.job))
            }
            (Some(GivenValue::Made(_) | GivenValue::Computed(_)) | None, _) => Ok(None),
        }
    }

    /// The value of a source; `None` if it is not given. Fails if it is a stored value that its type cannot read.
    pub fn given(&self, source: &Source) -> Result<Option<Value>, FieldErrors> {
        source_value(self.job, (self.job.arguments(), &self.scope), source)
    }
}
