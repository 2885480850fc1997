//! The selection on a connection in, its parts out: nodes, edges with fields of their links, page info and the number
//! of all items.

use super::builder::{Builder, internal, label};
use super::entity::Entity;
use super::relation::{PathEnd, RelationRequest};
use crate::plan::error::PlanError;
use crate::plan::operation::collect::CollectedField;
use crate::plan::tree::*;
use crate::schema::model::find::Find;
use crate::schema::model::page::{ITEMS, NEXT_TOKEN, TOTAL_COUNT, is_of_link};
use crate::schema::model::{Field, TypeKind};
use apollo_compiler::Name;
use apollo_compiler::executable::SelectionSet;
use indexmap::IndexMap;

/// What a connection shows.
pub struct PageContents<'e, 'a> {
    /// The object of its nodes and edges.
    pub node: &'e Entity<'a>,
    /// The link that leads to it, of whose fields its edges may show some.
    pub link: Option<&'e Entity<'a>>,
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
        let mut parts = Vec::new();
        for (key, collected) in self.context.fields(type_name, sets) {
            let (name, location) = (collected.field.name.as_str(), collected.location);
            let link = contents.link.filter(|_| self.is_edge(type_name) && is_of_link(name));
            let around = match name {
                // Its read has an age of its own.
                TOTAL_COUNT if link.is_none() => self.caching.age,
                name => self.enter_cached_part(link.unwrap_or(contents.node), type_name, name),
            };
            let part = match link {
                Some(link) => self.link_field(link, &key, collected)?,
                None => self.page_part(contents, type_name, &collected)?,
            };
            self.caching.age = around;
            parts.push(PageOutput { label: label(&key), key: key.to_string(), location, part });
        }
        Ok(parts)
    }

    fn page_part(
        &mut self,
        contents: &PageContents<'_, 'a>,
        type_name: &str,
        collected: &CollectedField<'a>,
    ) -> Result<PagePart, PlanError> {
        let (node, sets) = (contents.node, &collected.sets);
        let ty = collected.field.definition.ty.clone();
        let inner = ty.inner_named_type().to_string();
        Ok(match (collected.field.name.as_str(), contents.total) {
            ("__typename", _) => PagePart::Typename(type_name.to_owned()),
            ("nodes" | ITEMS, _) => PagePart::Nodes(ty, self.object(node, sets, false)?),
            ("node", _) => PagePart::Node(ty, self.object(node, sets, false)?),
            ("edges", _) => PagePart::Edges(ty, self.page(contents, &inner, sets)?),
            ("pageInfo", _) => PagePart::PageInfo(self.page(contents, &inner, sets)?),
            ("cursor", _) => PagePart::Cursor,
            ("hasNextPage", _) => PagePart::HasNextPage,
            ("hasPreviousPage", _) => PagePart::HasPreviousPage,
            ("startCursor", _) => PagePart::StartCursor,
            ("endCursor", _) => PagePart::EndCursor,
            (NEXT_TOKEN, _) => PagePart::NextToken,
            (TOTAL_COUNT, Some(total)) => PagePart::TotalCount(ty, total.clone()),
            (other, _) => return Err(internal(&format!("{type_name}.{other} in a connection"))),
        })
    }

    /// A field of an edge that is one of its link, behind the rules of the link's field.
    fn link_field(
        &mut self,
        link: &Entity<'a>,
        key: &Name,
        collected: CollectedField<'a>,
    ) -> Result<PagePart, PlanError> {
        let ty = collected.field.definition.ty.clone();
        let mut object = self.collected(link, IndexMap::from_iter([(key.clone(), collected)]), false)?;
        // The edge may allow null where the link does not.
        object.fields.iter_mut().for_each(|field| field.ty = ty.clone());
        Ok(PagePart::Link(link.space, object))
    }

    fn is_edge(&self, type_name: &str) -> bool {
        self.model.types.get(type_name).is_some_and(|ty| matches!(ty.kind, TypeKind::Edge))
    }

    /// The fields of the link that are selected on the edges of a connection.
    pub fn selected_of_link(&self, connection: &str, sets: &[&'a SelectionSet]) -> Vec<String> {
        let edges = self.context.fields(connection, sets).into_values().filter(|part| part.field.name == "edges");
        let on_edge = edges.flat_map(|edges| {
            let edge = edges.field.definition.ty.inner_named_type().to_string();
            self.context.fields(&edge, &edges.sets).into_values().collect::<Vec<_>>()
        });
        on_edge.map(|part| part.field.name.to_string()).filter(|name| is_of_link(name)).collect()
    }

    /// The stored fields that are needed of the links that a relation finds.
    pub fn needs_of_link(&self, find: &Find, selected: &[String]) -> Result<Vec<String>, PlanError> {
        let mut needs: Vec<String> = Vec::new();
        for name in selected {
            let field = self.field_of(self.type_named(&find.item)?, name)?;
            needs.push(name.clone());
            needs.extend(Self::asked_fields(&field.auth).map(str::to_owned));
        }
        Ok(needs)
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
        let PathEnd { entity, pages, .. } = self.reach(of, RelationRequest { coordinate, ..relation }, &[], &[])?;
        self.caching.age = around;
        let presence = entity.presence.ok_or_else(|| internal("a count without items"))?;
        Ok(Some(ObjectSource { pages, space: entity.space, presence, keeps_place: false }))
    }

    /// The selections on the nodes of a page, under `nodes`, `edges { node }` and `items`.
    pub fn node_sets(&self, type_name: &str, sets: &[&'a SelectionSet]) -> Vec<&'a SelectionSet> {
        let mut nodes = Vec::new();
        for collected in self.context.fields(type_name, sets).into_values() {
            match (collected.field.name.as_str(), self.is_edge(type_name)) {
                ("nodes" | ITEMS, false) | ("node", true) => nodes.extend(collected.sets),
                ("edges", false) => {
                    nodes.extend(self.node_sets(collected.field.definition.ty.inner_named_type(), &collected.sets))
                }
                _ => {}
            }
        }
        nodes
    }

    /// Whether the selection asks if there is more: for `hasNextPage`, `hasPreviousPage` or `nextToken`.
    pub fn asks_for_more(&self, type_name: &str, sets: &[&'a SelectionSet]) -> bool {
        self.context.fields(type_name, sets).values().any(|collected| match collected.field.name.as_str() {
            "hasNextPage" | "hasPreviousPage" | NEXT_TOKEN => true,
            "pageInfo" => self.asks_for_more(collected.field.definition.ty.inner_named_type(), &collected.sets),
            _ => false,
        })
    }
}
