//! One relation of a find in, its reads out: a Get, a Query, a Query followed by a Get, or none.
//!
//! What a key already holds is not read (*elision*). What an index does not hold is read by a Get that follows the
//! Query.

use super::builder::{Builder, internal};
use super::entity::Entity;
use super::key_condition::{KeyCondition, admits_only_own_type, admits_other_types};
use crate::plan::attributes::{self, ItemSight};
use crate::plan::error::PlanError;
use crate::plan::passes::draft::DraftRead;
use crate::plan::tree::*;
use crate::schema::model::auth::AuthAction;
use crate::schema::model::find::sharding::KeyChoice;
use crate::schema::model::find::{Access, AccessPath, Find, Returns};
use crate::schema::model::keys::ItemKeys;
use crate::schema::model::{Field, Model, ObjectType};
use std::collections::HashMap;
use std::sync::Arc;

/// One relation that a find follows, and what is needed of it.
pub struct RelationRequest<'a> {
    /// The field coordinate, such as `User.groups`.
    pub coordinate: String,
    /// The relation's field.
    pub field: &'a Field,
    /// Its find.
    pub find: &'a Find,
    /// Its arguments.
    pub arguments: ArgumentsId,
    /// The stored fields that are needed of its items.
    pub needs: Vec<String>,
    /// Whether the item's existence must be checked.
    pub must_exist: bool,
    /// Whether the read must wait for its parent. Of a path only the last item is shown, so nothing else hides what
    /// lies behind a missing item.
    pub waits_for_parent: bool,
    /// How much is wanted if it can find several items.
    pub want: Want,
}

/// Where a path of relations leads.
pub struct PathEnd<'a> {
    /// The object at its end.
    pub entity: Entity<'a>,
    /// The read whose items make the list or the page.
    pub pages: Option<ReadId>,
    /// The object of that read: the link that leads to the end.
    pub link: Option<Entity<'a>>,
}

/// The item types that a read is for.
pub struct ReadTarget<'a> {
    /// The first of them.
    first: &'a ObjectType,
    /// Their names: `Favorite | Tagging`.
    name: String,
    table: usize,
    discriminator: Arc<TypeDiscriminator>,
    /// Whether the key condition may admit other items, so that each item must be inspected.
    inspects_items: bool,
}

