//! Failed conditions of a write → what follows: an error for the caller, or another attempt.

use crate::execute::auth::hiding;
use crate::execute::auth::refusals;
use crate::execute::error::{ErrorCode, FieldError};
use crate::execute::expression::evaluate::{self, equal};
use crate::execute::values::decode;
use crate::execute::write::draft::call::{CallRole, IfAbsent, MainCall, WriteDraft};
use crate::execute::write::item::identity;
use crate::execute::write::job::WriteJob;
use crate::execute::write::lanes::ItemPlace;
use crate::execute::write::messages::{FieldErrors, absent, of_table, unfit_item};
use crate::execute::write::rules::expression::ComputedBound;
use crate::execute::write::rules::item_rules::ItemRules;
use crate::execute::write::rules::lookups;
use crate::table::data::attribute::{Attribute, Item};
use crate::table::data::write::{ConditionFailure, Unfit};
use serde_json::{Value, json};
use std::sync::Arc;

/// What follows from failed conditions.
pub enum FailureClass {
    /// A lost race: read and try again. Names the item if one call tells which.
    Race(Option<ItemPlace>),
    /// There is no such item, and nothing to do.
    Nothing,
    /// An item is in another form than the draft takes for granted.
    Otherwise,
    /// An error for the caller.
    Refused(FieldErrors),
}

/// Classifies failed conditions.
pub async fn classify_failure(job: &WriteJob<'_>, draft: &WriteDraft, failures: &[ConditionFailure]) -> FailureClass {
    for check in &draft.rules {
        let failed = failures.iter().find(|failure| check.position == Some(failure.position));
        if failed.is_some_and(|failure| !lookups::is_met(job, check, failure.item.as_ref())) {
            return match check.was_read {
                // What was found to hold before is found anew.
                true => FailureClass::Race(None),
                false => FailureClass::Refused(vec![lookups::refusal(job, check)]),
            };
        }
    }
    if let Some(verdict) = stale(job, draft, failures) {
        return verdict;
    }
    let (mut field_errors, mut taken) = (FieldErrors::new(), FieldErrors::new());
    let (mut raced, mut place, mut otherwise) = (false, None, false);
    for failure in failures {
        let Some(call) = draft.calls.get(failure.position) else { continue };
        match &call.role {
            CallRole::Dependent | CallRole::OldGuard | CallRole::Found | CallRole::Rule => raced = true,
            // A missing replica is repaired. Otherwise the failure of the first replica tells what is wrong.
            CallRole::Replica => {}
            CallRole::Guard(ty, field) => {
                let message = format!("Another {ty} already has this {field}.");
                taken.push(FieldError { code: ErrorCode::Conflict, message, details: vec![("field", json!(field))] });
            }
            CallRole::Main(main) => {
                // An item of another type does not belong to this write, and no error reveals its contents.
                let is_of = |item: &&Item| job.type_named(&main.item).is_ok_and(|ty| identity::is_of(ty, item));
                let item = failure.item.as_ref().filter(is_of);
                let foreign = failure.item.is_some() && item.is_none();
                let ruled_out = item.is_some_and(|item| !main.rule.is_met(item, &job.scope()));
                // An item that a rule hides counts as missing, unless the call would make it.
                let is_hidden = match item.filter(|_| ruled_out && !main.makes) {
                    Some(item) => is_hidden(job, main, item).await,
                    None => Ok(false),
                };
                let item = match is_hidden {
                    Ok(hidden) => item.filter(|_| !hidden),
                    Err(unread) => return FailureClass::Refused(unread),
                };
                let refused = if foreign && main.makes { Some(taken_by_other(main)) } else { refused((job, draft), main, item) };
                if item.is_none() && main.if_absent == IfAbsent::Nothing {
                    return FailureClass::Nothing;
                }
                // Nothing else is told to whom a rule refuses the item.
                if item.is_some() && ruled_out {
                    return FailureClass::Refused(refused.into_iter().collect());
                }
                if refused.is_none() {
                    raced = true;
                    otherwise |= item.is_some_and(|item| main.is_otherwise(item, &draft.scope(job)));
                    place = place.or_else(|| draft.place(failure.position));
                }
                field_errors.extend(refused);
            }
        }
    }
    // After a lost race, the winner may have written the very guard that already exists.
    if !raced {
        field_errors.extend(taken);
    }
    // A position of the response has one error (GraphQL spec section 6.4.4): that of the first action that fails.
    field_errors.truncate(1);
    match field_errors.is_empty() {
        true if otherwise => FailureClass::Otherwise,
        true => FailureClass::Race(place),
        false => FailureClass::Refused(field_errors),
    }
}

/// The error of the first call of a draft whose condition does not hold. So an action that cannot be drafted tells nothing of its item if a
/// condition before it keeps the caller from it.
pub async fn unmet(job: &WriteJob<'_>, draft: &WriteDraft) -> Result<Option<FieldError>, FieldErrors> {
    for (position, call) in draft.calls.iter().enumerate() {
        let (CallRole::Main(main), Some((_, key))) = (&call.role, draft.place(position)) else { continue };
        let Some(condition) = &main.condition else { continue };
        let item = job.read(&main.item, &key).await?;
        let item = match item {
            Some(item) if !main.rule.is_met(&item, &job.scope()) && is_hidden(job, main, &item).await? => None,
            item => item,
        };
        if !evaluate::holds(condition, item.as_deref(), &draft.scope(job)).unwrap_or(false) {
            return Ok(refused((job, draft), main, item.as_deref()));
        }
    }
    Ok(None)
}

