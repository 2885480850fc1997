//! Object types in; out: what each stands for, which is root, item, connection, edge, page info, change, payload or
//! embedded. Must not know keys or finds.
//!
//! A connection is recognised by its shape, not by its name ([`super::connections`]). So is a change: by its field
//! `change: ChangeKind!`. A payload is what only fields of `Mutation` return.

use crate::schema::diagnostics::diagnostic::Findings;
use crate::schema::diagnostics::rules;
use crate::schema::diagnostics::span;
use crate::schema::syntax::directives::{named, text, write_of};
use crate::schema::types::connections::{
    PAGE_INFO, check_edge, check_parts, connection, is_meant_as_items, is_page_info, report_no_connection,
    report_no_items, report_no_page_info,
};
use crate::schema::types::draft::{Kind, objects};
use apollo_compiler::ast::{Directive, FieldDefinition, OperationType};
use apollo_compiler::schema::ObjectType;
use apollo_compiler::{Name, Node, Schema};
use indexmap::IndexMap;
use std::collections::{HashMap, HashSet};

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
            misshapen(schema, (object, page_info), &mut kinds, findings);
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
    let holders = holders(schema);
    for object in objects(schema) {
        if kinds.get(object.name.as_str()) == Some(&Kind::Embedded) && is_payload(schema, &holders, object) {
            kinds.insert(object.name.to_string(), Kind::Payload);
        }
    }
    for (name, at) in lost_items(schema, &kinds) {
        report_no_item(schema, name, at, findings);
        kinds.insert(name.to_owned(), Kind::Misshapen);
    }
    kinds
}

/// Marks a type that is meant as a connection, and its edges, and reports it. A page of a type without `@item` is
/// reported at that type.
fn misshapen(
    schema: &Schema,
    (object, page_info): (&ObjectType, &FieldDefinition),
    kinds: &mut IndexMap<String, Kind>,
    findings: &mut Findings,
) {
    if !kept_apart(schema, kinds, object) {
        report_no_connection(object, page_info, findings);
    }
    kinds.insert(object.name.to_string(), Kind::Misshapen);
    let edge = object.fields.get("edges").map(|edges| edges.ty.inner_named_type());
    if let Some(edge) = edge.filter(|edge| kinds.get(edge.as_str()) == Some(&Kind::Embedded)) {
        kinds.insert(edge.to_string(), Kind::Misshapen);
    }
}

/// Whether a connection is one but for its nodes, which are objects without `@item`.
fn kept_apart(schema: &Schema, kinds: &IndexMap<String, Kind>, object: &ObjectType) -> bool {
    let known = ["nodes", "edges", "pageInfo", "totalCount"];
    paged(schema, object).is_some_and(|node| kinds.get(node) == Some(&Kind::Embedded))
        && object.fields.keys().all(|name| known.contains(&name.as_str()))
}

/// The type of the nodes of a type that is meant as a connection.
fn paged<'s>(schema: &'s Schema, object: &'s ObjectType) -> Option<&'s str> {
    let nodes = object.fields.get("nodes").map(|nodes| nodes.ty.inner_named_type());
    let edges = || schema.get_object(object.fields.get("edges")?.ty.inner_named_type());
    nodes.or_else(|| Some(edges()?.fields.get("node")?.ty.inner_named_type())).map(|node| node.as_str())
}

/// The types without `@item` whose items something finds or pages, each with the first such field or type.
fn lost_items<'s>(schema: &'s Schema, kinds: &IndexMap<String, Kind>) -> IndexMap<&'s str, String> {
    let is_embedded = |name: &str| kinds.get(name) == Some(&Kind::Embedded);
    let mut lost = IndexMap::new();
    for object in objects(schema) {
        let pages = kinds.get(object.name.as_str()) == Some(&Kind::Misshapen) && object.fields.contains_key("pageInfo");
        if let Some(node) = paged(schema, object).filter(|node| pages && is_embedded(node)) {
            lost.entry(node).or_insert_with(|| format!("`{}` pages its items", object.name));
        }
        for field in object.fields.values().filter(|field| field.directives.has("find")) {
            let inner = field.ty.inner_named_type().as_str();
            if is_embedded(inner) {
                lost.entry(inner).or_insert_with(|| format!("`{}.{}` finds its items", object.name, field.name));
            }
        }
    }
    lost
}

fn report_no_item(schema: &Schema, name: &str, found: String, findings: &mut Findings) {
    let Some(object) = schema.get_object(name) else { return };
    let mut tables = schema.schema_definition.directives.get_all("table");
    let key = |table: &Node<Directive>, argument: &str, usual: Option<&str>| {
        text(table, argument).map(|written| written.value).or(usual.map(str::to_owned))
    };
    let upper = name.to_uppercase();
    let id = if object.fields.contains_key("id") { "{id}" } else { "{…}" };
    let keys = tables.next().map(|table| (key(table, "partitionKey", Some("pk")), key(table, "sortKey", None)));
    let keys = match keys {
        Some((Some(partition), Some(sort))) => format!("{partition}: \"{upper}#{id}\", {sort}: \"{upper}\""),
        Some((Some(partition), None)) => format!("{partition}: \"{upper}#{id}\""),
        _ => "…".to_owned(),
    };
    let message = format!("`{name}` is no item type, but {found}");
    let help = format!("say where its items live: `type {name} @item(keys: {{ {keys} }})`");
    findings.error(rules::KF0402, &span::from_location(object.name.location()), message, Some(help.into()));
}

/// Whether fields of `Mutation` that write return an object type, and nothing else does.
fn is_payload(schema: &Schema, holders: &Holders<'_>, object: &ObjectType) -> bool {
    let mutation = schema.root_operation(OperationType::Mutation);
    let writes = |(holder, field): &(&Name, &FieldDefinition)| {
        Some(*holder) == mutation && write_of(&field.directives).is_some()
    };
    holders.get(object.name.as_str()).is_some_and(|fields| fields.iter().all(writes))
}

/// The fields of objects, by the type that they have, each with its own type.
type Holders<'s> = HashMap<&'s str, Vec<(&'s Name, &'s FieldDefinition)>>;

fn holders(schema: &Schema) -> Holders<'_> {
    let mut holders = Holders::new();
    for holder in objects(schema) {
        for field in holder.fields.values() {
            holders.entry(field.ty.inner_named_type()).or_default().push((&holder.name, field));
        }
    }
    holders
}

/// The embedded types that only root types have: what is wrong with them is that a field of a root type has them.
pub fn held_by_roots<'s>(schema: &'s Schema, kinds: &IndexMap<String, Kind>) -> HashSet<&'s str> {
    let is_root = |(holder, _): &(&Name, &FieldDefinition)| matches!(kinds.get(holder.as_str()), Some(Kind::Root(_)));
    let held = holders(schema).into_iter().filter(|(_, fields)| fields.iter().all(is_root));
    held.map(|(name, _)| name).filter(|name| kinds.get(*name) == Some(&Kind::Embedded)).collect()
}

fn first_kind(schema: &Schema, object: &Node<ObjectType>, findings: &mut Findings) -> Kind {
    let item = object.directives.get("item");
    let root = [OperationType::Query, OperationType::Mutation, OperationType::Subscription]
        .into_iter()
        .find(|operation| schema.root_operation(*operation) == Some(&object.name));
    if let (Some(operation), Some(item)) = (root, item) {
        let message = format!("`{}` is the root type of every {operation}, not an item type", object.name);
        let help = format!("give the type another name, such as `{}Item`", object.name);
        findings.error(rules::KF0203, &named(item), message, Some(help.into()));
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
