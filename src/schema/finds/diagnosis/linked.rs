//! A find of a connection in; findings out for the fields of its edges that are no fields of the link, which is the
//! item that the page is of where `through:` leads on from there to the nodes. Must not choose paths.

use crate::schema::diagnostics::diagnostic::Findings;
use crate::schema::diagnostics::help::Help;
use crate::schema::diagnostics::rules;
use crate::schema::diagnostics::span;
use crate::schema::diagnostics::suggestion::suggest;
use crate::schema::finds::target::from_relation;
use crate::schema::model::find::Returns;
use crate::schema::model::page::is_of_link;
use crate::schema::syntax::directives::FindDirective;
use crate::schema::types::draft::{SchemaDraft, StoredFields};
use apollo_compiler::ast::FieldDefinition;
use std::collections::HashSet;

/// The fields of the edges of a connection that are meant as fields of its links, with the name of the edge's type.
pub fn fields_of_edge<'s>(
    draft: &SchemaDraft<'s>,
    field: &FieldDefinition,
) -> impl Iterator<Item = (&'s str, &'s FieldDefinition)> + use<'s> {
    let connection = draft.schema.get_object(field.ty.inner_named_type());
    let edges = connection.and_then(|connection| connection.fields.get("edges"));
    let edge = edges.and_then(|edges| draft.schema.get_object(edges.ty.inner_named_type()));
    let fields = edge.into_iter().flat_map(|edge| edge.fields.values().map(|field| (edge.name.as_str(), &***field)));
    fields.filter(|(_, field)| is_of_link(&field.name))
}

/// The type of the links of a find over relations: of the first that reaches several items, if the path leads on from
/// there. `None` if the page is of the nodes themselves, or if a relation has a mistake.
pub fn link_of(draft: &SchemaDraft, parent: &str, through: &str) -> Option<String> {
    paged(draft, (parent, through), &mut HashSet::new()).filter(|(_, is_node)| !is_node).map(|(item, _)| item)
}

/// The type of the items that a path pages, and whether it ends there.
fn paged(
    draft: &SchemaDraft,
    (parent, through): (&str, &str),
    seen: &mut HashSet<(String, String)>,
) -> Option<(String, bool)> {
    let mut reached = parent.to_owned();
    let mut names = through.split('.').peekable();
    while let Some(name) = names.next() {
        let target = from_relation(draft, &reached, name)?;
        let is_last = names.peek().is_none();
        if target.returns == Returns::One {
            reached = target.item;
            continue;
        }
        let relation = draft.schema.get_object(&reached)?.fields.get(name)?;
        let directive = relation.directives.get("find").map(FindDirective::from_directive)?;
        let Some(inner) = directive.through else { return Some((target.item, is_last)) };
        if !seen.insert((reached.clone(), name.to_owned())) {
            return None;
        }
        return paged(draft, (&reached, &inner.value), seen).map(|(item, is_node)| (item, is_node && is_last));
    }
    None
}

/// Checks the fields of the edges that a find returns. `through` is the path that it follows.
pub fn check(
    draft: &SchemaDraft,
    (parent, field): (&str, &FieldDefinition),
    through: Option<&str>,
    findings: &mut Findings,
) -> bool {
    let mut sound = true;
    let beside: Vec<&str> = fields_of_edge(draft, field).map(|(_, field)| field.name.as_str()).collect();
    for (edge, declared) in fields_of_edge(draft, field) {
        let link = through.and_then(|through| link_of(draft, parent, through));
        let refusal = match link.as_deref().and_then(|link| Some((link, draft.records.get(link)?))) {
            Some(link) => {
                let refusal = refuse_field(&format!("{parent}.{}", field.name), (edge, declared), link);
                // A field that the edge has already is not what is meant.
                let names = link.1.keys().map(String::as_str).filter(|name| !beside.contains(name));
                refusal.map(|(message, help)| (message, help.or_else(|| suggest(&declared.name, names))))
            }
            None => Some((
                format!(
                    "`{edge}.{}` is of no link: `{parent}.{}` follows no link to its items",
                    declared.name, field.name
                ),
                Some(
                    "an edge has `node` and `cursor: String!`; one of a `through:` also has fields of the link, such as of a membership between users and groups. Leave the field out, or put it on the item"
                        .into(),
                ),
            )),
        };
        if let Some((message, help)) = refusal {
            findings.error(rules::KF0502, &span::from_location(declared.name.location()), message, help);
            sound = false;
        }
    }
    sound
}

/// Why a field of an edge is no field of the link, and what would be, unless the name is wrong.
fn refuse_field(
    find: &str,
    (edge, field): (&str, &FieldDefinition),
    (link, record): (&str, &StoredFields),
) -> Option<(String, Option<Help>)> {
    let name = field.name.as_str();
    let Some(stored) = record.get(name) else {
        let message = format!("`{edge}.{name}` is no stored field of `{link}`, the link that `{find}` follows");
        return Some((message, None));
    };
    if !field.arguments.is_empty() {
        let message = format!("`{edge}.{name}` is stored in `{link}`, so it has no arguments");
        return Some((message, Some("leave them out".into())));
    }
    if !stored.ty.is_assignable_to(&field.ty) {
        let message = format!("`{edge}.{name}` is of the type `{}`, but `{link}.{name}` is `{}`", field.ty, stored.ty);
        return Some((message, Some(format!("write `{name}: {}`", stored.ty).into())));
    }
    None
}
