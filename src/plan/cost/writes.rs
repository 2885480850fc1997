//! The write of a mutation's field in; out: the greatest number of calls and capacity units of its reads and writes, if
//! it is made at the first attempt.

use super::action::ActionCost;
use super::assumed::ITEM_BYTES;
use super::field::FieldCost;
use super::operation::OperationCost;
use super::reads::{KEYS_PER_BATCH, PlanCost};
use super::rows::ArgumentValues;
use crate::plan::tree::{ActionLookups, Plan, PlannedWrite, SingleWrites, SpaceId, WriteLookup};
use crate::schema::model::Model;
use crate::schema::model::auth::{AuthAction, AuthRules, RuleLookup};
use crate::schema::model::write::{Action, ActionKind, ReturnedFrom, Write, WriteTarget};
use apollo_compiler::ast::OperationType;
use serde_json::{Map, Value};
use std::collections::HashMap;

/// Most writes of a TransactWriteItems (DynamoDB API reference).
const PER_TRANSACTION: u64 = 100;
/// The read units of a strong GetItem of an item of up to 4 KB (DynamoDB developer guide, "Provisioned capacity mode").
const STRONG_READ: f64 = 1.0;
/// Most writes of a BatchWriteItem (DynamoDB API reference).
const PER_BATCH: u64 = 25;

/// What a write does beside its lookups.
#[derive(Default)]
struct WriteSum {
    /// The items that it reads one by one, strongly.
    reads: u64,
    /// The items that it reads in one batch, before it is made.
    batched: u64,
    /// The items that it returns and reads in one batch, after it is made.
    results: u64,
    /// The items that it reads in one batch instead of its transaction, if an action cannot be drafted.
    unmet: u64,
    /// The paths of its cascades.
    stages: u64,
    /// The items of its actions and cascades.
    items: u64,
    /// The calls of its transaction: items, replicas, guards and checks.
    parts: u64,
    /// The write units of these, as single calls.
    units: f64,
}

impl WriteSum {
    /// Adds checks of items, by the write's transaction.
    fn check(&mut self, count: u64) {
        self.parts = self.parts.saturating_add(count);
        self.units += count as f64 * unit();
    }

    /// Adds writes of items of a type, each with its replicas and guards.
    fn write(&mut self, cost: &ActionCost, count: u64) {
        self.items = self.items.saturating_add(count);
        self.parts = self.parts.saturating_add(count.saturating_mul(cost.parts));
        self.units += count as f64 * cost.places * unit();
    }
}

/// A write of a request.
struct CountedWrite<'a> {
    model: &'a Model,
    declared: &'a Write,
    write: &'a PlannedWrite,
    variables: &'a Map<String, Value>,
    single_writes: SingleWrites,
    values: ArgumentValues<'a>,
}

impl CountedWrite<'_> {
    /// How many times a find or an action is made: once, or for each element of a list.
    fn elements(&self, each: Option<&String>) -> u64 {
        each.map_or(1, |list| self.values.length(self.write.arguments, list)).min(PER_TRANSACTION)
    }
}

impl OperationCost {
    /// Adds a write, and gives the number of items that it passes to each space of the selection.
    pub(super) fn add_write(
        &mut self,
        model: &Model,
        (write, plan): (&PlannedWrite, &Plan),
        variables: &Map<String, Value>,
        single_writes: SingleWrites,
    ) -> HashMap<SpaceId, u64> {
        let Some(declared) = model.mutation(&write.field) else { return HashMap::new() };
        let values = ArgumentValues::new(model, plan, variables);
        // With a record, it is a transaction.
        let single_writes = if declared.idempotency.is_some() { SingleWrites::Transaction } else { single_writes };
        let counted = CountedWrite { model, declared, write, variables, single_writes, values };
        self.waves += 1;
        let before = (self.calls, self.read_units, self.write_units, self.fields.len());
        let mut sum = WriteSum::default();
        let of_field = lookups_of_field(model, &write.field);
        sum.reads = of_field;
        sum.check(of_field.min(1));
        let found = self.add_finds(&counted, &mut sum);
        let written: Vec<u64> =
            (0..declared.actions.len()).map(|position| self.add_action(&counted, position, &mut sum)).collect();
        if declared.idempotency.is_some() {
            self.add_record(&counted, (&found, &written), &mut sum);
        }
        if !declared.calls.is_empty() {
            self.add_checks_before_calls(&counted, &written);
        }
        let mut seeds = HashMap::new();
        for result in &write.results {
            let items = match result.returned.from {
                ReturnedFrom::Action(first) => {
                    let alternatives = declared.actions.iter().zip(&written);
                    let each = alternatives.filter(|(action, _)| action.first() == first);
                    // Of alternatives, one is made, unless they write many items.
                    let (sum, most) = each.fold((0, 0), |(sum, most): (u64, u64), (action, items)| {
                        (sum.saturating_add(if is_many(action) { *items } else { 0 }), most.max(*items))
                    });
                    sum.max(most)
                }
                ReturnedFrom::Find(position) => found.get(position).copied().unwrap_or(1),
            };
            let items = items.max(1);
            seeds.insert(result.space, items);
            let types = declared.types_returned(result.returned).into_iter().filter_map(|name| model.types.get(name));
            let looked_up = types.filter(|ty| ty.auth.hide()).map(|ty| lookups(model, &ty.auth, AuthAction::Read));
            self.add_batches(items.saturating_mul(looked_up.max().unwrap_or(0)));
        }
        self.add_batches(sum.batched);
        self.add_batches(sum.results);
        self.calls = self.calls.saturating_add(sum.unmet.div_ceil(KEYS_PER_BATCH).saturating_sub(1));
        self.read_units += sum.unmet as f64 * STRONG_READ;
        let cascades = write.actions.iter().any(|action| !action.cascade.is_empty());
        let is_call = sum.parts <= 1 && !cascades && single_writes == SingleWrites::Call;
        self.add_sum(&write.field, &sum, is_call);
        if declared.actions.iter().any(Action::may_lack_place) {
            self.add_again(before);
        }
        seeds
    }

