//! An object type in; out: whether it is a connection, and what keeps it from being one. Must not know keys or finds.
//!
//! A connection is recognised by its shape, not by its name (Relay cursor connections specification). It is a type
//! without `@item` that has no fields but `nodes`, `edges`, `pageInfo` and `totalCount`, with at least one of the first
//! two. Its nodes are items, or of an abstract type. A page of AppSync's form is a connection, too: it has `items` and
//! `nextToken`.

use crate::schema::diagnostics::diagnostic::Findings;
use crate::schema::diagnostics::help::Help;
use crate::schema::diagnostics::rules;
use crate::schema::diagnostics::span;
use crate::schema::diagnostics::suggestion::list;
use crate::schema::model::page::{ITEMS, NEXT_TOKEN, TOTAL_COUNT};
use crate::schema::types::draft::Kind;
use apollo_compiler::ast::FieldDefinition;
use apollo_compiler::schema::{ExtendedType, ObjectType};
use apollo_compiler::{Node, Schema};
use indexmap::IndexMap;

/// The name of the type that has a page's cursors and says whether there are more pages.
pub const PAGE_INFO: &str = "PageInfo";

/// Whether a type has the shape of `PageInfo`: no fields but its four, with their types.
pub fn is_page_info(object: &ObjectType) -> bool {
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
pub fn report_no_page_info(object: &ObjectType, findings: &mut Findings) {
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
        findings.error(rules::KF0506, &span::from_location(name.location()), message, Some(help.into()));
    }
}

fn is_cursor(field: &FieldDefinition) -> bool {
    field.ty.is_named() && ["String", "ID"].contains(&field.ty.inner_named_type().as_str())
}

