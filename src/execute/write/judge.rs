//! Why the conditions of a write did not hold: the author's condition, an item that is there or not, a value that is taken, a stale
//! version, or only that somebody else was faster.

use super::draft::{Draft, Main, Repeat, Role};
use super::elements::holds;
use super::engine::{Job, Refusals};
use crate::execute::decode;
use crate::execute::error::{ErrorCode, Refusal};
use crate::execute::evaluate;
use crate::table::attribute::Item;
use crate::table::write::ConditionFailure;
use serde_json::{Value, json};
use std::sync::Arc;

/// What follows from conditions that did not hold.
pub(super) enum Verdict {
    /// What was read has changed: read and try again.
    Race,
    /// It was applied by an attempt before this one; the item as it is.
    Applied(Arc<Item>),
    /// The caller is told.
    Refused(Refusals),
}

pub(super) fn judge(job: &Job<'_>, draft: &Draft, failures: &[ConditionFailure], uncertain: bool) -> Verdict {
    let mut refusals = Refusals::new();
    for failure in failures {
        let Some(call) = draft.calls.get(failure.position) else { continue };
        match &call.role {
            Role::Along => {}
            Role::Guard(ty, field) => {
                let message = format!("There is already a {ty} with this {field}.");
                refusals.push(Refusal { code: ErrorCode::Conflict, message, details: vec![("field", json!(field))] });
            }
            Role::Main(main) => {
                if let (true, Some(item)) = (uncertain, &failure.item)
                    && was_applied(main, item)
                {
                    return Verdict::Applied(Arc::new(item.clone()));
                }
                refusals.extend(refused(job, main, failure.item.as_ref()));
            }
        }
    }
    if refusals.is_empty() { Verdict::Race } else { Verdict::Refused(refusals) }
}

fn was_applied(main: &Main, item: &Item) -> bool {
    match &main.repeat {
        Repeat::SeenByItem(ours) => **ours == *item,
        Repeat::SeenByElement(list, element) => holds(item, list, element),
        Repeat::Same | Repeat::Never => false,
    }
}

/// What the caller is told; `None` where only what was read has changed.
fn refused(job: &Job<'_>, main: &Main, item: Option<&Item>) -> Option<Refusal> {
    let told = |code, or: String| Some(Refusal::new(code, main.message.clone().unwrap_or(or)));
    if main.creates {
        return match item {
            Some(_) => told(ErrorCode::Conflict, format!("There is already such a {}.", main.item)),
            None => told(ErrorCode::Conflict, format!("The condition on {} does not hold.", main.item)),
        };
    }
    if item.is_none() && main.must_exist {
        return told(ErrorCode::NotFound, format!("There is no such {}.", main.item));
    }
    if let Some((attribute, expected)) = &main.version {
        let current =
            item.and_then(|item| item.get(attribute)).and_then(|value| decode::scalar(&crate::schema::value_type::ValueType::Int, value));
        if current.as_ref() != Some(expected) {
            let message = format!("This {} has been changed in the meantime.", main.item);
            let details = vec![("currentVersion", current.unwrap_or(Value::Null))];
            return Some(Refusal { code: ErrorCode::Conflict, message, details });
        }
    }
    match main.condition.as_ref().map(|condition| evaluate::holds(condition, item, &job.scope())) {
        Some(Ok(false) | Err(_)) => told(ErrorCode::Conflict, format!("The condition on {} does not hold.", main.item)),
        _ => None,
    }
}
