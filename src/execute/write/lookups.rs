//! What is read before a write: the item of its `@find`, the items that a prefix or an index names, and the relations that go along.

use super::assemble;
use super::engine::{Job, Refusals};
use crate::execute::error::Refusal;
use crate::execute::respond::{Present, present};
use crate::execute::state::{Outcome, State};
use crate::execute::steps::state_of;
use crate::plan::tree::Lookup;
use crate::schema::model::ObjectType;
use crate::table::attribute::{Item, Key};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Item type → the item in scope.
pub(super) type Scope = BTreeMap<String, Arc<Item>>;

/// Runs a lookup with the items in scope.
pub(super) async fn items(job: &Job<'_>, lookup: &Lookup, scope: &Scope) -> Result<Vec<Arc<Item>>, Refusals> {
    let mut state = state_of(job.engine, &lookup.plan, job.variables);
    for (ty, space) in &lookup.seeds {
        state.seed(*space, scope.get(ty).cloned().into_iter().collect());
    }
    job.engine.run.run(&mut state).await;
    found(&state, lookup)
}

fn found(state: &State<'_>, lookup: &Lookup) -> Result<Vec<Arc<Item>>, Refusals> {
    let refuse = |failure: &crate::execute::state::Failure| vec![Refusal::new(failure.code, failure.message.clone())];
    for outcome in &state.outcomes {
        if let Outcome::Many(_, pages) = outcome
            && let Some(failure) = pages.iter().find_map(|page| page.failure.as_ref())
        {
            return Err(refuse(failure));
        }
    }
    let space = lookup.target.space;
    let mut items = Vec::new();
    for row in 0..state.len(space) {
        match present(state, &lookup.target, space, row) {
            Present::No => {}
            Present::Failed(failure) => return Err(refuse(&failure)),
            Present::Yes => items.extend(state.item(&lookup.target, space, row)),
        }
    }
    Ok(items)
}

/// Items of relations, by their types.
#[derive(Default)]
pub(super) struct Related(Vec<(String, Vec<Arc<Item>>)>);

impl Related {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|(_, items)| items.is_empty())
    }

    /// The items with their types, and for each the keys that go: its own and those of its guards.
    pub fn into_keys(self, job: &Job<'_>) -> BTreeMap<Arc<str>, Vec<Key>> {
        let mut keys: BTreeMap<Arc<str>, Vec<Key>> = BTreeMap::new();
        for (name, items) in self.0 {
            let Ok(ty) = job.type_named(&name) else { continue };
            let of_table = keys.entry(job.table_of(ty)).or_default();
            for item in items {
                of_table.extend(keys_of(job, ty, &item));
            }
        }
        for of_table in keys.values_mut() {
            of_table.sort();
            of_table.dedup();
        }
        keys
    }
}

/// The keys of an item's guards.
pub(super) fn guards_of(job: &Job<'_>, ty: &ObjectType, item: &Item) -> Vec<Key> {
    keys_of(job, ty, item).into_iter().skip(1).collect()
}

/// The keys that go with an item: its own, then those of its guards.
pub(super) fn keys_of(job: &Job<'_>, ty: &ObjectType, item: &Item) -> Vec<Key> {
    let model = job.engine.run.model;
    let Some(own) = assemble::key_of(model, ty, item) else { return Vec::new() };
    let values = assemble::values_of(model, ty, item);
    let unique = ty.fields.values().filter(|field| field.rules.unique);
    let guards = unique.filter_map(|field| {
        let guard = assemble::guard(model, ty, &field.name, values.get(&field.name)?, &own).ok()??;
        assemble::key_of(model, ty, &guard)
    });
    std::iter::once(own.clone()).chain(guards).collect()
}

/// The items of the relations that are deleted with an item.
pub(super) async fn cascade(job: &Job<'_>, action: usize, item: &Arc<Item>) -> Result<Related, Refusals> {
    let mut related = Related::default();
    let Some(lookups) = job.planned.actions.get(action) else { return Ok(related) };
    for lookup in &lookups.cascade {
        let scope: Scope = lookup.seeds.iter().map(|(ty, _)| (ty.clone(), item.clone())).collect();
        related.0.push((lookup.item.clone(), items(job, lookup, &scope).await?));
    }
    Ok(related)
}
