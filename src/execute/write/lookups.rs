//! What is read before a write: the item of its `@find`, the items that a prefix or an index names, and the relations that go along.

use super::assemble;
use super::conditions::Conditions;
use super::copies;
use super::engine::{Job, Refusals};
use super::identity;
use crate::execute::error::Refusal;
use crate::execute::respond::{Present, present};
use crate::execute::state::{Outcome, State};
use crate::execute::steps::state_of;
use crate::plan::tree::Lookup;
use crate::schema::model::ObjectType;
use crate::schema::write::ActionKind;
use crate::table::attribute::{Item, Key};
use crate::table::call::Expression;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Item type → the item in scope.
pub(super) type Scope = BTreeMap<String, Arc<Item>>;

/// Runs a lookup with the items in scope. Of a replicated item, whichever copy was read, it gives the first.
pub(super) async fn items(job: &Job<'_>, lookup: &Lookup, scope: &Scope) -> Result<Vec<Arc<Item>>, Refusals> {
    let mut state = state_of(job.engine, &lookup.plan, job.variables);
    for (ty, space) in &lookup.seeds {
        state.seed(*space, scope.get(ty).cloned().into_iter().collect());
    }
    job.engine.run.run(&mut state).await;
    found(job, &state, lookup)
}

fn found(job: &Job<'_>, state: &State<'_>, lookup: &Lookup) -> Result<Vec<Arc<Item>>, Refusals> {
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
            Present::Yes => items.extend(state.item(&lookup.target, space, row).map(|item| copies::first(job, &lookup.item, item))),
        }
    }
    Ok(items)
}

/// The items of a cascade's relations, those first that are found by way of others.
#[derive(Default)]
pub(super) struct Related(Vec<OfType>);

/// A type's name and items of it.
type OfType = (String, Vec<Arc<Item>>);

/// What of a cascade is deleted of one table: each key, and what must still hold of the item so that no others go with it.
pub(super) type Doomed = BTreeMap<Key, Option<Expression>>;

impl Related {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|(_, items)| items.is_empty())
    }

    /// For each relation and table, what is deleted: the items and their guards. Each only once, where it comes last: until then it may
    /// lead to others.
    pub fn into_doomed(self, job: &Job<'_>) -> Vec<(Arc<str>, Doomed)> {
        let mut stages: Vec<(Arc<str>, Doomed)> = Vec::new();
        for (name, items) in self.0 {
            let Ok(ty) = job.type_named(&name) else { continue };
            let mut doomed = Doomed::new();
            for item in items {
                let mut keys = keys_of(job, ty, &item).into_iter();
                let own = keys.next();
                doomed.extend(own.iter().flat_map(|own| copies::others(job, ty, own)).map(|(_, copy)| (copy, None)));
                doomed.extend(own.map(|own| (own, guarded(ty, &item))));
                doomed.extend(keys.map(|guard| (guard, None)));
            }
            let table = job.table_of(ty);
            for (_, earlier) in stages.iter_mut().filter(|(of, _)| *of == table) {
                earlier.retain(|key, _| !doomed.contains_key(key));
            }
            stages.push((table, doomed));
        }
        stages.retain(|(_, doomed)| !doomed.is_empty());
        stages
    }
}

/// That an item is still of its type and has the guards that go with it; `None` where its key tells the type and it has none.
fn guarded(ty: &ObjectType, item: &Item) -> Option<Expression> {
    let mut conditions = Conditions::default();
    identity::demand(ty, &mut conditions);
    for field in ty.fields.values().filter(|field| field.rules.unique) {
        if let Some(attribute) = ty.stored(&field.name).and_then(|stored| stored.attribute.as_ref().or(stored.keys.first())) {
            conditions.unchanged(attribute, item);
        }
    }
    conditions.build()
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
///
/// What leads to others is read before them and goes after them. Then whatever comes in meanwhile is still found afterwards by what leads
/// to it, and so is what is left where a delete stops on its way.
pub(super) async fn cascade(job: &Job<'_>, action: usize, item: &Arc<Item>) -> Result<Related, Refusals> {
    let mut related = Related::default();
    let (Some(lookups), Some(written)) = (job.planned.actions.get(action), job.write.actions.get(action)) else { return Ok(related) };
    let ActionKind::Delete { cascade: paths } = &written.kind else { return Ok(related) };
    let mut inward: Vec<_> = lookups.cascade.iter().zip(paths).collect();
    inward.sort_by_key(|(_, path)| path.len());
    for (lookup, _) in inward {
        let scope: Scope = lookup.seeds.iter().map(|(ty, _)| (ty.clone(), item.clone())).collect();
        related.0.push((lookup.item.clone(), items(job, lookup, &scope).await?));
    }
    related.0.reverse();
    Ok(related)
}