impl<'a> ReadTarget<'a> {
    /// The target of a find of these types by an access path.
    pub fn new(
        model: &Model,
        types: &[&'a ObjectType],
        path: &AccessPath,
        sight: ItemSight,
    ) -> Result<Self, PlanError> {
        let names: Vec<&str> = types.iter().map(|ty| ty.name.as_str()).collect();
        let name = names.join(" | ");
        let first = *types.first().ok_or_else(|| internal("a find of no type"))?;
        let keys = attributes::keys(first).ok_or_else(|| internal(&format!("{} is no item", first.name)))?;
        let place = (path.index, matches!(path.access, Access::Scan));
        let discriminator = attributes::discriminator(model, types, place, sight).ok_or_else(|| internal(&name))?;
        let table = &model.tables[keys.table];
        let queried = table.keys_of(path.index);
        // No filter may name an attribute that the Query has in its key.
        let is_queried = |time: &String| queried.contains(time);
        let inspects_items = discriminator.hides()
            || types.len() > 1
            || discriminator.times().any(is_queried)
            || !admits_only_own_type(table, keys, path);
        Ok(Self { first, name, table: keys.table, discriminator, inspects_items })
    }
}

impl<'a> Builder<'a> {
    /// Plans one relation.
    pub fn follow(
        &mut self,
        from: &Entity<'a>,
        relation: RelationRequest<'a>,
    ) -> Result<(Entity<'a>, Option<ReadId>), PlanError> {
        let ty = self.type_named(&relation.find.item)?;
        let path = self.access_path(relation.find, &self.arguments[relation.arguments])?;
        let keys = attributes::keys(ty).ok_or_else(|| internal(&format!("{} is no item", ty.name)))?;
        let key = self.key(keys, path, from, relation.arguments)?;
        let several = path.bindings.values().any(|source| self.is_list(source, relation.field));
        let known: HashMap<String, ValueSource> = path
            .bindings
            .iter()
            .filter(|(field, source)| !self.is_list(source, relation.field) && keys.case_of(field).is_none())
            .map(|(field, _)| (field.clone(), key.fields[field.as_str()].clone()))
            .collect();
        let is_kept = |field: &str| {
            ty.stored(field).is_none_or(|stored| known.get(field).is_none_or(|source| source.is_kept_as(&stored.value)))
        };
        if matches!(path.access, Access::Get { .. })
            && !several
            && !relation.must_exist
            && (self.sees_expired || keys.expires.is_none())
            && (self.unhidden || !(ty.auth.need_item(AuthAction::Read) || ty.auth.hide()))
            && (self.unhidden || ty.asked_attributes().is_empty())
            && self.filter(relation.find, relation.arguments).is_none()
            && relation.needs.iter().all(|field| known.contains_key(field))
            && known.keys().all(|field| is_kept(field))
        {
            // Which replica is read does not matter for the item's existence.
            let tells =
                key.fields.iter().filter(|(name, _)| !key.chooses_replica(name)).map(|(_, source)| source.clone());
            let presence = Some(Presence::Values(tells.collect()));
            return Ok((Entity { ty, space: from.space, known, held: Vec::new(), presence, variants: None }, None));
        }
        let target = ReadTarget::new(self.model, &[ty], path, self.sight())?;
        let (mut entity, read) = self.look_up(from, &relation, (&target, path), key)?;
        entity.known = known;
        let (held, rest): (Vec<String>, Vec<String>) =
            relation.needs.iter().cloned().partition(|field| self.holds(ty, path.index, field));
        let of_type = |fields: Vec<String>| fields.into_iter().map(|field| (ty, field)).collect::<Vec<_>>();
        self.reads[read].wanted = of_type(held);
        let lacks = |attribute: &&str| !self.model.tables[target.table].holds(path.index, attribute);
        let unasked = !self.unhidden && ty.asked_attributes().iter().any(lacks);
        if !rest.is_empty() || unasked || !self.tells_items(ty, path.index) {
            let whole = self.fetch_missing(&mut entity, &relation, &target, read);
            self.reads[whole].wanted = of_type(relation.needs);
            // A write holds the index key by which it has found its item.
            if self.as_stored {
                let keys = attributes::key_attributes(&self.model.tables[target.table], path.index);
                self.reads[whole].ruled.extend(keys.into_iter().map(|key| key.name.clone()));
            }
        }
        Ok((entity, self.reads[read].yields.as_ref().map(|_| read)))
    }

    /// Adds the read of an access path.
    pub fn look_up(
        &mut self,
        from: &Entity<'a>,
        relation: &RelationRequest<'a>,
        (target, path): (&ReadTarget<'a>, &'a AccessPath),
        key: KeyBinding,
    ) -> Result<(Entity<'a>, ReadId), PlanError> {
        // A write refuses to choose among the shards that have an item with the key.
        let of_write = relation.find.returns == Returns::One && matches!(relation.want, Want::Whole { .. });
        let in_every_shard = key.spread.is_some_and(|reading| reading.which == KeyChoice::Every);
        let several =
            of_write && in_every_shard || path.bindings.values().any(|source| self.is_list(source, relation.field));
        let many = matches!(relation.want, Want::Whole { .. } | Want::Page { .. } | Want::Count { .. });
        let action = match &path.access {
            Access::Get { .. } => ReadAction::Get(Box::new(GetBinding {
                key,
                filter: self.filter(relation.find, relation.arguments),
                max: if let Want::Whole { max } = relation.want { Some(max) } else { None },
                answers_each_value: relation.field.ty.is_list() && !relation.field.ty.item_type().is_non_null(),
            })),
            access => ReadAction::Query(Box::new(QueryBinding {
                range: self.range(access, from, relation.arguments)?,
                access: access.clone(),
                descending: self.descending(path, &self.arguments[relation.arguments]),
                want: match relation.want {
                    // A count by the clock would be kept beyond the time of an item.
                    Want::Count { .. } => Want::Count {
                        looked_at: target.inspects_items
                            || self.max_age(relation.find.consistent).is_some()
                                && target.discriminator.times().next().is_some(),
                    },
                    want => want,
                },
                filter: self.filter(relation.find, relation.arguments),
                others: target.discriminator.hides() || {
                    let condition = KeyCondition { table: target.table, index: path.index, key: &key, access };
                    admits_other_types(self.model, &condition, &target.discriminator)
                },
                position_attributes: attributes::key_attributes(&self.model.tables[target.table], path.index)
                    .into_iter()
                    .map(|key| key.name.clone())
                    .collect(),
                key,
            })),
        };
        let opens = match &action {
            ReadAction::Get(_) => several && many,
            _ => many,
        };
        let read = self.reads.len();
        let space = if opens { self.space(from.space, Origin::Read(read)) } else { from.space };
        let yields = opens.then(|| ItemRows { space, list_of: relation.coordinate.clone(), elements: Vec::new() });
        self.reads.push(DraftRead { index: path.index, yields, ..self.table_read(from, target, relation, action) });
        let held = vec![(Holder::Read(read), path.index)];
        let presence = Some(Presence::Read(read));
        Ok((Entity { ty: target.first, space, known: HashMap::new(), held, presence, variants: None }, read))
    }

