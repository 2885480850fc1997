//! A write whose conditions failed in; out: why, and so what follows: an error for the caller, or another attempt.
//!
//! Every reason is a [`Reason`] of a requirement that the draft made. [`reason_of`] decides for one call, [`classify`]
//! for the whole write.

use crate::execute::auth::{hiding, refusals};
use crate::execute::error::{ErrorCode, FieldError};
use crate::execute::expression::evaluate;
use crate::execute::item::identity;
use crate::execute::keyed_locks::ItemPlace;
use crate::execute::values::decode;
use crate::execute::write::calls::draft::{CallRole, DraftCall, WriteDraft};
use crate::execute::write::calls::requirement::{ItemCondition, Reason, ReturnedItem};
use crate::execute::write::job::WriteJob;
use crate::execute::write::lookup::found_item::FoundItem;
use crate::execute::write::messages::{FieldErrors, absent, name_elements, table_error, unfit_item};
use crate::execute::write::rules::item_rules::ItemRules;
use crate::execute::write::rules::lookups::{self, RuleCheck};
use crate::schema::model::write::Action;
use crate::schema::scalar::value_type::ValueType;
use crate::table::data::attribute::Item;
use crate::table::data::write::{ConditionFailure, Unfit, WriteAction};
use serde_json::{Value, json};
use std::sync::Arc;

/// What follows from failed conditions, if no error does.
pub enum Following {
    /// A lost race: read and try again. Names the item if one call tells which.
    Race(Option<ItemPlace>),
    /// An item is in another form than the draft takes for granted: read it and try again.
    OtherForm,
    /// Items lack what the draft writes into: it is made of the items as they came back.
    Unplaced(Vec<(ItemPlace, Arc<Item>)>),
    /// There is no such item, and nothing to do.
    Nothing,
    /// Items that have expired are in the way: they are deleted, and the write is tried again. Their types are named.
    Expired(Vec<(String, Item)>),
}

/// What follows from the failed conditions of a write. `Err`: an error for the caller.
pub async fn classify(
    job: &WriteJob<'_>,
    draft: &WriteDraft,
    failures: &[ConditionFailure],
) -> Result<Following, FieldErrors> {
    if let Some(check) = broken_rule(job, draft, failures) {
        // What was found to hold before is found anew.
        return if check.was_read { Ok(Following::Race(None)) } else { Err(vec![lookups::refusal(job, check)]) };
    }
    let failed = judge(job, draft, failures).await?;
    if let Some(stale) = stale(draft, &failed) {
        return stale;
    }
    let (mut field_errors, mut taken) = (Vec::new(), Vec::new());
    let (mut has_raced, mut place, mut other_form) = (false, None, false);
    let (mut expired, mut unplaced) = (Vec::new(), Vec::new());
    // A move whose item is gone or has changed says nothing of its new place: another may have moved the item there.
    let lost: Vec<usize> =
        failed.iter().filter(|failed| is_lost_move(job, failed)).filter_map(|(_, call, ..)| call.action()).collect();
    for (position, call, _, (reason, refused)) in failed {
        match reason {
            Reason::AlreadyExists if call.action().is_some_and(|action| lost.contains(&action)) => has_raced = true,
            // A missing replica is repaired. Otherwise the failure of the first replica tells what is wrong.
            _ if matches!(call.role, CallRole::Replica) => {}
            Reason::Nothing => return Ok(Following::Nothing),
            Reason::Forbidden => {
                return Err(refused.and_then(|refused| first_error(job, &[refused])).into_iter().collect());
            }
            Reason::Taken => taken.extend(refused),
            Reason::Gone | Reason::Race | Reason::OtherForm => {
                has_raced = true;
                other_form |= reason == Reason::OtherForm;
                let is_main = matches!(call.role, CallRole::Main { .. });
                place = place.or_else(|| draft.place(position).filter(|_| is_main));
            }
            Reason::Unplaced => {
                has_raced = true;
                unplaced.extend(lacking(draft, failures, position));
            }
            Reason::Expired => {
                has_raced = true;
                expired.extend(in_the_way(job, call, came_back(failures, position)));
            }
            _ => field_errors.extend(refused),
        }
    }
    // After a lost race, the winner may have written the very guard that already exists.
    if !has_raced {
        field_errors.extend(taken);
    }
    match first_error(job, &field_errors) {
        None if !expired.is_empty() => Ok(Following::Expired(expired)),
        None if other_form => Ok(Following::OtherForm),
        None if !unplaced.is_empty() => Ok(Following::Unplaced(unplaced)),
        None => Ok(Following::Race(place)),
        Some(field_error) => Err(vec![field_error]),
    }
}

