//! Refuses a write that needs a claim which the caller lacks, before anything is read or written. Must not know items.

use crate::execute::auth::refusals;
use crate::execute::error::{ErrorCode, FieldError};
use crate::execute::write::job::WriteJob;
use crate::execute::write::messages::FieldErrors;
use crate::schema::expression::claim::ClaimPath;
use crate::schema::expression::operand::Operand;
use crate::schema::model::rules::DefaultValue;
use crate::schema::model::service::CallInput;
use crate::schema::model::source::Source;
use crate::schema::model::write::{Action, ActionKind, WriteTarget, WrittenValue};

/// Checks that the caller has all claims of which the write makes values and keys.
pub fn check_claims(job: &WriteJob<'_>) -> Result<(), FieldErrors> {
    let caller = job.context.caller;
    let mut claims = Vec::new();
    job.write.actions.iter().for_each(|action| add_action(action, &mut claims));
    let of_calls = job.write.calls.iter().flat_map(|call| call.inputs.values().filter_map(CallInput::source));
    of_calls.for_each(|source| add_source(source, &mut claims));
    let items =
        job.write.actions.iter().map(|action| &action.item).chain(job.write.finds.iter().map(|found| &found.find.item));
    let of_keys: Vec<ClaimPath> =
        items.filter_map(|item| job.context.model.item(item)).flat_map(|(_, keys)| keys.claims()).collect();
    match claims.into_iter().chain(&of_keys).find(|claim| caller.text(claim).is_none()) {
        None => Ok(()),
        Some(claim) if caller.is_signed_in() => {
            let named = if caller.is_explained() { format!("the claim {claim}") } else { "a claim".to_owned() };
            Err(vec![FieldError::new(ErrorCode::Forbidden, format!("Your sign-in lacks {named} that this needs."))])
        }
        Some(_) => Err(vec![refusals::error(caller)]),
    }
}

fn add_action<'a>(action: &'a Action, claims: &mut Vec<&'a ClaimPath>) {
    claims.extend(action.values.values().filter_map(WrittenValue::made).flat_map(DefaultValue::claims));
    action.values.values().filter_map(WrittenValue::source).for_each(|source| add_source(source, claims));
    if let WriteTarget::Key(sources) = &action.target {
        sources.values().for_each(|source| add_source(source, claims));
    }
    if let Some((_, _, source)) = action.at.as_ref().and_then(|at| at.by.as_ref()) {
        add_source(source, claims);
    }
    let mut see = |operand: &'a Operand| {
        if let Operand::Claim(claim, _) = operand {
            claims.push(claim);
        }
    };
    action.values.values().filter_map(WrittenValue::computed).for_each(|computed| computed.operands(&mut see));
    let ActionKind::Update { expression: Some(update), .. } = &action.kind else { return };
    update.set.iter().for_each(|(_, value)| value.operands(&mut see));
    update
        .add
        .iter()
        .chain(&update.delete)
        .map(|(_, operand)| operand)
        .chain(update.changes.values().flatten())
        .for_each(see);
}

fn add_source<'a>(source: &'a Source, claims: &mut Vec<&'a ClaimPath>) {
    claims.extend(
        source.leaves().into_iter().filter_map(|leaf| if let Source::Claim(claim) = leaf { Some(claim) } else { None }),
    );
}
