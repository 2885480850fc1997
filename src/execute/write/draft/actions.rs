//! The actions of a field → a draft of their calls. Reads ahead what the actions need, then drafts them in order.

use crate::execute::error::{ErrorCode, FieldError};
use crate::execute::expression::evaluate;
use crate::execute::expression::narrow::KnownAttributes;
use crate::execute::expression::settle::Residual;
use crate::execute::item::assemble;
use crate::execute::write::calls::draft::{DraftCall, Earlier, Generated, WriteDraft};
use crate::execute::write::calls::requirement::{ItemCondition, Reason, Requirements};
use crate::execute::write::draft::drafting::{Drafting, if_absent, if_unmet, internal, is_sought};
use crate::execute::write::draft::moving::KeyAfter;
use crate::execute::write::elements::{ElementAction, MAX_IN_TRANSACTION};
use crate::execute::write::job::WriteJob;
use crate::execute::write::lookup::items::ItemsInScope;
use crate::execute::write::lookup::targets::{self, LookedUp, look_up_ahead};
use crate::execute::write::messages::{
    FieldErrors, absent, at_element, invalid, name_elements, one_of_several, several,
};
use crate::execute::write::rules::lookups;
use crate::plan::tree::ReadAction;
use crate::schema::model::ObjectType;
use crate::schema::model::write::{Action, ActionKind, WriteTarget};
use crate::table::data::attribute::Key;
use crate::table::data::call::Get;
use crate::table::data::write::WriteAction;
use futures_util::future::join;
use std::collections::HashMap;

/// A draft that could not be finished: what is drafted until there, and why.
pub struct UnfinishedDraft {
    /// The draft so far.
    pub draft: WriteDraft,
    /// The errors.
    pub field_errors: FieldErrors,
}

/// Drafts all actions of a field.
pub async fn draft(
    job: &WriteJob<'_>,
    generated: &mut Generated,
    earlier: &Earlier,
) -> Result<WriteDraft, UnfinishedDraft> {
    let (draft, scope) = (WriteDraft::default(), ItemsInScope::default());
    let mut drafting = Drafting { job, generated, earlier, draft, scope, looked_up: HashMap::new() };
    match drafting.all().await {
        Ok(()) if job.write.calls.is_empty() => Ok(drafting.draft),
        Ok(()) => Ok(WriteDraft { scope_of_calls: drafting.scope, ..drafting.draft }),
        Err(field_errors) => Err(UnfinishedDraft { draft: drafting.draft, field_errors }),
    }
}

impl Drafting<'_, '_> {
    async fn all(&mut self) -> Result<(), FieldErrors> {
        self.ask_for_field().await?;
        self.read_ahead().await?;
        for condition in self.job.write.calls.iter().filter_map(|call| call.condition.as_ref()) {
            self.check_readable(condition.arguments())?;
        }
        self.draft_all().await?;
        self.check_found()?;
        // What a request with a record writes is one transaction, or it is refused.
        self.draft.take_replicas(if self.job.request.is_some() { usize::MAX } else { MAX_IN_TRANSACTION });
        Ok(())
    }

    /// Drafts the actions in their order. Of an action for each element of a list, all elements whose items are missing
    /// are reported together.
    async fn draft_all(&mut self) -> Result<(), FieldErrors> {
        let job = self.job;
        let mut missing: Option<(FieldError, Vec<usize>)> = None;
        for position in 0..job.directives.actions.len() {
            let place = job.element(position);
            if let Err(errors) = self.action(position).await {
                match (place, errors.as_slice()) {
                    (Some((_, element)), [error]) if error.code == ErrorCode::NotFound => {
                        missing.get_or_insert_with(|| (error.clone(), Vec::new())).1.push(element);
                    }
                    _ if missing.is_none() => return Err(at_element(place, errors)),
                    _ => {}
                }
            }
            let Some((list, _)) = place.filter(|_| missing.is_some()) else { continue };
            let declared = |position: usize| job.action(position).map(|action| action.position);
            if declared(position + 1) != declared(position)
                && let Some((error, elements)) = missing.take()
            {
                return Err(vec![name_elements(error, list, &elements)]);
            }
        }
        Ok(())
    }

    /// Finds the items of the `@find`s. In the same batch, reads the items that the actions need and whose keys are
    /// known. The loader keeps them for the actions. Then makes the lookups of the actions, side by side.
    pub async fn read_ahead(&mut self) -> Result<(), FieldErrors> {
        let job = self.job;
        if !job.directives.finds.is_empty() {
            // A find by key joins the batch. A find by Query goes first, so that no Get is made if it finds nothing.
            let mut reads = job.planned.found.iter().flatten().flat_map(|lookup| &lookup.plan.reads);
            let by_key = reads.all(|read| matches!(read.action, ReadAction::Get(_)));
            let gets = if by_key { self.foreseen_reads() } else { Vec::new() };
            self.find_all(gets).await?;
        }
        let gets = self.foreseen_reads();
        let positions = 0..job.directives.actions.len();
        let decided = positions.filter_map(|position| Some((position, self.decided_by_key(position)?))).collect();
        let (looked_up, _) = join(look_up_ahead(job, &self.scope, decided), job.context.loaders.get(gets)).await;
        self.read_rules_of_elements(&looked_up).await?;
        self.looked_up = looked_up;
        Ok(())
    }

