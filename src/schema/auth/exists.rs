//! `exists:` of one `@auth` in; out: the look-up that finds the item by its key, or why there is none. Must not know
//! other rules.

use super::names::RuleNames;
use super::place::RulePlace;
use crate::schema::diagnostics::diagnostic::Findings;
use crate::schema::diagnostics::rules;
use crate::schema::diagnostics::span::{self, At};
use crate::schema::diagnostics::suggestion::suggest;
use crate::schema::expression::condition::Condition;
use crate::schema::finds::target::FindTarget;
use crate::schema::finds::wanted::{Bindings, FindContext};
use crate::schema::finds::{self, prepare, where_clause};
use crate::schema::model::auth::RuleLookup;
use crate::schema::model::find::{Access, AccessPath, Find, Returns, Via};
use crate::schema::model::keys::ItemKeys;
use crate::schema::model::source::Source;
use crate::schema::syntax::directives::{FindDirective, name, named, place, text};
use crate::schema::types::draft::{Kind, SchemaDraft, StoredFields};
use apollo_compiler::Node;
use apollo_compiler::ast::{Directive, FieldDefinition, Type};
use apollo_compiler::name as graphql_name;

/// Reads the look-up. If a write asks it (`writes`), or hides items by it, it must find the item by its whole key.
pub fn read_lookup(
    rule: &RulePlace,
    directive: &Node<Directive>,
    (writes, hides): (bool, bool),
    findings: &mut Findings,
) -> Option<RuleLookup> {
    let draft = rule.draft;
    let item = name(directive, "exists")?;
    let item_type = read_item(draft, &item, findings)?;
    let (keys, record) = item_type;
    let table = draft.tables.get(keys.table)?;
    // The rule of a type has no arguments.
    let (own, ty) = (graphql_name!("rule"), Type::Named(graphql_name!("Boolean")));
    let bare =
        FieldDefinition { description: None, name: own, arguments: Vec::new(), ty, directives: Default::default() };
    let field = rule.field.unwrap_or(&bare);
    let (parent_record, target) = (rule.record, FindTarget { item: item.value.clone(), returns: Returns::One });
    let written = FindDirective::from_directive(directive);
    let wanted = FindContext {
        draft,
        parent: &rule.parent,
        parent_record,
        field,
        directive: written,
        target,
        keys,
        record,
        table,
        found: Vec::new(),
    };
    let bindings = where_clause::read_where(&wanted, findings)?;
    let condition = match text(directive, "if") {
        None => None,
        Some(written) => Some(read_condition(rule, &written, item_type, findings)?),
    };
    let path = path(rule, (&wanted, &bindings), writes || hides || condition.is_some(), directive, findings)?;
    if let Some(field) = path.parent_fields().into_iter().find(|field| writes && !rule.is_in_key(field)) {
        let message = format!(
            "`{field}` is not in the key of `{}`, so a write cannot tell which `{}` must exist",
            rule.parent, item.value
        );
        let help = "give the rule `on: [READ]`, and each mutation a rule over its arguments";
        findings.error(rules::KF0614, &place(directive, "where"), message, Some(help.into()));
        return None;
    }
    let (item, via) = (item.value, Via::Keys(vec![path]));
    let find = Find { item, returns: Returns::One, via, filter: None, max: prepare::MAX_DEFAULT, consistent: false };
    Some(RuleLookup { find, condition })
}

/// The keys and the fields of the item type; a finding if there is no such type.
fn read_item<'a>(
    draft: &'a SchemaDraft,
    item: &At<String>,
    findings: &mut Findings,
) -> Option<(&'a ItemKeys, &'a StoredFields)> {
    let found = draft.item(&item.value);
    // Mistakes of an item type itself are reported where its keys are read.
    if found.is_none() && draft.kind(&item.value) != Some(&Kind::Item) {
        let items = draft.kinds.iter().filter(|(_, kind)| **kind == Kind::Item).map(|(name, _)| name.as_str());
        let message = format!("`{}` is not an item type", item.value);
        findings.error(rules::KF0614, &item.span, message, suggest(&item.value, items));
    }
    found
}

/// What must hold of the item, from `if:`.
fn read_condition(
    rule: &RulePlace,
    written: &At<String>,
    item: (&ItemKeys, &StoredFields),
    findings: &mut Findings,
) -> Option<Condition> {
    let names = RuleNames { draft: rule.draft, field: rule.field, item: Some(item) };
    let mistakes = match Condition::parse(&written.value, &names) {
        Ok(condition) => return Some(condition),
        Err(mistakes) => mistakes,
    };
    for mistake in mistakes {
        let place = span::within(rule.draft.text, &written.span, &mistake.span);
        findings.error(rules::KF0608, &place, mistake.message, mistake.help);
    }
    None
}

/// How the item is found: by its whole key, or by a prefix of it if that is enough.
fn path(
    rule: &RulePlace,
    (wanted, bindings): (&FindContext, &Bindings),
    by_whole_key: bool,
    directive: &Node<Directive>,
    findings: &mut Findings,
) -> Option<AccessPath> {
    let names_list = |name: &str| wanted.argument(name).is_some_and(|argument| argument.ty.is_list());
    let is_list = |source: &Source| matches!(source, Source::Argument(name) if names_list(name));
    let several = bindings.equal.values().flat_map(|bound| bound.source.leaves()).any(is_list);
    let paths = |whole: bool| {
        let serves = |path: &AccessPath| !whole || matches!(path.access, Access::Get { .. });
        finds::paths_of_write(wanted, bindings, None, &|candidate| serves(&candidate.path))
    };
    let found = paths(by_whole_key).into_iter().next().filter(|_| !several && bindings.ranges.is_empty());
    if found.is_none() {
        let item = &wanted.target.item;
        let message = match (several || !bindings.ranges.is_empty(), paths(false).is_empty()) {
            (true, _) => {
                format!("this rule of `{}` looks up one `{item}`, so each field of its key has one value", rule.of)
            }
            (_, true) => format!("this rule of `{}` would need a Scan: `where:` binds no key of `{item}`", rule.of),
            (_, false) => format!(
                "this rule of `{}` needs the whole key of `{item}`, but `where:` binds only a part of it",
                rule.of
            ),
        };
        findings.error(rules::KF0614, &named(directive), message, Some(finds::keys_of(wanted).into()));
    }
    found
}
