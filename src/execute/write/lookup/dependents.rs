//! The dependents of a cascade: finds them from the deleted item and from other dependents, and orders their deletion.

use crate::execute::item::conditions::Conditions;
use crate::execute::item::{assemble, identity, replicas, unique};
use crate::execute::keyed_locks::ItemPlace;
use crate::execute::write::job::WriteJob;
use crate::execute::write::lookup::items::{cascade_start, keys_of, seeded};
use crate::execute::write::messages::FieldErrors;
use crate::plan::tree::{Cascade, WriteLookup};
use crate::schema::model::ObjectType;
use crate::schema::model::write::ActionKind;
use crate::table::data::attribute::{Item, Key};
use crate::table::data::call::Expression;
use crate::table::data::write::{WriteAction, WriteCall};
use futures_util::future::join_all;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

/// The dependents of an item, for each path of `cascade:` in its order.
#[derive(Default, Clone)]
pub struct Dependents(Vec<Vec<Arc<Item>>>);

/// Items of one table to delete, by key.
pub type ToDelete = BTreeMap<Key, ItemToDelete>;

/// How to delete an item, and what is deleted with it.
#[derive(Clone, Default)]
pub struct ItemToDelete {
    /// The condition: the item is still of its type, and its unique values are unchanged. It keeps another item under
    /// the key from being deleted, and guards of new values from being left. `None` if the key tells the type and the
    /// item has no guards.
    pub condition: Option<Expression>,
    /// Its other replicas.
    pub replicas: Vec<Key>,
    /// Its guards.
    pub guards: Vec<Key>,
    /// The condition of each guard: it is the item's.
    pub owned: Option<Expression>,
}

impl ItemToDelete {
    /// How many items are deleted.
    pub fn count(&self) -> usize {
        1 + self.replicas.len() + self.guards.len()
    }

    /// Without the guards that are of other items.
    pub fn without(mut self, table: &Arc<str>, foreign_guards: &HashSet<ItemPlace>) -> Self {
        self.guards.retain(|guard| !foreign_guards.contains(&(table.clone(), guard.clone())));
        self
    }

    /// Adds a guard with its condition.
    pub fn take_guard(&mut self, guard: Key, owned: Option<Expression>) {
        self.guards.push(guard);
        self.owned = owned;
    }

    /// The calls that delete the item under this key of a table: first the item, then the rest. Each says whether it
    /// deletes a guard.
    pub fn calls(self, table: &Arc<str>, key: Key) -> impl Iterator<Item = (WriteCall, bool)> {
        let Self { condition, replicas, guards, owned } = self;
        let delete = move |(key, condition, is_guard)| {
            (WriteCall { table: table.clone(), action: WriteAction::Delete(key), condition }, is_guard)
        };
        let replicas = replicas.into_iter().map(|key| (key, None, false));
        let guards = guards.into_iter().map(move |key| (key, owned.clone(), true));
        std::iter::once((key, condition, false)).chain(replicas).chain(guards).map(delete)
    }
}

/// The key of an item, and how to delete it; `None` if it lacks its key.
pub fn to_delete(job: &WriteJob<'_>, ty: &ObjectType, item: &Item) -> Option<(Key, ItemToDelete)> {
    let mut keys = keys_of(job, ty, item).into_iter();
    let own = keys.next()?;
    let guards: Vec<Key> = keys.collect();
    let replicas = replicas::others(job.context.model, ty, &own).into_iter().map(|(_, key)| key).collect();
    let owned = unique::is_owned(job.context.model, ty, &own).filter(|_| !guards.is_empty());
    let condition = guarded((ty, &own), item);
    Some((own, ItemToDelete { condition, replicas, guards, owned }))
}

/// Which dependents to read.
#[derive(Clone, Copy, PartialEq)]
pub enum DependentsToRead {
    /// All.
    All,
    /// Those read through a global index, which may lag behind its table.
    Behind,
}

