//! The state of drafting: what the actions of a field share, and the parts that their calls have in common. Must not
//! know the kinds of actions.

use crate::execute::error::{ErrorCode, FieldError};
use crate::execute::expression::narrow::{KnownAttributes, narrowed};
use crate::execute::expression::settle::Residual;
use crate::execute::expression::stored_form::StoredForm;
use crate::execute::item::replicas::others;
use crate::execute::item::{assemble, identity, unique};
use crate::execute::write::calls::draft::{CallRole, DraftCall, Earlier, Generated, ReplicaWrites, WriteDraft};
use crate::execute::write::calls::requirement::{ItemCondition, Reason, RequiredItem, Requirements};
use crate::execute::write::job::WriteJob;
use crate::execute::write::lookup::items::{ItemsInScope, guards_of};
use crate::execute::write::lookup::targets::LookedUp;
use crate::execute::write::messages::{FieldErrors, invalid};
use crate::execute::write::rules::item_rules::{self, ItemRules};
use crate::execute::write::rules::lookups::{self, RuleCheck};
use crate::schema::model::ObjectType;
use crate::schema::model::auth::AuthAction;
use crate::schema::model::demanded;
use crate::schema::model::find::{Access, Via};
use crate::schema::model::write::{Action, WriteTarget};
use crate::schema::table::Table;
use crate::table::data::attribute::{Attribute, Item, Key};
use crate::table::data::call::{Expression, Get};
use crate::table::data::write::{WriteAction, WriteCall};
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::sync::Arc;

/// The state of drafting a write.
pub struct Drafting<'a, 'j> {
    /// The write.
    pub job: &'a WriteJob<'j>,
    /// Generated values of all attempts.
    pub generated: &'a mut Generated,
    /// What earlier attempts found.
    pub earlier: &'a Earlier,
    /// The draft.
    pub draft: WriteDraft,
    /// The items found and put so far.
    pub scope: ItemsInScope,
    /// What the lookups of actions found that are made ahead, by the positions of the actions.
    pub looked_up: HashMap<usize, LookedUp>,
}

/// An item that an action writes or checks: its key, and the item if it was read to find it.
pub struct TargetItem {
    /// Its key.
    pub key: Key,
    /// The item, if it was read.
    pub item: Option<Arc<Item>>,
}

/// The value of a unique field that the action at a position writes.
pub struct UniqueValue<'v> {
    /// The position.
    pub action: usize,
    /// The item type.
    pub ty: &'v ObjectType,
    /// The field.
    pub field: &'v str,
    /// Its value; null needs no guard.
    pub value: &'v Value,
    /// The time at which its item expires, and its guard with it.
    pub time: Option<&'v Attribute>,
}

/// The guards that an item has before a write.
#[derive(Default)]
pub struct OldGuards {
    /// Their keys.
    pub keys: Vec<Key>,
    /// The time at which they expire.
    pub time: Option<Attribute>,
    /// The key that they name, if the item has another one after the write.
    pub owner: Option<Key>,
}

impl OldGuards {
    /// Those of an item that was read.
    pub fn new(job: &WriteJob<'_>, ty: &ObjectType, item: &Item) -> Self {
        let time = identity::expires(ty).and_then(|time| item.get(time)).cloned();
        Self { keys: guards_of(job, ty, item), time, owner: None }
    }
}

