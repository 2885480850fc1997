//! The rules of fields, and of what they find, in; out: a warning for each never-null field that rules may refuse to a
//! caller who sees the object around it. A refusal makes all of that object null. Must not know how a rule is written.

use super::contradiction::needs_sign_in;
use crate::schema::diagnostics::diagnostic::Findings;
use crate::schema::diagnostics::rules;
use crate::schema::diagnostics::span;
use crate::schema::finds::diagnosis::linked::{fields_of_edge, link_of};
use crate::schema::model::auth::{AuthAction, AuthRule, AuthRules, LetsIn, RuleLookup};
use crate::schema::model::find::{AccessPath, Find, Returns, Via};
use crate::schema::model::source::Source;
use crate::schema::model::{Field, FieldKind, ObjectType};
use crate::schema::syntax::directives::FindDirective;
use crate::schema::types::draft::{Kind, SchemaDraft};
use apollo_compiler::ast::Type;
use indexmap::IndexMap;
use std::collections::HashSet;
use std::sync::Arc;

/// What refuses a field, if its own rules do.
pub const OWN: &str = "its own rules";

/// Reports never-null fields of items that may be refused where their item is not.
pub fn check(draft: &SchemaDraft, types: &IndexMap<String, ObjectType>, findings: &mut Findings) {
    let has_rules = |ty: &ObjectType| !ty.auth.is_empty() || ty.fields.values().any(|field| !field.auth.is_empty());
    if !types.values().any(has_rules) {
        return;
    }
    check_edges(draft, types, findings);
    let is_shown = |name: &str, hidden: bool| draft.kind(name) == Some(&Kind::Item) && !hidden;
    for object in draft.objects().filter(|object| is_shown(&object.name, object.directives.has("inaccessible"))) {
        let Some(ty) = types.get(object.name.as_str()) else { continue };
        for (name, definition) in object.fields.iter().filter(|(_, field)| !field.directives.has("inaccessible")) {
            let Some(field) = ty.fields.get(name.as_str()).filter(|field| field.ty.is_non_null()) else { continue };
            if let Some((of, instead)) = refuses(types, ty, field) {
                let message = format!(
                    "`{}.{name}` is never null, but {of} may refuse it to callers who see the rest",
                    object.name
                );
                let help =
                    format!("write `{name}: {instead}`; a refusal makes all of the `{}` null otherwise", object.name);
                findings.warning(
                    rules::KF0617,
                    &span::from_location(definition.name.location()),
                    message,
                    Some(help.into()),
                );
            }
        }
    }
}

/// Reports never-null fields of edges that the rules of their link's field may refuse.
fn check_edges(draft: &SchemaDraft, types: &IndexMap<String, ObjectType>, findings: &mut Findings) {
    let mut known: HashSet<String> = HashSet::new();
    for (object, field) in draft.objects().flat_map(|object| object.fields.values().map(move |field| (object, field))) {
        let directive = field.directives.get("find").map(FindDirective::from_directive);
        let Some(through) = directive.and_then(|directive| directive.through) else { continue };
        let Some(link) = link_of(draft, &object.name, &through.value).and_then(|link| types.get(&link)) else {
            continue;
        };
        for (edge, declared) in fields_of_edge(draft, field).filter(|(_, declared)| declared.ty.is_non_null()) {
            let coordinate = format!("{edge}.{}", declared.name);
            let of_link = link.fields.get(declared.name.as_str()).filter(|of_link| is_refused_alone(link, of_link));
            if of_link.is_none() || !known.insert(coordinate.clone()) {
                continue;
            }
            let message = format!(
                "`{coordinate}` is never null, but the rules of `{}.{}` may refuse it to callers who see the rest",
                link.name, declared.name
            );
            let instead = declared.ty.clone().nullable();
            let help = format!("write `{}: {instead}`; a refusal makes all of the edge null otherwise", declared.name);
            findings.warning(rules::KF0617, &span::from_location(declared.name.location()), message, Some(help.into()));
        }
    }
}

/// Whether the rules of a field may refuse it to a caller who sees its object.
fn is_refused_alone(ty: &ObjectType, field: &Field) -> bool {
    let same = |around: &AuthRule, rule: &AuthRule| around.to_string() == rule.to_string();
    !follow(&ty.auth.around(), &field.auth, &same)
}

