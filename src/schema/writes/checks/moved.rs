//! The actions of a field in; out: what an item loses that the field moves, and why an item with a `@unique` field
//! cannot be moved.
//!
//! A field moves an item if it finds one, puts another of the same type, and deletes one. The put copies what its names
//! and `set:` say. So everything else of the old item is gone, although the caller only wanted another key. Without the
//! delete, the field copies an item.

use crate::schema::diagnostics::diagnostic::Findings;
use crate::schema::diagnostics::rules;
use crate::schema::diagnostics::suggestion::list;
use crate::schema::model::source::Source;
use crate::schema::model::write::{Action, ActionKind, WriteFind, WrittenValue};
use crate::schema::types::draft::{Declared, StoredFields};
use crate::schema::writes::acting::Writing;
use crate::schema::writes::directive::ActionDirective;

/// What keeps all that an item has.
const MOVE: &str = "`@update(move: true, set: { … })` moves an item with all that it has";

/// Whether a put that copies the found item can succeed; findings for what it loses, and if it cannot.
pub fn check(
    writing: &Writing,
    finds: &[WriteFind],
    actions: &[(Action, &ActionDirective)],
    findings: &mut Findings,
) -> bool {
    finds.iter().all(|found| check_found(writing, found, actions, findings))
}

fn check_found(
    writing: &Writing,
    found: &WriteFind,
    actions: &[(Action, &ActionDirective)],
    findings: &mut Findings,
) -> bool {
    let WriteFind { alias, find, each, .. } = found;
    let Some(record) = writing.draft.records.get(&find.item) else { return true };
    let is_beside = |action: &Action| action.item == find.item && action.at.is_none() && action.each == *each;
    let mut of_type = actions.iter().filter(|(action, _)| is_beside(action));
    let is_deleted = of_type.clone().any(|(action, _)| matches!(action.kind, ActionKind::Delete { .. }));
    let put = of_type.find(|(action, _)| matches!(action.kind, ActionKind::Put { .. }));
    let Some((action, directive)) = put.filter(|(action, _)| is_deleted || copies(action, alias)) else {
        return true;
    };
    let replaces = matches!(action.kind, ActionKind::Put { replace: true });
    // A put that replaces the found item itself may keep its values.
    if let Some(field) = reserved((action, alias), record).filter(|_| is_deleted || !replaces) {
        let item = &find.item;
        let message = format!(
            "this copies `{item}.{field}`, which is `@unique` and reserved for the copied `{item}`: it is always CONFLICT"
        );
        let help = match is_deleted {
            true => MOVE.to_owned(),
            false => format!("give the new `{item}` another value of `{field}`"),
        };
        findings.error(rules::KF0723, &directive.span, message, Some(help.into()));
        return false;
    }
    if is_deleted {
        warn(found, record, (action, directive), findings);
    }
    true
}

/// Whether an action writes something of the found item with this alias.
fn copies(action: &Action, alias: &str) -> bool {
    let sources = action.values.values().filter_map(WrittenValue::source);
    let is_named = |name: &str| name.split_once('.').is_some_and(|(of, _)| of == alias);
    sources.flat_map(Source::leaves).any(|source| matches!(source, Source::Item(of, _) if of == alias))
        || action.named_by_expression().into_iter().any(is_named)
}

/// A unique field that keeps its value.
fn reserved<'a>((action, alias): (&Action, &str), record: &'a StoredFields) -> Option<&'a str> {
    let unique = record.iter().filter(|(_, declared)| declared.rules.unique).map(|(name, _)| name.as_str());
    let kept = |name: &&str| {
        let source = action.values.get(*name).and_then(WrittenValue::source);
        source.is_some_and(|source| matches!(source, Source::Item(of, field) if of == alias && field == name))
    };
    unique.into_iter().find(kept)
}

fn warn(
    WriteFind { alias, find, .. }: &WriteFind,
    record: &StoredFields,
    (action, directive): (&Action, &ActionDirective),
    findings: &mut Findings,
) {
    let item = &find.item;
    let said = |name: &str| directive.sets.bindings.iter().any(|(field, _)| field.value == name);
    let lost = |(name, declared): &(&String, &Declared)| {
        let value = action.values.get(*name);
        // What is made anew at every write has no value to keep.
        let renewed = value.and_then(|value| value.default.as_ref()).is_some_and(|default| default.every_write);
        !said(name) && !renewed && !declared.rules.constant && value.is_none_or(|value| value.given.is_none())
    };
    // A version begins anew, and a unique value is reserved for the old item.
    let may_copy = |declared: &Declared| !(declared.rules.version || declared.rules.unique);
    let lost: Vec<(&str, bool)> =
        record.iter().filter(lost).map(|(name, declared)| (name.as_str(), may_copy(declared))).collect();
    let names: Vec<&str> = lost.iter().map(|(name, _)| *name).collect();
    let unknown = "the attributes that the schema does not know";
    let message = match names.is_empty() {
        true => format!("this move of a `{item}` loses {unknown}"),
        false => format!("this move of a `{item}` loses {}, and {unknown}", list(&names)),
    };
    let copied: Vec<String> = lost
        .iter()
        .filter(|(_, may_copy)| *may_copy)
        .map(|(name, _)| format!("{name}: \"{{{alias}.{name}}}\""))
        .collect();
    let help = match copied.is_empty() {
        true => MOVE.to_owned(),
        false => format!(
            "{MOVE}; or copy what it has to keep: `set: {{ {} }}`, and say null for the rest",
            copied.join(", ")
        ),
    };
    findings.warning(rules::KF0722, &directive.span, message, Some(help.into()));
}
