//! A plan and the calls of a request in, `extensions.keyfold` out: the plan, each call with its cost, and the most that
//! the request could have cost. It lists no calls if the schema hides items, or if a rule has refused something.

use crate::execute::report::OperationReport;
use crate::execute::service::call::ServiceErrorKind;
use crate::execute::service::guarded::ServiceCallReport;
use crate::plan::cost::operation::OperationCost;
use crate::plan::cost::price::UnitPrice;
use crate::plan::tree::OperationPlan;
use crate::schema::model::Model;
use serde_json::{Value, json};

/// The extensions of an explained response.
pub fn extensions(
    (model, steps): (&Model, &OperationPlan),
    at_most: &OperationCost,
    report: &OperationReport,
    refused: bool,
) -> Value {
    // The keys and the sizes of what was read reveal the items that rules hide, and answer what a rule has refused.
    let hides = refused || model.types.values().any(|ty| ty.auth.hide());
    let (calls, services) = if hides { (&[][..], &[][..]) } else { (&report.calls[..], &report.services[..]) };
    let price = UnitPrice::default();
    let units = |write: bool| {
        calls.iter().filter(|call| call.write == write).map(|call| call.capacity).fold(0.0, |sum, units| sum + units)
    };
    // A read that a shared Query did not reach may take a wave of its own.
    let last = calls.iter().map(|call| call.wave).max().unwrap_or_default();
    let mut explained = json!({
        "keyfold": {
            "plan": steps.to_json(model),
            "waves": steps.waves().max(last),
            "calls": calls,
            "capacity": { "read": units(false), "write": units(true) },
            "dollarsAMillion": price.dollars_a_million(units(false), units(true)).0,
            "atMost": at_most.to_json(&price),
            "price": price.to_json(),
        }
    });
    if !services.is_empty() {
        explained["keyfold"]["services"] = services.iter().map(service_json).collect();
    }
    explained
}

/// The same extensions with sentences about the request, if there are any.
pub fn with_warnings(mut extensions: Value, warnings: &[String]) -> Value {
    if !warnings.is_empty() {
        extensions["keyfold"]["warnings"] = warnings.into();
    }
    extensions
}

/// A call of a service. Nobody knows what it costs.
fn service_json(call: &ServiceCallReport) -> Value {
    let ServiceCallReport { service, field, items, wave, start, lasted, attempts, failure } = call;
    let failure = failure.map(ServiceErrorKind::as_str);
    let [start, ms] = [start, lasted].map(|time| (time.as_secs_f64() * 1e6).round() / 1e3);
    json!({
        "wave": wave, "service": **service, "field": field, "objects": items, "attempts": attempts, "start": start,
        "ms": ms, "failure": failure,
    })
}
