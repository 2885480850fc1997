//! The root fields of a mutation → steps: what each one writes, what it reads before the write, and what it reads
//! afterwards for the selection.
//!
//! Each field is planned by itself, because they run one after the other (GraphQL spec section 6.2.2, "Mutation").
//! Reads are strong wherever DynamoDB offers it, so that they see the write.

use super::builder::{Builder, internal, output};
use super::entity::Entity;
use super::relation::RelationRequest;
use crate::plan::attributes::{self, ItemSight};
use crate::plan::error::PlanError;
use crate::plan::operation::argument;
use crate::plan::operation::collect::{CollectedField, SelectionContext};
use crate::plan::tree::*;
use crate::schema::model::find::sharding::KeyChoice;
use crate::schema::model::find::{Access, AccessPath, Find, Returns, Via};
use crate::schema::model::write::{Action, ActionKind, ReturnedItems, Write, WriteFind, WriteReturns, WriteTarget};
use crate::schema::model::{Field, FieldKind, Model, ObjectType};
use apollo_compiler::Name;
use apollo_compiler::executable::{Operation, SelectionSet};
use indexmap::IndexMap;

/// The most items that one relation of a cascade, or a write with `many: true`, may have.
const MAX_WRITTEN: u32 = 100_000;

/// The steps of a mutation.
pub fn steps<'a>(
    model: &'a Model,
    context: SelectionContext<'a>,
    operation: &'a Operation,
) -> Result<OperationPlan, PlanError> {
    let mut steps = Vec::new();
    let mut introspects = false;
    let fields = context.fields(operation.object_type(), &[&operation.selection_set]);
    for (key, collected) in fields {
        let mut builder = Builder::new(model, context);
        let root = builder.type_named(operation.object_type())?;
        let step = match root.fields.get(collected.field.name.as_str()) {
            Some(field) if let FieldKind::Write(write) = &field.kind => {
                WriteField { root, field, write, key: &key, collected: &collected }.step(builder)?
            }
            // `__typename` and fields that only read.
            _ => {
                let object = builder.collected(&Entity::root(root), IndexMap::from([(key, collected)]), false)?;
                introspects |= builder.introspects;
                PlanStep { write: None, watch: None, plan: builder.finish(object) }
            }
        };
        steps.push(step);
    }
    Ok(OperationPlan { steps, introspects, policy: CachePolicy::NONE })
}

/// A field of a mutation that writes.
struct WriteField<'a, 'c> {
    root: &'a ObjectType,
    field: &'a Field,
    write: &'a Write,
    /// The response key.
    key: &'c Name,
    collected: &'c CollectedField<'a>,
}

impl<'a> WriteField<'a, '_> {
    fn step(&self, mut builder: Builder<'a>) -> Result<PlanStep, PlanError> {
        builder.for_write = true;
        let arguments = argument::field_arguments(&builder.context, self.field, self.collected);
        let lookups = Lookups {
            model: builder.model,
            context: builder.context,
            field: self.field,
            write: self.write,
            arguments: &arguments,
        };
        let found =
            (0..self.write.finds.len()).map(|position| lookups.found_lookup(position)).collect::<Result<_, _>>()?;
        let actions =
            (0..self.write.actions.len()).map(|position| lookups.action_lookups(position)).collect::<Result<_, _>>()?;
        let arguments = builder.push_arguments(arguments);
        let guard = builder.enter(&Entity::root(self.root), self.field, self.collected)?;
        let mut results = Vec::new();
        let value = match &self.write.returns {
            WriteReturns::Done => OutputValue::Done,
            WriteReturns::Items(items) => self.items(&mut builder, *items, &self.collected.sets, &mut results)?,
            WriteReturns::Payload(parts) => OutputValue::Payload(self.payload(&mut builder, parts, &mut results)?),
        };
        let object = Object {
            type_name: self.root.name.clone(),
            guard: None,
            fields: vec![output(self.key, self.collected, (guard, value))],
            variants: Vec::new(),
        };
        let plan = builder.finish(object);
        Ok(PlanStep {
            write: Some(PlannedWrite {
                field: self.field.name.clone(),
                response_key: self.key.to_string(),
                arguments,
                results,
                found,
                actions,
            }),
            watch: None,
            plan,
        })
    }
}