/// A call that failed: its position, whether what a find found there has changed, and the reason, with the error for
/// the caller if that is one.
type FailedCall<'d> = (usize, &'d DraftCall, bool, (Reason, Option<CallError<'d>>));

/// What follows if what a find found has changed: failures of calls that depend on it do not count, and only its own
/// call can give an error.
fn stale(draft: &WriteDraft, failed: &[FailedCall<'_>]) -> Option<Result<Following, FieldErrors>> {
    let (position, call, _, (_, refused)) = failed.iter().find(|(_, _, is_stale, _)| *is_stale)?;
    let is_own = matches!(call.role, CallRole::Main { .. }) && draft.arguments.is_none();
    Some(match refused.as_ref().filter(|_| is_own) {
        Some(refused) => Err(vec![refused.error.clone()]),
        None => Ok(Following::Race(draft.place(*position))),
    })
}

/// The item that came back with a failed call; `None` if there is none.
fn came_back(failures: &[ConditionFailure], position: usize) -> Option<&Item> {
    failures.iter().find(|failure| failure.position == position)?.item.as_ref()
}

/// An item that lacks what its call writes into, as it came back: nothing of one that does not exist.
fn lacking(draft: &WriteDraft, failures: &[ConditionFailure], position: usize) -> Option<(ItemPlace, Arc<Item>)> {
    Some((draft.place(position)?, Arc::new(came_back(failures, position).cloned().unwrap_or_default())))
}

/// Whether a call is the delete of a move that has lost a race.
fn is_lost_move(job: &WriteJob<'_>, (_, call, _, (reason, _)): &FailedCall<'_>) -> bool {
    let moves = call.action().and_then(|action| job.action(action)).is_some_and(Action::moves);
    moves && matches!(call.write.action, WriteAction::Delete(_)) && matches!(reason, Reason::Gone | Reason::Race)
}

/// Why each of the calls failed.
async fn judge<'d>(
    job: &WriteJob<'_>,
    draft: &'d WriteDraft,
    failures: &[ConditionFailure],
) -> Result<Vec<FailedCall<'d>>, FieldErrors> {
    let mut failed = Vec::with_capacity(failures.len());
    for failure in failures {
        let Some(call) = draft.calls.get(failure.position) else { continue };
        let returned = returned(job, call, failure.item.as_ref()).await?;
        let is_there =
            |found: &FoundItem| !returned.is_expired && found.holds(failure.item.as_ref(), &draft.scope(job));
        let is_stale = !call.requires.found().all(is_there);
        let (reason, refused) = reason_of(job, draft, (call, returned));
        let error =
            refused.map(|error| CallError { call, error, elements: failed_elements(job, draft, call, returned) });
        failed.push((failure.position, call, is_stale, (reason, error)));
    }
    Ok(failed)
}

/// The item that has expired and is in the way of a call, with its type.
fn in_the_way(job: &WriteJob<'_>, call: &DraftCall, stored: Option<&Item>) -> Option<(String, Item)> {
    let CallRole::Main { item: of, .. } = &call.role else { return None };
    let item = stored?;
    let ty = identity::expired_type(job.context.model, job.type_named(of).ok()?, item, job.context.now.passed())?;
    Some((ty.name.clone(), item.clone()))
}

/// The error of the first call that fails: a position of the response has one (GraphQL spec section 6.4.4). If elements
/// of a list fail alike, it tells all of them.
fn first_error(job: &WriteJob<'_>, field_errors: &[CallError<'_>]) -> Option<FieldError> {
    let first = field_errors.first()?;
    let error = first.error.clone();
    let Some((list, _)) = first.call.element(job) else { return Some(error) };
    let is_alike = |other: &&CallError<'_>| {
        let (of, other) = (other.call.directive(job), &other.error);
        of == first.call.directive(job)
            && other.code == error.code
            && other.message == error.message
            && other.details == error.details
    };
    let mut elements: Vec<usize> = field_errors.iter().filter(is_alike).flat_map(|one| one.elements.clone()).collect();
    elements.sort_unstable();
    Some(name_elements(error, list, &elements))
}

/// The error of a call.
struct CallError<'d> {
    call: &'d DraftCall,
    error: FieldError,
    /// The elements of its list that it is about.
    elements: Vec<usize>,
}

/// The elements of a list for which a call failed: its own and, if others check the same item, those whose condition
/// does not hold.
fn failed_elements(job: &WriteJob<'_>, draft: &WriteDraft, call: &DraftCall, returned: ReturnedItem<'_>) -> Vec<usize> {
    let all: Vec<usize> = call.action().into_iter().chain(call.joined.iter().copied()).collect();
    let scope = draft.scope(job);
    let is_unmet = |position: &usize| {
        let condition = job.action(*position).and_then(|action| action.condition.as_ref());
        !condition.is_some_and(|condition| evaluate::holds(condition, returned.visible, &scope).unwrap_or(false))
    };
    let unmet: Vec<usize> =
        all.iter().copied().filter(|position| call.joined.is_empty() || is_unmet(position)).collect();
    let failed = if unmet.is_empty() { all } else { unmet };
    failed.into_iter().filter_map(|position| Some(job.element(position)?.1)).collect()
}

