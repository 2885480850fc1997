//! One write as plain data in; the item that its PutItem, UpdateItem or DeleteItem returns, and its cost, out. Must not know what a
//! request is.
//!
//! Without a token, the server cannot tell a repeated write from a new one. So an attempt is repeated only if it certainly wrote nothing:
//! the server refused it for now, or no connection could be made.

use super::attempts::{CallMeans, Ended, Next};
use super::failure::{AttemptFailure, Refusal};
use crate::table::data::attribute::Item;
use crate::table::data::error::{TableError, TableErrorKind};
use crate::table::data::write::{ConditionFailure, WriteCall, WriteError};
use crate::table::data_store::Metered;
use tokio::time::Instant;

/// Writes. Gives the item as it is after an update, as it was before a put or a delete, and the capacity units consumed.
pub(in crate::table) async fn write_one(
    caller: CallMeans<'_>,
    call: &WriteCall,
    deadline: Instant,
) -> Result<Metered<Option<Item>>, WriteError> {
    let Some(operation) = call.action.operation() else {
        let detail = format!("a check of an item of {} must be part of a transaction", call.table);
        return Err(WriteError::Failed(TableError { kind: TableErrorKind::Invalid, detail }));
    };
    let attempts = caller.attempts(operation, &call.table, deadline);
    let classify = |failure: AttemptFailure| match failure {
        AttemptFailure { refusal: Refusal::Condition(item), .. } => {
            Next::Stop(WriteError::Conditions(vec![ConditionFailure { position: 0, item }]))
        }
        AttemptFailure { error, uncertain: true, .. } => Next::Stop(WriteError::Uncertain(attempts.named(error))),
        AttemptFailure { error, again: true, .. } => Next::Again(error.into()),
        AttemptFailure { error, .. } => Next::Stop(WriteError::refused(attempts.named(error))),
    };
    attempts.until_stopped(|| caller.maker.write(call), classify).await.map_err(|ended| match ended {
        Ended::Stopped(error) => error,
        Ended::Deadline(error) => WriteError::Failed(error),
    })
}
