//! A find → its reads: the relations on its path one after the other, each by the access path for the arguments that are there.
//!
//! Nothing is read that a key already tells (*elision*), and what an index does not hold is read by a Get that follows it.

use super::argument;
use super::build::{Builder, internal};
use super::collect::Collected;
use super::count::{all_are_meant, lets_in_others};
use super::entity::{self, Entity};
use super::error::{PlanError, PlanErrorKind};
use super::tree::*;
use crate::schema::condition::Condition;
use crate::schema::model::{
    Access, AccessPath, Field, FieldKind, Find, ItemKeys, Model, ObjectType, Range, Returns, SortAccess, Source, TextPart, Via,
};
use apollo_compiler::ast::Type;
use std::collections::HashMap;
use std::sync::Arc;

/// What is asked of one relation on the way of a find.
pub(super) struct Hop<'a> {
    /// The field coordinate, for people.
    pub coordinate: String,
    pub field: &'a Field,
    pub find: &'a Find,
    pub arguments: ArgumentsId,
    /// The stored fields that are needed of what it finds.
    pub needs: Vec<String>,
    /// Whether it must be known that the item is there.
    pub must_exist: bool,
    /// Whether a missing item ends the way: on a path of relations nothing is shown of the items before the last, so that only waiting for
    /// them hides what lies behind.
    pub behind: bool,
    /// How much is wanted where it can find several.
    pub want: Want,
}

/// The item type that a read is after, or several.
pub(super) struct Sought<'a> {
    /// The first of them.
    first: &'a ObjectType,
    /// Their names: `Favorite | Tagging`.
    name: String,
    table: usize,
    recognise: Arc<Recogniser>,
    /// Whether the key condition may let in other items, which are to be told apart.
    looked_at: bool,
}

impl<'a> Sought<'a> {
    pub fn of(model: &Model, types: &[&'a ObjectType], path: &AccessPath) -> Result<Self, PlanError> {
        let names: Vec<&str> = types.iter().map(|ty| ty.name.as_str()).collect();
        let name = names.join(" | ");
        let first = *types.first().ok_or_else(|| internal("a find of no type"))?;
        let keys = entity::keys(first).ok_or_else(|| internal(&format!("{} is no item", first.name)))?;
        let recognise = entity::recogniser(model, types, matches!(path.access, Access::Scan)).ok_or_else(|| internal(&name))?;
        let looked_at = types.len() > 1 || !all_are_meant(&model.tables[keys.table], keys, path);
        Ok(Self { first, name, table: keys.table, recognise, looked_at })
    }
}

impl<'a> Builder<'a> {
    /// A find field: its reads, and the shape of what it gives.
    pub(super) fn find(
        &mut self,
        of: &Entity<'a>,
        field: &'a Field,
        find: &'a Find,
        collected: &Collected<'a>,
    ) -> Result<OutputValue, PlanError> {
        let arguments = argument::of_field(&self.selecting, field, collected);
        let arguments = self.push_arguments(arguments);
        let connection = field.ty.inner_named_type().as_str();
        let sets = match find.returns {
            Returns::Connection => self.node_sets(connection, &collected.sets),
            _ => collected.sets.clone(),
        };
        let needs = match (find.returns, &find.via) {
            (Returns::Exists | Returns::Count, _) | (_, Via::Mixed(_)) => Vec::new(),
            _ => self.needs(self.type_named(&find.item)?, &sets)?,
        };
        let want = match find.returns {
            Returns::One | Returns::Exists => Want::First,
            Returns::List => Want::Whole { max: find.max },
            Returns::Count => Want::Count { looked_at: true },
            Returns::Connection => {
                let probe = self.asks_for_more(connection, &collected.sets);
                Want::Page { arguments, sizes: page_sizes(field, find), probe }
            }
        };
        let wants_existence = matches!(find.returns, Returns::Exists | Returns::Count) || of.presence.is_none();
        let (entity, pages) = match &find.via {
            Via::Keys(_) => {
                let must_exist = wants_existence || !field.ty.is_non_null();
                let coordinate = format!("{}.{}", of.ty.name, field.name);
                self.follow(of, Hop { coordinate, field, find, arguments, needs, must_exist, behind: false, want })?
            }
            Via::Mixed(mixed) => {
                let coordinate = format!("{}.{}", of.ty.name, field.name);
                self.follow_mixed(
                    of,
                    Hop { coordinate, field, find, arguments, needs, must_exist: true, behind: false, want },
                    (mixed, &sets),
                )?
            }
            Via::Through(path) => self.through(
                of,
                path,
                arguments,
                Hop {
                    coordinate: format!("{}.{}", of.ty.name, field.name),
                    field,
                    find,
                    arguments,
                    needs,
                    must_exist: true,
                    behind: true,
                    want,
                },
            )?,
        };
        let presence = entity.presence.clone().ok_or_else(|| internal("a find without an item"))?;
        // What an index holds too little of to be told, and turns out to be of another type, is nothing that was asked for.
        let told_later = matches!((&presence, pages), (Presence::Read(tells), Some(page))
            if matches!(self.reads[*tells].action, Action::Complete(of) if of == page));
        let keeps_place = match &field.ty {
            Type::List(item) | Type::NonNullList(item) => !item.is_non_null() && !told_later,
            _ => false,
        };
        if let Some(page) = pages {
            self.reads[page].page_of = format!("{}.{}", of.ty.name, field.name);
        }
        if let (Returns::Connection, Some(page), Presence::Read(tells)) = (find.returns, pages, &presence)
            && self.reads[page].yields == Some(entity.space)
        {
            self.reads[page].elements = (page + 1..=*tells).collect();
        }
        let target = Target { pages, space: entity.space, presence, keeps_place };
        Ok(match find.returns {
            Returns::One => OutputValue::One(target, self.object(&entity, &sets, false)?),
            Returns::List => OutputValue::List(target, self.object(&entity, &sets, false)?),
            Returns::Connection => OutputValue::Page(target, self.page(&entity, connection, &collected.sets)?),
            Returns::Exists => OutputValue::Exists(target),
            Returns::Count => OutputValue::Count(target),
        })
    }

