//! The replicas of a replicated item. A write of the first replica writes the others in the same transaction. Replicas
//! that do not fit into the transaction are synchronized with the first replica afterwards.
//!
//! The first replica, number 0, is the item. Conditions apply to it, and the other replicas must equal it. A
//! transaction is all or nothing, so no writer finds different replicas, unless another program has written some of
//! them, or a write comes between the reads of two. Such replicas are made equal by a transaction that requires the
//! first one as it was read, so it undoes no write that was made meanwhile.
//!
//! Beyond its limit, the transaction writes the first replica and everything else that the field writes. The other
//! replicas are then put in batches until they are found equal. Each writer of replicas reads the first replica again
//! afterwards, so the last of several concurrent writers still writes the right values. Synchronizing can be repeated
//! safely, and the next write of the item completes an interrupted one.

use crate::execute::expression::evaluate::same_item;
use crate::execute::item::conditions::Conditions;
use crate::execute::item::identity;
use crate::execute::item::replicas::{others, place};
use crate::execute::key::sharding::as_replica;
use crate::execute::write::calls::draft::{CallRole, WriteDraft};
use crate::execute::write::elements::MAX_IN_TRANSACTION;
use crate::execute::write::job::WriteJob;
use crate::schema::model::ObjectType;
use crate::table::data::attribute::{Item, Key};
use crate::table::data::call::Get;
use crate::table::data::error::{TableError, TableErrorKind};
use crate::table::data::write::{ConditionFailure, WriteAction, WriteCall, WriteError};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use uuid::Uuid;

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
    sync(job, &all, SyncCause::Found).await.map_err(WriteError::Failed)
}

/// Why replicas may differ from the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SyncCause {
    /// The write has just written the first replica, and the others did not fit into its transaction.
    Written,
    /// The write has found them so.
    Found,
}

/// What of the replicas of items differs from the first ones.
#[derive(Default)]
struct Differing {
    /// Transactions that each require that their first replica is as it was read.
    transactions: Vec<Vec<WriteCall>>,
    /// What does not fit into a transaction.
    puts: BTreeMap<Arc<str>, Vec<Item>>,
    deletes: BTreeMap<Arc<str>, Vec<Key>>,
}

/// Makes the other replicas of items equal to the first. `items` holds types and keys of the first replicas.
pub async fn sync(job: &WriteJob<'_>, items: &[(String, Key)], cause: SyncCause) -> Result<(), TableError> {
    for _ in 0..MAX_ROUNDS {
        let mut differing = Differing::default();
        for (name, key) in items {
            if let Ok(ty) = job.type_named(name) {
                differing.compare(job, (ty, key), cause).await?;
            }
        }
        if !differing.write(job).await? {
            return Ok(());
        }
    }
    Err(TableError { kind: TableErrorKind::Condition, detail: "the first replica keeps changing".to_owned() })
}

impl Differing {
    /// Adds what differs of an item's replicas.
    async fn compare(
        &mut self,
        job: &WriteJob<'_>,
        (ty, key): (&ObjectType, &Key),
        cause: SyncCause,
    ) -> Result<(), TableError> {
        let Some((table, keys)) = place(job.context.model, &ty.name) else { return Ok(()) };
        let (of_table, others) = (job.table_of(ty), others(job.context.model, ty, key));
        let wanted = std::iter::once(key).chain(others.iter().map(|(_, key)| key));
        // Read every attribute, because a put writes a whole replica.
        let (consistent, max_age) = (true, None);
        let get =
            |key: &Key| Get { table: of_table.clone(), key: key.clone(), projection: [].into(), consistent, max_age };
        let mut found = job.context.loaders.get(wanted.map(get).collect::<Vec<_>>()).await.into_iter();
        let Some(first) =
            found.next().transpose()?.filter(|first| first.as_ref().is_none_or(|first| identity::is_of(ty, first)))
        else {
            return Ok(());
        };
        let together = cause == SyncCause::Found && others.len() < MAX_IN_TRANSACTION;
        let mut actions = Vec::new();
        for ((number, key), replica) in others.into_iter().zip(found) {
            let replica = replica?;
            match first.as_ref().map(|first| as_replica(table, keys, first, number)) {
                Some(right) if replica.as_ref().is_some_and(|replica| same_item(replica, &right)) => {}
                Some(right) => actions.push(WriteAction::Put(right)),
                None if replica.as_ref().is_some_and(|replica| identity::is_of(ty, replica)) => {
                    actions.push(WriteAction::Delete(key));
                }
                None => {}
            }
        }
        match together {
            true if actions.is_empty() => {}
            true => self.transactions.push(transaction(&of_table, actions, as_read(ty, key, first.as_deref()))),
            false => self.add_to_batches(&of_table, actions),
        }
        Ok(())
    }

    fn add_to_batches(&mut self, table: &Arc<str>, actions: Vec<WriteAction>) {
        for action in actions {
            match action {
                WriteAction::Put(item) => self.puts.entry(table.clone()).or_default().push(item),
                WriteAction::Delete(key) => self.deletes.entry(table.clone()).or_default().push(key),
                WriteAction::Update(..) | WriteAction::Check(_) => {}
            }
        }
    }

    /// Writes it. Whether anything differed: then it is compared again.
    async fn write(self, job: &WriteJob<'_>) -> Result<bool, TableError> {
        let Self { transactions, puts, deletes } = self;
        let differs = !(transactions.is_empty() && puts.is_empty() && deletes.is_empty());
        let loaders = job.context.loaders;
        for calls in transactions {
            match loaders.transact(&calls, &Uuid::new_v4().simple().to_string()).await {
                // The first replica was another when the others were read.
                Ok(()) | Err(WriteError::Conditions(_)) => {}
                Err(error) => return Err(failed(error)),
            }
        }
        for (table, items) in puts {
            loaders.put_batch(&table, items).await.map_err(failed)?;
        }
        for (table, keys) in deletes {
            loaders.delete_batch(&table, keys).await.map_err(failed)?;
        }
        Ok(differs)
    }
}

/// The writes of replicas, with a check of the first one.
fn transaction(table: &Arc<str>, actions: Vec<WriteAction>, (first, condition): (Key, Conditions)) -> Vec<WriteCall> {
    let call = |action| WriteCall { table: table.clone(), action, condition: None };
    let check = WriteCall { table: table.clone(), action: WriteAction::Check(first), condition: condition.build() };
    std::iter::once(check).chain(actions.into_iter().map(call)).collect()
}

/// That the first replica is as it was read, or still missing.
fn as_read(ty: &ObjectType, key: &Key, first: Option<&Item>) -> (Key, Conditions) {
    let mut conditions = Conditions::default();
    match first {
        None => conditions.absent(&key.partition.0),
        Some(first) => {
            let own = ty.fields.values().filter_map(|field| ty.stored(&field.name)?.attribute.as_deref());
            let all: BTreeSet<&str> = first.members().map(|(name, _)| &**name).chain(own).collect();
            let is_key =
                |name: &str| *key.partition.0 == *name || key.sort.as_ref().is_some_and(|sort| *sort.0 == *name);
            conditions.exists(&key.partition.0);
            all.into_iter().filter(|name| !is_key(name)).for_each(|name| conditions.unchanged(name, first));
        }
    }
    (key.clone(), conditions)
}

fn failed(error: WriteError) -> TableError {
    match error {
        WriteError::Failed(error) | WriteError::Uncertain(error) => error,
        other => TableError { kind: TableErrorKind::Invalid, detail: format!("{other:?}") },
    }
}
