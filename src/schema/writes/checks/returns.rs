//! The type of a field of `Mutation`, its finds and its actions in; out: what it gives back. Must not know how it is
//! read.
//!
//! An item or a list is of one action or one find, by its type. In a payload, each field is one, by its alias or by its
//! type. An item with an alias is not the one that its type means if there is one without.

use crate::schema::diagnostics::diagnostic::Findings;
use crate::schema::diagnostics::rules;
use crate::schema::diagnostics::span;
use crate::schema::diagnostics::suggestion::list;
use crate::schema::finds::target::is_abstract;
use crate::schema::model::write::{
    Action, ActionKind, ReturnedFrom, ReturnedItems, WriteFind, WriteReturns, WriteTarget,
};
use crate::schema::types::draft::{Kind, SchemaDraft};
use crate::schema::writes::acting::Writing;
use apollo_compiler::ast::{OperationType, Type};
use indexmap::IndexMap;

/// What a payload has, to complete "a payload has …".
const PARTS: &str = "items that the mutation writes or finds, lists of such items, and `Boolean`";

/// What the field gives back; `None` on a mistake.
pub fn read_returns(
    writing: &Writing,
    finds: &[WriteFind],
    actions: &[Action],
    findings: &mut Findings,
) -> Option<WriteReturns> {
    let ty = &writing.field.ty;
    let inner = ty.inner_named_type().as_str();
    let giving = Giving { writing, finds, actions };
    if inner == "Boolean" && ty.is_named() {
        return Some(WriteReturns::Done);
    }
    match writing.draft.kind(inner) {
        kind if is_returned(writing.draft, kind, inner) && is_flat(ty) => {
            let part = ReturnedPart { name: None, ty, coordinate: writing.coordinate() };
            giving.items(&part, findings).map(WriteReturns::Items)
        }
        Some(Kind::Payload) if ty.is_named() => giving.payload(inner, findings),
        _ => {
            let message = format!("`{}` of type `{ty}` is not a type that a mutation can return", writing.coordinate());
            let help = match holder(writing.draft, inner) {
                Some(holder) => format!("`{holder}` is a `{inner}`; a payload is a type that nothing else has"),
                None => "return an item that the mutation writes, a list of such items, `Boolean!`, or a payload with \
                         a field for each of several"
                    .to_owned(),
            };
            giving.refuse(message, help, findings)
        }
    }
}

/// The first field outside of `Mutation` that has this object type.
fn holder(draft: &SchemaDraft, inner: &str) -> Option<String> {
    draft.schema.get_object(inner)?;
    let others = draft.objects().filter(|object| draft.kind(&object.name) != Some(&MUTATION));
    let mut fields = others.flat_map(|object| object.fields.values().map(move |field| (object, field)));
    let (object, field) = fields.find(|(_, field)| field.ty.inner_named_type() == inner)?;
    Some(format!("{}.{}", object.name, field.name))
}

const MUTATION: Kind = Kind::Root(OperationType::Mutation);

fn is_flat(ty: &Type) -> bool {
    !(ty.is_list() && ty.item_type().is_list())
}

/// Whether a type is an item type, or an interface or a union of such types.
fn is_returned(draft: &SchemaDraft, kind: Option<&Kind>, name: &str) -> bool {
    kind == Some(&Kind::Item) || is_abstract(draft, name)
}

/// Whether an action gives a list of items.
fn is_many(action: &Action) -> bool {
    action.each.is_some() || matches!(action.target, WriteTarget::Read { many: true, .. })
}

/// A field of `Mutation` and what it could give back.
struct Giving<'a> {
    writing: &'a Writing<'a>,
    finds: &'a [WriteFind],
    actions: &'a [Action],
}

/// The field itself, or a field of its payload.
struct ReturnedPart<'a> {
    /// The name of a payload's field.
    name: Option<&'a str>,
    ty: &'a Type,
    coordinate: String,
}

