//! The selection on a connection in, its parts out: nodes, edges and page info.

use super::builder::{Builder, internal, label};
use super::entity::Entity;
use crate::plan::error::PlanError;
use crate::plan::tree::*;
use apollo_compiler::executable::SelectionSet;

impl<'a> Builder<'a> {
    /// The parts of a connection. `node` is the object that its nodes and edges show.
    pub fn page(
        &mut self,
        node: &Entity<'a>,
        type_name: &str,
        sets: &[&'a SelectionSet],
    ) -> Result<Vec<PageOutput>, PlanError> {
        let mut parts = Vec::new();
        for (key, collected) in self.context.fields(type_name, sets) {
            let ty = collected.field.definition.ty.clone();
            let inner = ty.inner_named_type().to_string();
            let around = self.enter_cached_part(node, type_name, &collected.field.name);
            let part = match collected.field.name.as_str() {
                "__typename" => PagePart::Typename(type_name.to_owned()),
                "nodes" => PagePart::Nodes(ty, self.object(node, &collected.sets, false)?),
                "node" => PagePart::Node(ty, self.object(node, &collected.sets, false)?),
                "edges" => PagePart::Edges(ty, self.page(node, &inner, &collected.sets)?),
                "pageInfo" => PagePart::PageInfo(self.page(node, &inner, &collected.sets)?),
                "cursor" => PagePart::Cursor,
                "hasNextPage" => PagePart::HasNextPage,
                "hasPreviousPage" => PagePart::HasPreviousPage,
                "startCursor" => PagePart::StartCursor,
                "endCursor" => PagePart::EndCursor,
                other => return Err(internal(&format!("{type_name}.{other} in a connection"))),
            };
            self.caching.age = around;
            parts.push(PageOutput { label: label(&key), key: key.to_string(), location: collected.location, part });
        }
        Ok(parts)
    }

    /// The selections on the nodes of a connection, under `nodes` and under `edges { node }`.
    pub fn node_sets(&self, type_name: &str, sets: &[&'a SelectionSet]) -> Vec<&'a SelectionSet> {
        let mut nodes = Vec::new();
        for collected in self.context.fields(type_name, sets).into_values() {
            match collected.field.name.as_str() {
                "nodes" | "node" => nodes.extend(collected.sets),
                "edges" => {
                    nodes.extend(self.node_sets(collected.field.definition.ty.inner_named_type(), &collected.sets))
                }
                _ => {}
            }
        }
        nodes
    }

    /// Whether the selection asks for `hasNextPage` or `hasPreviousPage`.
    pub fn asks_for_more(&self, type_name: &str, sets: &[&'a SelectionSet]) -> bool {
        self.context.fields(type_name, sets).values().any(|collected| match collected.field.name.as_str() {
            "hasNextPage" | "hasPreviousPage" => true,
            "pageInfo" => self.asks_for_more(collected.field.definition.ty.inner_named_type(), &collected.sets),
            _ => false,
        })
    }
}
