//! A find of an interface or a union → one read of all its item types, and one planned object for each type. Must not
//! know how the types share their keys.

use crate::plan::error::PlanError;
use crate::plan::planner::builder::{Builder, internal};
use crate::plan::planner::entity::{Entity, Variants};
use crate::plan::planner::relation::{ReadTarget, RelationRequest};
use crate::plan::tree::{Origin, Presence, ReadId, Want};
use crate::schema::model::ObjectType;
use crate::schema::model::find::{Returns, SharedKeys};
use apollo_compiler::executable::SelectionSet;
use std::collections::HashMap;

impl<'a> Builder<'a> {
    /// One read, and a space of its rows for each item type: what is selected on a type is read for items of that type
    /// only.
    pub fn follow_abstract_type(
        &mut self,
        from: &Entity<'a>,
        relation: RelationRequest<'a>,
        (shared, sets): (&'a SharedKeys, &[&'a SelectionSet]),
    ) -> Result<(Entity<'a>, Option<ReadId>), PlanError> {
        let types: Vec<&'a ObjectType> =
            shared.members.iter().map(|name| self.type_named(name)).collect::<Result<_, _>>()?;
        let path = self.access_path(relation.find, &self.arguments[relation.arguments])?;
        let key = self.key(&shared.keys, path, from, relation.arguments)?;
        let target = ReadTarget::new(self.model, &types, path, self.sight())?;
        let (mut entity, read) = self.look_up(from, &relation, (&target, path), key)?;
        let selects = !matches!((relation.find.returns, relation.want), (Returns::Exists, _) | (_, Want::Count { .. }));
        let mut needs: Vec<(&'a ObjectType, String)> = Vec::new();
        for ty in types.iter().filter(|_| selects) {
            needs.extend(self.needs(ty, sets)?.into_iter().map(|field| (*ty, field)));
        }
        let (held, rest): (Vec<_>, Vec<_>) =
            needs.iter().cloned().partition(|(ty, field)| self.holds(ty, path.index, field));
        self.reads[read].wanted = held;
        // The index may hold too little to tell an item's type.
        let lacks = |ty: &&ObjectType| {
            ty.asked_attributes().iter().any(|name| !self.model.tables[self.reads[read].table].holds(path.index, name))
        };
        let unasked = types.iter().any(lacks);
        let index_discriminates = types.iter().all(|ty| self.tells_items(ty, path.index));
        let mut tells = read;
        if !rest.is_empty() || unasked || !index_discriminates {
            let whole = self.fetch_missing(&mut entity, &relation, &target, read);
            self.reads[whole].wanted = needs;
            tells = if index_discriminates { read } else { whole };
        }
        if selects {
            let presence = match &entity.presence {
                Some(Presence::Read(read)) => Some(Presence::Read(*read)),
                _ => return Err(internal("items of several types that are not read")),
            };
            let variant = |(position, ty): (usize, &&'a ObjectType)| {
                let space = self.space(entity.space, Origin::Variant(tells, position));
                Entity {
                    ty,
                    space,
                    known: HashMap::new(),
                    held: entity.held.clone(),
                    presence: presence.clone(),
                    variants: None,
                }
            };
            let entities = types.iter().enumerate().map(variant).collect();
            entity.variants = Some(Variants { name: &relation.find.item, entities });
        }
        Ok((entity, self.reads[read].yields.as_ref().map(|_| read)))
    }
}
