//! The replicas of a replicated item. A write of the first replica writes the others in the same transaction. Replicas
//! that do not fit into the transaction are synchronized with the first replica afterwards.
//!
//! The first replica, number 0, is the item. Conditions apply to it, and the other replicas must equal it. A
//! transaction is all or nothing, so no writer finds different replicas. Beyond its limit, the transaction writes the
//! first replica and everything else that the field writes. The other replicas are then put in batches until they are
//! found equal. Each writer of replicas reads the first replica again afterwards, so the last of several concurrent
//! writers still writes the right values. Synchronizing can be repeated safely, and the next write of the item
//! completes an interrupted one.

use crate::execute::expression::evaluate::same_item;
use crate::execute::item::identity;
use crate::execute::item::replicas::{others, place};
use crate::execute::key::sharding::as_replica;
use crate::execute::write::draft::call::{CallRole, WriteDraft};
use crate::execute::write::job::WriteJob;
use crate::table::data::attribute::{Item, Key};
use crate::table::data::call::Get;
use crate::table::data::error::{TableError, TableErrorKind};
use crate::table::data::write::{ConditionFailure, WriteError};
use std::collections::BTreeMap;
use std::sync::Arc;

/// How often to compare replicas while others keep changing them.
const MAX_ROUNDS: usize = 50;

/// Repairs missing replicas after a condition on one of them failed. The write is then tried again.
pub async fn repair(job: &WriteJob<'_>, draft: &WriteDraft, failures: &[ConditionFailure]) -> Result<(), WriteError> {
    let is_replica = |failure: &ConditionFailure| {
        draft.calls.get(failure.position).is_some_and(|call| matches!(call.role, CallRole::Replica))
    };
    if !failures.iter().any(is_replica) {
        return Ok(());
    }
    let all: Vec<(String, Key)> =
        draft.replicas.iter().map(|replicas| (replicas.item.clone(), replicas.key.clone())).collect();
    sync(job, &all).await.map_err(WriteError::Failed)
}

/// Makes the other replicas of items equal to the first. `items` holds types and keys of the first replicas.
pub async fn sync(job: &WriteJob<'_>, items: &[(String, Key)]) -> Result<(), TableError> {
    for _ in 0..MAX_ROUNDS {
        let mut puts: BTreeMap<Arc<str>, Vec<Item>> = BTreeMap::new();
        let mut deletes: BTreeMap<Arc<str>, Vec<Key>> = BTreeMap::new();
        for (name, key) in items {
            let (Ok(ty), Some((table, keys))) = (job.type_named(name), place(job.context.model, name)) else {
                continue;
            };
            let (of_table, others) = (job.table_of(ty), others(job.context.model, ty, key));
            let wanted = std::iter::once(key).chain(others.iter().map(|(_, key)| key));
            // Read every attribute, because a put writes a whole replica.
            let (consistent, max_age) = (true, None);
            let get = |key: &Key| Get {
                table: of_table.clone(),
                key: key.clone(),
                projection: [].into(),
                consistent,
                max_age,
            };
            let mut found = job.context.loaders.get(wanted.map(get).collect::<Vec<_>>()).await.into_iter();
            let Some(first) =
                found.next().transpose()?.filter(|first| first.as_ref().is_none_or(|first| identity::is_of(ty, first)))
            else {
                continue;
            };
            for ((number, key), replica) in others.into_iter().zip(found) {
                let replica = replica?;
                match first.as_ref().map(|first| as_replica(table, keys, first, number)) {
                    Some(right) if replica.as_ref().is_some_and(|replica| same_item(replica, &right)) => {}
                    Some(right) => puts.entry(of_table.clone()).or_default().push(right),
                    None if replica.as_ref().is_some_and(|replica| identity::is_of(ty, replica)) => {
                        deletes.entry(of_table.clone()).or_default().push(key)
                    }
                    None => {}
                }
            }
        }
        if puts.is_empty() && deletes.is_empty() {
            return Ok(());
        }
        let loaders = job.context.loaders;
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
    Err(TableError { kind: TableErrorKind::Condition, detail: "the first replica keeps changing".to_owned() })
}
