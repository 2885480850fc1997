//! The guards of a plan, the caller and the arguments in; out: what the caller is refused before anything is read or
//! written, and what is left to be decided for each row by items that are read. Must not know items.

use super::log_text::shortened;
use crate::execute::arguments::FieldArguments;
use crate::execute::caller::{Caller, SEND_TOKEN};
use crate::execute::constraint::inputs::broken_inputs;
use crate::execute::context::ExecutionContext;
use crate::execute::error::{ErrorCode, FieldError};
use crate::execute::expression::scope::Scope;
use crate::execute::expression::settle::{Residual, settle_lookup, settle_rule};
use crate::plan::tree::{DecidedBy, Demand, Guard, GuardId, Holder, Plan, Read, ReadId};
use crate::schema::model::auth::AuthRule;
use serde_json::Map;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// How a caller of `keyfold dev` signs in.
const TOKEN: &str = "`keyfold token --sub me` prints a token";

/// The most places whose rules a message names.
const MAX_PLACES: usize = 5;

/// What the caller of a request is refused of a plan.
pub struct Refusals {
    of_guards: Vec<Decision>,
    /// The guards whose arguments break constraints, with an error for each that is broken.
    broken: Vec<(GuardId, Vec<FieldError>)>,
    /// The reads that are not made: look-ups that decide nothing, because the caller and the arguments do, and reads of
    /// items of which the caller may see none.
    unneeded: Vec<ReadId>,
    code: ErrorCode,
    /// Whether the audit log has a refusal of the request.
    recorded: AtomicBool,
}

/// What the caller and the arguments decide of a guard.
pub enum Decision {
    /// The caller is let in.
    LetIn,
    /// The caller is refused.
    Refused(ErrorCode),
    /// Each of these demands, by their positions in the guard, must be met for a row by one of its alternatives.
    Open(Vec<(usize, Vec<Alternative>)>),
}

/// A rule that lets the caller in if an item meets a condition.
pub enum Alternative {
    /// The guarded object itself.
    Object(Holder, Residual),
    /// The item of a look-up, which must be there.
    Lookup(ReadId, Residual),
}

impl Refusals {
    /// Decides the guards of a plan. The audit log names the first that refuses the caller.
    pub fn new(plan: &Plan, context: &ExecutionContext<'_>, arguments: &FieldArguments<'_>) -> Self {
        let (code, nothing) = (code(context.caller), Map::new());
        let of_guards = Vec::with_capacity(plan.guards.len());
        let (broken, unneeded, recorded) = (Vec::new(), Vec::new(), AtomicBool::new(false));
        let mut refusals = Self { of_guards, broken, unneeded, code, recorded };
        for guard in &plan.guards {
            let (mut decision, mut open) = (Decision::LetIn, Vec::new());
            if let Some(outer) = refusals.code_for(guard.within) {
                decision = Decision::Refused(outer);
            }
            for (position, demand) in guard.demands.iter().enumerate() {
                let alternatives = match demand.arguments.map_or(Ok(&nothing), |id| arguments.values(id)) {
                    Ok(values) => {
                        alternatives(demand, &Scope { arguments: values, now: context.now, caller: context.caller })
                    }
                    // Arguments that are not acceptable meet no rule.
                    Err(_) => Some(Vec::new()),
                };
                match alternatives {
                    None => refusals.unneeded.extend(demand.lookups()),
                    Some(none) if none.is_empty() => {
                        refusals.record(context.caller, demand);
                        decision = Decision::Refused(code);
                    }
                    Some(alternatives) => open.push((position, alternatives)),
                }
            }
            // Of a caller who is refused, nothing is said of arguments.
            if !matches!(decision, Decision::Refused(_)) && refusals.add_broken(guard, context, arguments) {
                decision = Decision::Refused(ErrorCode::BadUserInput);
            }
            match decision {
                Decision::LetIn if !open.is_empty() => decision = Decision::Open(open),
                Decision::Refused(_) => refusals.unneeded.extend(guard.demands.iter().flat_map(Demand::lookups)),
                _ => {}
            }
            refusals.of_guards.push(decision);
        }
        let hidden =
            plan.reads.iter().enumerate().filter(|(_, read)| read.discriminator.hides() && hides_all(read, context));
        refusals.unneeded.extend(hidden.map(|(id, _)| id));
        refusals
    }