    /// Follows the relations of a `through` path. The first that can find several is the one that pages.
    pub(super) fn through(
        &mut self,
        of: &Entity<'a>,
        path: &'a [String],
        outer: ArgumentsId,
        last: Hop<'a>,
    ) -> Result<(Entity<'a>, Option<ReadId>), PlanError> {
        let mut entity = of.clone();
        let mut pages = None;
        for (position, name) in path.iter().enumerate() {
            let field = self.field_of(entity.ty, name)?;
            let FieldKind::Find(find) = &field.kind else { return Err(internal(&format!("{}.{name} is no find", entity.ty.name))) };
            let arguments = self.arguments[outer].of_hop(field);
            let is_last = position + 1 == path.len();
            let needs = match path.get(position + 1) {
                None => last.needs.clone(),
                Some(next) => {
                    let ty = self.type_named(&find.item)?;
                    let next = self.field_of(ty, next)?;
                    let FieldKind::Find(next_find) = &next.kind else { return Err(internal(&next.name)) };
                    self.parent_fields(ty, next, next_find, &arguments.of_hop(next))?
                }
            };
            let arguments = self.push_arguments(arguments);
            let many = matches!(find.returns, Returns::List | Returns::Connection);
            let want = match (many, pages.is_some()) {
                (false, _) => Want::First,
                (true, false) => last.want,
                // What is wanted whole is wanted as far as it goes: a cascade takes a long list under one parent, too.
                (true, true) => match last.want {
                    Want::Whole { max } => Want::Whole { max: max.max(find.max) },
                    _ => Want::Whole { max: find.max },
                },
            };
            let hop = Hop {
                coordinate: format!("{}.{name}", entity.ty.name),
                field,
                find,
                arguments,
                needs,
                must_exist: !field.ty.is_non_null() || (is_last && last.must_exist),
                behind: position > 0 && last.behind,
                want,
            };
            let (next, made) = match &find.via {
                Via::Keys(_) => self.follow(&entity, hop)?,
                Via::Through(path) => self.through(&entity, path, arguments, hop)?,
                Via::Mixed(_) => return Err(internal("a relation to items of several types on a path")),
            };
            pages = pages.or(made);
            entity = next;
        }
        Ok((entity, pages))
    }

