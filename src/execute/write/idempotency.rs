//! The arguments of a mutation with `@idempotent` and its caller in; out: which request it is, and so where its record
//! is. Must not know what a record holds of a write.

use crate::execute::context::ExecutionContext;
use crate::execute::item::default_value::hexadecimal;
use crate::execute::write::messages::{FieldErrors, bad_input};
use crate::plan::tree::PlannedWrite;
use crate::schema::expression::claim::ClaimPath;
use crate::schema::expression::operand::Operand;
use crate::schema::model::Model;
use crate::schema::model::rules::DefaultValue;
use crate::schema::model::service::CallInput;
use crate::schema::model::source::Source;
use crate::schema::model::write::{Action, Idempotency, Write, WriteTarget};
use crate::table::data::attribute::{Key, KeyValue};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A request that is known again, and where its record is.
pub struct KnownRequest {
    /// The table of the record.
    pub table: Arc<str>,
    /// The key of the record: the mark of the field and a digest of the caller, the field and the request's key.
    pub key: Key,
    /// The digest in it, in hexadecimal: of the caller and the request's key.
    pub digest: String,
    /// The attribute with the time at which the record ends.
    pub time: String,
    /// SHA-256 of the arguments, in hexadecimal: equal requests have the same.
    pub fingerprint: String,
}

/// The arguments of a request, with the key that a header brings.
type GivenArguments<'v> = Cow<'v, Map<String, Value>>;

/// Which request a write with these arguments is; `None` without `@idempotent`. Gives the arguments with the key that
/// the header brings.
pub fn known_request<'v>(
    context: &ExecutionContext<'_>,
    (planned, write): (&PlannedWrite, &Write),
    arguments: &'v Map<String, Value>,
) -> Result<(GivenArguments<'v>, Option<KnownRequest>), FieldErrors> {
    let Some(idempotency) = &write.idempotency else { return Ok((Cow::Borrowed(arguments), None)) };
    let mut arguments = Cow::Borrowed(arguments);
    // The root fields of a request have one header, so each field has a key of its own.
    let mut field_of_header = None;
    let given = arguments.get(&idempotency.argument).filter(|key| !key.is_null());
    let key = match (given, context.idempotency_key.filter(|_| idempotency.by_header)) {
        (Some(Value::String(key)), _) => key.clone(),
        (Some(key), _) => key.to_string(),
        (None, Some(key)) => {
            field_of_header = Some(planned.response_key.as_str());
            arguments.to_mut().insert(idempotency.argument.clone(), Value::from(key));
            key.to_owned()
        }
        (None, None) => return Err(bad_input(missing(idempotency))),
    };
    if key.is_empty() {
        return Err(bad_input(format!("\"{}\" must not be empty.", idempotency.argument)));
    }
    let table = context.model.tables.get(idempotency.table);
    let Some((table, time)) = table.and_then(|table| Some((table, table.time_to_live.clone()?))) else {
        return Err(bad_input(missing(idempotency)));
    };
    let scope = json!([owner(context, write), field_of_header, key]).to_string();
    let digest_of_scope = digest(&scope);
    let partition = format!("{}#{digest_of_scope}", idempotency.mark);
    let text = |name: &str, text: String| (name.into(), KeyValue::S(text));
    let key = Key {
        partition: text(&table.partition.name, partition),
        sort: table.sort.as_ref().map(|sort| text(&sort.name, idempotency.mark.clone())),
    };
    let own = arguments.iter().filter(|(name, _)| **name != idempotency.argument);
    let fingerprint = digest(&ordered(own));
    let table = table.name.as_str().into();
    let request = KnownRequest { table, key, digest: digest_of_scope, time, fingerprint };
    Ok((arguments, Some(request)))
}

