//! Deletes outside the draft's transaction: dependents that do not fit, before the draft's calls, and dependents that
//! came in meanwhile. A crash leaves an item that can be deleted again, and never dependents without their item.

use crate::execute::error::ErrorCode;
use crate::execute::item::conditions::Conditions;
use crate::execute::item::identity;
use crate::execute::keyed_locks::ItemPlace;
use crate::execute::write::calls::draft::{CascadedItem, DraftCall, WriteDraft};
use crate::execute::write::elements::MAX_IN_TRANSACTION;
use crate::execute::write::job::WriteJob;
use crate::execute::write::lookup::dependents::{self, Dependents, DependentsToRead, ItemToDelete, ToDelete};
use crate::execute::write::messages::{FieldErrors, field_error, table_error};
use crate::table::data::attribute::{Item, Key};
use crate::table::data::write::{ConditionFailure, WriteAction, WriteCall, WriteError};
use futures_util::future::join;
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;
use uuid::Uuid;

/// How often to look for dependents after their item is deleted.
const MAX_SWEEPS: usize = 10;
/// About how long a global index lags behind its table. (DynamoDB developer guide, "Using Global Secondary Indexes in
/// DynamoDB", data synchronization: "a fraction of a second, under normal conditions".)
const INDEX_WAIT: Duration = Duration::from_millis(500);

/// Why the calls of a draft are not sent.
pub enum CascadeError {
    /// Nothing was deleted.
    Before(WriteError),
    /// Some items are deleted, and others have changed since they were read: the next draft reads them again.
    Changed,
    /// Some items may be deleted, but not all.
    HalfWay(ErrorCode),
}

/// Deletes what a draft deletes before its calls. Checks the conditions of the calls first: if they fail, nothing is
/// deleted.
pub async fn clear(job: &WriteJob<'_>, draft: &WriteDraft, attempt: u32) -> Result<(), CascadeError> {
    if draft.first.is_empty() {
        return Ok(());
    }
    if draft.calls.iter().any(DraftCall::demands) || !draft.rules.is_empty() {
        hold(job, draft, attempt).await.map_err(CascadeError::Before)?;
    }
    for (position, (table, items)) in draft.first.iter().enumerate() {
        match delete(job, table, items.clone()).await {
            Ok(deleted) if deleted.len() == items.len() => {}
            Ok(_) => return Err(CascadeError::Changed),
            Err(WriteError::Uncertain(error)) => return Err(CascadeError::HalfWay(table_error(&error).code)),
            Err(WriteError::Failed(error)) if position > 0 => {
                return Err(CascadeError::HalfWay(table_error(&error).code));
            }
            Err(error) => return Err(CascadeError::Before(error)),
        }
    }
    for gone in draft.cascades.iter().filter(|gone| gone.dependents_first) {
        let code = |field_errors: FieldErrors| {
            field_errors.first().map_or(ErrorCode::Internal, |field_error| field_error.code)
        };
        sweep_sources(job, gone).await.map_err(|field_errors| CascadeError::HalfWay(code(field_errors)))?;
    }
    Ok(())
}

