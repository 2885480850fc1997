//! Lookups of a write → the items that they find. Also gives the keys that belong to an item: its own and those of its
//! guards.

use crate::execute::arguments::FieldArguments;
use crate::execute::error::FieldError;
use crate::execute::item::{assemble, replicas, unique};
use crate::execute::read::apply::seed;
use crate::execute::read::state::{Present, ReadState};
use crate::execute::wave::executor::run_waves;
use crate::execute::write::elements::ElementNames;
use crate::execute::write::job::WriteJob;
use crate::execute::write::messages::FieldErrors;
use crate::plan::tree::{CascadeStart, ObjectSource, WriteLookup};
use crate::schema::model::ObjectType;
use crate::schema::model::find::Find;
use crate::table::data::attribute::{Item, Key};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The items in scope, by name: the alias of a found item, the type of a put one. Those of an element of a list have
/// its list and position: `Product@lines.3`.
#[derive(Default)]
pub struct ItemsInScope(BTreeMap<String, ItemInScope>);

/// An item in scope.
pub struct ItemInScope {
    /// Its type.
    pub ty: String,
    /// The item.
    pub item: Arc<Item>,
}

impl ItemsInScope {
    /// The item of that name.
    pub fn get(&self, name: &str) -> Option<&ItemInScope> {
        self.0.get(name)
    }

    /// Puts an item in scope. It hides an earlier one of this name.
    pub fn insert(&mut self, name: String, ty: &str, item: Arc<Item>) {
        self.0.insert(name, ItemInScope { ty: ty.to_owned(), item });
    }
}

/// Whose names a lookup has: those of a find or an action, which may be made for an element of a list.
pub struct LookupNames<'w> {
    /// The find by which it reads.
    pub find: &'w Find,
    /// The names of the element.
    pub element: Option<ElementNames<'w>>,
    /// The position in the schema of the action for which it reads; 0 for a find.
    pub before: usize,
}

/// Runs a lookup with the items in scope. Gives the first replica of a replicated item, whichever replica was read.
pub async fn items(
    job: &WriteJob<'_>,
    (lookup, names): (&WriteLookup, LookupNames<'_>),
    scope: &ItemsInScope,
) -> Result<Vec<Arc<Item>>, FieldErrors> {
    let seeds = |name: &str| {
        let mut name = name.to_owned();
        names.element.iter().for_each(|element| element.item(&mut name, names.before));
        scope.get(&name).map(|known| known.item.clone()).into_iter().collect()
    };
    let arguments = match &names.element {
        Some(element) => FieldArguments::from_values(&lookup.plan, &element.values(names.find, job.arguments())),
        None => FieldArguments::new(&lookup.plan, job.context),
    };
    run(job, (lookup, arguments), seeds).await
}

/// Runs a lookup with the items of each type that it starts from.
pub async fn seeded(
    job: &WriteJob<'_>,
    lookup: &WriteLookup,
    seeds: impl Fn(&str) -> Vec<Arc<Item>>,
) -> Result<Vec<Arc<Item>>, FieldErrors> {
    run(job, (lookup, FieldArguments::new(&lookup.plan, job.context)), seeds).await
}

async fn run(
    job: &WriteJob<'_>,
    (lookup, arguments): (&WriteLookup, FieldArguments<'_>),
    seeds: impl Fn(&str) -> Vec<Arc<Item>>,
) -> Result<Vec<Arc<Item>>, FieldErrors> {
    let mut state = ReadState::with_arguments(&lookup.plan, job.context, arguments);
    for (ty, space) in &lookup.seeds {
        seed(&mut state, *space, seeds(ty));
    }
    run_waves(job.context, &mut state, true).await;
    found(job, &state, (&lookup.item, &lookup.target))
}

/// Runs the first reads of a cascade from the deleted item. Gives the items of each path by its position.
pub async fn cascade_start(
    job: &WriteJob<'_>,
    start: &CascadeStart,
    item: &Arc<Item>,
) -> Result<Vec<(usize, Vec<Arc<Item>>)>, FieldErrors> {
    let mut state = ReadState::with_arguments(&start.plan, job.context, FieldArguments::new(&start.plan, job.context));
    seed(&mut state, start.seed, vec![item.clone()]);
    run_waves(job.context, &mut state, true).await;
    let found =
        |(position, ty, target): &(usize, String, ObjectSource)| Ok((*position, found(job, &state, (ty, target))?));
    start.targets.iter().map(found).collect()
}

/// The items of a type that are there.
fn found(
    job: &WriteJob<'_>,
    state: &ReadState<'_>,
    (ty, target): (&str, &ObjectSource),
) -> Result<Vec<Arc<Item>>, FieldErrors> {
    let refuse =
        |failure: &crate::execute::error::Failure| vec![FieldError::new(failure.code, failure.message.clone())];
    if let Some(failure) = state.page_failure() {
        return Err(refuse(failure));
    }
    let space = target.space;
    let mut items = Vec::new();
    for row in 0..state.len(space) {
        match state.present(target, space, row) {
            Present::No => {}
            Present::Failed(failure) => return Err(refuse(&failure)),
            Present::Yes => {
                items.extend(state.item(target, space, row).map(|item| replicas::first(job.context.model, ty, item)))
            }
        }
    }
    Ok(items)
}

/// The keys of an item's guards.
pub fn guards_of(job: &WriteJob<'_>, ty: &ObjectType, item: &Item) -> Vec<Key> {
    keys_of(job, ty, item).into_iter().skip(1).collect()
}

/// The keys that go with an item: its own, then those of its guards.
pub fn keys_of(job: &WriteJob<'_>, ty: &ObjectType, item: &Item) -> Vec<Key> {
    let model = job.context.model;
    let Some(own) = assemble::key_of(model, ty, item) else { return Vec::new() };
    // The guard of an unreadable value cannot be known, so it stays.
    let values = assemble::values_of(model, ty, item).known;
    let unique = ty.fields.values().filter(|field| field.rules.unique);
    let guards = unique.filter_map(|field| {
        let guard = unique::guard(model, ty, &field.name, values.get(&field.name)?, &own).ok()??;
        assemble::key_of(model, ty, &guard)
    });
    std::iter::once(own.clone()).chain(guards).collect()
}
