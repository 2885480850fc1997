//! `through:` of a find in, its checked hops out. Each hop is a relation of the type that the hop before it reaches.
//! Must not know keys.

use super::diagnosis::counted::is_counted;
use super::target::{self, FindTarget};
use super::wanted::page_form;
use crate::schema::diagnostics::diagnostic::Findings;
use crate::schema::diagnostics::rules;
use crate::schema::diagnostics::span;
use crate::schema::diagnostics::span::At;
use crate::schema::diagnostics::suggestion::{list, suggest};
use crate::schema::expression::lexer::{self, Token};
use crate::schema::model::find::Returns;
use crate::schema::model::page::PageForm;
use crate::schema::syntax::directives::FindDirective;
use crate::schema::types::draft::{Kind, SchemaDraft, is_find};
use apollo_compiler::ast::{FieldDefinition, InputValueDefinition, Type};
use apollo_compiler::schema::Component;
use std::collections::HashSet;

/// The most relations of a route that a help names.
const MAX_RELATIONS: usize = 16;

/// A find that follows relations.
pub struct Route<'a> {
    /// The schema that is being checked.
    pub draft: &'a SchemaDraft<'a>,
    /// The type that has the field.
    pub parent: &'a str,
    /// The field.
    pub field: &'a FieldDefinition,
    /// Its `@find`.
    pub directive: &'a FindDirective,
    /// What it looks for.
    pub target: &'a FindTarget,
}

struct Hop<'a> {
    definition: &'a FieldDefinition,
    target: FindTarget,
}

/// The names of the hops; `None` if there is a mistake.
pub fn read_path(route: &Route, written: &At<String>, findings: &mut Findings) -> Option<Vec<String>> {
    let hops = hops(route, written, findings)?;
    let sound = [
        check_alone(route, written, findings),
        check_target(route, written, &hops, findings),
        check_arguments(route, &hops, findings),
        check_acyclic(route, written, findings),
    ];
    sound.iter().all(|sound| *sound).then(|| hops.iter().map(|hop| hop.definition.name.to_string()).collect())
}

fn hops<'a>(route: &Route<'a>, written: &At<String>, findings: &mut Findings) -> Option<Vec<Hop<'a>>> {
    let mut hops: Vec<Hop> = Vec::new();
    let mut reached = route.parent.to_owned();
    let mut offset = 0;
    for name in written.value.split('.') {
        let place = span::within(route.draft.text, &written.span, &(offset..offset + name.len()));
        offset += name.len() + 1;
        let fields = route.draft.schema.get_object(&reached).map(|object| &object.fields)?;
        let relations = fields.values().filter(|field| is_find(field) && field.name != route.field.name);
        let Some(definition) = fields.get(name).filter(|field| is_find(field)) else {
            // A field that holds items without `@find` has been reported.
            let holds = |field: &&Component<FieldDefinition>| {
                let kind = route.draft.kind(field.ty.inner_named_type());
                matches!(kind, Some(Kind::Item | Kind::Connection(_) | Kind::Misshapen))
            };
            if fields.get(name).is_some_and(|field| !is_find(field) && holds(&field)) {
                return None;
            }
            let message = format!("`{name}` is not a relation of `{reached}`");
            findings.error(rules::KF0420, &place, message, suggest(name, relations.map(|field| field.name.as_str())));
            return None;
        };
        // A mistake of the relation itself is reported at the relation.
        let target = target::from_relation(route.draft, &reached, name)?;
        if matches!(target.returns, Returns::Exists | Returns::Count) {
            let message = format!("`{reached}.{name}` is of type `{}`, so it leads to no items", definition.ty);
            findings.error(rules::KF0420, &place, message, None);
            return None;
        }
        if target::is_abstract(route.draft, &target.item) {
            let message = format!(
                "`{reached}.{name}` reaches items of several types (`{}`), and `through:` cannot follow it",
                target.item
            );
            let help = "follow a relation to one of the types: `@find(item: …)`";
            findings.error(rules::KF0420, &place, message, Some(help.into()));
            return None;
        }
        reached.clone_from(&target.item);
        hops.push(Hop { definition, target });
    }
    Some(hops)
}

/// Arguments of `@find` that say how to read keys belong at the relations and do not go with `through:`.
fn check_alone(route: &Route, written: &At<String>, findings: &mut Findings) -> bool {
    let directive = route.directive;
    let relations = KeyRelations::on_path(route, &written.value);
    let others = [
        ("where", directive.bindings.first().map(|(name, _)| name.span.clone()).or(directive.malformed_where.clone())),
        ("orderBy", directive.order_by.as_ref().map(|at| at.span.clone())),
        ("order", directive.descending.then(|| directive.span.clone())),
        ("filter", directive.filter.as_ref().map(|at| at.span.clone())),
        ("index", directive.index.as_ref().map(|at| at.span.clone())),
        ("consistent", directive.consistent.then(|| directive.span.clone())),
        ("scan", directive.scan.then(|| directive.span.clone())),
    ];
    let mut sound = true;
    for (name, place) in others.iter().filter_map(|(name, place)| Some((name, place.as_ref()?))) {
        let message = format!("`{name}:` does not go with `through:`");
        let help = relations.help(route, name);
        findings.error(rules::KF0423, place, message, Some(help.into()));
        sound = false;
    }
    sound
}

