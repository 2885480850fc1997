//! The guards of a plan, the caller and the arguments in; what the caller is refused out, before anything is read or written. Must not know
//! items.

use crate::execute::caller::Caller;
use crate::execute::context::ExecutionContext;
use crate::execute::error::{ErrorCode, FieldError};
use crate::execute::expression::scope::Scope;
use crate::execute::expression::settle::{Settled, settle_rule};
use crate::execute::read::arguments::FieldArguments;
use crate::plan::tree::{Demand, GuardId, Plan};
use serde_json::Map;

/// What the caller of a request is refused of a plan.
pub struct Refusals {
    of_guards: Vec<Option<ErrorCode>>,
}

impl Refusals {
    /// Decides the guards of a plan. The log names the first that refuses the caller.
    pub fn new(plan: &Plan, context: &ExecutionContext<'_>, arguments: &FieldArguments<'_>) -> Self {
        let mut of_guards: Vec<Option<ErrorCode>> = Vec::with_capacity(plan.guards.len());
        for guard in &plan.guards {
            let outer = guard.within.and_then(|outer| of_guards.get(outer).copied().flatten());
            let unmet = || guard.demands.iter().find(|demand| !is_met(demand, context, arguments));
            let code = outer.or_else(|| unmet().map(|demand| refuse(demand, context, of_guards.iter().any(Option::is_some))));
            of_guards.push(code);
        }
        Self { of_guards }
    }

    /// The code of the refusal of what stands behind a guard; `None` if the caller is let in.
    pub fn of(&self, guard: Option<GuardId>) -> Option<ErrorCode> {
        guard.and_then(|guard| self.of_guards.get(guard).copied().flatten())
    }
}

/// What a refused caller reads. It tells nothing of rules or data.
pub fn message(code: ErrorCode) -> &'static str {
    match code {
        ErrorCode::Unauthenticated => "Sign in first.",
        _ => "You are not allowed to do this.",
    }
}

/// The code of a refusal of a caller.
fn code(caller: &Caller) -> ErrorCode {
    if caller.is_signed_in() { ErrorCode::Forbidden } else { ErrorCode::Unauthenticated }
}

/// The error of a mutation that its caller is refused.
pub fn error(caller: &Caller) -> FieldError {
    FieldError::new(code(caller), message(code(caller)))
}

/// The error of a write that the rules of an item refuse, which the audit log records.
pub fn refuse_item(caller: &Caller, of: &str) -> FieldError {
    record(caller, of);
    error(caller)
}

/// The code of a refusal, which the audit log records unless the request was refused before.
fn refuse(demand: &Demand, context: &ExecutionContext<'_>, known: bool) -> ErrorCode {
    if !known {
        record(context.caller, &demand.of);
    }
    code(context.caller)
}

/// Records a refusal in the audit log.
fn record(caller: &Caller, of: &str) {
    tracing::info!(subject = caller.sub(), of, code = code(caller).as_str(), "a rule refused an operation");
}

fn is_met(demand: &Demand, context: &ExecutionContext<'_>, arguments: &FieldArguments<'_>) -> bool {
    let nothing = Map::new();
    let values = match demand.arguments.map(|id| arguments.values(id)) {
        Some(Ok(values)) => values,
        // Arguments that are not acceptable meet no rule.
        Some(Err(_)) => return false,
        None => &nothing,
    };
    let scope = Scope { arguments: values, now: context.now, caller: context.caller };
    demand.rules.iter().any(|rule| match settle_rule(rule, &scope) {
        Settled::Always => true,
        Settled::Never => false,
        // The write asks the item.
        Settled::Open(_) => demand.by_item,
    })
}
