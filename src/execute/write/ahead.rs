//! Deletes of more than a transaction takes: what goes before the calls of a draft, and what came in meanwhile. A crash in between leaves
//! an item that can be deleted again, and never a relation of nothing.

use super::draft::{Call, Draft};
use super::engine::{Job, Refusals};
use super::lookups;
use super::told::refusal;
use crate::table::attribute::Key;
use crate::table::error::TableError;
use crate::table::write::{ConditionFailure, WriteAction, WriteCall, WriteError};

/// How often relations are looked for again after what they belong to is gone.
const MOST_SWEEPS: usize = 10;

/// Why the calls of a draft are not made.
pub(super) enum Setback {
    /// Nothing was deleted.
    Before(WriteError),
    /// Something may be deleted, but not all.
    HalfWay(TableError),
}

/// Deletes what goes before the calls of a draft, unless what they demand does not hold: then it would be gone for nothing.
pub(super) async fn clear(job: &Job<'_>, draft: &Draft, attempt: u32) -> Result<(), Setback> {
    if draft.first.is_empty() {
        return Ok(());
    }
    if draft.calls.iter().any(Call::demands) {
        hold(job, draft, attempt).await.map_err(Setback::Before)?;
    }
    for (position, (table, keys)) in draft.first.iter().enumerate() {
        match job.engine.run.loaders.delete_batch(table, keys.clone()).await {
            Ok(()) => {}
            Err(WriteError::Uncertain(error)) => return Err(Setback::HalfWay(error)),
            Err(WriteError::Failed(error)) if position > 0 => return Err(Setback::HalfWay(error)),
            Err(error) => return Err(Setback::Before(error)),
        }
    }
    Ok(())
}

/// Tries the conditions of the calls, and writes nothing.
async fn hold(job: &Job<'_>, draft: &Draft, attempt: u32) -> Result<(), WriteError> {
    let checks = draft.calls.iter().enumerate().filter_map(|(position, call)| {
        let condition = call.write.condition.clone()?;
        let action = WriteAction::Check(key_of(job, &call.write)?);
        Some((position, WriteCall { table: call.write.table.clone(), action, condition: Some(condition) }))
    });
    let (positions, checks): (Vec<usize>, Vec<WriteCall>) = checks.unzip();
    let token = format!("{}c{attempt:03}", job.token);
    job.engine.run.loaders.transact(&checks, &token).await.map_err(|error| match error {
        WriteError::Conditions(failures) => {
            let in_draft = |failure: ConditionFailure| Some(ConditionFailure { position: *positions.get(failure.position)?, ..failure });
            WriteError::Conditions(failures.into_iter().filter_map(in_draft).collect())
        }
        // Checks leave nothing behind.
        WriteError::Uncertain(error) => WriteError::Failed(error),
        error => error,
    })
}

fn key_of(job: &Job<'_>, write: &WriteCall) -> Option<Key> {
    match &write.action {
        WriteAction::Update(key, _) | WriteAction::Delete(key) | WriteAction::Check(key) => Some(key.clone()),
        WriteAction::Put(item) => {
            let table = job.engine.run.model.tables.iter().find(|table| *table.name == *write.table)?;
            crate::execute::keys::key_of(table, item)
        }
    }
}

/// What belongs to an item may be put between the reading of its relations and its end. Afterwards nothing new can come, as puts
/// check that what they belong to is there; so what is found now is all that is left.
pub(super) async fn sweep(job: &Job<'_>, draft: &Draft) -> Result<(), Refusals> {
    for (action, item) in &draft.cascades {
        for _ in 0..MOST_SWEEPS {
            let left = lookups::cascade(job, *action, item).await?;
            if left.is_empty() {
                break;
            }
            for (table, doomed) in left.into_doomed(job) {
                let deleted = job.engine.run.loaders.delete_batch(&table, doomed.into_keys().collect()).await;
                deleted.map_err(|error| vec![refusal(error)])?;
            }
        }
    }
    Ok(())
}
