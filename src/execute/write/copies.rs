//! The copies of a replicated item: what is written of the first is written of the others in the same transaction. What a transaction
//! does not take is brought in line with the first copy afterwards.
//!
//! The first copy, number 0, is the item: conditions are held against it, and what it is, the others are to be. A transaction is all or
//! nothing, so that no writer finds them different. Beyond its limit the transaction writes the first copy and all else that the field
//! writes; then the other copies are made like it, in batches, until they are found to be so. Whoever writes a copy looks at the first
//! once more afterwards: of several who do so at once, the last to write still finds what is right. It is safe to repeat, and the next
//! write of the item completes what broke off.

use super::actions::Drafting;
use super::draft::{Copied, Draft, Role};
use super::engine::Job;
use super::identity;
use crate::execute::expression::evaluate::same_item;
use crate::execute::key::sharding::as_copy;
use crate::execute::key::values::key_of;
use crate::schema::model::ObjectType;
use crate::schema::model::keys::ItemKeys;
use crate::schema::table::Table;
use crate::table::attribute::{Item, Key};
use crate::table::call::{Expression, Get};
use crate::table::error::{TableError, TableErrorKind};
use crate::table::write::{ConditionFailure, WriteAction, WriteCall, WriteError};
use std::collections::BTreeMap;
use std::sync::Arc;

/// How often copies are compared before it is given up, since others keep changing them.
const MOST_ROUNDS: usize = 50;

/// A write of a copy: what is done, and on what condition.
pub(super) type CopyWrite = (WriteAction, Option<Expression>);

impl Drafting<'_, '_> {
    /// Writes the copies of an item besides the first, whose key is given; nothing where there are none. `write` is told a copy's number
    /// and its key.
    pub(super) fn copies(&mut self, ty: &ObjectType, key: &Key, mut write: impl FnMut(u8, Key) -> CopyWrite) {
        let job = self.job;
        let keys = others(job, ty, key);
        if keys.is_empty() {
            return;
        }
        let table = job.table_of(ty);
        let writes = keys.into_iter().map(|(number, copy)| {
            let (action, condition) = write(number, copy);
            WriteCall { table: table.clone(), action, condition }
        });
        let writes = writes.collect();
        self.draft.copied.push(Copied { item: ty.name.clone(), key: key.clone(), writes });
    }
}

/// The numbers and keys of an item's copies besides the first, whose key is given.
pub(super) fn others(job: &Job<'_>, ty: &ObjectType, key: &Key) -> Vec<(u8, Key)> {
    let Some((table, keys)) = place(job, &ty.name) else { return Vec::new() };
    let Some(spread) = keys.replicas() else { return Vec::new() };
    let item: Item = std::iter::once(&key.partition).chain(&key.sort).map(|(name, value)| (name.clone(), value.clone().into())).collect();
    (1..spread.count).filter_map(|number| Some((number, key_of(table, &as_copy(table, keys, &item, number))?))).collect()
}

/// An item of which any copy was read, as its first copy.
pub(super) fn first(job: &Job<'_>, ty: &str, item: Arc<Item>) -> Arc<Item> {
    match place(job, ty) {
        Some((table, keys)) if keys.replicas().is_some() => Arc::new(as_copy(table, keys, &item, 0)),
        _ => item,
    }
}

/// An item's copy of that number.
pub(super) fn copy(job: &Job<'_>, ty: &ObjectType, item: &Item, number: u8) -> Item {
    place(job, &ty.name).map_or_else(|| item.clone(), |(table, keys)| as_copy(table, keys, item, number))
}

/// Brings copies in line with the first where a condition on one of them did not hold: it is missing. The write is tried again then.
pub(super) async fn mend(job: &Job<'_>, draft: &Draft, failures: &[ConditionFailure]) -> Result<(), WriteError> {
    let is_copy = |failure: &ConditionFailure| draft.calls.get(failure.position).is_some_and(|call| matches!(call.role, Role::Copy));
    if !failures.iter().any(is_copy) {
        return Ok(());
    }
    let all: Vec<(String, Key)> = draft.copied.iter().map(|copied| (copied.item.clone(), copied.key.clone())).collect();
    align(job, &all).await.map_err(WriteError::Failed)
}

/// Makes the copies of items like the first, whose keys are given with the items' types.
pub(super) async fn align(job: &Job<'_>, items: &[(String, Key)]) -> Result<(), TableError> {
    for _ in 0..MOST_ROUNDS {
        let mut puts: BTreeMap<Arc<str>, Vec<Item>> = BTreeMap::new();
        let mut deletes: BTreeMap<Arc<str>, Vec<Key>> = BTreeMap::new();
        for (name, key) in items {
            let (Ok(ty), Some((table, keys))) = (job.type_named(name), place(job, name)) else { continue };
            let (of_table, others) = (job.table_of(ty), others(job, ty, key));
            let wanted = std::iter::once(key).chain(others.iter().map(|(_, key)| key));
            // Every attribute: a copy is put whole.
            let get = |key: &Key| Get { table: of_table.clone(), key: key.clone(), projection: [].into(), consistent: true };
            let mut found = job.engine.run.loaders.get(wanted.map(get).collect::<Vec<_>>()).await.into_iter();
            let Some(first) = found.next().transpose()?.filter(|first| first.as_ref().is_none_or(|first| identity::is_of(ty, first)))
            else {
                continue;
            };
            for ((number, key), copy) in others.into_iter().zip(found) {
                let copy = copy?;
                match first.as_ref().map(|first| as_copy(table, keys, first, number)) {
                    Some(right) if copy.as_ref().is_some_and(|copy| same_item(copy, &right)) => {}
                    Some(right) => puts.entry(of_table.clone()).or_default().push(right),
                    None if copy.as_ref().is_some_and(|copy| identity::is_of(ty, copy)) => {
                        deletes.entry(of_table.clone()).or_default().push(key)
                    }
                    None => {}
                }
            }
        }
        if puts.is_empty() && deletes.is_empty() {
            return Ok(());
        }
        let loaders = job.engine.run.loaders;
        let failed = |error| match error {
            WriteError::Failed(error) | WriteError::Uncertain(error) => error,
            other => TableError { kind: TableErrorKind::Invalid, detail: format!("{other:?}") },
        };
        for (table, items) in puts {
            loaders.put_batch(&table, items).await.map_err(failed)?;
        }
        for (table, keys) in deletes {
            loaders.delete_batch(&table, keys).await.map_err(failed)?;
        }
    }
    Err(TableError { kind: TableErrorKind::Condition, detail: "the first copy was changed again and again".to_owned() })
}

fn place<'j>(job: &Job<'j>, ty: &str) -> Option<(&'j Table, &'j ItemKeys)> {
    let model = job.engine.run.model;
    let (_, keys) = model.item(ty)?;
    Some((model.tables.get(keys.table)?, keys))
}
