//! The write of a mutation's field as text and JSON: what it reads first, the services that it calls, and its actions.

use super::tree::*;
use crate::schema::model::service::MutationCall;
use crate::schema::model::write::ActionKind;
use crate::schema::model::{Model, write};
use serde_json::{Value, json};
use std::fmt::Write;

/// The actions of a write, and what is read for it.
pub fn write_text(model: &Model, write: &PlannedWrite) -> String {
    let mut text = format!("write {}\n", write.field);
    let nested = |name: &str, plan: &Plan| {
        plan.to_text(model).lines().fold(format!("  {name}\n"), |text, line| text + "    " + line + "\n")
    };
    let lookup = |name: &str, lookup: &WriteLookup| nested(&format!("{name} {}", lookup.item), &lookup.plan);
    let (finds, actions) = parts_of(model, write);
    for (found, read) in finds.iter().zip(&write.found) {
        match read {
            Some(read) => text += &lookup(&format!("find{}", each_of(found.each.as_ref())), read),
            None => _ = writeln!(text, "  find {}{}: a Get", found.find.item, each_of(found.each.as_ref())),
        }
    }
    for call in calls_of(model, write) {
        let _ = writeln!(text, "  call {} for {}", model.services[call.service].name, call.name);
        let _ = writeln!(text, "     gets  {}", call.inputs.keys().cloned().collect::<Vec<_>>().join(", "));
        text.extend(call.undo.iter().map(|undo| format!("     undo  {undo}, if nothing is written\n")));
        let _ = writeln!(text, "     cost  unknown");
    }
    for (action, lookups) in actions.iter().zip(&write.actions) {
        let _ = writeln!(text, "  {} {}{}", kind(action), action.item, each_of(action.each.as_ref()));
        text.extend(lookups.target.iter().map(|target| lookup("which", target)));
        if let Some(CascadeStart { plan, targets, .. }) = &lookups.cascade_start {
            let types: Vec<&str> = targets.iter().map(|(_, ty, _)| ty.as_str()).collect();
            text += &nested(&format!("and {}", types.join(", ")), plan);
        }
        text.extend(further(lookups).map(|cascade| lookup("and", &cascade.whole)));
    }
    if let Some(idempotency) = idempotency_of(model, write) {
        let _ = writeln!(text, "  record of the request by {}", idempotency.argument);
    }
    text
}

/// The paths of a cascade that do not begin together.
fn further(lookups: &ActionLookups) -> impl Iterator<Item = &Cascade> {
    let is_begun = |position: &usize| {
        lookups.cascade_start.iter().flat_map(|start| &start.targets).any(|(begun, ..)| begun == position)
    };
    lookups.cascade.iter().enumerate().filter(move |(position, _)| !is_begun(position)).map(|(_, cascade)| cascade)
}

pub fn write_json(model: &Model, write: &PlannedWrite) -> Value {
    let lookup = |lookup: &WriteLookup| json!({ "type": lookup.item, "plan": lookup.plan.to_json(model) });
    let (finds, actions) = parts_of(model, write);
    let actions = actions.iter().zip(&write.actions).map(|(action, lookups)| {
        let together = lookups.cascade_start.iter().map(|start| {
            let types: Vec<&str> = start.targets.iter().map(|(_, ty, _)| ty.as_str()).collect();
            json!({ "type": types.join(", "), "plan": start.plan.to_json(model) })
        });
        let cascade = together.chain(further(lookups).map(|cascade| lookup(&cascade.whole)));
        let mut said = json!({
            "action": kind(action),
            "type": action.item,
            "reads": lookups.target.as_ref().map(lookup),
            "cascade": cascade.collect::<Vec<_>>(),
        });
        if let (Some(each), Value::Object(said)) = (&action.each, &mut said) {
            said.insert("each".into(), json!(each));
        }
        said
    });
    let found = finds.iter().zip(&write.found).map(|(found, read)| match read {
        Some(read) if found.each.is_some() => {
            json!({ "type": read.item, "each": found.each, "plan": read.plan.to_json(model) })
        }
        Some(read) => lookup(read),
        None => json!({ "type": found.find.item, "each": found.each }),
    });
    let actions: Vec<Value> = actions.collect();
    let mut said = json!({ "field": write.field, "found": found.collect::<Vec<_>>(), "actions": actions });
    if let (Some(idempotency), Value::Object(said)) = (idempotency_of(model, write), &mut said) {
        said.insert("recordedBy".into(), json!(idempotency.argument));
    }
    let calls = calls_of(model, write).iter().map(|call| {
        let service = &model.services[call.service].name;
        let gets: Vec<&String> = call.inputs.keys().collect();
        json!({ "service": service, "as": call.name, "gets": gets, "undo": call.undo })
    });
    let calls: Vec<Value> = calls.collect();
    if let (false, Value::Object(said)) = (calls.is_empty(), &mut said) {
        said.insert("calls".into(), Value::Array(calls));
    }
    said
}

/// The services that are called before a write.
fn calls_of<'m>(model: &'m Model, write: &PlannedWrite) -> &'m [MutationCall] {
    model.mutation(&write.field).map_or(&[], |declared| &declared.calls)
}

/// By what the requests of a write are known again.
fn idempotency_of<'m>(model: &'m Model, write: &PlannedWrite) -> Option<&'m write::Idempotency> {
    model.mutation(&write.field)?.idempotency.as_ref()
}

/// The finds and the actions of a write.
fn parts_of<'m>(model: &'m Model, write: &PlannedWrite) -> (&'m [write::WriteFind], &'m [write::Action]) {
    match model.mutation(&write.field) {
        Some(write) => (&write.finds, &write.actions),
        None => (&[], &[]),
    }
}

/// For each element of which list something is done, in words.
fn each_of(list: Option<&String>) -> String {
    list.map(|list| format!(" for each of {list}")).unwrap_or_default()
}

fn kind(action: &write::Action) -> &'static str {
    match (&action.kind, &action.at) {
        (ActionKind::Put { .. }, None) => "put",
        (ActionKind::Put { .. }, Some(write::Element { map: Some(_), .. })) => "put an entry of",
        (ActionKind::Update { .. }, Some(write::Element { map: Some(_), .. })) => "update an entry of",
        (ActionKind::Delete { .. }, Some(write::Element { map: Some(_), .. })) => "delete an entry of",
        (ActionKind::Put { .. }, Some(_)) => "put an element of",
        (ActionKind::Update { moves: true, .. }, None) => "move",
        (ActionKind::Update { .. }, None) => "update",
        (ActionKind::Update { .. }, Some(_)) => "update an element of",
        (ActionKind::Delete { .. }, None) => "delete",
        (ActionKind::Delete { .. }, Some(_)) => "delete an element of",
        (ActionKind::Check, _) => "check",
    }
}