impl Dependents {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(Vec::is_empty)
    }

    /// Adds items, each list to its path.
    pub fn extend(&mut self, more: Self) {
        self.0.resize(self.0.len().max(more.0.len()), Vec::new());
        for (items, more) in self.0.iter_mut().zip(more.0) {
            items.extend(more);
        }
    }

    /// The items from which other paths continue.
    pub fn sources(mut self, job: &WriteJob<'_>, action: usize) -> Self {
        let all = paths(job, action);
        let leads = |position: usize| all.iter().any(|path| path.rests.iter().any(|(from, _)| *from == position));
        for (position, items) in self.0.iter_mut().enumerate() {
            if !leads(position) {
                items.clear();
            }
        }
        self
    }

    /// Leaves out the items in these places, which an index may still show. Items that are read strongly stay: they
    /// exist again.
    pub fn without(mut self, job: &WriteJob<'_>, action: usize, places: &HashSet<ItemPlace>) -> Self {
        for (items, path) in self.0.iter_mut().zip(paths(job, action)) {
            let Ok(ty) = job.type_named(&path.whole.item) else { continue };
            if !places.is_empty() && lookups(path).any(|lookup| is_behind(job, lookup)) {
                let table = job.table_of(ty);
                let model = job.context.model;
                items.retain(|item| {
                    assemble::key_of(model, ty, item).is_none_or(|key| !places.contains(&(table.clone(), key)))
                });
            }
        }
        self
    }

    /// The items to delete, by table, in the order of deletion. An item that leads to others is deleted after them. An
    /// item found twice is deleted at its last position, because it may lead to others until then.
    pub fn to_delete(&self, job: &WriteJob<'_>, action: usize) -> Vec<(Arc<str>, ToDelete)> {
        let mut stages: Vec<(Arc<str>, ToDelete)> = Vec::new();
        for position in inward(job, action).into_iter().rev() {
            let (Some(items), Some(path)) = (self.0.get(position), paths(job, action).get(position)) else { continue };
            let Ok(ty) = job.type_named(&path.whole.item) else { continue };
            let stage: ToDelete = items.iter().filter_map(|item| to_delete(job, ty, item)).collect();
            let table = job.table_of(ty);
            for (_, earlier) in stages.iter_mut().filter(|(of, _)| *of == table) {
                earlier.retain(|key, _| !stage.contains_key(key));
            }
            stages.push((table, stage));
        }
        stages.retain(|(_, stage)| !stage.is_empty());
        stages
    }
}

/// The lookups of a path: the whole path, and its rests from other dependents.
fn lookups(path: &Cascade) -> impl Iterator<Item = &WriteLookup> {
    std::iter::once(&path.whole).chain(path.rests.iter().map(|(_, rest)| rest))
}

/// The dependents of an item that is deleted.
///
/// An item that leads to others is read before them and deleted after them. So dependents that come in meanwhile, and
/// those that an interrupted delete leaves, can still be found through it. Paths of one length do not lead to each
/// other and are read at once. A longer path goes on from what a shorter one has found.
pub async fn find_dependents(
    job: &WriteJob<'_>,
    action: usize,
    item: &Arc<Item>,
    which: DependentsToRead,
) -> Result<Dependents, FieldErrors> {
    let all = paths(job, action);
    let mut related = Dependents(vec![Vec::new(); all.len()]);
    let start = job.lookups(action).and_then(|lookups| lookups.cascade_start.as_ref());
    let start = start.filter(|_| which == DependentsToRead::All);
    if let Some(start) = start {
        let found = cascade_start(job, start, item).await?;
        found.into_iter().for_each(|(position, items)| related.0[position] = items);
    }
    let is_begun = |position: &usize| start.is_some_and(|start| start.targets.iter().any(|(of, ..)| of == position));
    for wave in inward(job, action).chunk_by(|one, other| length(job, action, *one) == length(job, action, *other)) {
        let mut lookups: Vec<SeededLookup> = Vec::new();
        for position in wave.iter().filter(|position| !is_begun(position)) {
            let is_read = |path: &&Cascade| which == DependentsToRead::All || is_behind(job, &path.whole);
            let Some(path) = all.get(*position).filter(is_read) else { continue };
            match path.rests.iter().max_by_key(|(from, _)| length(job, action, *from)) {
                Some((from, rest)) => {
                    let items = related.0.get(*from).filter(|items| !items.is_empty());
                    lookups.extend(items.map(|items| (*position, rest, items.clone())));
                }
                None => lookups.push((*position, &path.whole, vec![item.clone()])),
            }
        }
        let found = find_all(job, lookups).await?;
        found.into_iter().for_each(|(position, items)| related.0[position] = items);
    }
    Ok(related)
}

