//! The write of a mutation's field in; out: the greatest number of calls and capacity units of its reads and writes.

use super::assumed::ITEM_BYTES;
use super::field::FieldCost;
use super::operation::OperationCost;
use super::reads::PlanCost;
use crate::plan::tree::{PlannedWrite, SingleWrites, WriteLookup};
use crate::schema::model::write::{Action, ActionKind};
use crate::schema::model::{Model, keys::ItemKeys};
use serde_json::{Map, Value};

/// Most writes of a TransactWriteItems (DynamoDB API reference).
const PER_TRANSACTION: u64 = 100;
/// The read units of a strong GetItem of an item of up to 4 KB (DynamoDB developer guide, "Provisioned capacity mode").
const STRONG_READ: f64 = 1.0;
/// Most writes of a BatchWriteItem (DynamoDB API reference).
const PER_BATCH: u64 = 25;

impl OperationCost {
    /// Adds a write, and gives the number of items that it passes to the selection.
    pub(super) fn add_write(
        &mut self,
        model: &Model,
        write: &PlannedWrite,
        variables: &Map<String, Value>,
        single_writes: SingleWrites,
    ) -> u64 {
        let Some(declared) = model.mutation(&write.field) else { return 1 };
        self.waves += 1;
        self.add_lookup(model, write.found.as_ref(), variables);
        let (mut items, mut units, mut most) = (0u64, 0.0, 1u64);
        for (action, lookups) in declared.actions.iter().zip(&write.actions) {
            let targets = self.add_lookup(model, lookups.target.as_ref(), variables);
            most = most.max(targets);
            let written = |name: &str, count: u64| match action.kind {
                ActionKind::Check => count as f64 * unit(),
                _ => count as f64 * unit() * copies(model, name),
            };
            (items, units) = (items.saturating_add(targets), units + written(&action.item, targets));
            for cascade in &lookups.cascade {
                let count = self.add_lookup(model, Some(&cascade.whole), variables).saturating_mul(targets);
                (items, units) = (items.saturating_add(count), units + written(&cascade.whole.item, count));
            }
        }
        // A transaction costs twice (DynamoDB developer guide, "DynamoDB transactions"); beyond its size, batches follow.
        let cascades = write.actions.iter().any(|action| !action.cascade.is_empty());
        let is_one = items <= 1 && !cascades && single_writes == SingleWrites::Call;
        let calls = if items <= PER_TRANSACTION { 1 } else { items.div_ceil(PER_BATCH) };
        let units = if is_one { units } else { units * 2.0 };
        // A transaction gives no item: what it deletes is read before it, and what it changed after it.
        let gives_none =
            |action: &Action| matches!(action.kind, ActionKind::Delete { .. } | ActionKind::Update { .. }) || action.at.is_some();
        if single_writes == SingleWrites::Transaction && items <= 1 && declared.actions.iter().any(gives_none) {
            self.calls = self.calls.saturating_add(1);
            self.read_units += STRONG_READ;
        }
        self.calls = self.calls.saturating_add(calls);
        self.write_units += units;
        let coordinate = format!("Mutation.{}", write.field);
        let (location, path) = ((0, 0), Vec::new());
        self.fields.push(FieldCost { coordinate, path, location, times: 1, items, is_page: false, calls, units, writes: true });
        most
    }

    /// Adds the reads for a write, and gives the number of items that they find; without a lookup, the item is known.
    fn add_lookup(&mut self, model: &Model, lookup: Option<&WriteLookup>, variables: &Map<String, Value>) -> u64 {
        let Some(lookup) = lookup else { return 1 };
        let cost = PlanCost::of(model, &lookup.plan, variables, 1);
        let found = cost.rows[lookup.target.space];
        self.add_reads(&lookup.plan, cost);
        found
    }
}

/// The write units of an item (DynamoDB developer guide: one for a kilobyte).
fn unit() -> f64 {
    ITEM_BYTES as f64 / 1024.0
}

/// The number of places in which an item is written: the table, its replicas, and each index that has keys of it.
fn copies(model: &Model, item: &str) -> f64 {
    let Some((_, keys)) = model.item(item) else { return 1.0 };
    let table = &model.tables[keys.table];
    let holds = |keys: &ItemKeys, index: usize| {
        let (partition, sort) = table.keys_of(Some(index));
        std::iter::once(partition).chain(sort).all(|key| keys.keys.contains_key(&key.name))
    };
    let indexes = (0..table.indexes.len()).filter(|index| holds(keys, *index)).count();
    let replicas = keys.replicas().map_or(1.0, |spread| f64::from(spread.count));
    (1 + indexes) as f64 * replicas
}
