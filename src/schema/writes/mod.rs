//! A field of `Mutation` in, what it writes out, or why it cannot. Must not know how it is run.
//!
//! Each other file of this folder is a step. [`directive`] reads the syntax of the actions, and [`find`] the item that
//! is read first. Then, for each action, [`clause`] and [`binding`] bind its fields, [`number`] the shard that another
//! program assigned, [`target`] finds its item, [`element`] resolves `at:`, [`values`] collects what is written,
//! [`expressions`] checks its condition and its update, and [`cascade`] the relations that are deleted too. At the end,
//! [`checks`] judges the actions together, and [`held`] collects what they take from the found item.

mod acting;
mod binding;
mod cascade;
mod checks;
mod clause;
mod directive;
mod element;
mod expressions;
mod find;
mod held;
mod number;
mod target;
mod values;

use crate::schema::diagnostics::diagnostic::Findings;
use crate::schema::diagnostics::rules;
use crate::schema::diagnostics::suggestion::suggest;
use crate::schema::expression::update::Update;
use crate::schema::model::source::Source;
use crate::schema::model::write::{Action, ActionKind, Write, WriteTarget};
use crate::schema::types::draft::{Kind, SchemaDraft};
use acting::{Acting, InScope, Writing};
use apollo_compiler::ast::FieldDefinition;
use checks::{moved, unchecked, whole};
use directive::{ActionDirective, Verb};
use indexmap::IndexMap;
use std::collections::HashSet;

/// The most actions of a field: the items of a transaction (DynamoDB developer guide, "Amazon DynamoDB transactions:
/// how it works").
const MAX_ACTIONS: usize = 100;

/// Checks the write; `None` if it, or what it builds on, has a mistake.
pub fn read_write(
    draft: &SchemaDraft,
    parent: &str,
    field: &FieldDefinition,
    findings: &mut Findings,
) -> Option<Write> {
    let writing = Writing { draft, parent, field };
    let directives = ActionDirective::all(field);
    if directives.len() > MAX_ACTIONS {
        let message = format!(
            "`{}` has {} actions, but a transaction takes at most {MAX_ACTIONS}",
            writing.coordinate(),
            directives.len()
        );
        findings.error(rules::KF0716, &whole::place(&writing), message, None);
        return None;
    }
    let mut used: Vec<String> = Vec::new();
    let mut scope: Vec<InScope> = Vec::new();
    let mut found = None;
    if let Some(directive) = field.directives.get("find") {
        let read = find::read_write_find(&writing, directive, &directives, findings)?;
        scope.extend(draft.records.get(&read.find.item).map(|record| InScope {
            item: read.find.item.clone(),
            record,
            found: true,
        }));
        used.extend(read.arguments);
        found = Some(read.find);
    }
    let mut actions: Vec<(Action, &ActionDirective)> = Vec::new();
    for directive in &directives {
        let item = item_of(&writing, directive, findings);
        let action = item.as_ref().and_then(|item| action(&writing, (item, directive), &scope, findings));
        used.extend(action.iter().flat_map(whole::arguments_of));
        actions.extend(action.map(|action| (action, directive)));
        // A put with a mistake stays in scope, so that it causes no further findings.
        if let (Some(item), Verb::Put, None) = (item, directive.verb, &directive.at)
            && !scope.iter().any(|known| known.item == item)
        {
            scope.extend(draft.records.get(&item).map(|record| InScope { item, record, found: false }));
        }
    }
    if actions.len() < directives.len() {
        return None;
    }
    let sound = whole::check_once(&writing, &actions, findings)
        & whole::check_arguments(&writing, &used, findings)
        & moved::check(&writing, found.as_ref(), &actions, findings);
    let actions: Vec<Action> = actions.into_iter().map(|(action, _)| action).collect();
    let returns = whole::returns(&writing, found.as_ref(), &actions, findings)?;
    let taken = held::taken(&writing, found.as_ref(), &actions);
    sound.then_some(Write { find: found, actions, returns, held: taken.fields, names_found: taken.named })
}

/// `item:`, or the field's own type.
fn item_of(writing: &Writing, directive: &ActionDirective, findings: &mut Findings) -> Option<String> {
    let draft = writing.draft;
    let own = writing.field.ty.inner_named_type().as_str();
    let (name, place) = match &directive.item {
        Some(named) => (named.value.as_str(), &named.span),
        None => (own, &directive.span),
    };
    if draft.kind(name) == Some(&Kind::Item) && (directive.verb == Verb::Check || !draft.is_read_only(name)) {
        return Some(name.to_owned());
    }
    if draft.kind(name) == Some(&Kind::Item) {
        let message = format!("`{}` is read-only, so `{}` cannot write it", name, writing.coordinate());
        findings.error(rules::KF0724, place, message, Some("leave `readOnly:` out of its `@item`".into()));
        return None;
    }
    let items = draft.kinds.iter().filter(|(_, kind)| **kind == Kind::Item).map(|(name, _)| name.as_str());
    let (message, help) = match &directive.item {
        Some(_) => (format!("`{name}` is not an item type"), suggest(name, items)),
        None => {
            let message = format!(
                "`{}` of type `{}` does not name the item type of `{}`",
                writing.coordinate(),
                writing.field.ty,
                directive.name()
            );
            (message, Some(format!("name the item type: `{}(item: …)`", directive.name())))
        }
    };
    findings.error(rules::KF0701, place, message, help);
    None
}