/// What follows if the found item has changed. Failures of calls that depend on it do not count. Only the item's own call can give an
/// error.
fn stale(job: &WriteJob<'_>, draft: &WriteDraft, failures: &[ConditionFailure]) -> Option<FailureClass> {
    let held = draft.held.as_ref()?;
    let scope = draft.scope(job);
    for failure in failures {
        let call = draft.calls.get(failure.position)?;
        let is_of = |item: &&Item| job.type_named(&held.item).is_ok_and(|ty| identity::is_of(ty, item));
        let item = failure.item.as_ref().filter(is_of);
        let main = match &call.role {
            CallRole::Found => None,
            CallRole::Main(main) if main.held => Some(main),
            _ => continue,
        };
        if held.holds(item, &scope) {
            continue;
        }
        let by_found = job.write.names_found;
        return Some(match main.filter(|_| !by_found).and_then(|main| refused((job, draft), main, item)) {
            Some(field_error) => FailureClass::Refused(vec![field_error]),
            None => FailureClass::Race(draft.place(failure.position)),
        });
    }
    None
}

/// Whether rules hide the item of a call from the caller.
async fn is_hidden(job: &WriteJob<'_>, main: &MainCall, item: &Item) -> Result<bool, FieldErrors> {
    let ty = job.type_named(&main.item)?;
    hiding::is_hidden(job.context, ty, &Arc::new(item.clone())).await.map_err(|error| vec![of_table(&error)])
}

/// The error if an item of another type has the key of the item to create.
fn taken_by_other(main: &MainCall) -> FieldError {
    let message = main.message.clone().unwrap_or_else(|| format!("Another item already has the key of this {}.", main.item));
    FieldError::new(ErrorCode::Conflict, message)
}

/// The error for the caller. `None` if only values that were read have changed.
fn refused((job, draft): (&WriteJob<'_>, &WriteDraft), main: &MainCall, item: Option<&Item>) -> Option<FieldError> {
    let told = |code, or: String| Some(FieldError::new(code, main.message.clone().unwrap_or(or)));
    if main.creates {
        return match item {
            Some(_) => told(ErrorCode::Conflict, format!("This {} already exists.", main.item)),
            None => told(ErrorCode::Conflict, format!("The condition on {} does not hold.", main.item)),
        };
    }
    let rule = || Some(ruled_out(job, main, item));
    if item.is_some_and(|item| !main.rule.is_met(item, &job.scope())) {
        return rule();
    }
    match main.if_absent {
        _ if item.is_some() => {}
        IfAbsent::Forbidden => return rule(),
        _ if main.many => return None,
        IfAbsent::ReadAgain => return None,
        IfAbsent::NotFound => return Some(absent(&main.item, main.condition.as_ref(), main.message.as_deref())),
        IfAbsent::Make | IfAbsent::Nothing => {}
    }
    if let Some((attribute, expected)) = &main.version {
        let current = item
            .and_then(|item| item.get(attribute))
            .and_then(|value| decode::scalar(&crate::schema::scalar::value_type::ValueType::Int, value));
        if current.as_ref() != Some(expected) {
            let message = format!("This {} has been changed in the meantime.", main.item);
            let details = vec![("currentVersion", current.unwrap_or(Value::Null))];
            return Some(FieldError { code: ErrorCode::Conflict, message, details });
        }
    }
    let condition = main.condition.as_ref().filter(|_| !main.many);
    if let Some(Ok(false) | Err(_)) = condition.map(|condition| evaluate::holds(condition, item, &draft.scope(job))) {
        return told(ErrorCode::Conflict, format!("The condition on {} does not hold.", main.item));
    }
    if let (Some((list, element)), Some(item)) = (&main.appends, item)
        && holds(item, list, element)
    {
        return told(ErrorCode::Conflict, format!("This {} already has an equal element.", main.item));
    }
    let scope = draft.scope(job);
    let holds = |bound: &&ComputedBound| evaluate::holds(&bound.condition, item, &scope).unwrap_or(false);
    let broken = main.bounds.iter().find(|bound| !holds(bound) && !item.is_some_and(|item| bound.meets_null(item)));
    broken.map(|bound| bound.field_error.clone())
}

/// The error of a call whose item the rules refuse.
fn ruled_out(job: &WriteJob<'_>, main: &MainCall, item: Option<&Item>) -> FieldError {
    let of_type = job.write.actions.iter().filter(|action| action.item == main.item);
    let demanded = job.type_named(&main.item).map(|ty| (ty, of_type.flat_map(|action| job.write.demanded(action, ty)).collect()));
    let errors = demanded.map(|(ty, demanded)| ItemRules::of(job.context, ty, demanded).refused(item));
    errors.ok().and_then(|errors| errors.into_iter().next()).unwrap_or_else(|| refusals::error(job.context.caller))
}

/// The error of a change that the item, or the request's values, do not allow.
pub fn unfit(draft: &WriteDraft, at: Option<usize>, why: Unfit) -> FieldError {
    let mut mains = draft.calls.iter().filter_map(|call| if let CallRole::Main(main) = &call.role { Some(&main.item) } else { None });
    let item = match at.and_then(|at| draft.calls.get(at)).map(|call| &call.role) {
        Some(CallRole::Main(main)) => Some(&main.item),
        Some(CallRole::Guard(item, _)) => Some(item),
        // With several calls, the server does not say which one failed.
        _ => mains.next().filter(|_| mains.next().is_none()),
    };
    unfit_item(item.map_or("item", String::as_str), why)
}

/// Whether a list attribute of an item holds an element.
fn holds(item: &Item, list: &str, element: &Attribute) -> bool {
    matches!(item.get(list), Some(Attribute::L(elements)) if elements.iter().any(|one| equal(one, element)))
}
