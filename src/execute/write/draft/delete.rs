//! `@delete` of items → their calls, and the calls that delete their dependents.

use crate::execute::write::draft::call::{CallRole, CascadedItem, DraftCall, IfAbsent, MOST_IN_TRANSACTION, MainCall, ResultItem};
use crate::execute::write::draft::drafting::Drafting;
use crate::execute::write::item::conditions::Conditions;
use crate::execute::write::item::identity;
use crate::execute::write::lookup::dependents::{self, DependentsToRead, ItemToDelete, ToDelete};
use crate::execute::write::lookup::items::guards_of;
use crate::execute::write::messages::{FieldErrors, absent};
use crate::execute::write::rules::lookups;
use crate::plan::tree::SingleWrites;
use crate::schema::model::ObjectType;
use crate::schema::model::write::{Action, WriteReturns, WriteTarget};
use crate::table::data::attribute::{Item, Key};
use crate::table::data::write::WriteAction;
use std::sync::Arc;

impl Drafting<'_, '_> {
    pub async fn delete(&mut self, position: usize, action: &Action) -> Result<(), FieldErrors> {
        let job = self.job;
        let ty = job.type_named(&action.item)?;
        let alone = job.write.actions.len() == 1;
        let beside = self.reads_deleted(position, ty);
        let told_by_call = !self.deletes_more(position, ty);
        let cascades = self.cascades(position);
        let unique = ty.fields.values().any(|field| field.rules.unique);
        let many = matches!(&action.target, WriteTarget::Read { many: true, .. });
        let is_replicated = job.context.model.item(&ty.name).is_some_and(|(_, keys)| keys.replicas().is_some());
        let given_back = matches!(job.write.returns, WriteReturns::Item(of) | WriteReturns::Items(of) if of == position);
        for target in self.target_items(position, action, ty).await? {
            let rules = self.item_rules(action, ty, &target.key).await?;
            let item = match target.item {
                Some(item) => Some(item),
                None if beside => rules.admitted(job.read(&ty.name, &target.key).await?).await?,
                None => None,
            };
            let rule = rules.of_stored(&target.key)?;
            let read = item.is_some() || beside;
            let mut conditions = Conditions::default();
            let version = self.expected_version(ty, action, &mut conditions);
            let demanding = action.condition.is_some() || version.is_some();
            match &item {
                // It is as if a single DeleteItem had said so.
                None if read && alone && told_by_call && demanding => {
                    return Err(vec![absent(&ty.name, action.condition.as_ref(), action.message.as_deref())]);
                }
                None if read && alone => {
                    // There is nothing to delete and nothing to return.
                    self.draft.results[position].push(ResultItem::Nothing);
                    // An interrupted delete may have left replicas.
                    self.draft.behind.extend(is_replicated.then(|| (ty.name.clone(), target.key)));
                    continue;
                }
                // A single DeleteItem tells by its answer whether the item existed.
                None if alone && action.condition.is_none() => {}
                _ => conditions.exists(&target.key.partition.0),
            }
            identity::demand((ty, &target.key), &mut conditions);
            self.ruled(&rule, (&target.key, false), &mut conditions)?;
            let held = self.hold_found(ty, &target.key, &mut conditions)?;
            // The returned item must be the deleted one, so its fields must be unchanged. A version does not prove that: an item that is
            // put again starts at version 1. If no item is returned, only the unique fields must be unchanged, so that its guards are the
            // deleted ones.
            let held_fields = ty.fields.values().filter(|field| field.rules.unique || given_back).map(|field| &field.name);
            self.hold(ty, item.as_deref(), held_fields, &mut conditions);
            self.author(action, &mut conditions)?;
            let if_absent = match alone {
                true if read => IfAbsent::ReadAgain,
                true if action.condition.is_none() && version.is_none() => IfAbsent::Nothing,
                _ => IfAbsent::NotFound,
            };
            let relies = (unique || given_back) && item.is_some();
            let main = MainCall { version, if_absent, held, relies, rule, ..self.main(action) };
            let call = DraftCall::main(job.table_of(ty), WriteAction::Delete(target.key.clone()), conditions, main);
            self.draft.calls.push(call);
            self.replicas(ty, &target.key, |_, key| (WriteAction::Delete(key), None));
            match item {
                Some(item) => {
                    self.delete_guards(ty, &target.key, guards_of(job, ty, &item));
                    if cascades {
                        lookups::decide(job, &mut self.draft.rules).await?;
                        self.cascade(position, &item).await?;
                    }
                    self.draft.results[position].push(ResultItem::Known(item));
                }
                None => self.draft.results[position].push(ResultItem::Answer(ty.name.clone(), target.key)),
            }
        }
        let demands = self.draft.calls.iter().any(DraftCall::demands) || !self.draft.rules.is_empty();
        if many && alone && !demands && self.draft.size() > MOST_IN_TRANSACTION {
            self.delete_in_batches(position, ty);
        }
        Ok(())
    }