/// Checks an action whose item type is known.
fn action(
    writing: &Writing,
    (item, directive): (&str, &ActionDirective),
    scope: &[InScope],
    findings: &mut Findings,
) -> Option<Action> {
    let draft = writing.draft;
    let mut acting = begin_action(writing, (item, directive), scope)?;
    let record = acting.record;
    expressions::check_options(&acting, findings)?;
    let at = match &directive.at {
        Some(written) => Some(element::read_element(&acting, written, findings)?),
        None => None,
    };
    let part = at.as_ref().and_then(|at| Some((at.element.as_str(), draft.records.get(&at.element)?)));
    let put = directive.verb == Verb::Put;
    let owner = part.filter(|_| put).unwrap_or((&acting.item, record));
    let (owner_name, owner_record) = (owner.0.to_owned(), owner.1);
    (acting.clause, acting.hidden) = clause::read_clause(&acting, (&owner_name, owner_record), findings)?;

    let aim = match expressions::finds(directive.verb, at.is_some()) {
        true => target::read_target(&acting, findings)?,
        false => target::ResolvedTarget { target: WriteTarget::Key(IndexMap::new()), arguments: Vec::new() },
    };
    let condition = expressions::condition(&acting, findings);
    let expression = expressions::expression(&acting, findings);
    let mut finding = aim.arguments;
    if let Some((_, _, Source::Argument(name))) = at.as_ref().and_then(|at| at.by.as_ref()) {
        finding.push(name.clone());
    }
    let (owner, record) = part.unwrap_or((&acting.item, record));
    let written = values::WriteTargetType { owner, record, finding: &finding };
    let mut values = match directive.verb {
        Verb::Put => {
            let mut values = values::put_values(&acting, &written, findings)?;
            if at.is_none() {
                values.extend(number::bind_new_item(&acting, findings)?);
            }
            values
        }
        Verb::Update => values::update_values(&acting, &written, findings)?,
        Verb::Delete | Verb::Check => IndexMap::new(),
    };
    let (condition, expression) = (condition?, expression?);
    if let Some(expression) = &expression {
        values.retain(|field, _| !expression.changes.contains_key(field));
    }
    if !put && at.is_none() {
        values.extend(values::expected_version(&acting, findings)?);
    }
    let kind = read_kind(&acting, &values, expression, findings)?;
    let message = directive.message.clone();
    let action = Action { item: acting.item.clone(), kind, target: aim.target, values, at, condition, message };
    unchecked::warn_of_objects(&acting, &action, record, findings);
    Some(action)
}

/// The action with nothing bound yet. `None` if its keys have a mistake, which is reported where the keys are read.
fn begin_action<'a>(
    writing: &Writing<'a>,
    (item, directive): (&str, &'a ActionDirective),
    scope: &'a [InScope<'a>],
) -> Option<Acting<'a>> {
    let (keys, record) = writing.draft.item(item)?;
    let table = writing.draft.tables.get(keys.table)?;
    Some(Acting {
        writing: *writing,
        directive,
        item: item.to_owned(),
        keys,
        record,
        table,
        scope,
        clause: IndexMap::new(),
        hidden: HashSet::new(),
    })
}

/// What the action does to its item.
fn read_kind(
    acting: &Acting,
    values: &values::WrittenValues,
    expression: Option<Update>,
    findings: &mut Findings,
) -> Option<ActionKind> {
    let directive = acting.directive;
    Some(match directive.verb {
        Verb::Put => ActionKind::Put { replace: directive.replace },
        Verb::Update => {
            check_upsert(acting, values, expression.as_ref(), findings)?;
            ActionKind::Update { upsert: directive.upsert, expression }
        }
        Verb::Delete => ActionKind::Delete { cascade: cascade::read_cascade(acting, findings)? },
        Verb::Check => ActionKind::Check,
    })
}

/// An upsert may create the item, so each field that is never null needs a value, a default or a place in the table's
/// key.
fn check_upsert(
    acting: &Acting,
    values: &values::WrittenValues,
    expression: Option<&Update>,
    findings: &mut Findings,
) -> Option<()> {
    if !acting.directive.upsert {
        return Some(());
    }
    let primary = acting.primary_fields();
    let missing = acting.record.iter().find(|(name, declared)| {
        let rules = &declared.rules;
        let given = values.contains_key(*name) || expression.is_some_and(|update| update.changes.contains_key(*name));
        declared.ty.is_non_null()
            && !declared.ty.is_list()
            && rules.default.is_none()
            && !rules.only_keyfold_writes()
            && !given
            && !primary.contains(&name.as_str())
    });
    let Some((name, declared)) = missing else { return Some(()) };
    let message = format!("`upsert:` may create a `{}` without `{name}`, which is never null", acting.item);
    let help = format!("add an argument `{name}: {}`, or give the field a `@default`", declared.ty);
    findings.error(rules::KF0705, &acting.directive.span, message, Some(help));
    None
}