    /// One relation: a Get, a Query, a Query and a Get, or nothing at all.
    pub(super) fn follow(&mut self, from: &Entity<'a>, hop: Hop<'a>) -> Result<(Entity<'a>, Option<ReadId>), PlanError> {
        let ty = self.type_named(&hop.find.item)?;
        let path = self.access_path(hop.find, &self.arguments[hop.arguments])?;
        let keys = entity::keys(ty).ok_or_else(|| internal(&format!("{} is no item", ty.name)))?;
        let key = self.key(keys, path, from, hop.arguments)?;
        let several = path.bindings.values().any(|source| self.is_list(source, hop.field));
        let known: HashMap<String, ValueSource> = path
            .bindings
            .iter()
            .filter(|(_, source)| !self.is_list(source, hop.field))
            .map(|(field, _)| (field.clone(), key.fields[field].clone()))
            .collect();
        if matches!(path.access, Access::Get { .. })
            && !several
            && !hop.must_exist
            && self.filter(hop.find, hop.arguments).is_none()
            && hop.needs.iter().all(|field| known.contains_key(field))
        {
            // Which copy is read says nothing of the item.
            let tells = key.fields.iter().filter(|(name, _)| !key.chooses_replica(name)).map(|(_, source)| source.clone());
            let presence = Some(Presence::Values(tells.collect()));
            return Ok((Entity { ty, space: from.space, known, held: Vec::new(), presence, variants: None }, None));
        }
        let sought = Sought::of(self.model, &[ty], path)?;
        let (mut entity, read) = self.look_up(from, &hop, (&sought, path), key)?;
        entity.known = known;
        let (held, rest): (Vec<String>, Vec<String>) = hop.needs.iter().cloned().partition(|field| self.holds(ty, path.index, field));
        let of_type = |fields: Vec<String>| fields.into_iter().map(|field| (ty, field)).collect::<Vec<_>>();
        self.wanted[read] = of_type(held);
        if !rest.is_empty() || !self.can_recognise(ty, path.index) {
            let whole = self.complete(&mut entity, &hop, &sought, read);
            self.wanted[whole] = of_type(hop.needs);
        }
        Ok((entity, self.reads[read].yields.map(|_| read)))
    }

    /// The read by an access path, and what it finds.
    pub(super) fn look_up(
        &mut self,
        from: &Entity<'a>,
        hop: &Hop<'a>,
        (sought, path): (&Sought<'a>, &'a AccessPath),
        key: KeyBinding,
    ) -> Result<(Entity<'a>, ReadId), PlanError> {
        let several = path.bindings.values().any(|source| self.is_list(source, hop.field));
        let many = matches!(hop.want, Want::Whole { .. } | Want::Page { .. } | Want::Count { .. });
        let action = match &path.access {
            Access::Get { .. } => Action::Get(key),
            access => Action::Query(Box::new(QueryBinding {
                range: self.range(access, from, hop.arguments)?,
                access: access.clone(),
                descending: self.descending(path, &self.arguments[hop.arguments]),
                want: match hop.want {
                    Want::Count { .. } => Want::Count { looked_at: sought.looked_at },
                    want => want,
                },
                filter: self.filter(hop.find, hop.arguments),
                others: lets_in_others(self.model, (sought.table, path.index), (&key, access), &sought.recognise),
                key,
            })),
        };
        let yields = match &action {
            Action::Get(_) => several && many,
            _ => many,
        };
        let read = self.read(from, sought, hop, action);
        self.reads[read].index = path.index;
        if matches!(path.access, Access::Get { .. }) {
            self.reads[read].filter = self.filter(hop.find, hop.arguments);
        }
        self.reads[read].answers_each_value = hop.field.ty.is_list() && !hop.field.ty.item_type().is_non_null();
        self.reads[read].max = if let Want::Whole { max } = hop.want { Some(max) } else { None };
        let held = vec![(Holder::Read(read), path.index)];
        let presence = Some(Presence::Read(read));
        let mut entity = Entity { ty: sought.first, space: from.space, known: HashMap::new(), held, presence, variants: None };
        if yields {
            entity.space = self.space(from.space, Origin::Read(read));
            self.reads[read].yields = Some(entity.space);
        }
        Ok((entity, read))
    }

    /// Reads the whole of the items that a read found in an index.
    pub(super) fn complete(&mut self, entity: &mut Entity<'a>, hop: &Hop<'a>, sought: &Sought<'a>, read: ReadId) -> ReadId {
        let whole = self.read(entity, sought, hop, Action::Complete(read));
        entity.held.push((Holder::Read(whole), None));
        entity.presence = Some(Presence::Read(whole));
        whole
    }