    /// Notes what is wrong with the arguments of the next guard. False if nothing is.
    fn add_broken(&mut self, guard: &Guard, context: &ExecutionContext<'_>, arguments: &FieldArguments<'_>) -> bool {
        let Some(inputs) = &guard.inputs else { return false };
        // What reads with arguments that are not acceptable says so.
        let Ok(values) = arguments.values(inputs.arguments) else { return false };
        let errors = broken_inputs(context.model, (&inputs.type_name, &inputs.field), values);
        let is_broken = !errors.is_empty();
        self.broken.extend(is_broken.then_some((self.of_guards.len(), errors)));
        is_broken
    }

    /// What is wrong with the arguments of a guard's field.
    pub fn broken(&self, guard: GuardId) -> &[FieldError] {
        self.broken.iter().find(|(id, _)| *id == guard).map(|(_, errors)| errors.as_slice()).unwrap_or_default()
    }

    /// The code of the refusal of what stands behind a guard; `None` if the caller is let in, or if rows decide.
    pub fn code_for(&self, guard: Option<GuardId>) -> Option<ErrorCode> {
        match self.decision(guard?) {
            Decision::Refused(code) => Some(*code),
            Decision::LetIn | Decision::Open(_) => None,
        }
    }

    /// What is decided of a guard.
    pub fn decision(&self, guard: GuardId) -> &Decision {
        // A guard that is not known lets nobody in.
        self.of_guards.get(guard).unwrap_or(&Decision::Refused(ErrorCode::Forbidden))
    }

    /// Whether a read need not be made: it is a look-up that decides nothing, or all that it could find is hidden.
    pub fn is_unneeded(&self, read: ReadId) -> bool {
        self.unneeded.contains(&read)
    }

    /// Names a demand that refuses the caller in the audit log, unless the log has a refusal of the request.
    pub fn record(&self, caller: &Caller, demand: &Demand) {
        if !self.recorded.swap(true, Ordering::Relaxed) {
            record(caller, &demand.of, &demand.rules);
        }
    }

    /// The code of a refusal of the caller.
    pub fn code(&self) -> ErrorCode {
        self.code
    }
}

impl Demand {
    /// The reads of its look-ups.
    fn lookups(&self) -> impl Iterator<Item = ReadId> {
        let lookups = match &self.decided {
            DecidedBy::Rows { lookups, .. } => lookups.as_slice(),
            DecidedBy::Caller | DecidedBy::Later => &[],
        };
        lookups.iter().filter_map(|read| *read)
    }
}

/// Whether the caller alone decides that the rules hide every item that a read could find.
fn hides_all(read: &Read, context: &ExecutionContext<'_>) -> bool {
    let nothing = Map::new();
    let scope = Scope { arguments: &nothing, now: context.now, caller: context.caller };
    let hides = |rules: &[Arc<AuthRule>]| {
        !rules.is_empty() && rules.iter().all(|rule| settled(rule, &scope) == Residual::Never)
    };
    read.discriminator.types.iter().all(|marks| hides(&marks.rules))
}

/// What the caller and the arguments decide of a rule. Of a look-up: what its item must meet.
fn settled(rule: &AuthRule, scope: &Scope<'_>) -> Residual {
    rule.lookup().map_or_else(|| settle_rule(rule, scope), |lookup| settle_lookup(lookup, scope))
}

/// A type or a field, by its coordinate, with its rules.
pub type RuledPlace<'a> = (&'a str, &'a [Arc<AuthRule>]);

/// What a refused caller reads. It reveals nothing of rules or data, but where requests are explained: there it names
/// what may refuse the caller, and by which rules.
pub fn message(caller: &Caller, code: ErrorCode, by: &[RuledPlace<'_>]) -> String {
    let place = |(of, rules): &RuledPlace<'_>| {
        let rules = rules.iter().map(ToString::to_string).collect::<Vec<_>>().join(", or ");
        format!("`{of}` has the rule `{}`", shortened(&rules))
    };
    let rules = match by {
        [_, ..] if caller.is_explained() => {
            format!(": {}", by.iter().take(MAX_PLACES).map(place).collect::<Vec<_>>().join(", and "))
        }
        _ => String::new(),
    };
    match code {
        ErrorCode::Unauthenticated if caller.is_explained() => format!("Sign in first{rules}. {TOKEN}; {SEND_TOKEN}."),
        ErrorCode::Unauthenticated => "Sign in first.".to_owned(),
        _ => format!("You are not allowed to do this{rules}."),
    }
}