/// The field whose rules may refuse a field to a caller who sees its object: the field itself, or one of which it is
/// computed.
fn refused_with<'t>(ty: &'t ObjectType, field: &'t Field) -> Option<&'t Field> {
    ty.read_with(field).find(|read| is_refused_alone(ty, read))
}

/// Which rules may refuse a field of an object that the caller sees, and the type that it should have.
pub fn refuses(types: &IndexMap<String, ObjectType>, ty: &ObjectType, field: &Field) -> Option<(String, Type)> {
    let around = ty.auth.around();
    if let Some(read) = refused_with(ty, field) {
        let own = read.name == field.name;
        let of = if own { OWN.to_owned() } else { format!("the rules of `{}.{}`", ty.name, read.name) };
        return Some((of, field.ty.clone().nullable()));
    }
    let FieldKind::Find(find) = &field.kind else { return None };
    let found: Vec<&String> = match &find.via {
        Via::Keys(_) => vec![&find.item],
        Via::AbstractType(shared) => shared.members.iter().collect(),
        // What stands on the way lets the caller in, or the path ends there.
        Via::Through(_) => Vec::new(),
    };
    let same = |around: &AuthRule, rule: &AuthRule| lets_in_the_same(around, rule, find);
    let may_refuse = |found: &&ObjectType| is_refused_whole(field, find, found) && !follow(&around, &found.auth, &same);
    let found = found.into_iter().filter_map(|name| types.get(name)).find(may_refuse)?;
    let instead = match &field.ty {
        Type::NonNullList(items) if found.auth.need_item(AuthAction::Read) => {
            Type::NonNullList(Box::new(items.as_ref().clone().nullable()))
        }
        ty => ty.clone().nullable(),
    };
    Some((format!("the rules of `{}`", found.name), instead))
}

/// Whether the refusal of an item of a type makes the field null: the only item, or one of a list without nulls. Rules
/// that need no item refuse the field itself.
fn is_refused_whole(field: &Field, find: &Find, found: &ObjectType) -> bool {
    match find.returns {
        Returns::One => true,
        Returns::List if field.ty.item_type().is_non_null() => !found.auth.hide(),
        Returns::List | Returns::Connection | Returns::Exists | Returns::Count => {
            !found.auth.hide() && !found.auth.need_item(AuthAction::Read)
        }
    }
}

/// Whether each caller whom the rules around let in is let in by these, too. `same` says whether two rules let in the
/// same callers.
fn follow(around: &[Arc<AuthRule>], rules: &AuthRules, same: &dyn Fn(&AuthRule, &AuthRule) -> bool) -> bool {
    let rules = rules.for_action(AuthAction::Read);
    let follows = |around: &AuthRule, rule: &AuthRule| match &rule.lets_in {
        LetsIn::Everybody => true,
        LetsIn::SignedIn => needs_sign_in(around),
        LetsIn::If(_) | LetsIn::Exists(_) => same(around, rule),
    };
    rules.is_empty() || around.iter().all(|around| rules.iter().any(|rule| follows(around, rule)))
}

/// Whether a rule of an object and a rule of what a find of the object finds let in the same callers: by claims alone,
/// or by one item.
fn lets_in_the_same(around: &AuthRule, rule: &AuthRule, find: &Find) -> bool {
    match (around.lookup(), rule.lookup()) {
        (None, None) => rule.attributes().is_empty() && around.to_string() == rule.to_string(),
        (Some(around), Some(lookup)) => {
            let condition = |lookup: &RuleLookup| lookup.condition.as_ref().map(ToString::to_string);
            around.find.item == lookup.find.item
                && condition(around) == condition(lookup)
                && around.path().zip(lookup.path()).is_some_and(|(around, path)| looks_up_same((around, path), find))
        }
        _ => false,
    }
}

/// Whether two look-ups find the same item: one by fields of an object, one by fields of what a find of the object
/// finds.
fn looks_up_same((around, of_found): (&AccessPath, &AccessPath), find: &Find) -> bool {
    let Via::Keys(paths) = &find.via else { return false };
    let in_parent = |source: &Source| match source {
        Source::Parent(field) => paths.first().and_then(|path| path.bindings.get(field)).cloned(),
        Source::Text(_) => None,
        other => Some(other.clone()),
    };
    around.bindings.len() == of_found.bindings.len()
        && of_found.bindings.iter().all(|(field, source)| in_parent(source).as_ref() == around.bindings.get(field))
}
