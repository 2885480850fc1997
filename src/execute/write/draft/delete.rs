//! `@delete` of items → their calls, and the calls that delete their dependents.

use crate::execute::write::draft::call::{CallRole, CascadedItem, DraftCall, IfAbsent, MOST_IN_TRANSACTION, MainCall, Repeat, ResultItem};
use crate::execute::write::draft::drafting::Drafting;
use crate::execute::write::item::conditions::Conditions;
use crate::execute::write::item::identity;
use crate::execute::write::lookup::dependents::{self, DependentsToRead, ItemToDelete, ToDelete};
use crate::execute::write::lookup::items::guards_of;
use crate::execute::write::messages::FieldErrors;
use crate::execute::write::rules::lookups;
use crate::schema::model::ObjectType;
use crate::schema::model::write::{Action, WriteReturns, WriteTarget};
use crate::table::data::attribute::Item;
use crate::table::data::write::WriteAction;
use std::sync::Arc;

impl Drafting<'_, '_> {
    pub async fn delete(&mut self, position: usize, action: &Action) -> Result<(), FieldErrors> {
        let job = self.job;
        let ty = job.type_named(&action.item)?;
        let alone = job.write.actions.len() == 1;
        let beside = self.reads_deleted(position, ty);
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
            match &item {
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
            identity::demand(ty, &mut conditions);
            self.ruled(&rule, (&target.key, false), &mut conditions)?;
            let held = self.hold_found(ty, &target.key, &mut conditions)?;
            // The returned item must be the deleted one, so its fields must be unchanged. A version does not prove that: an item that is
            // put again starts at version 1. If no item is returned, only the unique fields must be unchanged, so that its guards are the
            // deleted ones.
            let held_fields = ty.fields.values().filter(|field| field.rules.unique || given_back).map(|field| &field.name);
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
            let main = MainCall { version, if_absent, held, relies, rule, repeat, ..self.main(action) };
            let call = DraftCall::main(job.table_of(ty), WriteAction::Delete(target.key.clone()), conditions, main);
            self.draft.calls.push(call);
            self.replicas(ty, &target.key, |_, key| (WriteAction::Delete(key), None));
            match item {
                Some(item) => {
                    self.delete_keys(ty, guards_of(job, ty, &item));
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
        let count: usize = stages.iter().flat_map(|(_, items)| items.values()).map(|item| 1 + item.others.len()).sum();
        let fits = self.draft.size() + count <= MOST_IN_TRANSACTION;
        let places = stages.iter().filter(|_| fits).flat_map(|(table, items)| items.keys().map(|key| (table.clone(), key.clone())));
        let (places, sources) = (places.collect(), related.sources(self.job, position));
        self.draft.cascades.push(CascadedItem { action: position, item: item.clone(), sources, places, dependents_first: !fits });
        for (table, items) in stages {
            if fits {
                let calls = items.into_iter().flat_map(|(key, item)| item.calls(&table, key));
                self.draft.calls.extend(calls.map(|write| DraftCall { write, role: CallRole::Dependent }));
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
        for call in self.draft.calls.drain(..).filter(|call| matches!(call.role, CallRole::Dependent)) {
            if let WriteAction::Delete(key) = call.write.action
                && !items.values().any(|item| item.others.contains(&key))
            {
                let related = ItemToDelete { condition: call.write.condition, others: Vec::new() };
                self.draft.first.push((call.write.table, ToDelete::from([(key, related)])));
            }
        }
        self.draft.first.push((self.job.table_of(ty), items));
    }
}