impl Giving<'_> {
    fn payload(&self, name: &str, findings: &mut Findings) -> Option<WriteReturns> {
        let object = self.writing.draft.schema.get_object(name)?;
        let mut parts = IndexMap::new();
        let mut is_sound = true;
        for field in object.fields.values() {
            let (ty, inner) = (&field.ty, field.ty.inner_named_type().as_str());
            let coordinate = format!("{name}.{}", field.name);
            let part = match self.writing.draft.kind(inner) {
                _ if inner == "Boolean" && ty.is_named() => Some(None),
                kind if is_returned(self.writing.draft, kind, inner) && is_flat(ty) => {
                    self.items(&ReturnedPart { name: Some(&field.name), ty, coordinate }, findings).map(Some)
                }
                _ => {
                    let message = format!(
                        "`{coordinate}` of type `{ty}` is not what `{}` can give back",
                        self.writing.coordinate()
                    );
                    self.refuse(message, format!("a payload has {PARTS}"), findings)
                }
            };
            is_sound &= part.is_some();
            parts.extend(part.map(|part| (field.name.to_string(), part)));
        }
        is_sound.then_some(WriteReturns::Payload(parts))
    }

    /// The items of a part: those with its name as an alias, or else those of its type.
    fn items(&self, part: &ReturnedPart, findings: &mut Findings) -> Option<ReturnedItems> {
        let inner = part.ty.inner_named_type().as_str();
        let schema = self.writing.draft.schema;
        let is_it = |name: &str| name == inner || schema.is_subtype(inner, name);
        // Of alternatives, the first stands for all.
        let of_type = |action: &&Action| {
            let is_written = !matches!(action.kind, ActionKind::Check) && action.first() == action.position;
            is_written && is_it(action.type_name())
        };
        let of_type: Vec<&Action> = self.actions.iter().filter(of_type).collect();
        let is_found =
            |(position, found): &(usize, &WriteFind)| found.first(*position) == *position && is_it(found.type_name());
        let found = self.finds.iter().enumerate().filter(is_found);
        let found: Vec<(usize, &WriteFind)> = found.collect();
        let (written, found) = match part.name {
            Some(name) if of_type.iter().any(|action| alias_of(action) == Some(name)) => {
                (of_type.into_iter().filter(|action| alias_of(action) == Some(name)).collect(), Vec::new())
            }
            Some(name) if found.iter().any(|(_, found)| found.alias == name) => {
                (Vec::new(), found.into_iter().filter(|(_, found)| found.alias == name).collect())
            }
            _ => (without_alias(of_type), found),
        };
        let fitting: Vec<&Action> =
            written.iter().copied().filter(|action| is_many(action) == part.ty.is_list()).collect();
        let of = |from| ReturnedItems { from, many: part.ty.is_list(), never_null: part.ty.is_non_null() };
        match (fitting.as_slice(), written.as_slice(), found.as_slice()) {
            ([one], ..) => Some(of(ReturnedFrom::Action(one.position))),
            ([], [], [(position, found)]) if found.each.is_some() == part.ty.is_list() => {
                Some(of(ReturnedFrom::Find(*position)))
            }
            ([], ..) => self.refuse_part(part, &written, findings),
            (several, ..) => match new_items(several).as_slice() {
                [one] => Some(of(ReturnedFrom::Action(one.position))),
                _ => self.refuse_several(part, several, findings),
            },
        }
    }

    fn refuse_part<T>(&self, part: &ReturnedPart, written: &[&Action], findings: &mut Findings) -> Option<T> {
        let ReturnedPart { ty, coordinate, .. } = part;
        let inner = ty.inner_named_type();
        let (message, help) = match (written, ty.is_list()) {
            ([], _) => {
                let all: Vec<&str> = self.actions.iter().map(|action| action.item.as_str()).collect();
                let message = match part.name {
                    Some(_) => format!(
                        "`{coordinate}` is a `{inner}`, which `{}` neither writes nor finds",
                        self.writing.coordinate()
                    ),
                    None => format!("`{coordinate}` returns `{inner}`, which it does not write"),
                };
                let help = match part.name {
                    Some(_) => format!("a payload has {PARTS}"),
                    None => format!("it writes {}; return one of these, or `Boolean!`", list(&all)),
                };
                (message, help)
            }
            (_, true) => (
                format!("`{coordinate}` of type `{ty}` writes one item, not a list"),
                format!("make it `{inner}`, or add `many: true` or `each:`"),
            ),
            (_, false) => (
                format!("`{coordinate}` of type `{ty}` writes several items"),
                format!("make it `[{inner}!]!` or `Boolean!`"),
            ),
        };
        self.refuse(message, help, findings)
    }

    fn refuse_several<T>(&self, part: &ReturnedPart, several: &[&Action], findings: &mut Findings) -> Option<T> {
        let inner = part.ty.inner_named_type();
        let writer = part.name.map_or_else(|| "it".to_owned(), |_| format!("`{}`", self.writing.coordinate()));
        let ReturnedPart { coordinate, ty, .. } = part;
        let message =
            format!("`{coordinate}` of type `{ty}` could be any of the {} items that {writer} writes", several.len());
        let aliases: Vec<String> =
            several.iter().filter_map(|action| Some(format!("{}: {inner}!", alias_of(action)?))).collect();
        let help = match aliases.as_slice() {
            [] => "give all but one a name: `as: other`; a payload has a field for each name".to_owned(),
            aliases => format!("return a payload with `{}`, or `Boolean!`", aliases.join("` and `")),
        };
        self.refuse(message, help, findings)
    }

    fn refuse<T>(&self, message: String, help: String, findings: &mut Findings) -> Option<T> {
        let place = span::from_location(self.writing.field.name.location());
        findings.error(rules::KF0717, &place, message, Some(help.into()));
        None
    }
}

/// The name of an action's item, if it is not its type.
fn alias_of(action: &Action) -> Option<&str> {
    let of_found = match &action.target {
        WriteTarget::Found(alias) => Some(alias.as_str()).filter(|alias| *alias != action.type_name()),
        WriteTarget::Key(_) | WriteTarget::Read { .. } => None,
    };
    action.alias.as_deref().or(of_found)
}

/// Those of several actions whose items are named by their types; all of them if there are none.
fn without_alias(actions: Vec<&Action>) -> Vec<&Action> {
    let plain: Vec<&Action> = actions.iter().copied().filter(|action| alias_of(action).is_none()).collect();
    if plain.is_empty() { actions } else { plain }
}

/// Those of several actions that make new items. A write that moves an item gives back the new one.
fn new_items<'a>(several: &[&'a Action]) -> Vec<&'a Action> {
    let is_new = |action: &&&Action| matches!(action.kind, ActionKind::Put { .. }) && action.at.is_none();
    several.iter().filter(is_new).copied().collect()
}
