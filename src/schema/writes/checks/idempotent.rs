//! `@idempotent` in; by what the requests of its field are known again out, or why it cannot be. Must not know how a
//! record is written.
//!
//! A record is an item of the table that the field writes. Its partition key is `Idempotent#Mutation.field#` followed
//! by a digest; its sort key is `Idempotent#Mutation.field`.

use crate::schema::diagnostics::diagnostic::Findings;
use crate::schema::diagnostics::help::Help;
use crate::schema::diagnostics::rules;
use crate::schema::diagnostics::suggestion::suggest;
use crate::schema::model::keys::{RECORD_ATTRIBUTES, RECORD_MARK};
use crate::schema::model::write::{Action, ActionKind, Idempotency};
use crate::schema::rules::unique::confused_with;
use crate::schema::syntax::directives::{named, place, text, write_of};
use crate::schema::table::KeyType;
use crate::schema::types::draft::{Kind, SchemaDraft};
use crate::schema::writes::acting::Writing;
use crate::schema::writes::directive::ActionDirective;
use apollo_compiler::Node;
use apollo_compiler::ast::{Directive, InputValueDefinition, OperationType};
use apollo_compiler::schema::ExtendedType;

/// What is wrong, and what to do.
type Mistake = (String, Help);

/// By what the requests of a field are known again, if it has `@idempotent`. `None` if that has a mistake.
pub fn read_idempotency(
    writing: &Writing,
    actions: &[(Action, &ActionDirective)],
    findings: &mut Findings,
) -> Option<Option<Idempotency>> {
    let Some(directive) = writing.field.directives.get("idempotent") else { return Some(None) };
    let argument = match key_argument(writing, directive) {
        Ok(argument) => argument,
        Err((message, help)) => {
            findings.error(rules::KF0729, &place(directive, "key"), message, Some(help));
            return None;
        }
    };
    match table_of(writing, actions) {
        Ok((table, mark)) => {
            let (argument, by_header) = (argument.name.to_string(), !argument.ty.is_non_null());
            Some(Some(Idempotency { argument, by_header, table, mark }))
        }
        Err((message, help)) => {
            findings.error(rules::KF0729, &named(directive), message, Some(help));
            None
        }
    }
}

/// The argument with the key.
fn key_argument<'a>(
    writing: &Writing<'a>,
    directive: &Node<Directive>,
) -> Result<&'a Node<InputValueDefinition>, Mistake> {
    let key = text(directive, "key").map(|key| key.value).unwrap_or_default();
    let Some(name) = key
        .strip_prefix('{')
        .and_then(|rest| rest.strip_suffix('}'))
        .filter(|name| !name.is_empty() && !name.contains(['{', '}']))
    else {
        let message = format!("the key of `@idempotent` is one argument, but `{key}` is not one in braces");
        return Err((message, "write `@idempotent(key: \"{key}\")`".into()));
    };
    let Some(argument) = writing.field.arguments.iter().find(|argument| argument.name == name) else {
        let message = format!("`{name}` is no argument of `{}`", writing.coordinate());
        let names = writing.field.arguments.iter().map(|argument| argument.name.as_str());
        return Err((message, suggest(name, names).unwrap_or_else(|| format!("add an argument `{name}: ID!`").into())));
    };
    if !argument.ty.is_named() || argument.ty.inner_named_type() != "ID" {
        let message = format!("`{name}` has the type `{}`, but a key has the type `ID!` or `ID`", argument.ty);
        return Err((
            message,
            format!("write `{name}: ID!`, or `{name}: ID` if the header `Idempotency-Key` may give it").into(),
        ));
    }
    if argument.default_value.is_some() {
        let message = format!("`{name}` has a default, so all requests without a key would have the same");
        return Err((message, "leave the default out".into()));
    }
    Ok(argument)
}

/// The table of the records, by position, and how their keys begin.
fn table_of(writing: &Writing, actions: &[(Action, &ActionDirective)]) -> Result<(usize, String), Mistake> {
    let (draft, coordinate) = (writing.draft, writing.coordinate());
    let written = actions.iter().filter(|(action, _)| !matches!(action.kind, ActionKind::Check));
    let mut tables = written.filter_map(|(action, _)| Some((draft.items.get(&action.item)?.table, &action.item)));
    let Some((position, item)) = tables.next() else {
        let message = format!("`{coordinate}` writes nothing, so there is nothing to record");
        return Err((message, "leave `@idempotent` out".into()));
    };
    if let Some((_, other)) = tables.find(|(table, _)| *table != position) {
        let message = format!("`{coordinate}` writes `{item}` and `{other}`, which are in two tables");
        return Err((message, "write items of one table, which then has the record, too".into()));
    }
    let table = draft.tables.get(position).ok_or_else(|| (format!("`{item}` has no table"), String::new().into()))?;
    if table.time_to_live.is_none() {
        let message = format!(
            "the records of `{coordinate}` end after 24 hours, but the table `{}` has no time to live",
            table.name
        );
        return Err((message, "name the attribute in `@table`: `timeToLive: \"expiresAt\"`".into()));
    }
    if !table.primary_key().all(|key| key.kind == KeyType::S) {
        let message = format!("the records of `{coordinate}` need a table whose keys are texts");
        return Err((message, "make the table's keys of type S".into()));
    }
    if let Some(key) = table.key_attributes().iter().find(|key| RECORD_ATTRIBUTES.contains(&key.name.as_str())) {
        let message =
            format!("the records of `{coordinate}` have an attribute `{}`, which is a key of an index", key.name);
        return Err((message, "give the key of the index another name".into()));
    }
    let mark = format!("{RECORD_MARK}{coordinate}");
    if let Some(other) = confused_with(draft, position, mark.clone()) {
        let message = format!("the records of `{coordinate}` could have the same keys as items of `{other}`");
        return Err((message, format!("begin a key of `{other}` with a different text: `{other}#{{…}}`").into()));
    }
    Ok((position, mark))
}

/// Reports `@idempotent` and `@call` on fields that write nothing.
pub fn check_places(draft: &SchemaDraft, findings: &mut Findings) {
    for (name, definition) in &draft.schema.types {
        let fields = match definition {
            ExtendedType::Object(object) => &object.fields,
            ExtendedType::Interface(interface) => &interface.fields,
            _ => continue,
        };
        let is_mutation = draft.kind(name) == Some(&Kind::Root(OperationType::Mutation));
        for field in fields.values().filter(|field| !is_mutation || write_of(&field.directives).is_none()) {
            for (of, rule) in [("idempotent", rules::KF0729), ("call", rules::KF1105)] {
                let Some(directive) = field.directives.get(of) else { continue };
                let message = format!("`@{of}` is on `{name}.{}`, which writes nothing", field.name);
                let help = "put it on the field of `Mutation` that writes, beside `@put`, `@update` or `@delete`";
                findings.error(rule, &named(directive), message, Some(help.into()));
            }
        }
    }
}
