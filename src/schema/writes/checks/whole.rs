//! The actions of a field together in: checks that every argument is used and that no item is written twice. Must not
//! change the actions.

use crate::schema::diagnostics::diagnostic::Findings;
use crate::schema::diagnostics::rules;
use crate::schema::diagnostics::span;
use crate::schema::expression::condition::Condition;
use crate::schema::model::keys::ItemKeys;
use crate::schema::model::service::{CallInput, MutationCall};
use crate::schema::model::source::{Source, TextPart};
use crate::schema::model::write::{Action, WriteFind, WriteTarget, WrittenValue};
use crate::schema::scalar::spread::Spread;
use crate::schema::syntax::directives::named;
use crate::schema::template::part::Part;
use crate::schema::types::inputs::Input;
use crate::schema::types::{computed, inputs};
use crate::schema::writes::acting::Writing;
use crate::schema::writes::directive::{ActionDirective, Verb};

/// How many levels of nested input objects are checked for unused fields.
const MAX_DEPTH: usize = 4;

/// Every argument, and every field of an input object, must be used.
pub fn check_arguments(writing: &Writing, used: &[String], findings: &mut Findings) -> bool {
    let mut sound = true;
    for argument in inputs::arguments(writing.field) {
        for idle in idle(writing, &argument, used, MAX_DEPTH) {
            let message = format!(
                "nothing uses `{}`: it finds nothing, it is not written, and no condition or expression uses it",
                idle.name
            );
            let help = "name it after its stored field, or use it in `set:`, `where:`, `if:` or `expression:`";
            let returned = writing.draft.schema.get_object(writing.field.ty.inner_named_type());
            let name = idle.name.rsplit('.').next().unwrap_or_default();
            let computed = returned.and_then(|object| computed::help(object, name));
            findings.error(rules::KF0708, &idle.span, message, computed.or_else(|| Some(help.into())));
            sound = false;
        }
    }
    sound
}

/// The unused parts of an input; the input itself if no part is used.
fn idle<'a>(writing: &Writing<'a>, input: &Input<'a>, used: &[String], depth: usize) -> Vec<Input<'a>> {
    let within = format!("{}.", input.name);
    if used.contains(&input.name) {
        return Vec::new();
    }
    if depth == 0 || !used.iter().any(|name| name.starts_with(&within)) {
        return vec![input.clone()];
    }
    inputs::element_members(writing.draft.schema, input)
        .iter()
        .flat_map(|member| idle(writing, member, used, depth - 1))
        .collect()
}

/// The arguments of an action, dotted.
pub fn arguments_of(action: &Action) -> Vec<String> {
    let mut all = Vec::new();
    match &action.target {
        WriteTarget::Key(sources) => sources.values().for_each(|source| arguments(source, &mut all)),
        WriteTarget::Found(_) => {}
        WriteTarget::Read { find, .. } => find.sources().into_iter().for_each(|source| arguments(source, &mut all)),
    }
    action.values.values().filter_map(WrittenValue::source).for_each(|source| arguments(source, &mut all));
    if let Some((_, _, source)) = action.at.as_ref().and_then(|at| at.by.as_ref()) {
        arguments(source, &mut all);
    }
    all.extend(action.condition.iter().flat_map(Condition::arguments).map(str::to_owned));
    all.extend(action.named_by_expression().into_iter().map(str::to_owned));
    all
}

/// The arguments of a call, and its result, dotted.
pub fn arguments_of_call(call: &MutationCall) -> Vec<String> {
    let mut all = vec![call.name.clone()];
    let given = call.inputs.values().filter_map(CallInput::source).chain(&call.key);
    given.for_each(|source| arguments(source, &mut all));
    all.extend(call.condition.iter().flat_map(Condition::arguments).map(str::to_owned));
    all
}

fn arguments(source: &Source, all: &mut Vec<String>) {
    match source {
        Source::Argument(name) => all.push(name.clone()),
        Source::Text(parts) => parts.iter().for_each(|part| match part {
            TextPart::Value(source) => arguments(source, all),
            TextPart::Literal(_) => {}
        }),
        Source::Claim(_) | Source::Parent(_) | Source::Item(..) => {}
    }
}