impl<'a> WriteField<'a, '_> {
    /// The selection on items that the write returns.
    fn items(
        &self,
        builder: &mut Builder<'a>,
        returned: ReturnedItems,
        sets: &[&'a SelectionSet],
        results: &mut Vec<PlannedResult>,
    ) -> Result<OutputValue, PlanError> {
        let names = self.write.types_returned(returned);
        let types = names.iter().map(|name| builder.type_named(name)).collect::<Result<Vec<_>, _>>()?;
        let (entity, types) = match types.as_slice() {
            [] => return Err(internal(&self.field.name)),
            [ty] => (builder.seed(ty), None),
            several => {
                let types = attributes::discriminator(builder.model, several, (None, false), ItemSight::ALL);
                let types = types.ok_or_else(|| internal(&self.field.name))?;
                (builder.seed_of_types(self.write.type_name(returned), several, &types), Some(types))
            }
        };
        let space = entity.space;
        let target = ObjectSource { pages: None, space, presence: Presence::Seed(space), keeps_place: false };
        let object = builder.object(&entity, sets, false)?;
        results.push(PlannedResult { returned, space, types });
        Ok(if returned.many { OutputValue::List(target, object) } else { OutputValue::One(target, object) })
    }

    /// The selection on a payload. Only what is selected is read.
    fn payload(
        &self,
        builder: &mut Builder<'a>,
        parts: &IndexMap<String, Option<ReturnedItems>>,
        results: &mut Vec<PlannedResult>,
    ) -> Result<Object, PlanError> {
        let ty = builder.type_named(self.field.ty.inner_named_type())?;
        let mut fields = Vec::new();
        for (key, collected) in builder.context.fields(&ty.name, &self.collected.sets) {
            let value = match parts.get(collected.field.name.as_str()) {
                None => OutputValue::Typename,
                Some(None) => OutputValue::Done,
                Some(Some(items)) => self.items(builder, *items, &collected.sets, results)?,
            };
            fields.push(output(&key, &collected, (None, value)));
        }
        Ok(Object { type_name: ty.name.clone(), guard: None, fields, variants: Vec::new() })
    }
}

/// Plans what a write reads beforehand.
struct Lookups<'a, 'p> {
    model: &'a Model,
    context: SelectionContext<'a>,
    field: &'a Field,
    write: &'a Write,
    arguments: &'p Arguments,
}