/// The last hop reaches the field's items, and no more hops reach several items than the field's type allows.
fn check_target(route: &Route, written: &At<String>, hops: &[Hop], findings: &mut Findings) -> bool {
    let Some(last) = hops.last() else { return false };
    let coordinate = format!("{}.{}", route.parent, route.field.name);
    let mut refuse = |message: String, help: &str| {
        findings.error(rules::KF0421, &written.span, message, Some(help.to_owned().into()));
        false
    };
    if last.target.item != route.target.item {
        let message = format!(
            "`{}` reaches `{}`, but `{coordinate}` returns `{}`",
            written.value, last.target.item, route.target.item
        );
        return refuse(message, "follow another relation, or return the type that it reaches");
    }
    let fanning: Vec<&str> =
        hops.iter().filter(|hop| hop.target.returns != Returns::One).map(|hop| hop.definition.name.as_str()).collect();
    match (route.target.returns, fanning.len()) {
        (Returns::Exists | Returns::Count, _) => {
            refuse(format!("`{coordinate}` of type `{}` cannot follow relations", route.field.ty), "return the items")
        }
        (Returns::One, 1..) => refuse(
            format!("`{coordinate}` returns one item, but {} reach several", list(&fanning)),
            "return a list or a connection",
        ),
        (Returns::Connection, _) if is_counted(route.draft, route.field, route.target.returns) => {
            let page = route.field.ty.inner_named_type();
            let message = format!("`{coordinate}` follows relations, so `{page}.totalCount` cannot count its items");
            refuse(message, "return a connection without `totalCount`; a relation that keys find can have one")
        }
        (Returns::Connection, count) if count != 1 => {
            let message = format!(
                "`{coordinate}` is a connection, so exactly one relation of `{}` must reach several items, not {count}",
                written.value
            );
            refuse(message, "return a list, or one item")
        }
        _ => true,
    }
}

/// An argument goes to the relation that has an argument of the same name. Paging arguments go to the relation that
/// reaches several items.
fn check_arguments(route: &Route, hops: &[Hop], findings: &mut Findings) -> bool {
    let mut sound = true;
    let paging = page_form(route.draft, route.field, route.target.returns).map(PageForm::arguments).unwrap_or_default();
    for argument in &route.field.arguments {
        sound &= match paging.contains(&argument.name.as_str()) {
            true => check_paging(argument, findings),
            false => check_argument(hops, argument, findings),
        };
    }
    check_required(route, hops, findings) && sound
}

/// A paging argument has the type that it has everywhere.
fn check_paging(argument: &InputValueDefinition, findings: &mut Findings) -> bool {
    let name = argument.name.as_str();
    let typed = if PageForm::is_size(name) { ["Int", "Int"] } else { ["String", "ID"] };
    let sound = argument.ty.is_named() && typed.contains(&argument.ty.inner_named_type().as_str());
    if !sound {
        let place = span::from_location(argument.name.location());
        let message = format!("the argument `{name}` pages, but a `{}` has no pages", argument.ty);
        findings.error(rules::KF0422, &place, message, Some(format!("make it `{}`", typed[0]).into()));
    }
    sound
}

/// The first relation that has an argument of the name must take the field's argument.
fn check_argument(hops: &[Hop], argument: &InputValueDefinition, findings: &mut Findings) -> bool {
    let name = argument.name.as_str();
    let place = span::from_location(argument.name.location());
    let Some(taker) = hops.iter().find_map(|hop| hop.definition.argument_by_name(name)) else {
        let names = hops.iter().flat_map(|hop| hop.definition.arguments.iter().map(|argument| argument.name.as_str()));
        let message = format!("no relation in `through:` has an argument `{name}`");
        findings.error(
            rules::KF0422,
            &place,
            message,
            suggest(name, names.filter(|name| !PageForm::Connection.arguments().contains(name))),
        );
        return false;
    };
    // A null means that the relation's argument is not given, so outer nullability need not agree.
    let nullable = |ty: &Type| ty.clone().nullable();
    let sound = nullable(&argument.ty).is_assignable_to(&nullable(&taker.ty))
        && (!taker.is_required() || argument.ty.is_non_null() || argument.default_value.is_some());
    if !sound {
        let (passed, taken) = (&argument.ty, &taker.ty);
        let message =
            format!("`through:` passes the argument `{name}` of type `{passed}` to an argument of type `{taken}`");
        findings.error(rules::KF0422, &place, message, Some(format!("make it `{taken}`").into()));
    }
    sound
}

