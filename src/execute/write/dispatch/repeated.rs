//! The record of a request that comes again in; out: the items that its field returns, read anew. Writes nothing.

use crate::execute::error::ErrorCode;
use crate::execute::expression::settle::Residual;
use crate::execute::write::dispatch::record::{self, RecordedItem};
use crate::execute::write::dispatch::results::check_there;
use crate::execute::write::idempotency::KnownRequest;
use crate::execute::write::job::WriteJob;
use crate::execute::write::messages::{FieldErrors, made, unseen};
use crate::execute::write::rules::lookups;
use crate::schema::model::auth::AuthAction;
use crate::table::data::attribute::{Item, Key};
use serde_json::Map;
use std::sync::Arc;

/// The items of each planned result, as they are now; what the request deleted, as it was. Fails if the record is that
/// of another request.
pub async fn answer(
    job: &WriteJob<'_>,
    request: &KnownRequest,
    record: &Item,
) -> Result<Vec<Vec<Arc<Item>>>, FieldErrors> {
    record::check(request, record)?;
    if !job.planned.results.is_empty() && !lets_in(job).await.map_err(made)? {
        return Err(vec![unseen(ErrorCode::Forbidden)]);
    }
    let recorded = |returned| record::items(job, record, returned);
    let results: Vec<_> = job.planned.results.iter().map(|result| recorded(result.returned)).collect();
    let stored = results.iter().flatten().filter_map(|item| match item {
        RecordedItem::Stored(ty, key) => Some((ty.as_str(), key)),
        RecordedItem::Deleted(_) => None,
    });
    let stored: Vec<(&str, &Key)> = stored.collect();
    let mut read = job.read_all(&stored).await.map_err(made)?.into_iter();
    // A missing never-null item is an error even if the operation does not select it.
    for returned in job.write.returned() {
        let all = recorded(returned).len();
        check_there(job, returned, (all, all), true)?;
    }
    let mut answer = Vec::with_capacity(results.len());
    for (planned, recorded) in job.planned.results.iter().zip(&results) {
        let items = recorded.iter().filter_map(|item| match item {
            RecordedItem::Stored(..) => read.next().flatten(),
            RecordedItem::Deleted(image) => Some(image.clone()),
        });
        let items: Vec<Arc<Item>> = items.collect();
        check_there(job, planned.returned, (items.len(), recorded.len()), true)?;
        answer.push(items);
    }
    Ok(answer)
}

/// Whether the rules of the field itself let the caller in now. Those that need no look-up were asked before.
async fn lets_in(job: &WriteJob<'_>) -> Result<bool, FieldErrors> {
    let Some(field) = job.field().filter(|field| field.auth.look_up(AuthAction::Write)) else { return Ok(true) };
    let (others, checks) = lookups::alternatives(job, &field.name, (&field.auth, AuthAction::Write), &Map::new());
    let mut lets_in = others == Residual::Always;
    for check in &checks {
        lets_in = lets_in || lookups::holds(job, check).await?;
    }
    Ok(lets_in)
}