    /// Adds what is read and written before services are called: the items of the actions, whose conditions are
    /// checked, and the record, which is begun, and which says of a refused write that the calls are undone.
    fn add_checks_before_calls(&mut self, CountedWrite { declared, .. }: &CountedWrite<'_>, written: &[u64]) {
        let items = written.iter().fold(0_u64, |sum, items| sum.saturating_add(*items));
        self.add_batches(items);
        if declared.idempotency.is_some() {
            const PUTS: u64 = 3;
            self.calls = self.calls.saturating_add(PUTS);
            self.write_units += PUTS as f64;
        }
    }

    /// Adds the record of a request, which holds what the field returns of deleted items. A request that comes again,
    /// or is refused, may read it, and what it names.
    fn add_record(
        &mut self,
        CountedWrite { declared, write, .. }: &CountedWrite<'_>,
        (found, written): (&[u64], &[u64]),
        sum: &mut WriteSum,
    ) {
        sum.check(1);
        self.read_units += STRONG_READ;
        self.calls = self.calls.saturating_add(u64::from(sum.unmet > 0));
        for returned in declared.returned() {
            let is_selected = write.results.iter().any(|result| result.returned == returned);
            let of_finds = |first: usize| {
                found.iter().enumerate().filter(move |(position, _)| {
                    declared.finds.get(*position).is_some_and(|find| find.first(*position) == first)
                })
            };
            match returned.from {
                ReturnedFrom::Find(first) => {
                    let items: u64 = of_finds(first).map(|(_, items)| *items).sum();
                    // An action may delete them.
                    sum.units += items as f64 * unit();
                    sum.results = sum.results.saturating_add(if is_selected { items } else { 0 });
                }
                ReturnedFrom::Action(first) => {
                    let own = declared.actions.iter().zip(written).filter(|(action, _)| action.first() == first);
                    for (action, items) in own {
                        match action.kind {
                            ActionKind::Delete { .. } if action.at.is_none() => sum.units += *items as f64 * unit(),
                            // What other actions return is read in any case.
                            ActionKind::Put { .. } if is_selected && action.at.is_none() => {
                                sum.results = sum.results.saturating_add(*items);
                            }
                            _ => {}
                        }
                    }
                }
            }
        }
    }

    /// Adds all of a write once more, which is drafted again of the item that came back. Before it, there were these
    /// calls, read units, write units and fields.
    fn add_again(&mut self, (calls, read_units, write_units, fields): (u64, f64, f64, usize)) {
        self.calls = self.calls.saturating_add(self.calls.saturating_sub(calls));
        self.read_units += self.read_units - read_units;
        self.write_units += self.write_units - write_units;
        for field in self.fields.iter_mut().skip(fields) {
            field.calls = field.calls.saturating_mul(2);
            field.units *= 2.0;
        }
    }

    /// Adds what the `@find`s of a write read, and gives the number of items of each. The Gets of all elements of a
    /// list are one batch.
    fn add_finds(&mut self, counted: &CountedWrite<'_>, sum: &mut WriteSum) -> Vec<u64> {
        let mut all = Vec::with_capacity(counted.declared.finds.len());
        for (found, lookup) in counted.declared.finds.iter().zip(&counted.write.found) {
            let elements = counted.elements(found.each.as_ref());
            let items = match lookup {
                Some(lookup) => {
                    let found = self.add_lookup(counted.model, lookup, (counted.variables, 1, elements));
                    found.saturating_mul(elements)
                }
                None => elements,
            };
            sum.batched = sum.batched.saturating_add(if lookup.is_none() { items } else { 0 });
            let ty = counted.model.types.get(&found.find.item);
            let lookups = ty.map_or(0, |ty| lookups(counted.model, &ty.auth, AuthAction::Read));
            // After a lost race, an item of an index is read again; without one, it is not.
            sum.reads = sum.reads.saturating_add(items.saturating_mul(lookups));
            sum.check(found.each.as_ref().map_or(1, |_| items) + lookups.min(1));
            all.push(items);
        }
        all
    }