    fn read(&mut self, from: &Entity<'a>, sought: &Sought<'a>, hop: &Hop<'a>, action: Action) -> ReadId {
        let parent = match &from.presence {
            Some(Presence::Read(read)) => Some(*read),
            _ => None,
        };
        self.reads.push(Read {
            coordinate: hop.coordinate.clone(),
            page_of: String::new(),
            item: sought.name.clone(),
            recognise: sought.recognise.clone(),
            table: sought.table,
            index: None,
            space: from.space,
            yields: None,
            action,
            parent,
            awaits_parent: hop.behind,
            elements: Vec::new(),
            consistent: hop.find.consistent,
            projection: [].into(),
            max: None,
            answers_each_value: false,
            filter: None,
            may_wait: false,
            wave: 0,
        });
        self.wanted.push(Vec::new());
        self.reads.len() - 1
    }

    pub(super) fn holds(&self, ty: &ObjectType, index: Option<usize>, field: &str) -> bool {
        let holds = |attribute: &String| entity::keys(ty).is_none_or(|keys| self.model.tables[keys.table].holds(index, attribute));
        ty.stored(field).is_some_and(|stored| {
            let as_wanted = !self.as_stored || stored.attribute.as_ref().is_none_or(holds);
            as_wanted && entity::attributes_for(self.model, ty, index, stored).is_some()
        })
    }

    /// Whether what an index holds tells the type's items from others: their primary keys do, or it holds their constants.
    pub(super) fn can_recognise(&self, ty: &ObjectType, index: Option<usize>) -> bool {
        let Some(keys) = entity::keys(ty) else { return true };
        let table = &self.model.tables[keys.table];
        let (partition, sort) = table.keys_of(index);
        // What is in an index is of the types that have keys for it.
        let there: Vec<_> = table.primary_key().chain([partition]).chain(sort).collect();
        let alike = |other: &ItemKeys| {
            other.table == keys.table
                && there.iter().all(|key| {
                    let of = |keys: &ItemKeys| keys.keys.get(&key.name).cloned().unwrap_or_default();
                    of(keys).iter().any(|ours| of(other).iter().any(|theirs| ours.overlaps(theirs)))
                })
        };
        let mut others = self.model.types.values().filter(|other| other.name != ty.name).filter_map(entity::keys);
        !others.any(alike) || keys.constants.iter().all(|(attribute, _)| table.holds(index, attribute))
    }

    /// The find's condition without the conjuncts whose argument is null. What an input object holds is not known before it is evaluated.
    fn filter(&self, find: &Find, arguments: ArgumentsId) -> Option<(Condition, ArgumentsId)> {
        let given = &self.arguments[arguments];
        let is_null = |name: &str| !given.present(name.split('.').next().unwrap_or(name), self.selecting.variables);
        Some((find.filter.as_ref()?.without(&is_null)?, arguments))
    }

    /// Whether a source is an argument that brings several values.
    fn is_list(&self, source: &Source, field: &Field) -> bool {
        let Source::Argument(name) = source else { return false };
        field.arguments.iter().any(|argument| argument.name == *name && argument.ty.is_list())
    }

