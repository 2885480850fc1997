//! A find of an interface or a union → one read of all its item types, and for each type the object as what it is planned. Must not know
//! how the types share their keys.

use super::builder::{Builder, internal};
use super::entity::{Entity, Variants};
use super::relation::{ReadTarget, RelationRequest};
use crate::plan::error::PlanError;
use crate::plan::tree::{Origin, Presence, ReadId};
use crate::schema::model::{Mixed, ObjectType, Returns};
use apollo_compiler::executable::SelectionSet;
use std::collections::HashMap;

impl<'a> Builder<'a> {
    /// One read, and as many spaces of its rows as it has item types: what is selected on a type is needed for its items only.
    pub(super) fn follow_mixed(
        &mut self,
        from: &Entity<'a>,
        hop: RelationRequest<'a>,
        (mixed, sets): (&'a Mixed, &[&'a SelectionSet]),
    ) -> Result<(Entity<'a>, Option<ReadId>), PlanError> {
        let types: Vec<&'a ObjectType> = mixed.members.iter().map(|name| self.type_named(name)).collect::<Result<_, _>>()?;
        let path = self.access_path(hop.find, &self.arguments[hop.arguments])?;
        let key = self.key(&mixed.keys, path, from, hop.arguments)?;
        let target = ReadTarget::of(self.model, &types, path)?;
        let (mut entity, read) = self.look_up(from, &hop, (&target, path), key)?;
        let selects = !matches!(hop.find.returns, Returns::Exists | Returns::Count);
        let mut needs: Vec<(&'a ObjectType, String)> = Vec::new();
        for ty in types.iter().filter(|_| selects) {
            needs.extend(self.needs(ty, sets)?.into_iter().map(|field| (*ty, field)));
        }
        let (held, rest): (Vec<_>, Vec<_>) = needs.iter().cloned().partition(|(ty, field)| self.holds(ty, path.index, field));
        self.wanted[read] = held;
        // The index may hold too little to tell of which type an item is.
        let tells_type = types.iter().all(|ty| self.can_recognise(ty, path.index));
        let mut tells = read;
        if !rest.is_empty() || !tells_type {
            let whole = self.complete(&mut entity, &hop, &target, read);
            self.wanted[whole] = needs;
            tells = if tells_type { read } else { whole };
        }
        if selects {
            let presence = match &entity.presence {
                Some(Presence::Read(read)) => Some(Presence::Read(*read)),
                _ => return Err(internal("items of several types that are not read")),
            };
            let variant = |(position, ty): (usize, &&'a ObjectType)| {
                let space = self.space(entity.space, Origin::Variant(tells, position));
                Entity { ty, space, known: HashMap::new(), held: entity.held.clone(), presence: presence.clone(), variants: None }
            };
            let entities = types.iter().enumerate().map(variant).collect();
            entity.variants = Some(Variants { name: &hop.find.item, entities });
        }
        Ok((entity, self.reads[read].yields.map(|_| read)))
    }
}
