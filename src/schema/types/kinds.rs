//! Object types in; out: what each stands for, which is root, item, connection, edge, page info, change or embedded.
//! Must not know keys or finds.
//!
//! A connection is recognised by its shape, not by its name (Relay cursor connections specification). It is a type
//! without `@item` that has no fields but `nodes`, `edges` and `pageInfo`, with at least one of the first two. Its
//! nodes are items, or of an abstract type. A change is recognised by its field `change: ChangeKind!`.

use crate::schema::diagnostics::diagnostic::Findings;
use crate::schema::diagnostics::rules;
use crate::schema::diagnostics::span;
use crate::schema::diagnostics::suggestion::list;
use crate::schema::syntax::directives::named;
use crate::schema::types::draft::{Kind, objects};
use apollo_compiler::ast::{FieldDefinition, OperationType};
use apollo_compiler::schema::{ExtendedType, ObjectType};
use apollo_compiler::{Node, Schema};
use indexmap::IndexMap;

/// The name of the type that has a page's cursors and says whether there are more pages.
pub const PAGE_INFO: &str = "PageInfo";

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
            kinds.insert(object.name.to_string(), Kind::Connection(node.clone()));
            if let Some(edge) = edge {
                check_edge(edge, &node, findings);
                kinds.insert(edge.name.to_string(), Kind::Edge);
            }
        }
    }
    for object in objects(schema) {
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
    kinds
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

/// Whether a type has the shape of `PageInfo`: no fields but its four, with their types.
fn is_page_info(object: &ObjectType) -> bool {
    object.fields.iter().all(|(name, field)| is_of_page_info(name, field))
}

fn is_of_page_info(name: &str, field: &FieldDefinition) -> bool {
    match name {
        "hasNextPage" | "hasPreviousPage" => field.ty.is_named() && field.ty.inner_named_type() == "Boolean",
        // An empty page has no cursors.
        "startCursor" | "endCursor" => is_cursor(field) && !field.ty.is_non_null(),
        _ => false,
    }
}

/// Reports each field that keeps a type from being the `PageInfo` of connections.
fn report_no_page_info(object: &ObjectType, findings: &mut Findings) {
    for (name, field) in object.fields.iter().filter(|(name, field)| !is_of_page_info(name, field)) {
        let (message, help) = match name.as_str() {
            "startCursor" | "endCursor" if is_cursor(field) => (
                format!("`{}.{name}` is never null, but an empty page has no cursor", object.name),
                format!("write `{name}: {}`", field.ty.inner_named_type()),
            ),
            _ => (
                format!("`{name}: {}` is not part of `{}`", field.ty, object.name),
                "it has `hasNextPage: Boolean!`, `hasPreviousPage: Boolean!`, `startCursor: String` and `endCursor: String`".to_owned(),
            ),
        };
        findings.error(rules::KF0506, &span::from_location(name.location()), message, Some(help));
    }
}

fn is_cursor(field: &FieldDefinition) -> bool {
    field.ty.is_named() && ["String", "ID"].contains(&field.ty.inner_named_type().as_str())
}

/// The node type and the edge type of a connection.
fn connection<'s>(
    schema: &'s Schema,
    kinds: &IndexMap<String, Kind>,
    object: &ObjectType,
) -> Option<(String, Option<&'s Node<ObjectType>>)> {
    let page_info = |field: &FieldDefinition| {
        field.ty.is_named() && kinds.get(field.ty.inner_named_type().as_str()) == Some(&Kind::PageInfo)
    };
    let (mut node, mut edge) = (None::<String>, None);
    for (name, field) in &object.fields {
        let of_list = field.ty.is_list() && field.ty.item_type().is_named();
        let inner = field.ty.inner_named_type();
        let found = match name.as_str() {
            "pageInfo" if page_info(field) => continue,
            "nodes" if of_list => inner,
            "edges" if of_list => {
                let object = schema.get_object(inner)?;
                edge = Some(object);
                object.fields.get("node").filter(|node| node.ty.is_named())?.ty.inner_named_type()
            }
            _ => return None,
        };
        if node.as_deref().is_some_and(|known| known != found.as_str()) {
            return None;
        }
        node = Some(found.to_string());
    }
    let node = node?;
    let abstract_type =
        matches!(schema.types.get(node.as_str()), Some(ExtendedType::Interface(_) | ExtendedType::Union(_)));
    (abstract_type || kinds.get(&node) == Some(&Kind::Item)).then_some((node, edge))
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

fn check_edge(edge: &ObjectType, node: &str, findings: &mut Findings) {
    for (name, field) in &edge.fields {
        if !(name == "node" || name == "cursor" && is_cursor(field)) {
            let message = format!("`{}` is an edge of `{node}`, but `{name}` is not part of an edge", edge.name);
            findings.error(
                rules::KF0502,
                &span::from_location(name.location()),
                message,
                Some("an edge has only `node` and `cursor: String!`".into()),
            );
        }
    }
}

/// A type with a `pageInfo` is meant as a connection, so report what keeps it from being one.
fn report_no_connection(object: &ObjectType, page_info: &FieldDefinition, findings: &mut Findings) {
    let others: Vec<&str> = object
        .fields
        .keys()
        .map(|name| name.as_str())
        .filter(|name| !["nodes", "edges", "pageInfo"].contains(name))
        .collect();
    let why = if !others.is_empty() {
        format!("{} does not belong to a connection", list(&others))
    } else if object.fields.len() == 1 {
        "it has neither `nodes` nor `edges`".to_owned()
    } else {
        "its `nodes`, or the `node` of its `edges`, are not of one item type".to_owned()
    };
    let help = "a connection has `nodes: [Item!]!`, `edges: [ItemEdge!]!` (with `node` and `cursor`) and `pageInfo: PageInfo!`, and nothing more";
    findings.error(
        rules::KF0501,
        &span::from_location(page_info.name.location()),
        format!("`{}` is not a connection: {why}", object.name),
        Some(help.into()),
    );
}