/// An argument must mean the same for all item types of an interface or a union: find the item, or be written.
pub fn check_alternatives(actions: &[(Action, &ActionDirective)], findings: &mut Findings) -> bool {
    let Some(((first, directive), others)) = actions.split_first() else { return true };
    let uses = |action: &Action| {
        let key = finding(action, Some(&[]));
        let mut by_key = Vec::new();
        key.into_iter().flatten().for_each(|source| arguments(source, &mut by_key));
        (by_key, arguments_of(action))
    };
    let (by_key, all) = uses(first);
    for (other, _) in others {
        let (other_by_key, of_other) = uses(other);
        let differs = |one: &[String], two: &[String]| one.iter().find(|name| !two.contains(name)).cloned();
        let differing = differs(&all, &of_other)
            .map(|name| (name, first, other))
            .or_else(|| differs(&of_other, &all).map(|name| (name, other, first)))
            .map(|(name, has, lacks)| format!("`{name}` is used for `{}`, but not for `{}`", has.item, lacks.item));
        let differing = differing.or_else(|| {
            let finds = differs(&by_key, &other_by_key).map(|name| (name, first, other));
            let finds = finds.or_else(|| differs(&other_by_key, &by_key).map(|name| (name, other, first)));
            finds.map(|(name, has, lacks)| {
                format!("`{name}` finds a `{}`, but does not find a `{}`", has.item, lacks.item)
            })
        });
        if let Some(message) = differing {
            let help = "write a field of `Mutation` for each of these types".to_owned();
            findings.error(rules::KF0434, &directive.span, message, Some(help.into()));
            return false;
        }
    }
    true
}

/// Two actions must not work on one item: DynamoDB refuses such a transaction
/// (API reference, TransactWriteItems: "cannot include multiple operations on one item").
pub fn check_once(
    writing: &Writing,
    (finds, actions): (&[WriteFind], &[(Action, &ActionDirective)]),
    findings: &mut Findings,
) -> bool {
    let mut sound = true;
    for (position, (action, directive)) in actions.iter().enumerate() {
        let key = key_of(writing, action);
        let place = place_of(writing, action);
        if let (Some(list), Some(sources)) = (&action.each, finding(action, key.as_deref()))
            && !differs(list, &sources, (finds, actions))
        {
            let message = format!(
                "each element of `{list}` would be the same `{}`: nothing of its key is the element's",
                action.item
            );
            let help = format!("bind a field of the key in `{}:` to a field of the element", directive.clause());
            findings.error(rules::KF0725, &directive.span, message, Some(help.into()));
            sound = false;
        }
        let same = |(other, _): &&(Action, &ActionDirective)| match other.item == action.item {
            // Only one of several alternatives is made.
            _ if other.first() == action.first() => false,
            true => key.is_some() && key_of(writing, other) == key,
            // Only constants distinguish two types whose keys are the same text.
            false => place.is_some() && place_of(writing, other) == place,
        };
        let Some((before, first)) = actions.iter().take(position).find(same) else { continue };
        if before.item != action.item {
            let message = format!(
                "`{}` works on the key of the `{}` before it, whose `{}` is another type: DynamoDB allows one action per item in a transaction",
                directive.name(),
                first.name(),
                before.item
            );
            let help = format!(
                "one item is not both a `{}` and a `{}`: leave one out, or use two fields",
                before.item, action.item
            );
            findings.error(rules::KF0716, &directive.span, message, Some(help.into()));
            sound = false;
        } else {
            let message = format!(
                "`{}` works on the same `{}` as the `{}` before it, but DynamoDB allows one action per item in a transaction",
                directive.name(),
                action.item,
                first.name()
            );
            let help = match (first.verb, directive.verb) {
                (Verb::Check, _) | (_, Verb::Check) => "move the check's `if:` to the other one",
                _ => "combine the two",
            };
            findings.error(rules::KF0716, &directive.span, message, Some(help.into()));
            sound = false;
        }
    }
    sound
}

