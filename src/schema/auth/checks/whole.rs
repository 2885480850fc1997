//! Rules and the fields that need them in; out: rules that decide nothing, mutations that nobody guards, and ways
//! around a guarded field. Must not know how a rule is written.

use super::contradiction::{needs_sign_in, never_holds};
use super::disclosure::{disclosed_by_default, disclosed_by_find, disclosed_by_watch, disclosed_by_write};
use crate::schema::auth::place::RulePlace;
use crate::schema::diagnostics::diagnostic::Findings;
use crate::schema::diagnostics::rules;
use crate::schema::diagnostics::span::{self, Span};
use crate::schema::expression::operand::Path;
use crate::schema::model::auth::{AuthAction, AuthRule, LetsIn};
use crate::schema::model::find::{Find, Returns, Via};
use crate::schema::model::write::{Action, ActionKind, Write};
use crate::schema::model::{Field, FieldKind, ObjectType};
use crate::schema::syntax::directives::named;
use crate::schema::types::draft::SchemaDraft;
use apollo_compiler::Node;
use apollo_compiler::ast::Directive;
use indexmap::IndexMap;
use std::sync::Arc;

/// Reports rules of one type or field that let nobody in, or that another one makes needless: a public one, or one for
/// all who are signed in.
pub fn check_together(place: &RulePlace, rules: &[(&Node<Directive>, AuthRule)], findings: &mut Findings) {
    let of_reads = || rules.iter().filter(|(_, rule)| rule.reads);
    if let Some((directive, _)) =
        of_reads().find(|(_, rule)| !rule.hides).filter(|_| of_reads().any(|(_, rule)| rule.hides))
    {
        let message = format!("other rules of `{}` hide what they refuse, but this one does not", place.of);
        findings.error(
            rules::KF0606,
            &named(directive),
            message,
            Some("add `hide: true` here, or leave it out of the others".into()),
        );
    }
    for (directive, rule) in rules {
        let same = |other: &AuthRule| (other.reads && rule.reads) || (other.writes && rule.writes);
        let others = rules.iter().filter(|(other, _)| !std::ptr::eq(*other, *directive)).any(|(_, other)| same(other));
        if matches!(rule.lets_in, LetsIn::Everybody) && others {
            let message = format!("`{}` is public, so its other rules decide nothing", place.of);
            findings.error(
                rules::KF0609,
                &named(directive),
                message,
                Some("leave out `public: true`, or the other rules".into()),
            );
        }
        let is_of_all = |other: &AuthRule| {
            matches!(other.lets_in, LetsIn::SignedIn) && (other.reads || !rule.reads) && (other.writes || !rule.writes)
        };
        let mut others = rules.iter().filter(|(other, _)| !std::ptr::eq(*other, *directive));
        if needs_sign_in(rule) && others.any(|(_, other)| is_of_all(other)) {
            let message = format!("`{}` is for every caller who is signed in, so this rule decides nothing", place.of);
            findings.warning(
                rules::KF0609,
                &named(directive),
                message,
                Some("leave out `signedIn: true`, or this rule".into()),
            );
        }
        if rule.condition().is_some_and(never_holds) {
            let message = format!("no caller meets this rule of `{}`", place.of);
            let help = "join alternatives by OR; in a rule, no claim equals null";
            findings.error(rules::KF0609, &named(directive), message, Some(help.into()));
        }
    }
}

/// Reports mutations of ruled types, and fields that reveal the value of a guarded one, if they have no rule of their
/// own.
pub fn check(draft: &SchemaDraft, types: &IndexMap<String, ObjectType>, findings: &mut Findings) {
    for object in draft.objects() {
        let Some(parent) = types.get(object.name.as_str()) else { continue };
        for (name, definition) in &object.fields {
            let Some(field) = parent.fields.get(name.as_str()) else { continue };
            let place = span::from_location(definition.name.location());
            let coordinate = format!("{}.{name}", object.name);
            FieldCheck { draft, types, parent, field, place, coordinate }.report(findings);
        }
    }
}