/// To whom a record belongs: the subject with its issuer, and the claims of which keys of the items are made and which
/// services get, which set apart what one subject may see. Callers without a subject share their records.
pub fn owner(context: &ExecutionContext<'_>, write: &Write) -> Value {
    let claim = |name: &str| context.caller.claim_named(name);
    let types = write.actions.iter().map(|action| &action.item).chain(write.finds.iter().map(|find| &find.find.item));
    let in_templates = types.filter_map(|name| context.model.item(name)).flat_map(|(_, keys)| keys.claims());
    let of_calls = write.calls.iter().flat_map(|call| call.inputs.values().filter_map(CallInput::source));
    let sources = write.finds.iter().flat_map(|find| find.find.sources()).chain(of_calls);
    let mut claims: Vec<&ClaimPath> = sources.flat_map(claims_of).collect();
    write.actions.iter().for_each(|action| add_claims(context.model, action, &mut claims));
    let in_keys: BTreeMap<String, Option<String>> = in_templates
        .chain(claims.into_iter().cloned())
        .map(|claim| (claim.to_string(), context.caller.text(&claim)))
        .collect();
    let sent = write.calls.iter().filter_map(|call| context.model.services.get(call.service));
    let sent: Vec<_> = sent.filter_map(|service| context.caller.claims_named(&service.claims)).collect();
    match sent.is_empty() {
        true => json!([claim("iss"), context.caller.sub(), in_keys]),
        false => json!([claim("iss"), context.caller.sub(), in_keys, sent]),
    }
}

/// Adds the claims that say which items an action is about, or which keys its new items get.
fn add_claims<'a>(model: &'a Model, action: &'a Action, claims: &mut Vec<&'a ClaimPath>) {
    match &action.target {
        WriteTarget::Key(sources) => claims.extend(sources.values().flat_map(claims_of)),
        WriteTarget::Read { find, .. } => claims.extend(find.sources().into_iter().flat_map(claims_of)),
        WriteTarget::Found(_) => {}
    }
    let fields = model.item(&action.item).filter(|_| action.at.is_none()).and_then(|(_, keys)| {
        let table = model.tables.get(keys.table)?;
        Some(keys.primary_fields(table))
    });
    for written in fields.into_iter().flatten().filter_map(|field| action.values.get(field)) {
        claims.extend(written.source().into_iter().flat_map(claims_of));
        claims.extend(written.made().into_iter().chain(&written.default).flat_map(DefaultValue::claims));
        written.computed().into_iter().for_each(|computed| {
            computed.operands(&mut |operand| {
                if let Operand::Claim(claim, _) = operand {
                    claims.push(claim);
                }
            });
        });
    }
}

fn claims_of(source: &Source) -> impl Iterator<Item = &ClaimPath> {
    source.leaves().into_iter().filter_map(|leaf| if let Source::Claim(claim) = leaf { Some(claim) } else { None })
}

/// A value as a text that equal values share: members by their names, and numbers that are equal alike.
fn canonical(value: &Value) -> String {
    match value {
        Value::Object(members) => ordered(members.iter()),
        Value::Array(elements) => format!("[{}]", elements.iter().map(canonical).collect::<Vec<_>>().join(",")),
        Value::Number(number) => match number.to_string().parse::<i128>() {
            Ok(whole) => whole.to_string(),
            Err(_) => number.as_f64().map_or_else(|| number.to_string(), |float| float.to_string()),
        },
        other => other.to_string(),
    }
}

fn ordered<'v>(members: impl Iterator<Item = (&'v String, &'v Value)>) -> String {
    let members: BTreeMap<&String, String> = members.map(|(name, value)| (name, canonical(value))).collect();
    let members: Vec<String> = members.into_iter().map(|(name, value)| format!("{}:{value}", json!(name))).collect();
    format!("{{{}}}", members.join(","))
}

/// SHA-256 of a text, in hexadecimal.
pub fn digest(text: &str) -> String {
    hexadecimal(&Sha256::digest(text.as_bytes()))
}

fn missing(idempotency: &Idempotency) -> String {
    match idempotency.by_header {
        true => format!("Give \"{}\", or the header Idempotency-Key with a text in quotes.", idempotency.argument),
        false => format!("\"{}\" must not be null.", idempotency.argument),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_have_one_text_and_others_another() {
        let equal = [
            (json!({ "a": 1, "b": [2] }), json!({ "b": [2], "a": 1 })),
            (json!(1), json!(1.0)),
            (json!(0.5), json!(5e-1)),
        ];
        equal.iter().for_each(|(one, other)| assert_eq!(canonical(one), canonical(other)));
        let texts = ["1", "true", "null", "[1]", "{\"a\":1}", "a\",\"b"].map(Value::from);
        let others = [json!(1), json!(true), json!(null), json!([1]), json!({ "a": 1 }), json!({ "a": "1" })];
        let all: Vec<Value> = texts.into_iter().chain(others).chain([json!(["a", "b"]), json!([["a"], "b"])]).collect();
        let different: std::collections::BTreeSet<String> = all.iter().map(canonical).collect();
        assert_eq!(different.len(), all.len(), "{different:?}");
    }
}