/// The node type and the edge type of a connection.
pub fn connection<'s>(
    schema: &'s Schema,
    kinds: &IndexMap<String, Kind>,
    object: &ObjectType,
) -> Option<(String, Option<&'s Node<ObjectType>>)> {
    let page_info = |field: &FieldDefinition| {
        field.ty.is_named() && kinds.get(field.ty.inner_named_type().as_str()) == Some(&Kind::PageInfo)
    };
    let is_of_items = is_of_items(object);
    let (mut node, mut edge) = (None::<String>, None);
    for (name, field) in &object.fields {
        let of_list = field.ty.is_list() && field.ty.item_type().is_named();
        let inner = field.ty.inner_named_type();
        let found = match name.as_str() {
            TOTAL_COUNT => continue,
            ITEMS if is_of_items && of_list => inner,
            NEXT_TOKEN if is_of_items => continue,
            _ if is_of_items => return None,
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
    node.filter(|node| is_of_node(schema, kinds, node)).map(|node| (node, edge))
}

/// Whether a type has what a page of AppSync's form has, whatever else it has.
fn is_of_items(object: &ObjectType) -> bool {
    object.fields.contains_key(ITEMS) && object.fields.contains_key(NEXT_TOKEN)
}

/// Whether a page may show objects of a type: items, or those of an abstract type.
fn is_of_node(schema: &Schema, kinds: &IndexMap<String, Kind>, node: &str) -> bool {
    let is_abstract = matches!(schema.types.get(node), Some(ExtendedType::Interface(_) | ExtendedType::Union(_)));
    is_abstract || kinds.get(node) == Some(&Kind::Item)
}

/// Whether a type is meant as a page of AppSync's form: it has `nextToken` beside `items` that are no embedded objects.
pub fn is_meant_as_items(schema: &Schema, kinds: &IndexMap<String, Kind>, object: &ObjectType) -> bool {
    let items = object.fields.get(ITEMS).filter(|_| is_of_items(object));
    items.is_some_and(|items| is_of_node(schema, kinds, items.ty.inner_named_type()))
}

/// Reports what keeps a type with `items` and `nextToken` from being a page.
pub fn report_no_items(object: &ObjectType, findings: &mut Findings) {
    let others: Vec<&str> = object.fields.keys().map(|name| name.as_str()).collect();
    let others: Vec<&str> =
        others.into_iter().filter(|name| ![ITEMS, NEXT_TOKEN, TOTAL_COUNT].contains(name)).collect();
    let why = match others.is_empty() {
        true => "its `items` are no list of items".to_owned(),
        false => format!("{} does not belong to a page with `items` and `nextToken`", list(&others)),
    };
    let help = "such a page has `items: [Item]!`, `nextToken: String` and `totalCount: Int!`, and nothing more";
    let message = format!("`{}` is not a page: {why}", object.name);
    findings.error(rules::KF0501, &span::from_location(object.name.location()), message, Some(help.into()));
}

/// Reports a `nextToken` that is no cursor, and a `totalCount` that is no number.
pub fn check_parts(connection: &ObjectType, findings: &mut Findings) {
    let token = connection.fields.get(NEXT_TOKEN);
    if let Some(token) = token.filter(|token| !is_cursor(token) || token.ty.is_non_null()) {
        let message =
            format!("`{}.{NEXT_TOKEN}` is where the next page begins, and null on the last page", connection.name);
        let help = format!("write `{NEXT_TOKEN}: String`");
        findings.error(rules::KF0501, &span::from_location(token.name.location()), message, Some(help.into()));
    }
    let Some(total) = connection.fields.get(TOTAL_COUNT) else { return };
    if !(total.ty.is_named() && total.ty.inner_named_type() == "Int" && total.arguments.is_empty()) {
        let message = format!("`{}.{TOTAL_COUNT}` counts the items of all pages", connection.name);
        let help = format!("write `{TOTAL_COUNT}: Int!`, without arguments");
        let help = match total.ty.is_named() && total.arguments.is_empty() {
            true => Help::edit(help, span::from_type(&total.ty), "Int"),
            false => help.into(),
        };
        findings.error(rules::KF0501, &span::from_location(total.name.location()), message, Some(help));
    }
}

/// Reports a cursor of an edge that is none. What else an edge has is checked for each find that returns it.
pub fn check_edge(edge: &ObjectType, node: &str, findings: &mut Findings) {
    if let Some((name, field)) = edge.fields.get_key_value("cursor").filter(|(_, field)| !is_cursor(field)) {
        let message = format!("`{}` is an edge of `{node}`, but its `cursor` is of the type `{}`", edge.name, field.ty);
        let help = "write `cursor: String!`".to_owned();
        findings.error(rules::KF0502, &span::from_location(name.location()), message, Some(help.into()));
    }
}

/// A type with a `pageInfo` is meant as a connection, so report what keeps it from being one.
pub fn report_no_connection(object: &ObjectType, page_info: &FieldDefinition, findings: &mut Findings) {
    let others: Vec<&str> = object
        .fields
        .keys()
        .map(|name| name.as_str())
        .filter(|name| !["nodes", "edges", "pageInfo", TOTAL_COUNT].contains(name))
        .collect();
    // The place is what does not belong there.
    let wrong = others
        .first()
        .copied()
        .or_else(|| ["nodes", "edges"].into_iter().find(|name| object.fields.contains_key(*name)));
    let place = wrong.and_then(|name| object.fields.get(name)).map_or(page_info, |field| field);
    let why = if !others.is_empty() {
        format!("{} does not belong to a connection", list(&others))
    } else if !object.fields.contains_key("nodes") && !object.fields.contains_key("edges") {
        "it has neither `nodes` nor `edges`".to_owned()
    } else {
        "its `nodes`, or the `node` of its `edges`, are not of one item type".to_owned()
    };
    let help = "a connection has `nodes: [Item!]!`, `edges: [ItemEdge!]!` (with `node` and `cursor`), `pageInfo: PageInfo!` and `totalCount: Int!`, and nothing more; AppSync's page has `items: [Item]!` and `nextToken: String`";
    findings.error(
        rules::KF0501,
        &span::from_location(place.name.location()),
        format!("`{}` is not a connection: {why}", object.name),
        Some(help.into()),
    );
}