impl<'a> Lookups<'a, '_> {
    /// What the `@find` at this position reads; `None` if it is one Get for each element of a list.
    fn found_lookup(&self, position: usize) -> Result<Option<WriteLookup>, PlanError> {
        let found: &'a WriteFind = &self.write.finds[position];
        let is_by_key = matches!(&found.find.via, Via::Keys(paths)
            if paths.iter().all(|path| self.is_by_key(&found.find.item, path)));
        if found.each.is_some() && is_by_key {
            return Ok(None);
        }
        let scope = self.in_scope((position, 0), found.each.as_ref());
        let want = match found.takes_first || is_by_key {
            true => Want::First,
            false => want_only(self.model.types.get(&found.find.item).is_some_and(|ty| ty.auth.hide())),
        };
        self.lookup_of(&found.find, want, scope).map(Some)
    }

    /// Whether a path to items of a type reads one whole key, and not that of every shard.
    fn is_by_key(&self, item: &str, path: &AccessPath) -> bool {
        let reading = self.model.item(item).and_then(|(_, keys)| path.reading(&self.model.tables[keys.table], keys));
        matches!(path.access, Access::Get { .. }) && reading.is_none_or(|reading| reading.which != KeyChoice::Every)
    }

    fn action_lookups(&self, position: usize) -> Result<ActionLookups, PlanError> {
        let action: &'a Action = &self.write.actions[position];
        let target = match &action.target {
            WriteTarget::Key(_) | WriteTarget::Found(_) => None,
            WriteTarget::Read { find, many } => {
                let hides = self.model.types.get(&action.item).is_some_and(|ty| {
                    let demanded = self.write.demanded(action, ty);
                    demanded.iter().any(|(of, rules, asked)| *of == ty.name && rules.need_item(*asked))
                });
                let want = want_only(*many || hides);
                let scope = self.in_scope((self.write.finds.len(), position), action.each.as_ref());
                Some(self.lookup_of(find, want, scope)?)
            }
        };
        let ActionKind::Delete { cascade: paths } = &action.kind else {
            return Ok(ActionLookups { target, ..ActionLookups::default() });
        };
        let cascade = paths.iter().map(|path| self.cascade(&action.item, path, paths)).collect::<Result<_, _>>()?;
        Ok(ActionLookups { target, cascade, cascade_start: self.cascade_start(&action.item, paths)? })
    }

    /// The reads of all relations of the deleted item itself, if some of them share Queries.
    fn cascade_start(&self, item: &str, all: &'a [Vec<String>]) -> Result<Option<CascadeStart>, PlanError> {
        let first: Vec<usize> = (0..all.len()).filter(|position| all[*position].len() == 1).collect();
        if first.len() < 2 {
            return Ok(None);
        }
        let mut builder = self.seeing_all();
        let owner = builder.seed(builder.type_named(item)?);
        let mut targets = Vec::new();
        for position in first {
            let (ty, target) =
                self.cascade_target(&mut builder, (&owner, item), &all[position], &after(&all[position], all))?;
            targets.push((position, ty, target));
        }
        let root = Object { type_name: item.to_owned(), guard: None, fields: Vec::new(), variants: Vec::new() };
        let plan = builder.finish(root);
        Ok((!plan.collections.is_empty()).then_some(CascadeStart { plan, seed: owner.space, targets }))
    }

    /// A builder that sees all that there is.
    fn seeing_all(&self) -> Builder<'a> {
        let mut builder = Builder::new(self.model, self.context);
        (builder.unhidden, builder.sees_expired, builder.for_write) = (true, true, true);
        builder
    }

    /// The items of a cascade's path: found from its start, and from the items of other paths that it begins with. Once
    /// those are deleted, the path's start no longer leads to what belongs to them.
    fn cascade(&self, item: &str, path: &'a [String], all: &'a [Vec<String>]) -> Result<Cascade, PlanError> {
        let whole = self.cascade_lookup(item, path, &after(path, all))?;
        let mut rests = Vec::new();
        for (position, first) in all.iter().enumerate() {
            if let Some(rest) = path.strip_prefix(first.as_slice()).filter(|rest| !rest.is_empty()) {
                let from = self.reached(item, first)?;
                rests.push((position, self.cascade_lookup(&from.name, rest, &after(path, all))?));
            }
        }
        Ok(Cascade { whole, rests })
    }

    /// The type at the end of a path of relations.
    fn reached(&self, item: &str, path: &[String]) -> Result<&'a ObjectType, PlanError> {
        let builder = Builder::new(self.model, self.context);
        path.iter().try_fold(builder.type_named(item)?, |ty, name| match &builder.field_of(ty, name)?.kind {
            FieldKind::Find(find) => builder.type_named(&find.item),
            _ => Err(internal(&format!("{}.{name} is no find", ty.name))),
        })
    }

    /// The items of a find that is bound to arguments and to these items in scope, each with its name and type.
    fn lookup_of(
        &self,
        find: &'a Find,
        want: Want,
        scope: Vec<(&'a String, &'a String)>,
    ) -> Result<WriteLookup, PlanError> {
        let mut builder = Builder::new(self.model, self.context);
        (builder.as_stored, builder.unhidden, builder.for_write) = (true, true, true);
        let seeds = seed_scope(&mut builder, scope)?;
        let arguments = builder.push_arguments(self.arguments.clone());
        let root = Entity::root(builder.type_named("Mutation").or_else(|_| builder.type_named(&find.item))?);
        let ty = builder.type_named(&find.item)?;
        let relation = RelationRequest {
            coordinate: format!("Mutation.{}", self.field.name),
            field: self.field,
            find,
            arguments,
            needs: attributes::stored_fields(ty),
            must_exist: true,
            waits_for_parent: false,
            want,
        };
        let (entity, pages) = match &find.via {
            Via::Keys(_) => builder.follow(&root, relation)?,
            Via::Through(path) => builder.through(&root, path, arguments, relation)?,
            Via::AbstractType(_) => return Err(internal("a write of items of several types")),
        };
        Ok(Self::lookup(builder, &find.item, source((entity, pages))?, seeds))
    }

    /// The items that a path of relations leads to from a deleted item. `next` are the relations that other paths
    /// follow from there.
    fn cascade_lookup(&self, item: &str, path: &'a [String], next: &[&'a String]) -> Result<WriteLookup, PlanError> {
        let mut builder = self.seeing_all();
        let owner = builder.seed(builder.type_named(item)?);
        let seeds = vec![(item.to_owned(), owner.space)];
        let (item, target) = self.cascade_target(&mut builder, (&owner, item), path, next)?;
        Ok(Self::lookup(builder, &item, target, seeds))
    }

    /// The type of the items that a path leads to from an item, and where they are.
    fn cascade_target(
        &self,
        builder: &mut Builder<'a>,
        (owner, item): (&Entity<'a>, &str),
        path: &'a [String],
        next: &[&'a String],
    ) -> Result<(String, ObjectSource), PlanError> {
        let nothing = Arguments { values: IndexMap::new(), given: Vec::new(), location: self.arguments.location };
        let arguments = builder.push_arguments(nothing);
        let (last, before) = path.split_last().ok_or_else(|| internal("a cascade without a relation"))?;
        let field = builder.field_of(self.reached(item, before)?, last)?;
        let FieldKind::Find(find) = &field.kind else { return Err(internal(last)) };
        let ty = builder.type_named(&find.item)?;
        let mut needs = unique_fields(ty);
        for name in next {
            let field = builder.field_of(ty, name)?;
            let FieldKind::Find(find) = &field.kind else { return Err(internal(name)) };
            let nothing = Arguments { values: IndexMap::new(), given: Vec::new(), location: self.arguments.location };
            needs.extend(builder.parent_fields(ty, field, find, &nothing)?);
        }
        needs.sort();
        needs.dedup();
        let many = matches!(find.returns, Returns::List | Returns::Connection) || path.len() > 1;
        let want = if many { Want::Whole { max: MAX_WRITTEN } } else { Want::First };
        let coordinate = format!("{item}.{}", path.join("."));
        let relation = RelationRequest {
            coordinate,
            field,
            find,
            arguments,
            needs,
            must_exist: true,
            waits_for_parent: false,
            want,
        };
        let reached = builder.through(owner, path, arguments, relation)?;
        Ok((ty.name.clone(), source(reached)?))
    }

    fn lookup(builder: Builder<'a>, item: &str, target: ObjectSource, seeds: Vec<(String, SpaceId)>) -> WriteLookup {
        let root = Object { type_name: item.to_owned(), guard: None, fields: Vec::new(), variants: Vec::new() };
        WriteLookup { item: item.to_owned(), plan: builder.finish(root), target, seeds }
    }

    /// The names and types of the items in scope of a directive, which may be made for each element of a list: those of
    /// the finds and of the puts before these positions.
    fn in_scope(&self, (finds, actions): (usize, usize), each: Option<&String>) -> Vec<(&'a String, &'a String)> {
        let is_seen = |of: &Option<String>| of.is_none() || of.as_ref() == each;
        let found = self.write.finds.iter().take(finds).filter(|found| is_seen(&found.each));
        let put = self.write.actions.iter().take(actions).filter(|action| is_seen(&action.each));
        let put = put.filter(|action| matches!(action.kind, ActionKind::Put { .. }));
        let found = found.map(|found| (&found.alias, &found.find.item));
        let put = put.map(|action| (action.alias.as_ref().unwrap_or(&action.item), &action.item));
        found.chain(put).collect()
    }
}

/// Where the items of an entity are.
fn source((entity, pages): (Entity<'_>, Option<ReadId>)) -> Result<ObjectSource, PlanError> {
    let presence = entity.presence.ok_or_else(|| internal("a lookup without an item"))?;
    Ok(ObjectSource { pages, space: entity.space, presence, keeps_place: false })
}

/// Two, so that a part of a key that several items have is noticed; all, if rules may hide some, which do not count.
fn want_only(is_all: bool) -> Want {
    Want::Whole { max: if is_all { MAX_WRITTEN } else { 2 } }
}

/// Seeds for items in scope.
fn seed_scope<'a>(
    builder: &mut Builder<'a>,
    scope: Vec<(&'a String, &'a String)>,
) -> Result<Vec<(String, SpaceId)>, PlanError> {
    let mut seeds: Vec<(String, SpaceId)> = Vec::new();
    for (name, item) in scope {
        let entity = builder.seed(builder.type_named(item)?);
        seeds.push((name.clone(), entity.space));
        builder.scope.insert(name.clone(), entity);
    }
    Ok(seeds)
}

/// The relations that other paths of a cascade follow from the end of this one.
fn after<'a>(path: &[String], all: &'a [Vec<String>]) -> Vec<&'a String> {
    all.iter().filter_map(|other| other.strip_prefix(path)?.first()).collect()
}

/// What must be known of an item to delete it: the values of its unique fields, for their guards.
fn unique_fields(ty: &ObjectType) -> Vec<String> {
    ty.fields.values().filter(|field| field.rules.unique).map(|field| field.name.clone()).collect()
}