/// The code of a refusal of a caller.
fn code(caller: &Caller) -> ErrorCode {
    if caller.is_signed_in() { ErrorCode::Forbidden } else { ErrorCode::Unauthenticated }
}

/// The error of a mutation that its caller is refused.
pub fn error(caller: &Caller) -> FieldError {
    FieldError::new(code(caller), message(caller, code(caller), &[]))
}

/// The error of a write that the rules of an item refuse, which the audit log records.
pub fn refuse_item(caller: &Caller, of: &str, rules: &[Arc<AuthRule>]) -> FieldError {
    record(caller, of, rules);
    FieldError::new(code(caller), message(caller, code(caller), &[(of, rules)]))
}

/// Records a refusal in the audit log: who, what and by which rule, and no data.
fn record(caller: &Caller, of: &str, rules: &[Arc<AuthRule>]) {
    let rule = rules.iter().map(ToString::to_string).collect::<Vec<_>>().join(", or ");
    let (subject, code, request_id) = (caller.sub().map(shortened), code(caller).as_str(), caller.request_id());
    tracing::info!(subject, of, rule, code, request_id, "a rule refused an operation");
}

/// The rules of a demand that rows decide; none of them: the caller is refused. `None` if the caller is let in, or if
/// others decide later.
fn alternatives(demand: &Demand, scope: &Scope<'_>) -> Option<Vec<Alternative>> {
    let mut alternatives = Vec::new();
    for (position, rule) in demand.rules.iter().enumerate() {
        match (&demand.decided, rule.lookup(), settled(rule, scope)) {
            (_, _, Residual::Never) => {}
            (_, None, Residual::Always) | (DecidedBy::Later, ..) => return None,
            // A rule that needs an item lets nobody in where none is read for it.
            (DecidedBy::Caller, ..) => {}
            (DecidedBy::Rows { lookups, .. }, Some(_), settled) => {
                let read = lookups.get(position).copied().flatten();
                alternatives.extend(read.map(|read| Alternative::Lookup(read, settled)));
            }
            (DecidedBy::Rows { holder, .. }, None, settled) => {
                alternatives.extend(holder.map(|holder| Alternative::Object(holder, settled)));
            }
        }
    }
    Some(alternatives)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
mod tests {
    use super::*;
    use crate::execute::expression::request_time::RequestTime;
    use crate::log_for_tests::LogBuffer;
    use crate::schema::load;
    use crate::schema::model::auth::AuthAction;
    use serde_json::{Value, json};

    const SCHEMA: &str = r#"
extend schema @table(name: "tasks", partitionKey: "PK")
type Task @item(keys: { PK: "{id}" }) @auth(if: "auth.sub = ownerId") @auth(if: "auth.role = 'admin'") {
  id: ID!
  ownerId: ID!
}
type Query {
  task(id: ID!): Task @find
}
"#;

    #[test]
    fn a_refusal_is_logged_with_a_short_subject() {
        let log = LogBuffer::default();
        let subscriber = log.subscriber();
        let caller = Caller::signed_in(json!({ "sub": "ann ".repeat(2_000) }).as_object().unwrap().clone());
        tracing::subscriber::with_default(subscriber, || record(&caller, "Task", &[]));
        let line = log.text();
        assert!(line.contains("subject=\"ann ann") && line.len() < 1_000, "{line}");
    }

    #[test]
    fn a_rule_that_needs_an_item_lets_nobody_in_where_none_is_read() {
        let (model, _) =
            load("tasks.graphql", SCHEMA, &|_| None).unwrap_or_else(|mistakes| panic!("{}", mistakes.render(false)));
        let rules = model.types["Task"].auth.for_action(AuthAction::Read);
        let demand = Demand { of: "Task".to_owned(), rules, arguments: None, decided: DecidedBy::Caller };
        let let_in = |claims: Value| {
            let caller = Caller::signed_in(claims.as_object().unwrap().clone());
            alternatives(&demand, &Scope { arguments: &Map::new(), now: &RequestTime::default(), caller: &caller })
                .map(|open| open.len())
        };
        assert_eq!(let_in(json!({ "sub": "ann" })), Some(0));
        assert_eq!(let_in(json!({ "sub": "ann", "role": "admin" })), None);
    }
}
