//! A field of `Subscription` in, what it watches out. Must not know how changes arrive.
//!
//! Names bind the item's fields as they do for a find. Here the bindings are held against the images of a changed item,
//! so any stored field can be bound, and no access path is needed.

use crate::schema::diagnostics::diagnostic::Findings;
use crate::schema::diagnostics::help::{Edit, Help};
use crate::schema::diagnostics::rules;
use crate::schema::diagnostics::span;
use crate::schema::diagnostics::suggestion::suggest;
use crate::schema::expression::condition::Condition;
use crate::schema::finds::target::FindTarget;
use crate::schema::finds::wanted::{Bindings, FindContext};
use crate::schema::finds::{filter, read_watched, scope, where_clause};
use crate::schema::model::find::Returns;
use crate::schema::model::watch::{AFTER, ChangeKind, Watch};
use crate::schema::syntax::directives::{FindDirective, argument, flag, items, name, named, text};
use crate::schema::table::StreamView;
use crate::schema::types::computed;
use crate::schema::types::draft::{Kind, SchemaDraft};
use apollo_compiler::Node;
use apollo_compiler::ast::{Directive, FieldDefinition};

/// The edit that gives the only table of a schema a stream, if it has none.
pub fn missing_stream(draft: &SchemaDraft) -> Option<Edit> {
    let mut tables = draft.tables.iter().filter(|table| table.stream != Some(StreamView::NewAndOldImages));
    let table = tables.next().filter(|_| draft.tables.len() == 1)?;
    stream_edit(draft, &table.name)
}

/// How a table gets a stream.
fn stream_help(draft: &SchemaDraft, table: &str) -> Help {
    let said = "give the table one: `@table(…, stream: NEW_AND_OLD_IMAGES)`";
    stream_edit(draft, table).map_or_else(|| said.into(), |edit| Help::edits(said, vec![edit]))
}

fn stream_edit(draft: &SchemaDraft, table: &str) -> Option<Edit> {
    let mut tables = draft.schema.schema_definition.directives.get_all("table");
    let own = tables.find(|directive| text(directive, "name").is_some_and(|name| name.value == table))?;
    Some(match own.specified_argument_by_name("stream") {
        Some(given) => Edit { span: span::from_location(given.location()), text: "NEW_AND_OLD_IMAGES".to_owned() },
        None => {
            let end = span::from_location(own.location()).end - 1;
            Edit { span: end..end, text: ", stream: NEW_AND_OLD_IMAGES".to_owned() }
        }
    })
}

/// Checks a field of `Subscription`; `None` if it, or what it builds on, has a mistake.
pub fn read_watch(
    draft: &SchemaDraft,
    parent: &str,
    field: &FieldDefinition,
    directive: &Node<Directive>,
    findings: &mut Findings,
) -> Option<Watch> {
    let item = watched_item(draft, (parent, field), directive, findings)?;
    let (keys, record) = draft.item(&item)?;
    let table = draft.tables.get(keys.table)?;
    if table.stream != Some(StreamView::NewAndOldImages) {
        let message = format!(
            "`{parent}.{}` watches `{item}`, but the table `{}` has no stream with both images",
            field.name, table.name
        );
        findings.error(rules::KF0902, &named(directive), message, Some(stream_help(draft, &table.name)));
    }
    let kinds = kinds(directive);
    let is_plain = draft.kind(field.ty.inner_named_type()) == Some(&Kind::Item);
    if is_plain && field.ty.is_non_null() && kinds.contains(&ChangeKind::Remove) {
        let message = format!("`{parent}.{}` is never null, but an item that is removed is null", field.name);
        let help = "make it nullable, or leave removals out: `on: [INSERT, MODIFY]`";
        findings.error(rules::KF0901, &span::from_location(field.name.location()), message, Some(help.into()));
        return None;
    }
    // `after` is for changes, and no field of the item.
    let mut bound = field.clone();
    bound.arguments.retain(|argument| argument.name != AFTER);
    let wanted = |returns| FindContext {
        draft,
        parent,
        parent_record: None,
        field: &bound,
        directive: FindDirective::from_directive(directive),
        target: FindTarget { item: item.clone(), returns },
        keys,
        record,
        table,
        found: Vec::new(),
    };
    // A list argument watches several items.
    let watched = wanted(Returns::List);
    let filter = filter::read_filter(&watched, findings);
    let bindings = where_clause::read_where(&watched, findings);
    let filtered = filter.iter().flatten().flat_map(Condition::arguments).collect::<Vec<_>>();
    let bindings = bindings.and_then(|bindings| scope::bind(&watched, bindings, &filtered, findings))?;
    let sound = check_bindings(&watched, &bindings, findings)
        & check_arguments((&watched, field), &bindings, &filtered, findings);
    let filter = filter.ok()?;
    let initial = match flag(directive, "initial") && sound {
        true => Some(read_watched(wanted(Returns::One), findings)?),
        false => None,
    };
    let bindings = bindings.equal.into_iter().map(|(name, binding)| (name, binding.source)).collect();
    sound.then_some(Watch { item, kinds, bindings, filter, initial })
}