    /// Reads what rules look up for the items that were found for elements, by one batch.
    async fn read_rules_of_elements(&self, looked_up: &HashMap<usize, LookedUp>) -> Result<(), FieldErrors> {
        let job = self.job;
        let mut gets = Vec::new();
        for (position, found) in looked_up {
            let Some(action) = job.action(*position).filter(|action| action.each.is_some()) else { continue };
            let ty = job.type_named(&action.item)?;
            let demanded = job.write.demanded(action, ty);
            gets.extend(found.iter().flatten().flat_map(|item| self.lookups_ahead(ty, &demanded, item)));
        }
        job.context.loaders.get(gets).await;
        Ok(())
    }

    /// The reads that the actions need and whose keys are known. Values that do not fit are skipped here: the action
    /// itself reports them.
    pub fn foreseen_reads(&mut self) -> Vec<Get> {
        let job = self.job;
        let mut gets = Vec::new();
        for (position, ElementAction { action, .. }) in job.directives.actions.iter().enumerate() {
            let Ok(ty) = job.type_named(&action.item) else { continue };
            if !self.foresees(position, action, ty) {
                continue;
            }
            let key = match (&action.kind, &action.at) {
                (ActionKind::Put { .. }, None) => self.values(position, ty, &action.values).and_then(|values| {
                    assemble::primary_key(job.context.model, ty, job.context.caller, &values).map_err(invalid)
                }),
                _ => self.known_key(ty, action),
            };
            let Ok(key) = key else { continue };
            let after = self.key_after(position, action, (ty, &key), None);
            if after.is_ok_and(|after| !matches!(after, KeyAfter::Same)) {
                gets.push(job.get_whole(ty, &key));
                let demanded = job.write.demanded(action, ty);
                gets.extend(self.lookups_ahead(ty, &demanded, &KnownAttributes::from_key(&key).into_item()));
                continue;
            }
            let reads = match (&action.kind, &action.at) {
                (ActionKind::Update { .. }, None) => {
                    self.earlier.as_stored
                        || self.update_values(position, action, ty, &key).is_ok_and(|values| values.reads)
                }
                _ => self.reads_item(position, action, ty),
            };
            if reads {
                gets.push(job.get(ty, &key));
            }
            // Its rules, and those of each element, are read in the same batch.
            if reads || action.each.is_some() {
                let demanded = job.write.demanded(action, ty);
                gets.extend(self.lookups_ahead(ty, &demanded, &KnownAttributes::from_key(&key).into_item()));
            }
            // What is deleted with the item is read only for a caller whom the rules let in.
            if self.cascades(position) {
                gets.extend(self.draft.rules.iter().filter_map(|check| lookups::get(job, check).ok()));
            }
        }
        gets
    }

    /// Whether an action may read something before its call: its item, what its rules look up for an element of a list,
    /// or what is deleted with its item. Only the key tells whether an update does.
    fn foresees(&self, position: usize, action: &Action, ty: &ObjectType) -> bool {
        action.each.is_some() || self.cascades(position) || self.reads_item(position, action, ty)
    }

    /// Whether an action reads its item before its call, as far as its key does not decide it.
    fn reads_item(&self, position: usize, action: &Action, ty: &ObjectType) -> bool {
        match (&action.kind, &action.at) {
            (ActionKind::Put { replace }, None) => *replace && ty.fields.values().any(|field| field.rules.unique),
            (ActionKind::Update { .. }, None) => true,
            (ActionKind::Delete { .. }, None) => self.reads_deleted(position, ty),
            (ActionKind::Update { .. } | ActionKind::Delete { .. }, Some(element)) => {
                element.by.is_some() && element.map.is_none()
            }
            (ActionKind::Put { .. }, Some(_)) | (ActionKind::Check, _) => false,
        }
    }

    pub async fn action(&mut self, position: usize) -> Result<(), FieldErrors> {
        let job = self.job;
        let Some(action) = job.action(position) else { return Err(internal("an action")) };
        self.draft.results.push(Vec::new());
        if action.alternative.is_some() && !self.chooses(position, action).await? {
            return Ok(());
        }
        self.check_named(action)?;
        match (&action.kind, &action.at) {
            (ActionKind::Put { replace }, None) => self.put(position, action, *replace).await,
            (kind, Some(element)) if element.map.is_some() => match kind {
                ActionKind::Put { .. } => self.put_entry(position, action, element).await,
                ActionKind::Delete { .. } => self.remove_entry(position, action, element).await,
                _ => self.change_entry(position, action, element).await,
            },
            (ActionKind::Put { .. }, Some(element)) => self.append(position, action, element).await,
            (ActionKind::Update { .. }, None) => self.update(position, action).await,
            (ActionKind::Update { .. }, Some(element)) => self.change_element(position, action, element).await,
            (ActionKind::Delete { .. }, None) => self.delete(position, action).await,
            (ActionKind::Delete { .. }, Some(element)) => self.remove_element(position, action, element).await,
            (ActionKind::Check, _) => self.check(position, action).await,
        }
    }