impl<'a> Drafting<'a, '_> {
    /// The call of the action at this position on the item with this key.
    pub fn main(
        &self,
        action: usize,
        (ty, key): (&ObjectType, &Key),
        write: WriteAction,
        requires: Requirements,
    ) -> Result<DraftCall, FieldErrors> {
        let condition = self.text(&requires, (ty, key))?;
        let role = CallRole::Main { action, item: ty.name.clone() };
        let write = WriteCall { table: self.job.table_of(ty), action: write, condition };
        Ok(DraftCall::new(write, role, requires))
    }

    /// The text of what is demanded of the item with this key.
    pub fn text(
        &self,
        requires: &Requirements,
        (ty, key): (&ObjectType, &Key),
    ) -> Result<Option<Expression>, FieldErrors> {
        requires.text(
            RequiredItem { job: self.job, ty, key, letter: 'c', meets_expired: false },
            &self.draft.scope(self.job),
        )
    }

    /// Adds the author's condition.
    pub fn author(&self, action: &Action, requires: &mut Requirements) {
        if let Some(condition) = &action.condition {
            requires.author_demands(condition.clone(), if_unmet(action));
        }
    }

    /// Asks the rules of the field itself.
    pub async fn ask_for_field(&mut self) -> Result<(), FieldErrors> {
        let job = self.job;
        let Some(field) = job.field().filter(|field| field.auth.look_up(AuthAction::Write)) else { return Ok(()) };
        let of = format!("Mutation.{}", field.name);
        let alternatives = lookups::alternatives(job, &of, (&field.auth, AuthAction::Write), &Map::new());
        match self.ask(alternatives, true).await? {
            Residual::Always => Ok(()),
            _ => Err(vec![item_rules::refused(job.context, (&of, AuthAction::Write))]),
        }
    }

    /// The rules for an action on the item with this key. The items that they look up are checked by the write.
    pub async fn item_rules(
        &mut self,
        action: &Action,
        ty: &'a ObjectType,
        key: &Key,
    ) -> Result<ItemRules<'a>, FieldErrors> {
        self.demanded(ty, self.job.write.demanded(action, ty), (&KnownAttributes::from_key(key).into_item(), false))
            .await
    }

    /// What rules demand of an item of which these attributes are known. If that `is_all` of it, nothing is looked up
    /// where another rule lets the caller in.
    pub async fn demanded(
        &mut self,
        ty: &'a ObjectType,
        demanded: Vec<demanded::Demanded<'a>>,
        (known, is_all): (&Item, bool),
    ) -> Result<ItemRules<'a>, FieldErrors> {
        let job = self.job;
        let mut looked_up = Vec::new();
        for (of, auth, asked) in demanded.iter().filter(|(_, auth, asked)| auth.look_up(*asked)) {
            let own = assemble::values_of(job.context.model, ty, known).known;
            let (mut others, mut checks) = lookups::alternatives(job, of, (auth, *asked), &own);
            if is_all {
                others = Residual::known(others.is_met(known, &job.scope()));
                checks.retain(|_| others == Residual::Never);
            } else if narrowed(&others, &KnownAttributes::from_item(known), &job.scope()) == Residual::Always {
                // The key lets the caller in, so nothing is looked up.
                (others, checks) = (Residual::Always, Vec::new());
            }
            let hides = *asked == AuthAction::Read && auth.hide();
            looked_up.push(self.ask((others, checks), !hides).await?);
        }
        let mut rules = ItemRules::new(job.context, ty, demanded);
        looked_up.into_iter().for_each(|demand| rules.also(demand));
        Ok(rules)
    }

    /// The reads of what rules look up for an item of which these attributes are known, where they are read ahead.
    pub fn lookups_ahead(&self, ty: &ObjectType, demanded: &[demanded::Demanded<'_>], known: &Item) -> Vec<Get> {
        let job = self.job;
        let mut gets = Vec::new();
        for (of, auth, asked) in demanded.iter().filter(|(_, auth, asked)| auth.look_up(*asked)) {
            let own = assemble::values_of(job.context.model, ty, known).known;
            let (others, checks) = lookups::alternatives(job, of, (auth, *asked), &own);
            // What is known lets the caller in, so nothing is looked up.
            if narrowed(&others, &KnownAttributes::from_item(known), &job.scope()) == Residual::Always {
                continue;
            }
            if lookups::are_read(&others, &checks, *asked != AuthAction::Read || !auth.hide()) {
                gets.extend(checks.iter().filter_map(|check| lookups::get(job, check).ok()));
            }
        }
        gets
    }

    /// Chooses among the alternatives of a demand. Gives what is left of it.
    async fn ask(
        &mut self,
        alternatives: (Residual, Vec<RuleCheck>),
        may_refuse: bool,
    ) -> Result<Residual, FieldErrors> {
        let (left, check) = lookups::choose(self.job, alternatives, may_refuse).await?;
        let is_known = |check: &RuleCheck| {
            let same = |known: &RuleCheck| {
                known.table == check.table && known.key == check.key && known.condition == check.condition
            };
            self.draft.rules.iter().any(same)
        };
        self.draft.rules.extend(check.filter(|check| !is_known(check)));
        Ok(left)
    }

    /// Adds the condition on the version that the caller expects. Whether there is one.
    pub fn expected_version(&self, ty: &ObjectType, action: &Action, requires: &mut Requirements) -> bool {
        let given = || {
            let field = ty.fields.values().find(|field| field.rules.version)?;
            let expected =
                self.given(action.values.get(&field.name)?.source()?).ok()?.filter(|value| !value.is_null())?;
            attribute_of(self.job.context.model, ty, &field.name, &expected)
        };
        let Some((attribute, value)) = given() else { return false };
        requires.add(ItemCondition::Equals(attribute, value), Reason::VersionChanged);
        true
    }

    /// The form in which an item is stored, as far as it is known: the item, if it was read or must be.
    pub async fn stored_form(
        &self,
        ty: &ObjectType,
        key: &Key,
        item: Option<&Arc<Item>>,
    ) -> Result<StoredForm, FieldErrors> {
        let place = (self.job.table_of(ty), key.clone());
        let item = match item {
            None if self.earlier.as_stored => self.job.read(&ty.name, key).await?,
            None => self.earlier.came_back.get(&place).cloned(),
            item => item.cloned(),
        };
        let table = self.job.context.model.item(&ty.name).map(|(_, keys)| &self.job.context.model.tables[keys.table]);
        let keys = table.into_iter().flat_map(Table::key_attributes).map(|key| key.name.clone());
        Ok(StoredForm::new(item, keys.collect()))
    }

    /// Adds conditions that fields are unchanged since they were read.
    pub fn hold<'f>(
        &self,
        ty: &ObjectType,
        item: &Arc<Item>,
        fields: impl Iterator<Item = &'f String>,
        requires: &mut Requirements,
    ) {
        for field in fields {
            requires.unchanged(assemble::determining_attributes(ty, field, item), item);
            // It is no field, but the number of the item's shard.
            if !ty.fields.contains_key(field) {
                let number = assemble::number_of(self.job.context.model, ty, item);
                requires.unchanged(number.map(|(_, attribute)| attribute), item);
            }
        }
    }

    /// Puts the guard of a unique value, which ends with its item. If the item already has this guard with the same
    /// time and keeps its key, keeps it and removes it from `gone`. A new item, for which there is no `gone`, has no
    /// guard yet. The guard of an item that has expired is taken over.
    pub fn guard(
        &mut self,
        UniqueValue { action, ty, field, value, time }: UniqueValue<'_>,
        owner: &Key,
        gone: Option<&mut OldGuards>,
    ) -> Result<(), FieldErrors> {
        let model = self.job.context.model;
        let Some(mut guard) = unique::guard(model, ty, field, value, owner).map_err(invalid)? else { return Ok(()) };
        let key = assemble::key_of(model, ty, &guard);
        unique::end_with_item(&mut guard, ty, time);
        let mut requires = Requirements::default();
        let mut owned = Vec::new();
        if let Some(gone) = gone {
            owned = unique::owner_attributes(model, ty, gone.owner.as_ref().unwrap_or(owner));
            if let Some(kept) = gone.keys.iter().position(|gone| key.as_ref() == Some(gone)) {
                gone.keys.remove(kept);
                if gone.time.as_ref() == time && gone.owner.is_none() {
                    return Ok(());
                }
            }
        }
        let free = match identity::expires(ty) {
            Some(expires) => ItemCondition::FreeGuard(owned, expires.to_owned()),
            None if owned.is_empty() => ItemCondition::Absent,
            None => ItemCondition::Owned(owned),
        };
        requires.add(free, Reason::Taken);
        let condition = self.text(&requires, (ty, owner))?;
        let write = WriteCall { table: self.job.table_of(ty), action: WriteAction::Put(guard), condition };
        let role = CallRole::Guard { action, item: ty.name.clone(), field: field.to_owned() };
        self.draft.calls.push(DraftCall::new(write, role, requires));
        Ok(())
    }

    /// Deletes guards that an item needs no longer.
    pub fn delete_guards(&mut self, ty: &ObjectType, owner: &Key, guards: Vec<Key>) {
        if guards.is_empty() {
            return;
        }
        let (table, condition) = (self.job.table_of(ty), unique::is_owned(self.job.context.model, ty, owner));
        let own = guards.into_iter().filter(|key| !self.earlier.foreign_guards.contains(&(table.clone(), key.clone())));
        let old = |key| {
            DraftCall::from_text((table.clone(), WriteAction::Delete(key), condition.clone()), CallRole::OldGuard)
        };
        self.draft.calls.extend(own.map(old));
    }

    /// Writes the other replicas of a replicated item. `key` is the key of the first replica. `write` gets a replica's
    /// number and key.
    pub fn replicas(&mut self, ty: &ObjectType, key: &Key, mut write: impl FnMut(u8, Key) -> ReplicaWrite) {
        let job = self.job;
        let keys = others(job.context.model, ty, key);
        if keys.is_empty() {
            return;
        }
        let table = job.table_of(ty);
        let writes = keys.into_iter().map(|(number, key)| {
            let (action, condition) = write(number, key);
            WriteCall { table: table.clone(), action, condition }
        });
        let writes = writes.collect();
        self.draft.replicas.push(ReplicaWrites { item: ty.name.clone(), key: key.clone(), writes });
    }
}