/// What a rule looked up and what does not hold.
fn broken_rule<'d>(job: &WriteJob<'_>, draft: &'d WriteDraft, failures: &[ConditionFailure]) -> Option<&'d RuleCheck> {
    let is_broken = |(position, check): &(usize, &RuleCheck)| {
        let has_check = |failure: &&ConditionFailure| {
            draft.calls.get(failure.position).is_some_and(|call| call.rules.contains(position))
        };
        let failed = failures.iter().find(has_check);
        failed.is_some_and(|failure| !lookups::is_met(job, check, failure.item.as_ref()))
    };
    draft.rules.iter().enumerate().find(is_broken).map(|(_, check)| check)
}

/// The error of the first call of a draft whose author's condition does not hold. So an action that cannot be drafted
/// tells nothing of its item if a condition before it keeps the caller from it.
pub async fn unmet(job: &WriteJob<'_>, draft: &WriteDraft) -> Result<Option<FieldError>, FieldErrors> {
    let judged = draft.calls.iter().enumerate().filter_map(|(position, call)| match &call.role {
        CallRole::Main { item, .. } => Some((call, call.requires.author()?, item.as_str(), draft.place(position)?.1)),
        _ => None,
    });
    let judged: Vec<_> = judged.collect();
    let items = job.read_all(&judged.iter().map(|(_, _, of, key)| (*of, key)).collect::<Vec<_>>()).await?;
    for ((call, condition, ..), item) in judged.into_iter().zip(items) {
        let returned = returned(job, call, item.as_deref()).await?;
        if !evaluate::holds(condition, returned.visible, &draft.scope(job)).unwrap_or(false) {
            let elements = failed_elements(job, draft, call, returned);
            let refused = reason_of(job, draft, (call, returned)).1;
            return Ok(refused.and_then(|error| first_error(job, &[CallError { call, error, elements }])));
        }
    }
    Ok(None)
}

/// The error of the first call of a draft that would fail, by the items as they are now. A race is none: another
/// attempt decides it.
pub async fn foreseen(job: &WriteJob<'_>, draft: &WriteDraft) -> Result<Option<FieldError>, FieldErrors> {
    let judged = draft.calls.iter().filter_map(|call| match &call.role {
        CallRole::Main { item, .. } => Some((call, item.as_str(), call.key(job.context.model)?)),
        _ => None,
    });
    let judged: Vec<_> = judged.collect();
    let items = job.read_all(&judged.iter().map(|(_, of, key)| (*of, key)).collect::<Vec<_>>()).await?;
    for ((call, ..), item) in judged.into_iter().zip(items) {
        let returned = returned(job, call, item.as_deref()).await?;
        if call.requires.reason(returned, &draft.scope(job)).1.is_some() {
            let elements = failed_elements(job, draft, call, returned);
            let refused = reason_of(job, draft, (call, returned)).1;
            if let Some(error) = refused {
                return Ok(first_error(job, &[CallError { call, error, elements }]));
            }
        }
    }
    Ok(None)
}

/// Why a call failed, by what came back from its key, with the error for the caller if that is one: the first of its
/// requirements, in the order of their reasons, that does not hold.
fn reason_of(
    job: &WriteJob<'_>,
    draft: &WriteDraft,
    (call, returned): (&DraftCall, ReturnedItem<'_>),
) -> (Reason, Option<FieldError>) {
    let (reason, unmet) = call.requires.reason(returned, &draft.scope(job));
    (reason, refusal(job, call, (reason, unmet), returned))
}

/// What came back from the key of a call. An item of another type does not belong to the write, and no error reveals
/// its contents. An item that a rule hides counts as missing, unless the call would make it.
async fn returned<'i>(
    job: &WriteJob<'_>,
    call: &DraftCall,
    stored: Option<&'i Item>,
) -> Result<ReturnedItem<'i>, FieldErrors> {
    let CallRole::Main { item: of, .. } = &call.role else {
        let is_expired = has_expired(job, call, stored);
        return Ok(ReturnedItem { stored, visible: stored, is_foreign: false, is_expired });
    };
    let ty = job.type_named(of)?;
    let item = stored.filter(|item| identity::is_of(ty, item));
    let is_foreign = stored.is_some() && item.is_none();
    let (model, passed) = (job.context.model, job.context.now.passed());
    let is_expired = stored.is_some_and(|item| identity::expired_type(model, ty, item, passed).is_some());
    let item = item.filter(|_| !is_expired);
    let refused = item.filter(|item| !call.requires.may_make() && !call.requires.rule().is_met(item, &job.scope()));
    let is_hidden = match refused {
        Some(item) => hiding::is_hidden(job.context, ty, &Arc::new(item.clone()))
            .await
            .map_err(|error| vec![table_error(&error)])?,
        None => false,
    };
    Ok(ReturnedItem { stored, visible: item.filter(|_| !is_hidden), is_foreign, is_expired })
}

