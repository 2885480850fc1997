//! `@delete` of items → their calls, and the calls that delete their dependents.

use crate::execute::write::calls::draft::{CallRole, CascadedItem, DraftCall, ResultItem};
use crate::execute::write::calls::requirement::{ItemCondition, Reason, Requirements};
use crate::execute::write::draft::drafting::{Drafting, TargetItem, if_absent, is_many};
use crate::execute::write::elements::MAX_IN_TRANSACTION;
use crate::execute::write::job::WriteJob;
use crate::execute::write::lookup::dependents::{self, DependentsToRead, ItemToDelete, ToDelete};
use crate::execute::write::lookup::items::guards_of;
use crate::execute::write::messages::{FieldErrors, absent};
use crate::execute::write::rules::lookups;
use crate::plan::tree::SingleWrites;
use crate::schema::model::ObjectType;
use crate::schema::model::write::{Action, ReturnedFrom};
use crate::table::data::attribute::{Item, Key};
use crate::table::data::write::{WriteAction, WriteCall};
use std::sync::Arc;

impl<'a> Drafting<'a, '_> {
    pub async fn delete(&mut self, position: usize, action: &Action) -> Result<(), FieldErrors> {
        let job = self.job;
        let ty = job.type_named(&action.item)?;
        let alone = job.is_alone();
        let targets = self.target_items(position, action, ty).await?;
        if targets.is_empty() && !is_many(action) {
            let has_version = self.expected_version(ty, action, &mut Requirements::default());
            let is_demanding = action.condition.is_some() || has_version;
            if !alone || is_demanding && !self.takes_more(position, ty) {
                return Err(vec![absent(action.type_name(), action)]);
            }
        }
        for target in targets {
            self.delete_one((position, action), ty, target).await?;
        }
        let demands = self.draft.calls.iter().any(DraftCall::demands) || !self.draft.rules.is_empty();
        let is_last = job.action(position + 1).is_none_or(|next| next.first() != action.first());
        let fits = self.draft.size() <= MAX_IN_TRANSACTION || job.request.is_some();
        if is_last && is_many(action) && alone && !demands && !fits {
            self.delete_in_batches(action.first())?;
        }
        Ok(())
    }

    /// Deletes one item with its replicas, its guards and, by a cascade, its dependents.
    async fn delete_one(
        &mut self,
        (position, action): (usize, &Action),
        ty: &'a ObjectType,
        target: TargetItem,
    ) -> Result<(), FieldErrors> {
        let job = self.job;
        let alone = job.is_alone();
        let reads = self.reads_deleted(position, ty);
        let rules = self.item_rules(action, ty, &target.key).await?;
        let rule = rules.for_stored(&target.key)?;
        let item = match target.item {
            Some(item) => Some(item),
            None if reads && rule.is_some() => rules.admitted(job.read(&ty.name, &target.key).await?).await?,
            None => None,
        };
        let mut requires = Requirements::default();
        let has_version = self.expected_version(ty, action, &mut requires);
        let is_demanding = action.condition.is_some() || has_version;
        let missing = || vec![absent(action.type_name(), action)];
        let is_missing = item.is_none() && (reads || rule.is_none());
        if is_missing && !self.repairs_missing(position, ty) {
            let is_refused = !alone || is_demanding && !self.takes_more(position, ty);
            if is_refused {
                return Err(missing());
            }
            self.delete_nothing(position, ty, target.key);
            return Ok(());
        }
        let gone = match (&item, alone) {
            (Some(_), true) => Reason::Gone,
            (None, true) if !is_demanding => Reason::Nothing,
            _ => if_absent(action, Reason::NotFound),
        };
        // A single DeleteItem tells by its answer whether the item existed.
        let tells = alone && item.is_none() && action.condition.is_none();
        requires.add(if tells { ItemCondition::Visible } else { ItemCondition::Exists }, gone);
        requires.add(ItemCondition::OfType, gone);
        requires.unexpired(ty, gone);
        requires.ruled(rule.ok_or_else(missing)?, false);
        self.hold_found(ty, &target.key, &mut requires);
        if let Some(item) = &item {
            self.hold_deleted(position, ty, item, &mut requires);
        }
        self.author(action, &mut requires);
        let call = self.main(position, (ty, &target.key), WriteAction::Delete(target.key.clone()), requires)?;
        self.draft.calls.push(call);
        self.replicas(ty, &target.key, |_, key| (WriteAction::Delete(key), None));
        let Some(item) = item else {
            self.draft.results[position].push(ResultItem::Answer(ty.name.clone(), target.key));
            return Ok(());
        };
        self.delete_guards(ty, &target.key, guards_of(job, ty, &item));
        if self.cascades(position) {
            lookups::decide(job, &mut self.draft.rules).await?;
            self.cascade(position, &item).await?;
        }
        self.draft.results[position].push(ResultItem::Known(item));
        Ok(())
    }

    /// Deletes nothing, because there is no item, as if a single DeleteItem had said so. Besides other actions, a
    /// missing item is refused: one that comes in meanwhile would be deleted unseen, without its guards and without an
    /// answer.
    fn delete_nothing(&mut self, position: usize, ty: &ObjectType, key: Key) {
        self.draft.results[position].push(ResultItem::Nothing);
        // An interrupted delete may have left replicas.
        self.draft.behind.extend(is_replicated(self.job, ty).then(|| (ty.name.clone(), key)));
    }

    /// Adds that an item that was read is unchanged. The returned item must be the deleted one, so its fields must be
    /// unchanged. A version does not prove that: an item that is put again starts at version 1. If no item is returned,
    /// only the unique fields must be unchanged, so that its guards are the deleted ones.
    fn hold_deleted(&self, position: usize, ty: &ObjectType, item: &Arc<Item>, requires: &mut Requirements) {
        let returns = self.returns_deleted(position);
        let held = ty.fields.values().filter(|field| field.rules.unique || returns).map(|field| &field.name);
        self.hold(ty, item, held, requires);
    }

    /// Whether other items are deleted with those of an action.
    pub fn cascades(&self, position: usize) -> bool {
        self.job.lookups(position).is_some_and(|lookups| !lookups.cascade.is_empty())
    }

    /// Whether the field returns what an action deletes.
    fn returns_deleted(&self, position: usize) -> bool {
        let Some(action) = self.job.action(position) else { return false };
        let from = ReturnedFrom::Action(action.first());
        self.job.planned.results.iter().any(|result| result.returned.from == from)
    }

    /// Whether to read an item before its deletion. A single DeleteItem returns the item, a transaction does not.
    /// Beside other actions, a missing item is an error, which the call's own condition reports. So the item is read
    /// only if something of it is used: for the answer, or for what is deleted with it.
    pub fn reads_deleted(&self, position: usize, ty: &ObjectType) -> bool {
        let job = self.job;
        match job.is_alone() {
            true => job.single_writes() == SingleWrites::Transaction || self.deletes_more(position, ty),
            false => self.returns_deleted(position) || self.takes_more(position, ty),
        }
    }

    /// Whether more is deleted with an item: its dependents, its replicas or its guards.
    fn takes_more(&self, position: usize, ty: &ObjectType) -> bool {
        self.cascades(position) || is_replicated(self.job, ty) || ty.fields.values().any(|field| field.rules.unique)
    }

    /// Whether a missing item is deleted all the same: replicas that an interrupted delete has left go with a
    /// transaction. It must not delete an item that comes in meanwhile without its guards and dependents.
    fn repairs_missing(&self, position: usize, ty: &ObjectType) -> bool {
        let has_unique = ty.fields.values().any(|field| field.rules.unique);
        !self.job.is_alone() && is_replicated(self.job, ty) && !has_unique && !self.cascades(position)
    }

    /// Whether the field writes or checks more than the item that an action deletes.
    fn deletes_more(&self, position: usize, ty: &ObjectType) -> bool {
        !self.job.is_alone() || self.job.looks_up() || self.takes_more(position, ty)
    }

    /// Deletes the dependents of an item: in the same transaction if they fit, else before it. A crash then leaves an
    /// item that can be deleted again, and never dependents without their item.
    pub async fn cascade(&mut self, position: usize, item: &Arc<Item>) -> Result<(), FieldErrors> {
        let related = dependents::find_dependents(self.job, position, item, DependentsToRead::All).await?;
        let stages = related.to_delete(self.job, position);
        let count: usize = stages.iter().flat_map(|(_, items)| items.values()).map(ItemToDelete::count).sum();
        let fits = self.draft.size() + count <= MAX_IN_TRANSACTION || self.job.request.is_some();
        let places = stages
            .iter()
            .filter(|_| fits)
            .flat_map(|(table, items)| items.keys().map(|key| (table.clone(), key.clone())));
        let (places, sources) = (places.collect(), related.sources(self.job, position));
        self.draft.cascades.push(CascadedItem {
            action: position,
            item: item.clone(),
            sources,
            places,
            dependents_first: !fits,
        });
        for (table, items) in stages {
            if fits {
                let left = &self.earlier.foreign_guards;
                let calls = items.into_iter().flat_map(|(key, item)| item.without(&table, left).calls(&table, key));
                let role = |is_guard| if is_guard { CallRole::OldGuard } else { CallRole::Dependent };
                let call = |(WriteCall { table, action, condition }, is_guard)| {
                    DraftCall::from_text((table, action, condition), role(is_guard))
                };
                self.draft.calls.extend(calls.map(call));
            } else {
                self.draft.first.push((table, items));
            }
        }
        Ok(())
    }

    /// Deletes more items of an action, or of its alternatives, than a transaction can hold. No transaction is needed:
    /// the caller demands nothing of the items, and the delete can be repeated.
    pub fn delete_in_batches(&mut self, first: usize) -> Result<(), FieldErrors> {
        let job = self.job;
        let mut own: Vec<(Arc<str>, ToDelete)> = Vec::new();
        for (done, results) in job.directives.actions.iter().zip(&self.draft.results) {
            if done.action.first() != first {
                continue;
            }
            let ty = job.type_named(&done.action.item)?;
            let items = results.iter().filter_map(|outcome| match outcome {
                ResultItem::Known(item) => dependents::to_delete(job, ty, item),
                _ => None,
            });
            own.push((job.table_of(ty), items.collect()));
        }
        self.draft.replicas.clear();
        // Delete the dependents of a cascade first. Guards are deleted with their items.
        let is_own =
            |guard: &Key| own.iter().flat_map(|(_, items)| items.values()).any(|item| item.guards.contains(guard));
        for DraftCall { write, role, .. } in self.draft.calls.drain(..) {
            match (role, write.action) {
                (CallRole::Dependent, WriteAction::Delete(key)) => {
                    let related = ItemToDelete { condition: write.condition, ..ItemToDelete::default() };
                    self.draft.first.push((write.table, ToDelete::from([(key, related)])));
                }
                // It follows its dependent.
                (CallRole::OldGuard, WriteAction::Delete(guard)) if !is_own(&guard) => {
                    let of = self.draft.first.last_mut().and_then(|(_, stage)| stage.values_mut().last());
                    of.into_iter().for_each(|of| of.take_guard(guard.clone(), write.condition.clone()));
                }
                _ => {}
            }
        }
        self.draft.first.extend(own);
        Ok(())
    }
}

/// Whether items of the type have replicas.
fn is_replicated(job: &WriteJob<'_>, ty: &ObjectType) -> bool {
    job.context.model.item(&ty.name).is_some_and(|(_, keys)| keys.replicas().is_some())
}
