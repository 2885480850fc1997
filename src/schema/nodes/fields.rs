//! A field of `Query` that gives nodes in; out: how it finds items by their global ids. Must not know how ids are
//! written.

use super::types::global_id;
use crate::schema::diagnostics::diagnostic::Findings;
use crate::schema::diagnostics::rules;
use crate::schema::diagnostics::span;
use crate::schema::model::find::{Access, AccessPath, Find, Returns, Via};
use crate::schema::model::node::{NodeFind, NodeType};
use crate::schema::model::source::{BindingRule, Source};
use crate::schema::types::draft::{Kind, SchemaDraft};
use apollo_compiler::ast::FieldDefinition;
use indexmap::IndexMap;
use std::sync::Arc;

/// Whether a field gives objects of the interface with `@node`.
pub fn gives_nodes(draft: &SchemaDraft, field: &FieldDefinition) -> bool {
    draft.node.as_ref().is_some_and(|node| field.ty.inner_named_type() == node.as_str())
}

/// How a field finds items by their ids. It takes one id, and gives an item or null; or it takes a list of them, and
/// gives one of both for each.
pub fn read_field(
    draft: &SchemaDraft,
    parent: &str,
    field: &FieldDefinition,
    findings: &mut Findings,
) -> Option<NodeFind> {
    let node = field.ty.inner_named_type();
    let (ty, given) =
        (field.ty.to_string(), field.arguments.iter().map(|argument| argument.ty.to_string()).collect::<Vec<_>>());
    let given: Vec<&str> = given.iter().map(String::as_str).collect();
    let many = match given.as_slice() {
        ["ID!"] if ty == node.as_str() => false,
        ["[ID!]!"] if [format!("[{node}]"), format!("[{node}]!")].contains(&ty) => true,
        _ => {
            let message = format!("`{parent}.{}` finds items by their ids, but not in one of the two ways", field.name);
            let help = format!("write `node(id: ID!): {node}` or `nodes(ids: [ID!]!): [{node}]!`, or add `@find`");
            findings.error(rules::KF0435, &span::from_location(field.name.location()), message, Some(help.into()));
            return None;
        }
    };
    let is_seen = |object: &&apollo_compiler::Node<apollo_compiler::schema::ObjectType>| {
        draft.is_node(object) && draft.kind(&object.name) == Some(&Kind::Item) && !object.directives.has("inaccessible")
    };
    let types = draft.objects().filter(is_seen).filter_map(|object| node_type(draft, &object.name));
    Some(NodeFind { argument: field.arguments.first()?.name.to_string(), many, types: types.collect() })
}

/// The item of an id, by its whole primary key. The caller's claims are the caller's own, whatever the id.
fn node_type(draft: &SchemaDraft, name: &str) -> Option<NodeType> {
    let id = global_id(draft, name)?;
    let (keys, _) = draft.item(name)?;
    let table = draft.tables.get(keys.table)?;
    let of_id =
        id.fields().iter().map(|(field, _)| (field.clone(), Source::Parent(field.clone()), BindingRule::Argument));
    let claims =
        keys.claims().into_iter().map(|claim| (claim.to_string(), Source::Claim(claim), BindingRule::Template));
    let (mut bindings, mut rules) = (IndexMap::new(), IndexMap::new());
    for (field, source, rule) in of_id.chain(claims) {
        bindings.insert(field.clone(), source);
        rules.insert(field, rule);
    }
    let path = AccessPath {
        when: Vec::new(),
        order_by: None,
        index: None,
        equal: Vec::new(),
        access: Access::Get { partition: 0, sort: table.sort.as_ref().map(|_| 0) },
        bindings,
        rules,
        prefix_alternatives: Vec::new(),
        descending: false,
    };
    let find = Find {
        item: name.to_owned(),
        returns: Returns::One,
        via: Via::Keys(vec![path]),
        filter: None,
        max: 1,
        consistent: false,
    };
    Some(NodeType { id: Arc::new(id), find })
}
