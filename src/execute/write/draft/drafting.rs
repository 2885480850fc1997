//! A write while it is drafted: what its actions share, and the parts that their calls have in common. Must not know the kinds of actions.

use crate::execute::error::{ErrorCode, Refusal};
use crate::execute::expression::condition as filter;
use crate::execute::write::draft::call::{CallRole, DraftCall, Generated, IfAbsent, MainCall, Repeat, ReplicaWrites, WriteDraft};
use crate::execute::write::item::conditions::Conditions;
use crate::execute::write::item::replicas::others;
use crate::execute::write::item::{assemble, unique};
use crate::execute::write::job::WriteJob;
use crate::execute::write::lookup::found_item::FoundItem;
use crate::execute::write::lookup::items::ItemsInScope;
use crate::execute::write::messages::{Refusals, bad_input, invalid};
use crate::schema::expression::condition::Condition;
use crate::schema::model::ObjectType;
use crate::schema::model::write::{Action, WriteTarget};
use crate::table::attribute::{Item, Key};
use crate::table::call::Expression;
use crate::table::write::{WriteAction, WriteCall};
use serde_json::Value;
use std::sync::Arc;
/// A write while it is drafted.
pub struct Drafting<'a, 'j> {
    pub job: &'a WriteJob<'j>,
    pub generated: &'a mut Generated,
    /// Whether an attempt before this one may have been applied.
    pub uncertain: bool,
    pub draft: WriteDraft,
    /// What was found and put so far, by type.
    pub scope: ItemsInScope,
}

/// An item that an action is about: its key, and the item where it was read to find it.
pub struct TargetItem {
    pub key: Key,
    pub item: Option<Arc<Item>>,
}

impl Drafting<'_, '_> {
    /// What is known of an action's main call, as far as it is the same for all kinds.
    pub fn main(&self, action: &Action) -> MainCall {
        MainCall {
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
        if held && self.draft.held.as_ref().is_some_and(FoundItem::demands) { Repeat::Never } else { repeat }
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
        let (attribute, value) = attribute_of(self.job.context.model, ty, &field.name, &expected)?;
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

    /// A guard for a unique value; one that the item has already stays as it is, and is taken out of those that go.
    pub fn guard(&mut self, ty: &ObjectType, field: &str, value: &Value, owner: &Key, gone: &mut Vec<Key>) -> Result<(), Refusals> {
        let model = self.job.context.model;
        let Some(guard) = unique::guard(model, ty, field, value, owner).map_err(invalid)? else { return Ok(()) };
        let key = assemble::key_of(model, ty, &guard);
        if let Some(kept) = gone.iter().position(|gone| key.as_ref() == Some(gone)) {
            gone.remove(kept);
            return Ok(());
        }
        let mut conditions = Conditions::default();
        conditions.absent(&owner.partition.0);
        self.draft.calls.push(DraftCall {
            write: WriteCall { table: self.job.table_of(ty), action: WriteAction::Put(guard), condition: conditions.build() },
            role: CallRole::Guard(ty.name.clone(), field.to_owned()),
        });
        Ok(())
    }

    /// Deletes that go along with another call.
    pub fn along(&mut self, ty: &ObjectType, keys: Vec<Key>) {
        let table = self.job.table_of(ty);
        self.draft.calls.extend(keys.into_iter().map(|key| DraftCall::dependent(table.clone(), WriteAction::Delete(key))));
    }

    /// Writes the copies of an item besides the first, whose key is given; nothing where there are none. `write` is told a copy's number
    /// and its key.
    pub fn copies(&mut self, ty: &ObjectType, key: &Key, mut write: impl FnMut(u8, Key) -> ReplicaWrite) {
        let job = self.job;
        let keys = others(job, ty, key);
        if keys.is_empty() {
            return;
        }
        let table = job.table_of(ty);
        let writes = keys.into_iter().map(|(number, copy)| {
            let (action, condition) = write(number, copy);
            WriteCall { table: table.clone(), action, condition }
        });
        let writes = writes.collect();
        self.draft.copied.push(ReplicaWrites { item: ty.name.clone(), key: key.clone(), writes });
    }
}

/// The author's condition as it is sent.
pub fn written(condition: &Condition, scope: &crate::execute::expression::scope::Scope<'_>) -> Result<Expression, Refusals> {
    filter::whole(condition, scope).map_err(bad_input)
}

/// The attribute in which a field's value is kept as it is, and the value as it is kept.
pub fn attribute_of(
    model: &crate::schema::model::Model,
    ty: &ObjectType,
    field: &str,
    value: &Value,
) -> Option<(String, crate::table::attribute::Attribute)> {
    let name = ty.stored(field)?.attribute.clone()?;
    Some((name, assemble::attribute(model, ty, field, value).ok()??))
}

pub fn internal(what: &str) -> Refusals {
    vec![Refusal::new(ErrorCode::Internal, format!("The write cannot be made: {what}."))]
}

/// A write of a copy: what is done, and on what condition.
pub type ReplicaWrite = (WriteAction, Option<Expression>);