    /// Adds a Get of each item that a read found in an index.
    pub fn fetch_missing(
        &mut self,
        entity: &mut Entity<'a>,
        relation: &RelationRequest<'a>,
        target: &ReadTarget<'a>,
        read: ReadId,
    ) -> ReadId {
        // The whole item has the constants that the index may lack.
        let discriminator = match target.discriminator.sees_constants {
            true => target.discriminator.clone(),
            false => Arc::new(TypeDiscriminator { sees_constants: true, ..(*target.discriminator).clone() }),
        };
        let whole = self.reads.len();
        self.reads.push(DraftRead {
            discriminator,
            ..self.table_read(entity, target, relation, ReadAction::FetchMissing(read))
        });
        entity.held.push((Holder::Read(whole), None));
        entity.presence = Some(Presence::Read(whole));
        whole
    }

    /// A read of a table that gives one item at most.
    fn table_read(
        &self,
        from: &Entity<'a>,
        target: &ReadTarget<'a>,
        relation: &RelationRequest<'a>,
        action: ReadAction,
    ) -> DraftRead<'a> {
        let parent = match &from.presence {
            Some(Presence::Read(read)) => Some(*read),
            _ => None,
        };
        DraftRead {
            coordinate: relation.coordinate.clone(),
            item: target.name.clone(),
            discriminator: target.discriminator.clone(),
            table: target.table,
            index: None,
            space: from.space,
            yields: None,
            action,
            parent,
            consistent: relation.find.consistent,
            max_age: self.max_age(relation.find.consistent),
            guard: self.guard,
            awaits_parent: relation.waits_for_parent,
            wanted: Vec::new(),
            ruled: Vec::new(),
        }
    }

    pub fn holds(&self, ty: &ObjectType, index: Option<usize>, field: &str) -> bool {
        let holds = |attribute: &String| {
            attributes::keys(ty).is_none_or(|keys| self.model.tables[keys.table].holds(index, attribute))
        };
        ty.stored(field).is_some_and(|stored| {
            let as_wanted = !self.as_stored || stored.attribute.as_ref().is_none_or(holds);
            as_wanted && attributes::attributes_for(self.model, ty, index, stored).is_some()
        })
    }

    /// Whether an index holds enough to tell which of its items are there and of the type.
    pub fn tells_items(&self, ty: &ObjectType, index: Option<usize>) -> bool {
        let Some(keys) = attributes::keys(ty) else { return true };
        let tells_expiry = |time: &String| self.sees_expired || self.model.tables[keys.table].holds(index, time);
        keys.expires.as_ref().is_none_or(tells_expiry) && self.can_discriminate(ty, index)
    }

    /// What its reads see besides what is there for the caller.
    pub fn sight(&self) -> ItemSight {
        ItemSight { hidden: self.unhidden, expired: self.sees_expired }
    }

    /// Whether an index holds enough to distinguish the type's items from others: their primary keys differ, or it
    /// projects the constants.
    fn can_discriminate(&self, ty: &ObjectType, index: Option<usize>) -> bool {
        let Some(keys) = attributes::keys(ty) else { return true };
        let table = &self.model.tables[keys.table];
        // An index holds only types that have keys for it.
        let there = attributes::key_attributes(table, index);
        let overlaps = |other: &ItemKeys| {
            other.table == keys.table
                && there.iter().all(|key| {
                    let of = |keys: &ItemKeys| keys.keys.get(&key.name).cloned().unwrap_or_default();
                    of(keys).iter().any(|ours| of(other).iter().any(|theirs| ours.overlaps(theirs)))
                })
        };
        let mut others = self.model.types.values().filter(|other| other.name != ty.name).filter_map(attributes::keys);
        !others.any(overlaps) || keys.telling().all(|attribute| table.holds(index, attribute))
    }
}
