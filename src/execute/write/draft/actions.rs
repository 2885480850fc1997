//! The actions of a field → a draft of their calls. Reads ahead what the actions need, then drafts them in order.

use crate::execute::expression::evaluate;
use crate::execute::expression::settle::Residual;
use crate::execute::item::assemble;
use crate::execute::write::draft::call::{Earlier, Generated, MAX_IN_TRANSACTION, WriteDraft};
use crate::execute::write::draft::drafting::{Drafting, if_absent, if_unmet, is_sought};
use crate::execute::write::draft::requirement::{ItemCondition, Reason, Requirements};
use crate::execute::write::job::WriteJob;
use crate::execute::write::lookup::items::ItemsInScope;
use crate::execute::write::messages::{FieldErrors, absent, invalid};
use crate::execute::write::rules::lookups;
use crate::plan::tree::ReadAction;
use crate::schema::model::write::{Action, ActionKind, WriteTarget};
use crate::table::data::call::Get;
use crate::table::data::write::WriteAction;
use futures_util::future::join;

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
    let mut drafting = Drafting { job, generated, earlier, draft: WriteDraft::default(), scope: ItemsInScope::new() };
    match drafting.all(earlier.raced).await {
        Ok(()) => Ok(drafting.draft),
        Err(field_errors) => Err(UnfinishedDraft { draft: drafting.draft, field_errors }),
    }
}

impl Drafting<'_, '_> {
    async fn all(&mut self, raced: bool) -> Result<(), FieldErrors> {
        self.ask_for_field().await?;
        self.read_ahead(raced).await?;
        for position in 0..self.job.write.actions.len() {
            self.action(position).await?;
        }
        self.check_found()?;
        self.draft.take_replicas(MAX_IN_TRANSACTION);
        Ok(())
    }

    /// Finds the item of the `@find`. In the same batch, reads the items that the actions need and whose keys are
    /// known. The loader keeps them for the actions.
    pub async fn read_ahead(&mut self, raced: bool) -> Result<(), FieldErrors> {
        let job = self.job;
        if let Some(lookup) = &job.planned.found {
            // A find by key joins the batch. A find by Query goes first, so that no Get is made if it finds nothing.
            let by_key = lookup.plan.reads.iter().all(|read| matches!(read.action, ReadAction::Get(_)));
            let gets = if by_key { self.foreseen_reads() } else { Vec::new() };
            let (found, _) = join(self.find(lookup, raced), job.context.loaders.get(gets)).await;
            found?;
        }
        let gets = self.foreseen_reads();
        job.context.loaders.get(gets).await;
        Ok(())
    }

    /// The reads that the actions need and whose keys are known. Values that do not fit are skipped here: the action
    /// itself reports them.
    pub fn foreseen_reads(&mut self) -> Vec<Get> {
        let job = self.job;
        let mut gets = Vec::new();
        for (position, action) in job.write.actions.iter().enumerate() {
            let Ok(ty) = job.type_named(&action.item) else { continue };
            let WriteTarget::Key(sources) = &action.target else { continue };
            let key = match (&action.kind, &action.at) {
                (ActionKind::Put { .. }, None) => self.values(position, ty, &action.values).and_then(|values| {
                    assemble::primary_key(job.context.model, ty, job.context.caller, &values).map_err(invalid)
                }),
                _ => self.key(ty, sources),
            };
            let Ok(key) = key else { continue };
            let reads = match (&action.kind, &action.at) {
                (ActionKind::Put { replace }, None) => *replace && ty.fields.values().any(|field| field.rules.unique),
                (ActionKind::Update { .. }, None) => {
                    self.update_values(position, action, ty, &key).is_ok_and(|values| values.reads)
                }
                (ActionKind::Delete { .. }, None) => self.reads_deleted(position, ty),
                (ActionKind::Update { .. } | ActionKind::Delete { .. }, Some(element)) => element.by.is_some(),
                _ => false,
            };
            if reads {
                gets.push(job.get(ty, &key));
            }
            // What is deleted with the item is read only for a caller whom the rules let in.
            if self.cascades(position) {
                gets.extend(self.draft.rules.iter().filter_map(|check| lookups::get(job, check).ok()));
            }
        }
        gets
    }

    pub async fn action(&mut self, position: usize) -> Result<(), FieldErrors> {
        let job = self.job;
        let action = &job.write.actions[position];
        self.draft.results.push(Vec::new());
        self.check_named(action)?;
        match (&action.kind, &action.at) {
            (ActionKind::Put { replace }, None) => self.put(position, action, *replace).await,
            (ActionKind::Put { .. }, Some(element)) => self.append(position, action, element).await,
            (ActionKind::Update { .. }, None) => self.update(position, action).await,
            (ActionKind::Update { .. }, Some(element)) => self.change_element(position, action, element).await,
            (ActionKind::Delete { .. }, None) => self.delete(position, action).await,
            (ActionKind::Delete { .. }, Some(element)) => self.remove_element(position, action, element).await,
            (ActionKind::Check, _) => self.check(position, action).await,
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
                    return Err(vec![absent(&ty.name, action)]);
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
            let check = WriteAction::Check(target.key.clone());
            let call = self.main(position, (ty, &target.key), check, requires)?;
            self.draft.calls.push(call);
        }
        Ok(())
    }
}