    /// Adds the action at a position, and gives the number of its items.
    fn add_action(&mut self, counted: &CountedWrite<'_>, position: usize, sum: &mut WriteSum) -> u64 {
        let CountedWrite { model, declared, write, variables, .. } = *counted;
        let (action, lookups) = (&declared.actions[position], &write.actions[position]);
        let Some(ty) = model.types.get(&action.item) else { return 1 };
        let elements = counted.elements(action.each.as_ref());
        let targets = match &lookups.target {
            // One for each element, or the write is refused.
            Some(lookup) if action.each.is_some() => {
                self.add_lookup(model, lookup, (variables, 1, elements));
                elements
            }
            Some(lookup) => self.add_lookup(model, lookup, (variables, 1, 1)),
            None => elements,
        };
        let cost = ActionCost::new(model, action, ty);
        let demanded = declared.demanded(action, ty);
        // The rules of a move are asked of both keys.
        let keys = if action.moves() { 2 } else { 1 };
        let asked = demanded.iter().map(|(_, auth, asked)| self::lookups(model, auth, *asked));
        let asked: Vec<u64> = asked.flat_map(|count| std::iter::repeat_n(count, keys)).collect();
        let looked_up = asked.iter().sum::<u64>();
        sum.check(targets.saturating_mul(asked.iter().filter(|count| **count > 0).count() as u64));
        let is_only = declared.is_alone() && write.found.is_empty() && cost.parts == 1;
        let is_call = counted.single_writes == SingleWrites::Call && lookups.cascade.is_empty() && !is_many(action);
        let is_single = action.each.is_none() && targets == 1;
        let alone = is_only && looked_up + lookups_of_field(model, &write.field) == 0 && is_call && is_single;
        let is_own = declared.is_alone();
        let from = ReturnedFrom::Action(action.first());
        let is_returned = write.results.iter().any(|result| result.returned.from == from);
        let is_used = is_own || is_returned || !lookups.cascade.is_empty();
        let is_written_unread = alone || !(is_used || cost.is_unique || cost.replicas > 1);
        let each = looked_up + u64::from(reads_first(action, &cost, is_written_unread));
        sum.unmet = sum.unmet.saturating_add(targets.saturating_mul(u64::from(reads_if_unmet(declared, action))));
        let reads = if action.each.is_some() { &mut sum.batched } else { &mut sum.reads };
        *reads = reads.saturating_add(targets.saturating_mul(each));
        // Replicas that an interrupted delete may have left are compared with their item: with a record, before it is
        // made, and after it.
        if matches!(action.kind, ActionKind::Delete { .. }) && cost.replicas > 1 {
            for _ in 0..if declared.idempotency.is_some() { 2 } else { 1 } {
                self.add_batches(targets.saturating_mul(cost.replicas));
            }
        }
        if is_returned && !alone && reads_result(action) {
            sum.results = sum.results.saturating_add(targets);
        }
        let written = if is_many(action) || action.each.is_some() { targets } else { targets.min(1) };
        sum.write(&cost, written);
        sum.stages += self.add_cascade(model, lookups, (variables, written), sum);
        targets
    }

    /// Adds the calls of a field's write and of the reads for it. `is_call` is whether it is one call and no
    /// transaction.
    fn add_sum(&mut self, field: &str, sum: &WriteSum, is_call: bool) {
        self.calls = self.calls.saturating_add(sum.reads);
        self.read_units += sum.reads as f64 * STRONG_READ;
        let mut calls = 1;
        let mut units = sum.units;
        // Beyond the size of a transaction, replicas follow it, and dependents come before it: their conditions are
        // checked first.
        if sum.parts > PER_TRANSACTION {
            calls = (sum.parts.div_ceil(PER_BATCH) + sum.stages).saturating_add(2);
            units += sum.items as f64 * unit();
            self.add_batches(sum.parts.saturating_mul(2));
        }
        // A transaction costs twice (DynamoDB developer guide, "DynamoDB transactions").
        let units = if is_call { units } else { units * 2.0 };
        self.calls = self.calls.saturating_add(calls);
        self.write_units += units;
        let coordinate = format!("Mutation.{field}");
        let (location, path, items) = ((0, 0), Vec::new(), sum.items);
        self.fields.push(FieldCost {
            coordinate,
            path,
            location,
            times: 1,
            items,
            is_page: false,
            calls,
            units,
            writes: true,
        });
    }