/// Deletes items that have expired, each with its replicas and guards, unless they have changed since they were read.
/// Nobody sees them, so nothing is lost if the write that they are in the way of is not made after all.
pub async fn clear_expired(job: &WriteJob<'_>, items: &[(String, Item)]) -> Result<(), WriteError> {
    for (name, item) in items {
        let Ok(ty) = job.type_named(name) else { continue };
        let Some((key, mut expired)) = dependents::to_delete(job, ty, item) else { continue };
        let mut conditions = Conditions::lettered('x');
        conditions.extend(expired.condition.take());
        identity::expires(ty).into_iter().for_each(|time| conditions.unchanged(time, item));
        expired.condition = conditions.build();
        match delete(job, &job.table_of(ty), ToDelete::from([(key, expired)])).await {
            Ok(_) | Err(WriteError::Conditions(_)) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Deletes items with their replicas and guards: items without a condition in batches, the others in transactions. An
/// item whose condition fails has changed, and is kept. So is a guard that is another's. Gives the keys of the deleted
/// items. After [`WriteError::Uncertain`], some items may be deleted.
async fn delete(job: &WriteJob<'_>, table: &Arc<str>, items: ToDelete) -> Result<Vec<Key>, WriteError> {
    let loaders = job.context.loaders;
    let (mut conditional, free): (ToDelete, ToDelete) =
        items.into_iter().partition(|(_, item)| item.condition.is_some());
    let mut deleted: Vec<Key> = free.keys().cloned().collect();
    let keys = free.into_iter().flat_map(|(key, item)| std::iter::once(key).chain(item.replicas));
    loaders.delete_batch(table, keys.collect()).await?;
    while !conditional.is_empty() {
        // The calls of one transaction, and the item of each call.
        let (mut calls, mut of): (Vec<WriteCall>, Vec<Key>) = (Vec::new(), Vec::new());
        for (key, item) in &conditional {
            if !calls.is_empty() && calls.len() + item.count() > MAX_IN_TRANSACTION {
                break;
            }
            calls.extend(item.clone().calls(table, key.clone()).map(|(call, _)| call));
            of.resize(calls.len(), key.clone());
        }
        match loaders.transact(&calls, &Uuid::new_v4().simple().to_string()).await {
            Ok(()) => {
                of.dedup();
                of.iter().for_each(|key| _ = conditional.remove(key));
                deleted.extend(of);
            }
            Err(WriteError::Conditions(failures)) => {
                let parts = |items: &ToDelete| items.values().map(ItemToDelete::count).sum::<usize>();
                let before = parts(&conditional);
                for position in failures.iter().map(|failure| failure.position) {
                    let (Some(key), Some(WriteAction::Delete(failed))) =
                        (of.get(position), calls.get(position).map(|call| &call.action))
                    else {
                        continue;
                    };
                    match conditional.get_mut(key) {
                        Some(item) if item.guards.contains(failed) => item.guards.retain(|guard| guard != failed),
                        _ => _ = conditional.remove(key),
                    }
                }
                if parts(&conditional) == before {
                    return Err(WriteError::Conditions(failures));
                }
            }
            Err(WriteError::Failed(error)) if !deleted.is_empty() => return Err(WriteError::Uncertain(error)),
            Err(error) => return Err(error),
        }
    }
    Ok(deleted)
}

/// Checks the conditions of the calls, and writes nothing.
pub async fn hold(job: &WriteJob<'_>, draft: &WriteDraft, attempt: u32) -> Result<(), WriteError> {
    let checks = draft.calls.iter().enumerate().filter_map(|(position, call)| {
        let condition = call.write.condition.clone()?;
        let action = WriteAction::Check(call.key(job.context.model)?);
        Some((position, WriteCall { table: call.write.table.clone(), action, condition: Some(condition) }))
    });
    let (positions, checks): (Vec<usize>, Vec<WriteCall>) = checks.unzip();
    let token = format!("{}c{attempt:03}", job.token);
    job.context.loaders.transact(&checks, &token).await.map_err(|error| match error {
        WriteError::Conditions(failures) => {
            let in_draft = |failure: ConditionFailure| {
                Some(ConditionFailure { position: *positions.get(failure.position)?, ..failure })
            };
            WriteError::Conditions(failures.into_iter().filter_map(in_draft).collect())
        }
        // Checks write nothing, so the outcome is certain.
        WriteError::Uncertain(error) => WriteError::Failed(error),
        error => error,
    })
}

/// Deletes the dependents that were put after the dependents were read and before the item was deleted. No more can
/// come after that, because puts check that the item exists. Dependents found now may lead to others, and an index may
/// lag behind.
pub async fn sweep(job: &WriteJob<'_>, gone: impl Iterator<Item = &CascadedItem>) -> Result<(), FieldErrors> {
    for gone in gone {
        let CascadedItem { action, item, .. } = gone;
        let mut swept = Swept { action: *action, sources: gone.sources.clone(), places: gone.places.clone() };
        // Those of dependents that were deleted ahead were looked for then.
        let sources = if gone.dependents_first { Dependents::default() } else { gone.sources.clone() };
        let found = find(job, (*action, item), &sources, DependentsToRead::All).await?;
        swept.delete_all(job, Some(item), found).await?;
        if !dependents::may_be_behind(job, *action) {
            continue;
        }
        for _ in 0..MAX_SWEEPS {
            if !moment(job).await {
                break;
            }
            let found = find(job, (*action, item), &swept.sources, DependentsToRead::Behind).await?;
            if !swept.delete_all(job, Some(item), found).await? {
                break;
            }
        }
    }
    Ok(())
}

/// Finds at once the dependents of an item and those of other dependents.
async fn find(
    job: &WriteJob<'_>,
    (action, item): (usize, &Arc<Item>),
    sources: &Dependents,
    which: DependentsToRead,
) -> Result<Dependents, FieldErrors> {
    let own = dependents::find_dependents(job, action, item, which);
    let (own, further) = join(own, dependents::find_further_dependents(job, action, sources, which)).await;
    let mut found = own?;
    found.extend(further?);
    Ok(found)
}

/// Deletes items that were put under dependents which were deleted ahead of their item.
async fn sweep_sources(job: &WriteJob<'_>, gone: &CascadedItem) -> Result<(), FieldErrors> {
    let mut swept = Swept { action: gone.action, sources: gone.sources.clone(), places: HashSet::new() };
    let found = dependents::find_further_dependents(job, gone.action, &gone.sources, DependentsToRead::All).await?;
    swept.delete_all(job, None, found).await.map(drop)
}

/// What a cascade has deleted so far.
struct Swept {
    action: usize,
    /// Dependents that lead to others.
    sources: Dependents,
    /// The places of the deleted items.
    places: HashSet<ItemPlace>,
}

impl Swept {
    /// Deletes the found dependents and those that they lead to, until no more are found. Gives whether there were any.
    async fn delete_all(
        &mut self,
        job: &WriteJob<'_>,
        item: Option<&Arc<Item>>,
        found: Dependents,
    ) -> Result<bool, FieldErrors> {
        let action = self.action;
        let (mut found, mut any) = (found, false);
        for _ in 0..MAX_SWEEPS {
            found = found.without(job, action, &self.places);
            if found.is_empty() {
                break;
            }
            any = true;
            let mut complete = true;
            for (table, items) in found.to_delete(job, action) {
                let count = items.len();
                let deleted = delete(job, &table, items).await.map_err(|error| vec![field_error(error)])?;
                complete &= deleted.len() == count;
                self.places.extend(deleted.into_iter().map(|key| (table.clone(), key)));
            }
            let sources = found.sources(job, action);
            self.sources.extend(sources.clone());
            // An item that has changed is found again from the item that leads to it.
            found = dependents::find_further_dependents(
                job,
                action,
                if complete { &sources } else { &self.sources },
                DependentsToRead::All,
            )
            .await?;
            if let Some(item) = item {
                found.extend(dependents::find_dependents(job, action, item, DependentsToRead::All).await?);
            }
        }
        Ok(any)
    }
}

/// Waits until an index has probably caught up; `false` if the deadline is too near.
async fn moment(job: &WriteJob<'_>) -> bool {
    let wait = INDEX_WAIT.mul_f64(0.5 + fastrand::f64());
    if Instant::now() + wait >= job.context.deadline {
        return false;
    }
    tokio::time::sleep(wait).await;
    true
}
