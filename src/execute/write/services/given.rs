//! A call, arguments and items in scope in; what its service gets out.

use crate::execute::expression::evaluate;
use crate::execute::expression::scope::{Scope, argument};
use crate::execute::write::calls::draft::WriteDraft;
use crate::execute::write::idempotency::digest;
use crate::execute::write::job::WriteJob;
use crate::execute::write::lookup::items::ItemsInScope;
use crate::execute::write::lookup::source_value::source_value;
use crate::execute::write::messages::{FieldErrors, bad_input};
use crate::schema::expression::condition::Condition;
use crate::schema::model::service::{CallInput, MutationCall};
use crate::schema::model::source::Source;
use serde_json::{Map, Value, json};

/// What the service of a call gets.
pub fn inputs(
    job: &WriteJob<'_>,
    call: &MutationCall,
    values: (&Map<String, Value>, &ItemsInScope),
) -> Result<Map<String, Value>, FieldErrors> {
    let input = |(name, input): (&String, &CallInput)| {
        let value = match input {
            CallInput::Literal(value) => value.clone(),
            CallInput::Source(source) => source_value(job, values, source)?.unwrap_or_default(),
        };
        Ok((name.clone(), value))
    };
    call.inputs.iter().map(input).collect()
}

/// Whether a call is made with these arguments. Fails if one of them does not fit its condition.
pub fn is_wanted(job: &WriteJob<'_>, call: &MutationCall, arguments: &Map<String, Value>) -> Result<bool, FieldErrors> {
    let scope = Scope { arguments, ..job.scope() };
    let Some(condition) = &call.condition else { return Ok(true) };
    evaluate::holds(condition, None, &scope).map_err(bad_input)
}

/// A fingerprint of all that the calls of a write depend on, but for their results.
pub fn basis(job: &WriteJob<'_>, draft: &WriteDraft) -> Result<String, FieldErrors> {
    let mut arguments = draft.arguments.as_ref().unwrap_or(job.arguments()).clone();
    job.write.calls.iter().for_each(|call| _ = arguments.remove(&call.name));
    let is_result = |name: &str| job.write.call_of(name).is_some();
    let mut all = Vec::new();
    for call in &job.write.calls {
        for leaf in call.inputs.values().filter_map(CallInput::source).flat_map(Source::leaves) {
            all.push(source_value(job, (&arguments, &draft.scope_of_calls), leaf)?);
        }
        let names: Vec<&str> = call.condition.iter().flat_map(Condition::arguments).collect();
        match names.iter().any(|name| is_result(name)) {
            true => all.extend(names.into_iter().map(|name| argument(&arguments, name).cloned())),
            false => all.push(Some(is_wanted(job, call, &arguments)?.into())),
        }
    }
    Ok(digest(&json!(all).to_string()))
}
