//! `extensions.keyfold`: the plan of a request, the calls that were made and what they cost.

use crate::plan::tree::Steps;
use crate::schema::model::Model;
use crate::table::loaders::CallRecord;
use serde_json::{Value, json};

/// The extensions of an explained response. Reads only: a query writes nothing, so its write capacity is 0.
pub fn extensions(model: &Model, steps: &Steps, calls: &[CallRecord]) -> Value {
    let read: f64 = calls.iter().map(|call| call.capacity).sum();
    json!({
        "keyfold": {
            "plan": steps.to_json(model),
            "waves": steps.waves(),
            "calls": calls,
            "capacity": { "read": read, "write": 0.0 },
        }
    })
}
