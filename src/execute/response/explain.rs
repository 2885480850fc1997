//! A plan and the calls of a request in, `extensions.keyfold` out: the plan, each call with its cost, and the most that
//! the request could have cost. It lists no calls if the schema hides items, or if a rule has refused something.

use crate::plan::cost::operation::OperationCost;
use crate::plan::cost::price::UnitPrice;
use crate::plan::tree::OperationPlan;
use crate::schema::model::Model;
use crate::table::request::session::CallRecord;
use serde_json::{Value, json};

/// The extensions of an explained response.
pub fn extensions(
    model: &Model,
    steps: &OperationPlan,
    at_most: &OperationCost,
    calls: &[CallRecord],
    refused: bool,
) -> Value {
    // The keys and the sizes of what was read reveal the items that rules hide, and answer what a rule has refused.
    let hides = refused || model.types.values().any(|ty| ty.auth.hide());
    let calls = if hides { &calls[..0] } else { calls };
    let price = UnitPrice::default();
    let units = |write: bool| {
        calls.iter().filter(|call| call.write == write).map(|call| call.capacity).fold(0.0, |sum, units| sum + units)
    };
    // A read that a shared Query did not reach may take a wave of its own.
    let last = calls.iter().map(|call| call.wave).max().unwrap_or_default();
    json!({
        "keyfold": {
            "plan": steps.to_json(model),
            "waves": steps.waves().max(last),
            "calls": calls,
            "capacity": { "read": units(false), "write": units(true) },
            "dollarsAMillion": price.dollars_a_million(units(false), units(true)).0,
            "atMost": at_most.to_json(&price),
            "price": price.to_json(),
        }
    })
}