/// The item type that a field watches.
fn watched_item(
    draft: &SchemaDraft,
    (parent, field): (&str, &FieldDefinition),
    directive: &Node<Directive>,
    findings: &mut Findings,
) -> Option<String> {
    let (inner, coordinate) = (field.ty.inner_named_type().as_str(), format!("{parent}.{}", field.name));
    let item = match draft.kind(inner) {
        Some(Kind::Item) if field.ty.is_named() => inner,
        Some(Kind::Change(item)) if field.ty.is_named() => item,
        Some(Kind::Misshapen) => return None,
        _ => {
            let message = format!("`{coordinate}` of type `{}` cannot return a change of an item", field.ty);
            let help = "return an item type, or a type with `change: ChangeKind!`, `node` and `previous`";
            findings.error(rules::KF0901, &span::from_location(field.name.location()), message, Some(help.into()));
            return None;
        }
    };
    if let Some(written) = name(directive, "item").filter(|written| written.value != item) {
        let message = format!("`item:` names `{}`, but `{coordinate}` returns changes of `{item}`", written.value);
        findings.error(rules::KF0901, &written.span, message, Some("leave `item:` out".into()));
        return None;
    }
    Some(item.to_owned())
}

/// The kinds of change that `on:` names; all without it.
fn kinds(directive: &Directive) -> Vec<ChangeKind> {
    let Some(written) = argument(directive, "on") else { return ChangeKind::ALL.to_vec() };
    let is_named = |kind: &ChangeKind| {
        items(written).iter().any(|value| value.as_enum().is_some_and(|name| name.as_str() == kind.name()))
    };
    ChangeKind::ALL.into_iter().filter(is_named).collect()
}

/// Images are compared with values, so ranges and numbers of shards cannot be bound.
fn check_bindings(wanted: &FindContext, bindings: &Bindings, findings: &mut Findings) -> bool {
    let mut sound = true;
    for (field, bounds) in &bindings.ranges {
        let message = format!("a subscription compares `{field}` with one value, so it takes no range");
        findings.error(rules::KF0904, &bounds.span, message, Some("use `filter:`".into()));
        sound = false;
    }
    let spread = wanted.keys.spread().map(|spread| (spread.placeholder(), spread.kind.word()));
    if let Some((_, word)) = spread.filter(|(placeholder, _)| bindings.equal.contains_key(placeholder)) {
        let message = format!("`{}` watches items whatever their {word} is", wanted.coordinate());
        findings.error(rules::KF0904, &wanted.directive.span, message, Some(format!("leave the {word} out").into()));
        sound = false;
    }
    sound
}

/// Every argument binds a field, is part of the filter, or is `after`, which takes the id of a change.
fn check_arguments(
    (wanted, field): (&FindContext, &FieldDefinition),
    bindings: &Bindings,
    filtered: &[&str],
    findings: &mut Findings,
) -> bool {
    let mut sound = true;
    for argument in &field.arguments {
        let name = argument.name.as_str();
        let is_text = argument.ty.is_named() && ["ID", "String"].contains(&argument.ty.inner_named_type().as_str());
        if bindings.uses(name)
            || filtered.iter().any(|used| used.split('.').next() == Some(name))
            || name == AFTER && is_text
        {
            continue;
        }
        let message = match name {
            AFTER => format!("the argument `after` of type `{}` cannot take the id of a change", argument.ty),
            _ => format!(
                "nothing uses the argument `{name}`: it is not a field of `{}`, and `where:` and `filter:` do not use it",
                wanted.target.item
            ),
        };
        let help = if name == AFTER {
            Some("make it `ID`".into())
        } else {
            computed::help_beside(wanted.draft, wanted.record, name)
                .or_else(|| suggest(name, wanted.record.keys().map(String::as_str)))
        };
        findings.error(rules::KF0904, &span::from_location(argument.name.location()), message, help);
        sound = false;
    }
    sound
}
