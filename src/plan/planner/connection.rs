//! The selection on a connection in, its parts out: nodes, edges, page info and the number of all items.

use super::builder::{Builder, internal, label};
use super::entity::Entity;
use super::relation::RelationRequest;
use crate::plan::error::PlanError;
use crate::plan::tree::*;
use crate::schema::model::Field;
use crate::schema::model::page::TOTAL_COUNT;
use apollo_compiler::executable::SelectionSet;

/// What a connection shows.
pub struct PageContents<'e, 'a> {
    /// The object of its nodes and edges.
    pub node: &'e Entity<'a>,
    /// What `totalCount` counts, if it is selected.
    pub total: Option<&'e ObjectSource>,
}

impl<'a> Builder<'a> {
    /// The parts of a connection.
    pub fn page(
        &mut self,
        contents: &PageContents<'_, 'a>,
        type_name: &str,
        sets: &[&'a SelectionSet],
    ) -> Result<Vec<PageOutput>, PlanError> {
        let node = contents.node;
        let mut parts = Vec::new();
        for (key, collected) in self.context.fields(type_name, sets) {
            let ty = collected.field.definition.ty.clone();
            let inner = ty.inner_named_type().to_string();
            let around = match collected.field.name.as_str() {
                // Its read has an age of its own.
                TOTAL_COUNT => self.caching.age,
                name => self.enter_cached_part(node, type_name, name),
            };
            let part = match (collected.field.name.as_str(), contents.total) {
                ("__typename", _) => PagePart::Typename(type_name.to_owned()),
                ("nodes", _) => PagePart::Nodes(ty, self.object(node, &collected.sets, false)?),
                ("node", _) => PagePart::Node(ty, self.object(node, &collected.sets, false)?),
                ("edges", _) => PagePart::Edges(ty, self.page(contents, &inner, &collected.sets)?),
                ("pageInfo", _) => PagePart::PageInfo(self.page(contents, &inner, &collected.sets)?),
                ("cursor", _) => PagePart::Cursor,
                ("hasNextPage", _) => PagePart::HasNextPage,
                ("hasPreviousPage", _) => PagePart::HasPreviousPage,
                ("startCursor", _) => PagePart::StartCursor,
                ("endCursor", _) => PagePart::EndCursor,
                (TOTAL_COUNT, Some(total)) => PagePart::TotalCount(ty, total.clone()),
                (other, _) => return Err(internal(&format!("{type_name}.{other} in a connection"))),
            };
            self.caching.age = around;
            parts.push(PageOutput { label: label(&key), key: key.to_string(), location: collected.location, part });
        }
        Ok(parts)
    }

    /// Reads how many items all pages of a connection have, if `totalCount` is selected: by the key and the filter of
    /// the page itself, so that it counts what the pages show.
    pub fn total(
        &mut self,
        of: &Entity<'a>,
        field: &'a Field,
        arguments: ArgumentsId,
        sets: &[&'a SelectionSet],
    ) -> Result<Option<ObjectSource>, PlanError> {
        let connection = field.ty.inner_named_type().as_str();
        if !self.context.fields(connection, sets).values().any(|collected| collected.field.name == TOTAL_COUNT) {
            return Ok(None);
        }
        let around = self.enter_cached_part(&Entity { held: Vec::new(), ..of.clone() }, connection, TOTAL_COUNT);
        let relation = self.relation(of, field, (arguments, Want::Count { looked_at: true }), &[])?;
        let coordinate = format!("{}.{TOTAL_COUNT}", relation.coordinate);
        let (entity, pages) = self.reach(of, RelationRequest { coordinate, ..relation }, &[])?;
        self.caching.age = around;
        let presence = entity.presence.ok_or_else(|| internal("a count without items"))?;
        Ok(Some(ObjectSource { pages, space: entity.space, presence, keeps_place: false }))
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
