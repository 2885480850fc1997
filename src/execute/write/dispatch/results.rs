//! A write that is made in; the items that its field returns out, once late dependents and replicas are looked after.

use crate::execute::error::{ErrorCode, FieldError};
use crate::execute::write::calls::draft::{ResultItem, WriteDraft};
use crate::execute::write::dispatch::cascade;
use crate::execute::write::dispatch::replicas::{self, SyncCause};
use crate::execute::write::job::WriteJob;
use crate::execute::write::messages::{FieldErrors, absent, made, replicas_behind, unseen, unswept};
use crate::schema::model::write::{ReturnedFrom, ReturnedItems};
use crate::table::data::attribute::Item;
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
/// returns: those of each planned result.
pub async fn finish(
    job: &WriteJob<'_>,
    draft: &WriteDraft,
    ending: Ending,
) -> Result<Vec<Vec<Arc<Item>>>, FieldErrors> {
    cascade::sweep(job, draft.cascades.iter()).boxed().await.map_err(unswept)?;
    let cause = if draft.calls.is_empty() { SyncCause::Found } else { SyncCause::Written };
    replicas::sync(job, &draft.behind, cause).await.map_err(|error| vec![replicas_behind(&error)])?;
    let is_single = draft.as_call(job.single_writes()).is_some();
    let (is_made, answer) = match ending {
        Ending::Made(answer) => (draft.writes(), answer),
        Ending::NothingToDo => (false, None),
    };
    let own = |returned| items_of(job, draft, returned).into_iter().map(|(_, item)| item).collect();
    let returned: Vec<Vec<AnsweredItem>> = job.planned.results.iter().map(|result| own(result.returned)).collect();
    // A transaction gives no items, so one batch reads all that the field returns of it.
    let unread = returned.iter().flatten().filter_map(|item| match item {
        AnsweredItem::Written(ResultItem::Answer(ty, key)) if !is_single => Some((ty.as_str(), key)),
        _ => None,
    });
    let mut read = job.read_stored(&unread.collect::<Vec<_>>()).await.map_err(made)?.into_iter();
    let gave = |item: &AnsweredItem| match item {
        AnsweredItem::Written(ResultItem::Nothing) => false,
        AnsweredItem::Written(ResultItem::Answer(..)) if is_single => answer.is_some(),
        AnsweredItem::Found(_) | AnsweredItem::Written(_) => true,
    };
    // A missing never-null item is an error even if the operation does not select it: nothing was deleted.
    for returned in job.write.returned() {
        let there = items_of(job, draft, returned).iter().filter(|(_, item)| gave(item)).count();
        check_there(job, returned, (there, there), is_made && !is_single)?;
    }
    let mut all = Vec::with_capacity(returned.len());
    for (result, returned) in job.planned.results.iter().zip(&returned) {
        let mut items = Vec::with_capacity(returned.len());
        for item in returned {
            match item {
                AnsweredItem::Found(item) | AnsweredItem::Written(ResultItem::Known(item)) => items.push(item.clone()),
                AnsweredItem::Written(ResultItem::Nothing) => {}
                AnsweredItem::Written(ResultItem::Answer(..)) if is_single => items.extend(answer.clone()),
                AnsweredItem::Written(ResultItem::Answer(..)) => items.extend(read.next().flatten()),
            }
        }
        check_there(job, result.returned, (items.len(), returned.len()), is_made && !is_single)?;
        all.push(items);
    }
    Ok(all)
}

/// An item that a field returns.
pub enum AnsweredItem<'d> {
    /// A `@find` found it.
    Found(Arc<Item>),
    /// An action wrote it.
    Written(&'d ResultItem),
}

/// The items that a field returns, each with its type.
pub fn items_of<'d>(
    job: &'d WriteJob<'_>,
    draft: &'d WriteDraft,
    returned: ReturnedItems,
) -> Vec<(&'d str, AnsweredItem<'d>)> {
    let mut items: Vec<(Option<usize>, (&str, AnsweredItem<'d>))> = Vec::new();
    match returned.from {
        ReturnedFrom::Find(first) => {
            let is_its = |find: usize| job.write.finds.get(find).is_some_and(|found| found.first(find) == first);
            let held = draft.held.iter().filter(|held| held.find.is_some_and(is_its));
            items
                .extend(held.map(|held| (held.element, (held.item.as_str(), AnsweredItem::Found(held.found.clone())))));
        }
        ReturnedFrom::Action(first) => {
            let done = job.directives.actions.iter().zip(&draft.results);
            for (done, results) in done.filter(|(done, _)| done.action.first() == first) {
                let ty = done.action.item.as_str();
                items.extend(results.iter().map(|result| (done.element, (ty, AnsweredItem::Written(result)))));
            }
        }
    }
    // Those of alternatives are in the order of the elements, too.
    items.sort_by_key(|(element, _)| *element);
    items.into_iter().map(|(_, item)| item).collect()
}

/// Checks that what is never null is there, and that each element of a list of an action with `each:` has its item:
/// `there` of so many.
pub fn check_there(
    job: &WriteJob<'_>,
    returned: ReturnedItems,
    (there, all): (usize, usize),
    is_transaction: bool,
) -> Result<(), FieldErrors> {
    let ReturnedFrom::Action(action) = returned.from else { return Ok(()) };
    let is_listed = || job.write.actions.get(action).is_some_and(|action| action.each.is_some());
    if !returned.many && there == 0 && returned.never_null {
        return Err(vec![nothing(job, action, is_transaction)]);
    }
    if returned.many && there < all && is_listed() {
        return Err(vec![unseen(ErrorCode::Unavailable)]);
    }
    Ok(())
}

/// The error of a never-null field without an item: nothing was deleted, or the item was gone before it could be read.
fn nothing(job: &WriteJob<'_>, action: usize, is_written: bool) -> FieldError {
    match job.write.actions.get(action) {
        _ if is_written => unseen(ErrorCode::Unavailable),
        Some(action) => absent(action.type_name(), action),
        None => unseen(ErrorCode::Internal),
    }
}