/// The field has every argument that a relation requires.
fn check_required(route: &Route, hops: &[Hop], findings: &mut Findings) -> bool {
    let mut sound = true;
    for hop in hops {
        for needed in hop.definition.arguments.iter().filter(|argument| argument.is_required()) {
            if route.field.argument_by_name(&needed.name).is_none() {
                let place = span::from_location(route.field.name.location());
                let message = format!("the relation `{}` needs the argument `{}`", hop.definition.name, needed.name);
                findings.error(
                    rules::KF0422,
                    &place,
                    message,
                    Some(format!("add `{}: {}`", needed.name, needed.ty).into()),
                );
                sound = false;
            }
        }
    }
    sound
}

/// Following a relation must not lead back to the field itself.
fn check_acyclic(route: &Route, written: &At<String>, findings: &mut Findings) -> bool {
    let mut seen: HashSet<(String, String)> = HashSet::new();
    let mut open = steps(route.draft, route.parent, &written.value);
    while let Some((type_name, field_name)) = open.pop() {
        if type_name == route.parent && route.field.name == field_name.as_str() {
            let message = format!("`{}` leads back to `{type_name}.{field_name}` itself", written.value);
            findings.error(rules::KF0423, &written.span, message, Some("follow relations that keys find".into()));
            return false;
        }
        let through = through_of(route.draft, &type_name, &field_name);
        if seen.insert((type_name.clone(), field_name)) {
            open.extend(through.map(|through| steps(route.draft, &type_name, &through.value)).unwrap_or_default());
        }
    }
    true
}

/// The relations of a route that keys find, in its order. One that itself goes through others stands for these.
struct KeyRelations(Vec<(String, FindTarget)>);

impl KeyRelations {
    fn on_path(route: &Route, path: &str) -> Self {
        let mut relations = Vec::new();
        let mut open: Vec<(String, String)> = steps(route.draft, route.parent, path).into_iter().rev().collect();
        // A circle is reported as such.
        for _ in 0..MAX_RELATIONS {
            let Some((parent, name)) = open.pop() else { break };
            match through_of(route.draft, &parent, &name) {
                Some(inner) => open.extend(steps(route.draft, &parent, &inner.value).into_iter().rev()),
                None => {
                    let target = target::from_relation(route.draft, &parent, &name);
                    relations.extend(target.map(|target| (format!("{parent}.{name}"), target)));
                }
            }
        }
        Self(relations)
    }

    /// Where an option of `@find` belongs that does not go with `through:`.
    fn help(&self, route: &Route, option: &str) -> String {
        match (option, self.0.last()) {
            ("orderBy" | "order", _) => self.help_of_order(route),
            ("filter", Some((last, _))) => help_of_filter(route, last),
            _ => {
                let relations: Vec<String> = self.0.iter().map(|(relation, _)| format!("`{relation}`")).collect();
                format!("write it at {}", relations.join(" or "))
            }
        }
    }

    /// The items come in the order of the first relation that reaches several.
    fn help_of_order(&self, route: &Route) -> String {
        let Some((relation, target)) = self.0.iter().find(|(_, target)| target.returns != Returns::One) else {
            return "leave it out: no relation on the path reaches several items".to_owned();
        };
        let item = &target.item;
        let lacks = |field: &&str| route.draft.records.get(item).is_some_and(|record| !record.contains_key(*field));
        let field = route.directive.order_by.as_ref().map(|written| written.value.as_str());
        match field.filter(lacks) {
            Some(field) => format!(
                "the list has the order of `{relation}`, and `{item}` has no `{field}`: store a copy of it there, with a key that sorts by it, and order `{relation}` by the copy"
            ),
            None => format!(
                "write it at `{relation}`, or at a relation beside it, which may be `@inaccessible`: the list has its order"
            ),
        }
    }
}

/// The relation that finds the items by their keys judges them, by arguments that are passed on to it.
fn help_of_filter(route: &Route, last: &str) -> String {
    let written = route.directive.filter.as_ref().map_or("", |written| written.value.as_str());
    let (tokens, _) = lexer::tokens(written);
    let is_used = |name: &str| {
        tokens.iter().any(|token| matches!(token.token, Token::Argument(used) if used.split('.').next() == Some(name)))
    };
    let arguments = route.field.arguments.iter().map(|argument| argument.name.as_str());
    let used: Vec<&str> = arguments.filter(|name| is_used(name)).collect();
    let passed = match used.is_empty() {
        true => String::new(),
        false => format!(", and declare {} there too: `through:` passes arguments on", list(&used)),
    };
    format!("write it at `{last}`, or at a relation beside it, which may be `@inaccessible`{passed}")
}

/// The `through:` of a relation.
fn through_of(draft: &SchemaDraft, parent: &str, name: &str) -> Option<At<String>> {
    let find = draft.schema.get_object(parent)?.fields.get(name)?.directives.get("find")?;
    FindDirective::from_directive(find).through
}

/// The relations of a route, each as type and field, as far as they can be followed.
fn steps(draft: &SchemaDraft, type_name: &str, through: &str) -> Vec<(String, String)> {
    let mut reached = type_name.to_owned();
    let mut steps = Vec::new();
    for name in through.split('.') {
        steps.push((reached.clone(), name.to_owned()));
        match target::from_relation(draft, &reached, name) {
            Some(target) => reached = target.item,
            None => break,
        }
    }
    steps
}