    /// Whether other items are deleted with those of an action.
    pub fn cascades(&self, position: usize) -> bool {
        self.job.planned.actions.get(position).is_some_and(|lookups| !lookups.cascade.is_empty())
    }

    /// Whether to read an item before its deletion. A single DeleteItem returns the item, a transaction does not.
    pub fn reads_deleted(&self, position: usize, ty: &ObjectType) -> bool {
        self.job.context.single_writes == SingleWrites::Transaction || self.deletes_more(position, ty)
    }

    /// Whether the field writes or checks more than the item that an action deletes.
    fn deletes_more(&self, position: usize, ty: &ObjectType) -> bool {
        let job = self.job;
        let is_replicated = job.context.model.item(&ty.name).is_some_and(|(_, keys)| keys.replicas().is_some());
        job.write.actions.len() > 1
            || job.looks_up()
            || self.cascades(position)
            || is_replicated
            || ty.fields.values().any(|field| field.rules.unique)
    }

    /// Deletes the dependents of an item: in the same transaction if they fit, else before it. A crash then leaves an item that can be
    /// deleted again, and never dependents without their item.
    pub async fn cascade(&mut self, position: usize, item: &Arc<Item>) -> Result<(), FieldErrors> {
        let related = dependents::of_item(self.job, position, item, DependentsToRead::All).await?;
        let stages = related.to_delete(self.job, position);
        let count: usize = stages.iter().flat_map(|(_, items)| items.values()).map(ItemToDelete::count).sum();
        let fits = self.draft.size() + count <= MOST_IN_TRANSACTION;
        let places = stages.iter().filter(|_| fits).flat_map(|(table, items)| items.keys().map(|key| (table.clone(), key.clone())));
        let (places, sources) = (places.collect(), related.sources(self.job, position));
        self.draft.cascades.push(CascadedItem { action: position, item: item.clone(), sources, places, dependents_first: !fits });
        for (table, items) in stages {
            if fits {
                let left = &self.earlier.foreign_guards;
                let calls = items.into_iter().flat_map(|(key, item)| item.without(&table, left).calls(&table, key));
                let role = |is_guard| if is_guard { CallRole::OldGuard } else { CallRole::Dependent };
                self.draft.calls.extend(calls.map(|(write, is_guard)| DraftCall { write, role: role(is_guard) }));
            } else {
                self.draft.first.push((table, items));
            }
        }
        Ok(())
    }

    /// Deletes more items than a transaction can hold. No transaction is needed: the caller demands nothing of the items, and the delete
    /// can be repeated.
    pub fn delete_in_batches(&mut self, position: usize, ty: &ObjectType) {
        let items = self.draft.results[position].iter().filter_map(|outcome| match outcome {
            ResultItem::Known(item) => dependents::to_delete(self.job, ty, item),
            _ => None,
        });
        let items: ToDelete = items.collect();
        self.draft.replicas.clear();
        // Delete the dependents of a cascade first. Guards are deleted with their items.
        let is_own = |guard: &Key| items.values().any(|item| item.guards.contains(guard));
        for DraftCall { write, role } in self.draft.calls.drain(..) {
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
        self.draft.first.push((self.job.table_of(ty), items));
    }
}
