//! Object types in; out: what each stands for, which is root, item, connection, edge, page info, change, payload or
//! embedded. Must not know keys or finds.
//!
//! A connection is recognised by its shape, not by its name ([`super::connections`]). So is a change: by its field
//! `change: ChangeKind!`. A payload is what only fields of `Mutation` return.

use crate::schema::diagnostics::diagnostic::Findings;
use crate::schema::diagnostics::rules;
use crate::schema::diagnostics::span;
use crate::schema::syntax::directives::{named, write_of};
use crate::schema::types::connections::{
    PAGE_INFO, check_edge, check_parts, connection, is_meant_as_items, is_page_info, report_no_connection,
    report_no_items, report_no_page_info,
};
use crate::schema::types::draft::{Kind, objects};
use apollo_compiler::ast::OperationType;
use apollo_compiler::schema::ObjectType;
use apollo_compiler::{Node, Schema};
use indexmap::IndexMap;

/// The name of the enum of the kinds of change.
const CHANGE_KIND: &str = "ChangeKind";

/// Classifies every object type.
pub fn classify(schema: &Schema, findings: &mut Findings) -> IndexMap<String, Kind> {
    let mut kinds: IndexMap<String, Kind> = IndexMap::new();
    for object in objects(schema) {
        kinds.insert(object.name.to_string(), first_kind(schema, object, findings));
    }
    if let Some(object) = schema.get_object(PAGE_INFO).filter(|_| kinds.get(PAGE_INFO) == Some(&Kind::Embedded))
        && objects(schema)
            .any(|object| object.fields.get("pageInfo").is_some_and(|field| field.ty.inner_named_type() == PAGE_INFO))
    {
        report_no_page_info(object, findings);
        kinds.insert(PAGE_INFO.to_owned(), Kind::PageInfo);
    }
    for object in objects(schema) {
        if kinds.get(object.name.as_str()) != Some(&Kind::Embedded) {
            continue;
        }
        if let Some((node, edge)) = connection(schema, &kinds, object) {
            check_parts(object, findings);
            kinds.insert(object.name.to_string(), Kind::Connection(node.clone()));
            if let Some(edge) = edge {
                check_edge(edge, &node, findings);
                kinds.insert(edge.name.to_string(), Kind::Edge);
            }
        }
    }
    for object in objects(schema) {
        if kinds.get(object.name.as_str()) == Some(&Kind::Embedded) && is_meant_as_items(schema, &kinds, object) {
            report_no_items(object, findings);
            kinds.insert(object.name.to_string(), Kind::Misshapen);
        }
        if kinds.get(object.name.as_str()) == Some(&Kind::Embedded)
            && let Some(page_info) =
                object.fields.get("pageInfo").filter(|field| field.ty.inner_named_type() == PAGE_INFO)
        {
            report_no_connection(object, page_info, findings);
            kinds.insert(object.name.to_string(), Kind::Misshapen);
        }
    }
    for object in objects(schema) {
        if kinds.get(object.name.as_str()) == Some(&Kind::Embedded)
            && object.fields.values().any(|field| field.ty.inner_named_type() == CHANGE_KIND)
        {
            let kind = change(&kinds, object, findings).map_or(Kind::Misshapen, Kind::Change);
            kinds.insert(object.name.to_string(), kind);
        }
    }
    for object in objects(schema) {
        if kinds.get(object.name.as_str()) == Some(&Kind::Embedded) && is_payload(schema, object) {
            kinds.insert(object.name.to_string(), Kind::Payload);
        }
    }
    kinds
}

/// Whether fields of `Mutation` that write return an object type, and nothing else does.
fn is_payload(schema: &Schema, object: &ObjectType) -> bool {
    let mutation = schema.root_operation(OperationType::Mutation);
    let holders = objects(schema).flat_map(|holder| holder.fields.values().map(move |field| (&holder.name, field)));
    let mut holders = holders.filter(|(_, field)| *field.ty.inner_named_type() == object.name).peekable();
    holders.peek().is_some()
        && holders.all(|(holder, field)| Some(holder) == mutation && write_of(&field.directives).is_some())
}

fn first_kind(schema: &Schema, object: &Node<ObjectType>, findings: &mut Findings) -> Kind {
    let item = object.directives.get("item");
    let root = [OperationType::Query, OperationType::Mutation, OperationType::Subscription]
        .into_iter()
        .find(|operation| schema.root_operation(*operation) == Some(&object.name));
    if let (Some(operation), Some(item)) = (root, item) {
        let message = format!("`{}` is the root type of every {operation}, not an item type", object.name);
        findings.error(rules::KF0203, &named(item), message, None);
    }
    match (root, item) {
        (Some(operation), _) => Kind::Root(operation),
        (None, Some(_)) => Kind::Item,
        (None, None) if object.name == PAGE_INFO && is_page_info(object) => Kind::PageInfo,
        (None, None) => Kind::Embedded,
    }
}

/// The item type of a change. `None` on a mistake, which is reported.
fn change(kinds: &IndexMap<String, Kind>, object: &ObjectType, findings: &mut Findings) -> Option<String> {
    let mut item: Option<&str> = None;
    for (name, field) in &object.fields {
        let inner = field.ty.inner_named_type().as_str();
        let fits = field.ty.is_named()
            && match name.as_str() {
                "change" => inner == CHANGE_KIND,
                "id" => inner == "ID",
                // There is no item before it is inserted, and none after it is removed.
                "node" | "previous" => {
                    let is_first = item.is_none_or(|known| known == inner);
                    item = Some(inner);
                    is_first && !field.ty.is_non_null() && kinds.get(inner) == Some(&Kind::Item)
                }
                _ => false,
            };
        if !fits {
            let message =
                format!("`{}` is a change of an item, but `{name}: {}` is not part of a change", object.name, field.ty);
            let help = "a change has `change: ChangeKind!`, `node` and `previous` of one item type, which may be null, and `id: ID!`";
            findings.error(rules::KF0903, &span::from_location(name.location()), message, Some(help.into()));
            return None;
        }
    }
    let Some(item) = item else {
        let message = format!("`{}` is a change of an item, but it has neither `node` nor `previous`", object.name);
        findings.error(rules::KF0903, &span::from_location(object.name.location()), message, None);
        return None;
    };
    Some(item.to_owned())
}