/// A field, and what its check needs.
struct FieldCheck<'a> {
    draft: &'a SchemaDraft<'a>,
    types: &'a IndexMap<String, ObjectType>,
    parent: &'a ObjectType,
    field: &'a Field,
    place: Span,
    coordinate: String,
}

impl FieldCheck<'_> {
    fn report(&self, findings: &mut Findings) {
        self.check_own_value(findings);
        if let FieldKind::Find(find) = &self.field.kind {
            self.check_ways(find, findings);
        }
        if let FieldKind::Write(write) = &self.field.kind {
            self.check_known_after(write, findings);
        }
        let asked = if matches!(self.field.kind, FieldKind::Write(_)) { AuthAction::Write } else { AuthAction::Read };
        if self.field.auth.each(asked).next().is_none() {
            self.check_disclosure(findings);
        }
    }

    /// A rule for reads of a field must not read the field itself, nor what it is computed of.
    fn check_own_value(&self, findings: &mut Findings) {
        let (coordinate, parent) = (&self.coordinate, self.parent);
        let is_asked = |read: &&Field| self.field.auth.each(AuthAction::Read).any(|rule| reads(rule, read));
        let Some(read) = parent.read_with(self.field).find(is_asked) else { return };
        let what = if read.name == self.field.name {
            "the field itself".to_owned()
        } else {
            format!("`{}`, of which it is computed", read.name)
        };
        let message = format!("a rule for reads of `{coordinate}` reads {what}, so a refusal reveals its value");
        let help = format!("let it read another field, or guard all of `{}` by it", parent.name);
        findings.error(rules::KF0615, &self.place, message, Some(help.into()));
    }

    /// The rules of an item that a find passes must not need that item, unless the response shows it.
    fn check_ways(&self, find: &Find, findings: &mut Findings) {
        let Some(item) = unasked(self.types, self.parent, find) else { return };
        let message = format!("`{}` cannot ask each `{item}` for what its rules need", self.coordinate);
        let instead = match find.via {
            Via::Through(_) => "leave `through:` out, so that clients select the fields of the path one by one",
            Via::Keys(_) | Via::AbstractType(_) => "return the items themselves",
        };
        let help = format!("give the rules of `{item}` `hide: true`, or {instead}");
        findings.error(rules::KF0605, &self.place, message, Some(help.into()));
    }

    /// A rule for writes must not read what only DynamoDB knows.
    fn check_known_after(&self, write: &Write, findings: &mut Findings) {
        let unknown = |action: &Action| unknown_after(self.types.get(&action.item)?, write, action);
        for unknown in write.actions.iter().filter_map(unknown) {
            let message = format!(
                "what `{}` makes of `{unknown}` is known to DynamoDB only, but a rule for writes reads it",
                self.coordinate
            );
            let help = "set it to an argument or a literal, or keep it out of the rule".to_owned();
            findings.error(rules::KF0613, &self.place, message, Some(help.into()));
        }
    }

    /// A field without a rule must not write a ruled item, and its result must not depend on a guarded field.
    fn check_disclosure(&self, findings: &mut Findings) {
        let Self { types, parent, field, coordinate, .. } = self;
        let tables = self.draft.tables.as_slice();
        let disclosed = match &field.kind {
            FieldKind::Find(find) => disclosed_by_find((tables, types), parent, find),
            FieldKind::Write(write) => {
                if let Some(item) = unguarded(types, write) {
                    let message =
                        format!("`{coordinate}` writes `{item}`, which has rules, but none says who may write it");
                    let help = format!("put `@auth` on `{coordinate}`, or a rule with `on: [WRITE]` on `{item}`");
                    findings.error(rules::KF0610, &self.place, message, Some(help.into()));
                }
                disclosed_by_write((tables, types), parent, write)
            }
            FieldKind::Stored(_) => disclosed_by_default(parent, field),
            FieldKind::Watch(watch) => disclosed_by_watch(types, watch),
            FieldKind::Page
            | FieldKind::Change(_)
            | FieldKind::Payload
            | FieldKind::Nodes(_)
            | FieldKind::GlobalId(_)
            | FieldKind::Resolved(_)
            | FieldKind::Computed(_) => None,
        };
        if let Some(disclosed) = disclosed {
            let message =
                format!("the result of `{coordinate}` depends on `{disclosed}`, which not everybody may read");
            let help = format!("put `@auth` on `{coordinate}`: who may search by `{disclosed}`?");
            findings.error(rules::KF0611, &self.place, message, Some(help.into()));
        }
    }
}

