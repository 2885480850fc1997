//! `extensions.keyfold`: the plan of a request, the calls that were made and what they cost.

use crate::plan::tree::Plan;
use crate::schema::model::Model;
use crate::table::loaders::CallRecord;
use serde_json::{Value, json};

/// The extensions of an explained response. Reads only: a query writes nothing, so its write capacity is 0.
pub fn extensions(model: &Model, plan: &Plan, calls: &[CallRecord]) -> Value {
    let read: f64 = calls.iter().map(|call| call.capacity).sum();
    json!({
        "keyfold": {
            "plan": plan.to_json(model),
            "waves": plan.waves.len(),
            "calls": calls,
            "capacity": { "read": read, "write": 0.0 },
        }
    })
}