/// Whether an action is about many items that a lookup finds.
pub fn is_many(action: &Action) -> bool {
    matches!(action.target, WriteTarget::Read { many: true, .. })
}

/// What follows if an item does not meet the author's condition. One of many is left out by the next attempt.
pub fn if_unmet(action: &Action) -> Reason {
    if is_many(action) { Reason::Race } else { Reason::ConditionFailed }
}

/// What follows if the item of an action does not exist. One of many is left out by the next attempt. One that was
/// sought in every shard may be in another now, and one of several types may be of another.
pub fn if_absent(action: &Action, otherwise: Reason) -> Reason {
    if is_many(action) || is_sought(action) || action.alternative.is_some() { Reason::Gone } else { otherwise }
}

/// Whether the item of an action is sought by its whole key: it may be in any shard.
pub fn is_sought(action: &Action) -> bool {
    let WriteTarget::Read { find, .. } = &action.target else { return false };
    matches!(&find.via, Via::Keys(paths) if paths.iter().all(|path| matches!(path.access, Access::Get { .. })))
}

/// The attribute that stores a field's value, and the stored value.
pub fn attribute_of(
    model: &crate::schema::model::Model,
    ty: &ObjectType,
    field: &str,
    value: &Value,
) -> Option<(String, Attribute)> {
    let name = ty.stored(field)?.attribute.clone()?;
    Some((name, assemble::attribute(model, ty, field, value).ok()??))
}

/// The error of a write that the checker should have refused.
pub fn internal(what: &str) -> FieldErrors {
    vec![FieldError::new(ErrorCode::Internal, format!("The write is not possible: {what}."))]
}

/// The write of a replica, and its condition.
pub type ReplicaWrite = (WriteAction, Option<Expression>);