/// Whether a rule depends on the value of a stored field.
fn reads(rule: &AuthRule, field: &Field) -> bool {
    let FieldKind::Stored(stored) = &field.kind else { return false };
    let is_held = |path: &&Path| match path.in_key() {
        Some(in_key) => in_key.name == field.name,
        None => stored.attribute.iter().chain(&stored.keys).any(|held| path.attribute() == Some(held)),
    };
    match &rule.lets_in {
        LetsIn::If(condition) => condition.read_paths().iter().any(is_held),
        LetsIn::Exists(lookup) => lookup.parent_fields().contains(&field.name.as_str()),
        LetsIn::Everybody | LetsIn::SignedIn => false,
    }
}

/// The first type on the way of a find whose rules would have to be asked of items that the response does not show:
/// those on the way of a `through:`, and those of which a Boolean says something among others. Rules that hide their
/// items are asked there, too. A count reveals what the length of a list does, in which refused items are null.
fn unasked<'t>(types: &'t IndexMap<String, ObjectType>, parent: &ObjectType, find: &Find) -> Option<&'t str> {
    let needs = |name: &String| types.get(name).filter(|ty| ty.auth.need_item(AuthAction::Read) && !ty.auth.hide());
    let is_shown = !matches!(find.returns, Returns::Count | Returns::Exists);
    let found = match &find.via {
        Via::Keys(_) => None,
        Via::AbstractType(shared) => shared.members.iter().filter(|_| find.returns == Returns::Exists).find_map(needs),
        Via::Through(path) => {
            let (mut at, mut way) = (types.get(&parent.name), Vec::new());
            for name in path {
                let Some(FieldKind::Find(next)) = at.and_then(|at| at.fields.get(name)).map(|field| &field.kind) else {
                    break;
                };
                way.push(&next.item);
                at = types.get(&next.item);
            }
            let shown = usize::from(is_shown);
            way.iter().take(way.len().saturating_sub(shown)).find_map(|name| needs(name))
        }
    };
    found.map(|ty| ty.name.as_str())
}

/// The first field that a rule for writes reads, if nobody but DynamoDB knows what the action makes of it: an element
/// of a list, a sum, a version.
fn unknown_after<'t>(ty: &'t ObjectType, write: &Write, action: &Action) -> Option<&'t str> {
    let asked: Vec<Arc<AuthRule>> =
        write.demanded(action, ty).into_iter().flat_map(|(_, rules, asked)| rules.for_action(asked)).collect();
    let is_update = matches!(action.kind, ActionKind::Update { .. });
    let is_computed = |field: &Field| match &action.kind {
        _ if action.at.is_some() => action.at.as_ref().is_some_and(|at| at.field == field.name),
        ActionKind::Update { expression: Some(update), .. } => matches!(update.changes.get(&field.name), Some(None)),
        _ => false,
    };
    let is_unknown = |field: &&Field| is_computed(field) || (field.rules.version && (is_update || action.at.is_some()));
    let is_read = |field: &&Field| asked.iter().any(|rule| reads(rule, field));
    ty.fields.values().filter(is_unknown).find(is_read).map(|field| field.name.as_str())
}

/// The first item type of a write that has rules of which none guards writes. That it is public to read does not make
/// it so to write.
fn unguarded<'w>(types: &IndexMap<String, ObjectType>, write: &'w Write) -> Option<&'w str> {
    let is_unguarded = |item: &&str| {
        types.get(*item).is_some_and(|ty| {
            let guards = |rule: &Arc<AuthRule>| !matches!(rule.lets_in, LetsIn::Everybody);
            !ty.auth.is_empty() && !ty.auth.for_action(AuthAction::Write).iter().any(guards)
        })
    };
    let writes = write.actions.iter().filter(|action| action.asks() == AuthAction::Write);
    writes.map(|action| action.item.as_str()).find(is_unguarded)
}
