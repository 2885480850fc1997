//! The items of actions whose whole key is not known: by a part of it, or by an index. Must not know what is done with
//! them.

use crate::execute::auth::hiding::is_hidden;
use crate::execute::error::{ErrorCode, FieldError};
use crate::execute::item::assemble;
use crate::execute::write::elements::ElementNames;
use crate::execute::write::job::WriteJob;
use crate::execute::write::lookup::items::{self, ItemsInScope, LookupNames};
use crate::execute::write::messages::{FieldErrors, table_error};
use crate::execute::write::rules::item_rules::ItemRules;
use crate::execute::write::rules::lookups;
use crate::plan::attributes::keys;
use crate::schema::model::ObjectType;
use crate::schema::model::find::{Access, AccessPath, Find, SortAccess, Via};
use crate::schema::model::source::Source;
use crate::schema::model::write::{Action, ActionKind, WriteTarget};
use crate::schema::table::Table;
use crate::table::data::attribute::{Item, Key};
use futures_util::future::join_all;
use std::collections::HashMap;
use std::sync::Arc;

/// The items that the lookup of an action finds.
pub type LookedUp = Result<Vec<Arc<Item>>, FieldErrors>;

/// Runs the lookup of the action at a position.
pub async fn look_up(job: &WriteJob<'_>, scope: &ItemsInScope, position: usize) -> LookedUp {
    let lookup = job.lookups(position).and_then(|lookups| lookups.target.as_ref());
    let (Some(lookup), Some((find, before))) = (lookup, declared_find(job, position)) else {
        return Err(vec![FieldError::new(ErrorCode::Internal, "The action looks nothing up.")]);
    };
    let element = job.element(position).map(|(list, position)| ElementNames { write: job.write, list, position });
    items::items(job, (lookup, LookupNames { find, element, before }), scope).await
}

/// Runs, side by side, the lookups of the actions that need nothing which another action makes, without those that are
/// decided. Gives what they find by the positions of the actions.
pub async fn look_up_ahead(
    job: &WriteJob<'_>,
    scope: &ItemsInScope,
    decided: HashMap<usize, LookedUp>,
) -> HashMap<usize, LookedUp> {
    let is_made = |name: &String, before: usize| {
        let mut puts =
            job.write.actions.iter().take(before).filter(|action| matches!(action.kind, ActionKind::Put { .. }));
        puts.any(|action| action.name() == name)
    };
    let is_ahead = |position: &usize| {
        declared_find(job, *position).is_some_and(|(find, before)| {
            let mut leaves = find.sources().into_iter().flat_map(Source::leaves);
            !leaves.any(|leaf| matches!(leaf, Source::Item(name, _) if is_made(name, before)))
        })
    };
    let ahead = (0..job.directives.actions.len()).filter(is_ahead).filter(|position| !decided.contains_key(position));
    let lookups: Vec<_> =
        ahead.map(|position| async move { (position, look_up(job, scope, position).await) }).collect();
    decided.into_iter().chain(join_all(lookups).await).collect()
}

/// How the schema finds the items of the action at a position by a lookup, and its position in the schema.
fn declared_find<'j>(job: &WriteJob<'j>, position: usize) -> Option<(&'j Find, usize)> {
    let before = job.action(position)?.position;
    match &job.write.actions.get(before)?.target {
        WriteTarget::Read { find, .. } => Some((find, before)),
        WriteTarget::Key(_) | WriteTarget::Found(_) => None,
    }
}

/// Those of the found items that are there for the caller. One that the caller neither sees nor may write is not: it
/// must not change the answer, nor make the arguments ambiguous.
pub async fn there(job: &WriteJob<'_>, (action, ty): (&Action, &ObjectType), found: Vec<Arc<Item>>) -> LookedUp {
    let demanded = job.write.demanded(action, ty);
    let rules = ItemRules::new(job.context, ty, demanded.clone());
    let mut there = Vec::with_capacity(found.len());
    for item in found {
        let mut is_there = rules.admits(&item).await?;
        if is_hidden(job.context, ty, &item).await.map_err(|error| vec![table_error(&error)])? {
            let own = assemble::values_of(job.context.model, ty, &item).known;
            for (of, auth, asked) in demanded.iter().filter(|(_, auth, asked)| auth.look_up(*asked)) {
                is_there = is_there
                    && lookups::let_write(job, lookups::alternatives(job, of, (auth, *asked), &own), &item).await?;
            }
        }
        there.extend(is_there.then_some(item));
    }
    Ok(there)
}

/// Those of the items that an index gave which the table still has with the same index keys, as the table has them: an
/// index may lag. Items that no index gave are as they are.
pub async fn still_indexed(job: &WriteJob<'_>, (ty, find): (&ObjectType, &Find), items: Vec<Arc<Item>>) -> LookedUp {
    let by_index = index_keys(job, ty, find);
    if by_index.is_empty() {
        return Ok(items);
    }
    let keys: Vec<Option<Key>> = items.iter().map(|item| assemble::key_of(job.context.model, ty, item)).collect();
    let wanted: Vec<(&str, &Key)> = keys.iter().flatten().map(|key| (ty.name.as_str(), key)).collect();
    let read = job.read_all(&wanted).await?;
    let had = items.iter().zip(&keys).filter_map(|(item, key)| key.as_ref().map(|_| item));
    let still = had.zip(read).filter_map(|(was, is)| {
        let is = is?;
        by_index.iter().all(|name| was.get(name) == is.get(name)).then_some(is)
    });
    Ok(still.collect())
}

/// The index key attributes by which an item is found.
pub fn index_keys(job: &WriteJob<'_>, ty: &ObjectType, find: &Find) -> Vec<String> {
    let (Some(path), Some(table)) = (path_of(find), table(job, ty)) else { return Vec::new() };
    let bound = path.keys(table);
    let sort = bound.sort.filter(|_| !matches!(path.access, Access::Query { sort: SortAccess::All, .. }));
    match path.index {
        None => Vec::new(),
        Some(_) => bound.one_valued().chain(sort).map(|key| key.name.clone()).collect(),
    }
}

/// The access path of a find of a mutation, or of an action's lookup.
pub fn path_of(find: &Find) -> Option<&AccessPath> {
    match &find.via {
        Via::Keys(paths) => paths.first(),
        Via::AbstractType(_) | Via::Through(_) => None,
    }
}

fn table<'j>(job: &WriteJob<'j>, ty: &ObjectType) -> Option<&'j Table> {
    job.context.model.tables.get(keys(ty)?.table)
}