/// The items to which the paths of a cascade continue from other dependents.
pub async fn find_further_dependents(
    job: &WriteJob<'_>,
    action: usize,
    from: &Dependents,
    which: DependentsToRead,
) -> Result<Dependents, FieldErrors> {
    let all = paths(job, action);
    let mut related = Dependents(vec![Vec::new(); all.len()]);
    let mut lookups: Vec<SeededLookup> = Vec::new();
    for position in inward(job, action) {
        for (source, rest) in all.get(position).iter().flat_map(|path| &path.rests) {
            let items = from.0.get(*source).map(Vec::as_slice).unwrap_or_default();
            if !items.is_empty() && (which == DependentsToRead::All || is_behind(job, rest)) {
                lookups.push((position, rest, items.to_vec()));
            }
        }
    }
    for (position, items) in find_all(job, lookups).await? {
        related.0[position].extend(items);
    }
    Ok(related)
}

/// The position of a path, a lookup for it, and the items that this goes on from.
type SeededLookup<'l> = (usize, &'l WriteLookup, Vec<Arc<Item>>);

/// Runs lookups at once. Gives the items that each finds, with the position of its path.
async fn find_all(
    job: &WriteJob<'_>,
    lookups: Vec<SeededLookup<'_>>,
) -> Result<Vec<(usize, Vec<Arc<Item>>)>, FieldErrors> {
    let mut running = Vec::new();
    for (position, lookup, seeds) in lookups {
        running.push(async move { Ok((position, seeded(job, lookup, |_| seeds.clone()).await?)) });
    }
    join_all(running).await.into_iter().collect()
}

/// Whether a dependent is read through a global index that may lag behind its table.
pub fn may_be_behind(job: &WriteJob<'_>, action: usize) -> bool {
    paths(job, action).iter().flat_map(lookups).any(|lookup| is_behind(job, lookup))
}

fn is_behind(job: &WriteJob<'_>, lookup: &WriteLookup) -> bool {
    let tables = &job.context.model.tables;
    let global =
        |(table, index): (usize, Option<usize>)| index.is_some_and(|index| !tables[table].indexes[index].local);
    job.context.loaders.has_eventual_indexes() && lookup.plan.reads.iter().any(|read| global((read.table, read.index)))
}

fn paths<'j>(job: &WriteJob<'j>, action: usize) -> &'j [Cascade] {
    job.lookups(action).map_or(&[], |lookups| &lookups.cascade)
}

/// How many relations a path of a cascade has.
fn length(job: &WriteJob<'_>, action: usize, position: usize) -> usize {
    match job.action(action).map(|action| &action.kind) {
        Some(ActionKind::Delete { cascade }) => cascade.get(position).map_or(0, Vec::len),
        _ => 0,
    }
}

/// The positions of a cascade's paths, shortest path first.
fn inward(job: &WriteJob<'_>, action: usize) -> Vec<usize> {
    let mut positions: Vec<usize> = (0..paths(job, action).len()).collect();
    positions.sort_by_key(|position| length(job, action, *position));
    positions
}

/// The condition that an item is still of its type and has the same guards. `None` if its key tells the type and it has
/// no guards.
fn guarded((ty, key): (&ObjectType, &Key), item: &Item) -> Option<Expression> {
    let mut conditions = Conditions::default();
    identity::demand((ty, key), &mut conditions);
    for field in ty.fields.values().filter(|field| field.rules.unique) {
        for attribute in assemble::determining_attributes(ty, &field.name, item) {
            conditions.unchanged(attribute, item);
        }
    }
    conditions.build()
}