/// What finds the item of an action with this key, if that is known at load.
fn finding<'a>(action: &'a Action, key: Option<&'a [(String, Source)]>) -> Option<Vec<&'a Source>> {
    match &action.target {
        WriteTarget::Read { find, .. } => Some(find.sources()),
        WriteTarget::Key(_) | WriteTarget::Found(_) => Some(key?.iter().map(|(_, source)| source).collect()),
    }
}

/// Whether what finds an item differs from element to element of a list: a part of it is the element's, or of an item
/// of the list.
fn differs(list: &str, sources: &[&Source], (finds, actions): (&[WriteFind], &[(Action, &ActionDirective)])) -> bool {
    let is_single = |name: &str| {
        finds.iter().any(|found| found.alias == name && found.each.is_none())
            || actions.iter().any(|(action, _)| action.name() == name && action.each.is_none())
    };
    sources.iter().flat_map(|source| source.leaves()).any(|source| match source {
        Source::Argument(name) => name.strip_prefix(list).is_some_and(|rest| rest.starts_with('.')),
        Source::Item(name, _) => !is_single(name),
        Source::Claim(_) | Source::Parent(_) | Source::Text(_) => false,
    })
}

/// The table of an action's item and the texts of its key; `None` if they are not known at load.
fn place_of(writing: &Writing, action: &Action) -> Option<(usize, Vec<TextPart>)> {
    let keys: &ItemKeys = writing.draft.items.get(&action.item)?;
    let sources = key_of(writing, action)?;
    let mut texts = Vec::new();
    for key in writing.draft.tables.get(keys.table)?.primary_key() {
        let source = |field: &str| sources.iter().find(|(known, _)| known == field).map(|(_, source)| source.clone());
        // The first of several alternatives whose fields have values is the key.
        let template = keys
            .keys
            .get(&key.name)?
            .iter()
            .find(|template| template.fields().iter().all(|field| source(field).is_some()))?;
        for part in &template.parts {
            texts.push(match part {
                Part::Literal(literal) => TextPart::Literal(literal.clone()),
                Part::Placeholder { field, .. } => TextPart::Value(source(field)?),
            });
        }
        // The end of the key.
        texts.push(TextPart::Literal(String::new()));
    }
    Some((keys.table, texts))
}

/// The sources of an action's whole key; `None` if it is not known at load.
fn key_of(writing: &Writing, action: &Action) -> Option<Vec<(String, Source)>> {
    let keys: &ItemKeys = writing.draft.items.get(&action.item)?;
    let table = writing.draft.tables.get(keys.table)?;
    let source = |field: &str| match &action.target {
        WriteTarget::Key(sources) if sources.is_empty() => constant_or_source(action.values.get(field)?),
        WriteTarget::Key(sources) => sources.get(field).cloned(),
        WriteTarget::Found(alias) => Some(Source::Item(alias.clone(), field.to_owned())),
        WriteTarget::Read { .. } => None,
    };
    let mut key: Vec<(String, Source)> = Vec::new();
    for field in keys.primary_fields(table) {
        key.push((field.to_owned(), source(field)?));
    }
    // A given number tells an item from that of another shard.
    let number = keys.assigned().map(Spread::placeholder);
    key.extend(number.and_then(|number| Some((number.clone(), source(&number)?))));
    key.sort_by(|(one, _), (other, _)| one.cmp(other));
    Some(key)
}

/// What gives a field of a new item's key its value. What is made is the same for all items of a request, unless it is
/// random.
fn constant_or_source(written: &WrittenValue) -> Option<Source> {
    let made = written.made().filter(|made| !made.is_random());
    let constant = made.map(|made| Source::Text(vec![TextPart::Literal(made.to_string())]));
    written.source().cloned().or(constant)
}

/// The place of the field's first write directive, for findings about all of them together.
pub fn place(writing: &Writing) -> span::Span {
    crate::schema::syntax::directives::write_of(&writing.field.directives).map(named).unwrap_or_default()
}