    pub(super) fn access_path(&self, find: &'a Find, arguments: &Arguments) -> Result<&'a AccessPath, PlanError> {
        let order_by = arguments.enum_value("orderBy", self.selecting.variables);
        let present = |name: &str| arguments.present(name, self.selecting.variables);
        find.path(&present, order_by.as_deref()).ok_or_else(|| match find.lacking(&present) {
            (_, missing) if missing.is_empty() => internal(&format!("no access path to {}", find.item)),
            (there, missing) => {
                let message = format!("{} cannot be looked for without {}.", quoted(&there), quoted(&missing));
                PlanError::new(PlanErrorKind::Input, message)
            }
        })
    }

    fn descending(&self, path: &AccessPath, arguments: &Arguments) -> bool {
        match arguments.enum_value("order", self.selecting.variables).as_deref() {
            Some("DESC") => true,
            Some("ASC") => false,
            _ => path.descending,
        }
    }

    pub(super) fn key(
        &self,
        keys: &ItemKeys,
        path: &AccessPath,
        from: &Entity<'a>,
        arguments: ArgumentsId,
    ) -> Result<KeyBinding, PlanError> {
        let (partition, sort) = self.model.tables[keys.table].keys_of(path.index);
        let template = |attribute: &str, position: usize| keys.keys.get(attribute).and_then(|all| all.get(position)).cloned();
        let (partition_at, sort_at) = match &path.access {
            Access::Get { partition, sort } => (Some(*partition), *sort),
            Access::Query { partition, sort } => (Some(*partition), sort_template(sort)),
            Access::Scan => (None, None),
        };
        let fields = path.bindings.iter().map(|(field, source)| Ok((field.clone(), self.source(source, from, arguments)?)));
        Ok(KeyBinding {
            partition_attribute: partition.name.clone(),
            partition: partition_at.and_then(|position| template(&partition.name, position)),
            sort_attribute: sort.map(|key| key.name.clone()),
            sort: sort.zip(sort_at).and_then(|(key, position)| template(&key.name, position)),
            alike: path.alike.clone(),
            fields: fields.collect::<Result<_, PlanError>>()?,
            spread: path.reading(&self.model.tables[keys.table], keys),
        })
    }

    fn range(&self, access: &Access, from: &Entity<'a>, arguments: ArgumentsId) -> Result<Option<BoundRange>, PlanError> {
        let Access::Query { sort: SortAccess::Range { range, .. }, .. } = access else { return Ok(None) };
        let bound = |bound: &Option<(Source, bool)>| match bound {
            None => Ok(None),
            Some((source, inclusive)) => Ok::<_, PlanError>(Some((self.source(source, from, arguments)?, *inclusive))),
        };
        Ok(Some(match range {
            Range::Between { lower, upper } => BoundRange::Between(bound(lower)?, bound(upper)?),
            Range::BeginsWith(source) => BoundRange::BeginsWith(self.source(source, from, arguments)?),
        }))
    }

    /// The fields of the object in which a find stands that its first relation is bound by.
    pub(super) fn parent_fields(
        &self,
        ty: &'a ObjectType,
        field: &'a Field,
        find: &'a Find,
        arguments: &Arguments,
    ) -> Result<Vec<String>, PlanError> {
        match &find.via {
            Via::Through(path) => {
                let first = path.first().ok_or_else(|| internal(&field.name))?;
                let hop = self.field_of(ty, first)?;
                let FieldKind::Find(next) = &hop.kind else { return Err(internal(&hop.name)) };
                self.parent_fields(ty, hop, next, &arguments.of_hop(hop))
            }
            Via::Keys(_) | Via::Mixed(_) => {
                // Arguments that leave a gap are told when their own field is planned, which knows its place.
                let Ok(path) = self.access_path(find, arguments) else { return Ok(Vec::new()) };
                let mut names = Vec::new();
                path.bindings.values().for_each(|source| parents(source, &mut names));
                if let Access::Query { sort: SortAccess::Range { range, .. }, .. } = &path.access {
                    match range {
                        Range::BeginsWith(source) => parents(source, &mut names),
                        Range::Between { lower, upper } => {
                            lower.iter().chain(upper).for_each(|(source, _)| parents(source, &mut names));
                        }
                    }
                }
                Ok(names)
            }
        }
    }
}

fn page_sizes(field: &Field, find: &Find) -> PageSizes {
    let default = |name: &str| {
        let argument = field.arguments.iter().find(|argument| argument.name == name)?;
        u32::try_from(argument.default.as_ref()?.as_u64()?).ok()
    };
    PageSizes { max: find.max, first: default("first"), last: default("last") }
}

/// Names for a caller: `"a" and "b"`.
fn quoted(names: &[&str]) -> String {
    names.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(" and ")
}

fn sort_template(sort: &SortAccess) -> Option<usize> {
    match sort {
        SortAccess::All => None,
        SortAccess::Equal { template } | SortAccess::Prefix { template, .. } | SortAccess::Range { template, .. } => Some(*template),
    }
}

fn parents(source: &Source, names: &mut Vec<String>) {
    match source {
        Source::Argument(_) | Source::Item(..) => {}
        Source::Parent(field) => names.push(field.clone()),
        Source::Text(parts) => parts.iter().for_each(|part| {
            if let TextPart::Value(source) = part {
                parents(source, names);
            }
        }),
    }
}
