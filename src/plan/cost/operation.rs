//! A plan and the variables of a request in; the operation's greatest cost, by field and in total, out.

use super::field::FieldCost;
use super::reads::PlanCost;
use crate::plan::tree::{OperationPlan, Plan, SingleWrites, SpaceId};
use crate::schema::model::Model;
use serde_json::{Map, Value};
use std::collections::HashMap;

/// The greatest cost of an operation.
#[derive(Debug)]
pub struct OperationCost {
    /// Its reads and writes, in the order of the plan.
    pub fields: Vec<FieldCost>,
    /// Calls of DynamoDB. 100 Gets of a wave are one call.
    pub calls: u64,
    /// Waves of calls that follow each other; each write adds one.
    pub waves: u64,
    /// Read capacity units.
    pub read_units: f64,
    /// Write capacity units.
    pub write_units: f64,
    /// Objects of the response, embedded ones included.
    pub objects: u64,
    /// Its calls of services, whose cost nobody knows.
    pub services: Vec<ServiceCost>,
}

/// The most that a field asks of its service.
#[derive(Debug)]
pub struct ServiceCost {
    /// The field: `Order.total`.
    pub coordinate: String,
    /// The service's name.
    pub service: String,
    /// The objects that it is asked about.
    pub objects: u64,
    /// The calls, without further attempts.
    pub calls: u64,
}

/// The greatest cost of an operation with these coerced variables.
pub fn cost_of_operation(
    model: &Model,
    operation: &OperationPlan,
    variables: &Map<String, Value>,
    single_writes: SingleWrites,
) -> OperationCost {
    let mut all = OperationCost {
        fields: Vec::new(),
        calls: 0,
        waves: 0,
        read_units: 0.0,
        write_units: 0.0,
        objects: 0,
        services: Vec::new(),
    };
    for step in &operation.steps {
        let mut seeds = HashMap::new();
        if let Some(write) = &step.write {
            seeds = all.add_write(model, (write, &step.plan), variables, single_writes);
        }
        let of_space = |space: SpaceId| seeds.get(&space).copied().unwrap_or(1);
        let cost = PlanCost::new(model, &step.plan, variables, &of_space);
        all.services.extend(step.plan.calls.iter().map(|call| {
            let objects = cost.rows.get(call.space).copied().unwrap_or(1);
            let calls = objects.div_ceil(call.max.max(1) as u64);
            let service = model.services[call.service].name.clone();
            ServiceCost { coordinate: call.coordinate.clone(), service, objects, calls }
        }));
        let objects = all.add_reads(&step.plan, cost);
        all.objects = all.objects.saturating_add(objects);
    }
    all
}

impl OperationCost {
    /// Adds the reads of a plan, and gives the number of objects in its part of the response.
    pub(super) fn add_reads(&mut self, plan: &Plan, cost: PlanCost) -> u64 {
        self.calls = self.calls.saturating_add(cost.calls);
        self.waves += plan.waves.len() as u64;
        self.read_units += cost.reads.iter().map(|read| read.units).sum::<f64>();
        self.fields.extend(cost.reads);
        cost.objects
    }
}