    /// Whether this one of several alternatives is made: that of the type which the item has. If there is none, the
    /// first stands for all of a delete.
    async fn chooses(&mut self, position: usize, action: &Action) -> Result<bool, FieldErrors> {
        let job = self.job;
        match &action.target {
            WriteTarget::Found(alias) => return Ok(self.scope.get(alias).is_some_and(|found| found.ty == action.item)),
            WriteTarget::Read { many: true, .. } => return Ok(true),
            WriteTarget::Read { .. } | WriteTarget::Key(_) => {}
        }
        let element = job.element(position);
        let (mut found, mut refused) = (Vec::new(), None);
        for other in 0..job.directives.actions.len() {
            let Some(of) = job.action(other).filter(|of| of.first() == action.first()) else { continue };
            if job.element(other) == element {
                let ty = job.type_named(&of.item)?;
                let items = match self.look_up(other).await {
                    Ok(items) => targets::there(job, (of, ty), items).await,
                    Err(errors) => Err(one_of_several(errors, action.type_name())),
                };
                match &items {
                    Ok(items) => found.extend(items.iter().map(|_| other)),
                    Err(errors) if refuses(errors) => refused = refused.or_else(|| Some(errors.clone())),
                    Err(errors) => return Err(errors.clone()),
                }
                self.looked_up.insert(other, items);
            }
        }
        // Whether there is an item that the caller may not write is not revealed.
        if let (Some(errors), []) = (refused, found.as_slice()) {
            return Err(errors);
        }
        let is_first = action.first() == action.position;
        match found.as_slice() {
            [] if is_first && !matches!(action.kind, ActionKind::Delete { .. }) => {
                Err(vec![absent(action.type_name(), action)])
            }
            [] => Ok(is_first),
            [only] => Ok(*only == position),
            _ => Err(several(action.type_name())),
        }
    }

    pub async fn check(&mut self, position: usize, action: &Action) -> Result<(), FieldErrors> {
        let job = self.job;
        let ty = job.type_named(&action.item)?;
        for target in self.target_items(position, action, ty).await? {
            let rules = self.item_rules(action, ty, &target.key).await?;
            let rule = rules.for_seen(&target.key)?;
            let scope = self.draft.scope(job);
            if rule == Residual::Never {
                let holds_of_none = |condition| evaluate::holds(condition, None, &scope).unwrap_or(false);
                if !action.condition.as_ref().is_some_and(holds_of_none) {
                    return Err(vec![absent(action.type_name(), action)]);
                }
                continue;
            }
            let mut requires = Requirements::default();
            // No text says so alone: the author's condition may hold of nothing.
            requires.add(ItemCondition::Visible, if_absent(action, Reason::NotFound));
            // It was found, but may be in another shard now.
            if is_sought(action) {
                requires.add(ItemCondition::Exists, Reason::Gone);
            }
            self.hold_found(ty, &target.key, &mut requires);
            if let Some(condition) = &action.condition {
                requires.add(ItemCondition::VisiblePart(condition.clone(), rule), if_unmet(action));
            }
            self.join_check((position, ty), &target.key, requires)?;
        }
        Ok(())
    }

    /// Adds the check of an item. Elements of a list that check the same item share one call, whose condition is that
    /// of all of them.
    fn join_check(
        &mut self,
        (position, ty): (usize, &ObjectType),
        key: &Key,
        mut requires: Requirements,
    ) -> Result<(), FieldErrors> {
        let job = self.job;
        let declared = job.action(position).filter(|action| action.each.is_some()).map(|action| action.position);
        let is_same = |call: &DraftCall| {
            let is_check = matches!(&call.write.action, WriteAction::Check(other) if other == key);
            is_check && call.declared(job) == declared && call.write.table == job.table_of(ty)
        };
        let check = WriteAction::Check(key.clone());
        let joined = declared.and_then(|_| self.draft.calls.iter().position(is_same));
        let Some(at) = joined else {
            let call = self.main(position, (ty, key), check, requires)?;
            self.draft.calls.push(call);
            return Ok(());
        };
        let first = &self.draft.calls[at];
        let (action, joined) = (first.action().unwrap_or(position), [first.joined.as_slice(), &[position]].concat());
        requires.join_author(&first.requires);
        self.draft.calls[at] = DraftCall { joined, ..self.main(action, (ty, key), check, requires)? };
        Ok(())
    }
}

/// Whether errors say that the caller is refused.
fn refuses(errors: &FieldErrors) -> bool {
    errors.iter().any(|error| matches!(error.code, ErrorCode::Forbidden | ErrorCode::Unauthenticated))
}
