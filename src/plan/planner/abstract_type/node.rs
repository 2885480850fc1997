//! A field that takes global ids in; out: a Get of each type that an id can name, and the shape of its item. The ids
//! are rows, so one batch reads the items of all ids, whatever their types. Must not know how an id is written.

use crate::plan::error::PlanError;
use crate::plan::operation::argument;
use crate::plan::operation::collect::CollectedField;
use crate::plan::planner::builder::{Builder, internal};
use crate::plan::planner::entity::Entity;
use crate::plan::planner::relation::RelationRequest;
use crate::plan::tree::*;
use crate::schema::model::node::{NodeFind, NodeType};
use crate::schema::model::{Field, ObjectType, Stored};
use crate::schema::scalar::value_type::ValueType;
use std::collections::HashMap;
use std::sync::Arc;

impl<'a> Builder<'a> {
    /// Plans a field that takes global ids.
    pub fn nodes(
        &mut self,
        of: &Entity<'a>,
        field: &'a Field,
        nodes: &'a NodeFind,
        collected: &CollectedField<'a>,
    ) -> Result<OutputValue, PlanError> {
        let arguments = self.push_arguments(argument::field_arguments(&self.context, field, collected));
        let ids = Arc::new(IdArgument { arguments, name: nodes.argument.clone() });
        let space = self.space(of.space, Origin::Ids(ids.clone()));
        let coordinate = format!("{}.{}", of.ty.name, field.name);
        let mut types = Vec::new();
        for node in &nodes.types {
            let named = self.named_by(node, space, &ids)?;
            let outer = self.guard;
            let guard = self.enter_node(&named, field, &coordinate);
            let relation = RelationRequest {
                coordinate: coordinate.clone(),
                field,
                find: &node.find,
                arguments,
                needs: self.needs(named.ty, &collected.sets)?,
                must_exist: true,
                waits_for_parent: false,
                want: Want::First,
            };
            let (entity, _) = self.follow(&named, relation)?;
            let presence = entity.presence.clone().ok_or_else(|| internal("an id without an item"))?;
            let object = self.variant(&entity, &collected.sets, false)?;
            self.guard = outer;
            types.push(NodeOutput {
                guard,
                target: ObjectSource { pages: None, space: entity.space, presence, keeps_place: false },
                object,
            });
        }
        Ok(OutputValue::Nodes(NodesOutput { ids, space, types }))
    }

    /// The fields that an id holds. They are known before the item is read.
    fn named_by(
        &mut self,
        node: &'a NodeType,
        ids: SpaceId,
        argument: &Arc<IdArgument>,
    ) -> Result<Entity<'a>, PlanError> {
        let ty = self.type_named(&node.find.item)?;
        let space = self.space(ids, Origin::OfId(argument.clone(), node.id.clone()));
        let mut known = HashMap::new();
        for (name, value) in node.id.fields() {
            let reader = reader(ty, name, value).ok_or_else(|| internal(name))?;
            known.insert(name.clone(), ValueSource::Field(Holder::Element(space), Arc::new(reader)));
        }
        Ok(Entity { ty, space, known, held: Vec::new(), presence: None, variants: None })
    }
}

/// How to find a field in the row of an id: in an attribute of the field's own name.
fn reader(ty: &ObjectType, field: &str, value: &ValueType) -> Option<FieldReader> {
    let stored = Stored::alone(field, value.clone());
    let places = vec![StoredPlace::Attribute(field.to_owned())];
    Some(FieldReader { field: field.to_owned(), ty: ty.fields.get(field)?.ty.clone(), stored, places })
}
