//! Sources of an action → values: of arguments, of a put, of a key; and the items that the action is about.

use crate::execute::auth::hiding::is_hidden;
use crate::execute::context::ExecutionContext;
use crate::execute::error::ErrorCode;
use crate::execute::expression::compute;
use crate::execute::expression::evaluate;
use crate::execute::expression::scope::argument;
use crate::execute::item::assemble;
use crate::execute::write::draft::defaults::unmade;
use crate::execute::write::draft::drafting::{Drafting, TargetItem, internal};
use crate::execute::write::lookup::items::{self, ItemInScope};
use crate::execute::write::messages::{FieldErrors, absent, bad_input, invalid, table_error, unreadable};
use crate::execute::write::rules::expression;
use crate::execute::write::rules::item_rules::ItemRules;
use crate::execute::write::rules::lookups;
use crate::schema::model::ObjectType;
use crate::schema::model::source::{Source, TextPart};
use crate::schema::model::write::{Action, ActionKind, GivenValue, WriteTarget, WrittenValue};
use crate::table::data::attribute::{Item, Key};
use indexmap::IndexMap;
use serde_json::{Map, Value, json};
use std::sync::Arc;

impl Drafting<'_, '_> {
    /// Those of the found items that are there for the caller. One that the caller neither sees nor may write is not:
    /// it must not change the answer, nor make the arguments ambiguous.
    async fn there(
        &self,
        action: &Action,
        ty: &ObjectType,
        found: Vec<Arc<Item>>,
    ) -> Result<Vec<Arc<Item>>, FieldErrors> {
        let job = self.job;
        let demanded = job.write.demanded(action, ty);
        let rules = ItemRules::new(job.context, ty, demanded.clone());
        let mut there = Vec::with_capacity(found.len());
        for item in found {
            let mut is_there = rules.admits(&item).await?;
            if is_hidden(job.context, ty, &item).await.map_err(|error| vec![table_error(&error)])? {
                let own = assemble::values_of(job.context.model, ty, &item).known;
                for (of, auth, asked) in demanded.iter().filter(|(_, auth, asked)| auth.look_up(*asked)) {
                    is_there = is_there
                        && lookups::let_write(job, lookups::alternatives(job, of, (auth, *asked), &own), &item).await?;
                }
            }
            there.extend(is_there.then_some(item));
        }
        Ok(there)
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
        let lookup = self.job.lookups(position).and_then(|lookups| lookups.target.as_ref());
        let Some(lookup) = lookup else { return Err(internal(&ty.name)) };
        let ambiguous = || bad_input(format!("The arguments match more than one {}. Give more of its key.", ty.name));
        let found =
            items::items(self.job, lookup, &self.scope).await.map_err(|field_errors| match field_errors.first() {
                Some(field_error) if field_error.code == ErrorCode::LimitExceeded && !many => ambiguous(),
                _ => field_errors,
            })?;
        let found = self.there(action, ty, found).await?;
        let deletes = matches!(action.kind, ActionKind::Delete { .. }) && action.at.is_none();
        if found.is_empty() && !many && !deletes {
            return Err(vec![absent(&ty.name, action)]);
        }
        if found.len() > 1 && !many {
            return Err(ambiguous());
        }
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
                compute::value(computed, field, &self.draft.scope(self.job))
                    .map_err(|why| bad_input(format!("{}.{} {}.", ty.name, field.name, why.trim_end_matches('.'))))
            }
            (Some(GivenValue::Made(_) | GivenValue::Computed(_)) | None, _) => Ok(None),
        }
    }

    /// The value of a source; `None` if it is not given. Fails if it is a stored value that its type cannot read.
    pub fn given(&self, source: &Source) -> Result<Option<Value>, FieldErrors> {
        Ok(match source {
            Source::Argument(name) => argument(self.job.arguments(), name).cloned(),
            // Without the claim, the write was refused before.
            Source::Claim(claim) => Some(self.job.context.caller.text(claim).map_or(Value::Null, Value::String)),
            Source::Item(name, field) => {
                let Some(ItemInScope { ty, item }) = self.scope.get(name) else { return Ok(None) };
                let ty = self.job.type_named(ty)?;
                let values = assemble::values_of(self.job.context.model, ty, item);
                if values.is_unreadable(field) {
                    return Err(unreadable(ty, field));
                }
                // What the item lacks is null, not missing: no default takes its place.
                Some(values.known.get(field).cloned().unwrap_or_default())
            }
            Source::Parent(_) => None,
            Source::Text(parts) => {
                let mut text = String::new();
                for part in parts {
                    match part {
                        TextPart::Literal(literal) => text.push_str(literal),
                        TextPart::Value(source) => match self.given(source)? {
                            None => return Ok(None),
                            Some(Value::Null) => return Ok(Some(Value::Null)),
                            Some(Value::String(value)) => text.push_str(&value),
                            Some(value) => text.push_str(&value.to_string()),
                        },
                    }
                }
                Some(Value::String(text))
            }
        })
    }
}
