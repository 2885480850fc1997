//! A write that is made in; the items that its field returns out, once late dependents and replicas are looked after.

use crate::execute::error::{ErrorCode, FieldError};
use crate::execute::write::dispatch::cascade;
use crate::execute::write::dispatch::replicas::{self, SyncCause};
use crate::execute::write::draft::call::{DraftCall, ResultItem, WriteDraft};
use crate::execute::write::job::WriteJob;
use crate::execute::write::messages::{FieldErrors, absent, made, replicas_behind, unseen, unswept};
use crate::schema::model::write::WriteReturns;
use crate::table::data::attribute::Item;
use crate::table::data::write::WriteAction;
use futures_util::FutureExt;
use std::sync::Arc;

/// How a write without an error ends.
pub enum Ending {
    /// Its calls are made. The item that a single call gave back.
    Made(Option<Arc<Item>>),
    /// There was nothing to do.
    NothingToDo,
}

/// Deletes dependents that came in during a cascade, and makes replicas equal. Then gathers the items that the field
/// returns.
pub async fn finish(job: &WriteJob<'_>, draft: &WriteDraft, ending: Ending) -> Result<Vec<Arc<Item>>, FieldErrors> {
    cascade::sweep(job, draft.cascades.iter()).boxed().await.map_err(unswept)?;
    let cause = if draft.calls.is_empty() { SyncCause::Found } else { SyncCause::Written };
    replicas::sync(job, &draft.behind, cause).await.map_err(|error| vec![replicas_behind(&error)])?;
    let returned = match job.write.returns {
        WriteReturns::Done => return Ok(Vec::new()),
        WriteReturns::Found(find) | WriteReturns::FoundItems(find) => {
            let held = draft.held.iter().filter(|held| held.find == find);
            return Ok(held.map(|held| held.found.clone()).collect());
        }
        WriteReturns::Item(action) | WriteReturns::Items(action) => action,
    };
    let done = job.directives.actions.iter().zip(&draft.results);
    let results: Vec<&ResultItem> =
        done.filter(|(done, _)| done.action.position == returned).flat_map(|(_, results)| results).collect();
    let is_single = draft.as_call(job.context.single_writes).is_some();
    let writes = |call: &DraftCall| !matches!(call.write.action, WriteAction::Check(_));
    let (is_made, answer) = match ending {
        Ending::Made(answer) => (draft.calls.iter().any(writes), answer),
        Ending::NothingToDo => (false, None),
    };
    let unread = results.iter().filter_map(|result| match result {
        ResultItem::Answer(ty, key) if !is_single => Some((ty.as_str(), key)),
        _ => None,
    });
    let mut read = job.read_all(&unread.collect::<Vec<_>>()).await.map_err(made)?.into_iter();
    let mut items = Vec::new();
    for result in &results {
        match result {
            ResultItem::Nothing => {}
            ResultItem::Known(item) => items.push(item.clone()),
            ResultItem::Answer(..) if is_single => items.extend(answer.clone()),
            ResultItem::Answer(..) => items.extend(read.next().flatten()),
        }
    }
    match job.write.returns {
        WriteReturns::Item(action) if items.is_empty() && job.field().is_some_and(|field| field.ty.is_non_null()) => {
            Err(vec![nothing(job, action, is_made && !is_single)])
        }
        // An item that is gone again has no place in a list whose items are those of the elements.
        WriteReturns::Items(action)
            if items.len() < results.len()
                && job.write.actions.get(action).is_some_and(|action| action.each.is_some()) =>
        {
            Err(vec![unseen(ErrorCode::Unavailable)])
        }
        _ => Ok(items),
    }
}

/// The error of a never-null field without an item: nothing was deleted, or the item was gone before it could be read.
fn nothing(job: &WriteJob<'_>, action: usize, is_written: bool) -> FieldError {
    match job.write.actions.get(action) {
        _ if is_written => unseen(ErrorCode::Unavailable),
        Some(action) => absent(&action.item, action),
        None => unseen(ErrorCode::Internal),
    }
}