/// Whether what came back has expired: an item of the call's type, a guard of one, or a found item.
fn has_expired(job: &WriteJob<'_>, call: &DraftCall, stored: Option<&Item>) -> bool {
    let of = match &call.role {
        CallRole::Main { item, .. } | CallRole::Guard { item, .. } => Some(item.as_str()),
        _ => call.requires.found().next().map(|found| found.item.as_str()),
    };
    let ty = of.and_then(|of| job.type_named(of).ok());
    stored.zip(ty).is_some_and(|(item, ty)| identity::has_expired(ty, item, job.context.now.passed()))
}

/// The error of a reason; `None` if the caller gets none.
fn refusal(
    job: &WriteJob<'_>,
    call: &DraftCall,
    (reason, unmet): (Reason, Option<&ItemCondition>),
    returned: ReturnedItem<'_>,
) -> Option<FieldError> {
    let (item, action) = match &call.role {
        CallRole::Main { action, .. } => {
            let action = job.action(*action)?;
            (action.type_name(), action)
        }
        CallRole::Guard { item: ty, field, .. } => {
            let message = format!("Another {ty} already has this {field}.");
            return Some(FieldError { code: ErrorCode::Conflict, message, details: vec![("field", json!(field))] });
        }
        _ => return None,
    };
    let conflict = |or: String| Some(FieldError::new(ErrorCode::Conflict, action.message.clone().unwrap_or(or)));
    match (reason, unmet) {
        (Reason::AlreadyExists, _) if returned.is_foreign => {
            conflict(format!("Another item already has the key of this {item}."))
        }
        (Reason::AlreadyExists, _) => conflict(format!("This {item} already exists.")),
        (Reason::Forbidden, _) => Some(forbidden(job, &action.item, returned.visible)),
        (Reason::NotFound, _) => Some(absent(item, action)),
        (Reason::VersionChanged, Some(ItemCondition::Equals(attribute, _))) => {
            let stored = returned.visible.and_then(|item| item.get(attribute));
            let current = stored.and_then(|value| decode::scalar(&ValueType::Int, value)).unwrap_or(Value::Null);
            let message = format!("This {item} has been changed in the meantime.");
            Some(FieldError { code: ErrorCode::Conflict, message, details: vec![("currentVersion", current)] })
        }
        (Reason::ConditionFailed, _) => conflict(format!("The condition on {item} does not hold.")),
        (Reason::HasElement, Some(ItemCondition::Meets(..))) => {
            conflict(format!("This {item} already has an entry with this key."))
        }
        (Reason::HasElement, _) => conflict(format!("This {item} already has an equal element.")),
        (Reason::OutOfBounds(position), Some(ItemCondition::Bounds(bounds))) => {
            bounds.get(position).map(|bound| bound.field_error.clone())
        }
        _ => None,
    }
}

/// The error of a call whose item the rules refuse.
fn forbidden(job: &WriteJob<'_>, item_type: &str, item: Option<&Item>) -> FieldError {
    let of_type = job.write.actions.iter().filter(|action| action.item == item_type);
    let demanded =
        job.type_named(item_type).map(|ty| (ty, of_type.flat_map(|action| job.write.demanded(action, ty)).collect()));
    let errors = demanded.map(|(ty, demanded)| ItemRules::new(job.context, ty, demanded).refused(item));
    errors.ok().and_then(|errors| errors.into_iter().next()).unwrap_or_else(|| refusals::error(job.context.caller))
}

/// The error of a change that the item, or the request's values, do not allow.
pub fn unfit(draft: &WriteDraft, at: Option<usize>, why: Unfit) -> FieldError {
    let mut mains = draft
        .calls
        .iter()
        .filter_map(|call| if let CallRole::Main { item, .. } = &call.role { Some(item) } else { None });
    let item = match at.and_then(|at| draft.calls.get(at)).map(|call| &call.role) {
        Some(CallRole::Main { item, .. } | CallRole::Guard { item, .. }) => Some(item),
        // With several calls, the server does not say which one failed.
        _ => mains.next().filter(|_| mains.next().is_none()),
    };
    unfit_item(item.map_or("item", String::as_str), why)
}