    /// Adds the reads and the deletes of the dependents of this many items, and gives the number of its paths. They are
    /// found before the items are deleted, and looked for again after it: at once, and when an index has caught up.
    fn add_cascade(
        &mut self,
        model: &Model,
        lookups: &ActionLookups,
        (variables, targets): (&Map<String, Value>, u64),
        sum: &mut WriteSum,
    ) -> u64 {
        let mut found: Vec<u64> = Vec::new();
        for cascade in &lookups.cascade {
            let of_path = self.add_lookup(model, &cascade.whole, (variables, 1, targets.saturating_mul(3)));
            found.push(of_path.saturating_mul(targets));
        }
        for (cascade, count) in lookups.cascade.iter().zip(&found) {
            for (from, rest) in &cascade.rests {
                self.add_lookup(model, rest, (variables, found.get(*from).copied().unwrap_or(1).max(1), 2));
            }
            if let Some(ty) = model.types.get(&cascade.whole.item) {
                sum.write(&ActionCost::for_dependent(model, ty), *count);
            }
        }
        lookups.cascade.len() as u64
    }

    /// Adds the reads for a write from this many items, made this many times. Gives the number of items that they find
    /// each time.
    fn add_lookup(
        &mut self,
        model: &Model,
        lookup: &WriteLookup,
        (variables, seeds, times): (&Map<String, Value>, u64, u64),
    ) -> u64 {
        let mut cost = PlanCost::new(model, &lookup.plan, variables, &|_| seeds);
        let found = cost.rows[lookup.target.space];
        cost.calls = cost.calls.saturating_mul(times);
        for read in &mut cost.reads {
            (read.times, read.calls) = (read.times.saturating_mul(times), read.calls.saturating_mul(times));
            read.units *= times as f64;
        }
        self.add_reads(&lookup.plan, cost);
        found
    }

    /// Adds strong reads of items that one batch may make.
    fn add_batches(&mut self, items: u64) {
        self.calls = self.calls.saturating_add(items.div_ceil(KEYS_PER_BATCH));
        self.read_units += items as f64 * STRONG_READ;
    }
}

/// How many other items the rules of a mutation's field look up.
fn lookups_of_field(model: &Model, field: &str) -> u64 {
    let root = model.api.root_operation(OperationType::Mutation).and_then(|root| model.types.get(root.as_str()));
    root.and_then(|root| root.fields.get(field)).map_or(0, |field| lookups(model, &field.auth, AuthAction::Write))
}

/// How many other items rules look up for an item. One that another program assigned a shard may be in any.
fn lookups(model: &Model, auth: &AuthRules, asked: AuthAction) -> u64 {
    let places = |lookup: &RuleLookup| {
        let assigned = model.item(&lookup.find.item).and_then(|(_, keys)| keys.assigned());
        assigned.map_or(1, |spread| u64::from(spread.count))
    };
    auth.each(asked).filter_map(|rule| rule.lookup()).map(places).sum()
}

fn is_many(action: &Action) -> bool {
    matches!(action.target, WriteTarget::Read { many: true, .. })
}

/// Whether an item may be read before it is written. `unread`: its delete is one call, whose answer says what it
/// deletes, or nothing of the item is used.
fn reads_first(action: &Action, cost: &ActionCost, unread: bool) -> bool {
    let by_key = !matches!(action.target, WriteTarget::Read { .. });
    match (&action.kind, &action.at) {
        (ActionKind::Put { replace }, None) => *replace && cost.is_unique,
        // What a lookup finds of an item is not all that moves.
        (ActionKind::Update { moves: true, .. }, None) => true,
        (ActionKind::Update { .. }, None) => by_key && cost.needs_item,
        (ActionKind::Delete { .. }, None) => by_key && !unread,
        (ActionKind::Update { .. } | ActionKind::Delete { .. }, Some(element)) => {
            element.by.is_some() && element.map.is_none()
        }
        (ActionKind::Put { .. }, Some(_)) | (ActionKind::Check, _) => false,
    }
}

/// Whether its condition may be read, because a later action cannot be drafted: the caller then learns of the first
/// that does not hold.
fn reads_if_unmet(write: &Write, action: &Action) -> bool {
    action.condition.is_some() && (write.actions.len() > 1 || is_many(action))
}

/// Whether the item that a field returns is read after a transaction, which returns none.
fn reads_result(action: &Action) -> bool {
    matches!(action.kind, ActionKind::Update { .. }) || action.at.is_some()
}

/// The write units of an item (DynamoDB developer guide: one for a kilobyte).
fn unit() -> f64 {
    ITEM_BYTES as f64 / 1024.0
}
