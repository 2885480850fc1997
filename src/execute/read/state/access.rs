//! A guard and a row → whether the caller is let in to what stands behind it.

use super::ReadState;
use crate::execute::auth::refusals::{self, Alternative, Decision, RuledPlace};
use crate::execute::error::{ErrorCode, Failure, FieldError};
use crate::execute::expression::scope::Scope;
use crate::plan::tree::{Guard, GuardId, Holder, SpaceId};
use serde_json::Map;
use std::sync::Arc;

/// Whether the caller is let in to what stands behind a guard.
pub enum GuardOutcome {
    /// The caller is.
    Granted,
    /// The caller is refused.
    Refused(ErrorCode),
    /// An item that decides it could not be read.
    Failed(Arc<Failure>),
    /// It depends on an item that is not read yet.
    Undecided,
}

impl ReadState<'_> {
    /// Whether the caller is let in to what stands behind a guard, for a row of its space or of a space within.
    pub fn access(&self, guard: Option<GuardId>, (space, row): (SpaceId, usize)) -> GuardOutcome {
        let (mut next, mut granted) = (guard, GuardOutcome::Granted);
        while let Some(id) = next {
            let guard = &self.plan.guards[id];
            let outcome = match self.refusals.decision(id) {
                Decision::LetIn => GuardOutcome::Granted,
                Decision::Refused(code) => GuardOutcome::Refused(*code),
                Decision::Open(demands) => match self.climb(space, row, guard.space) {
                    Some(row) => self.decide((guard, demands), row),
                    None => GuardOutcome::Refused(self.refusals.code()),
                },
            };
            match outcome {
                GuardOutcome::Granted => {}
                // A guard around it may refuse the caller already.
                GuardOutcome::Undecided => granted = GuardOutcome::Undecided,
                refused => return refused,
            }
            next = guard.within;
        }
        granted
    }

    /// The errors of what a guard, or one around it, refuses: a refusal of the caller is one.
    pub fn refusal_errors(&self, guard: Option<GuardId>, code: ErrorCode) -> Vec<FieldError> {
        let mut next = guard.filter(|_| code == ErrorCode::BadUserInput);
        while let Some(id) = next {
            let broken = self.refusals.broken(id);
            if !broken.is_empty() {
                return broken.to_vec();
            }
            next = self.plan.guards[id].within;
        }
        let demands = if self.caller.is_explained() { self.demands(guard) } else { Vec::new() };
        vec![FieldError::new(code, refusals::message(&self.caller, code, &demands))]
    }

    /// What the rules demand of the caller on the way to what stands behind a guard, up to what refuses the caller
    /// whatever the rows; outermost first.
    fn demands(&self, guard: Option<GuardId>) -> Vec<RuledPlace<'_>> {
        let mut guards: Vec<GuardId> = std::iter::successors(guard, |id| self.plan.guards[*id].within).collect();
        let mut demands = Vec::new();
        while let Some(id) = guards.pop() {
            let decision = self.refusals.decision(id);
            let is_open = |position: usize| match decision {
                Decision::LetIn => false,
                Decision::Refused(_) => true,
                Decision::Open(open) => open.iter().any(|(known, _)| *known == position),
            };
            let of_guard = self.plan.guards[id].demands.iter().enumerate();
            let open = of_guard.filter(|(position, _)| is_open(*position)).map(|(_, demand)| demand);
            demands.extend(open.map(|demand| (demand.of.as_str(), demand.rules.as_slice())));
            if matches!(decision, Decision::Refused(_)) {
                break;
            }
        }
        demands
    }

    /// Whether a row of the guard's space meets all demands. The audit log names the one that it does not meet.
    fn decide(&self, (guard, demands): (&Guard, &[(usize, Vec<Alternative>)]), row: usize) -> GuardOutcome {
        let nothing = Map::new();
        let scope = Scope { arguments: &nothing, now: &self.now, caller: &self.caller };
        for (position, alternatives) in demands {
            let mut access = GuardOutcome::Refused(self.refusals.code());
            for alternative in alternatives {
                let (holder, settled) = match alternative {
                    Alternative::Object(holder, settled) => (*holder, settled),
                    Alternative::Lookup(read, settled) => (Holder::Read(*read), settled),
                };
                match self.held(holder, guard.space, row) {
                    _ if !self.is_known(holder) => access = GuardOutcome::Undecided,
                    Ok(Some(item)) if settled.is_met(item, &scope) => {
                        access = GuardOutcome::Granted;
                        break;
                    }
                    Ok(_) => {}
                    Err(failure) if !matches!(access, GuardOutcome::Undecided) => {
                        access = GuardOutcome::Failed(failure.clone())
                    }
                    Err(_) => {}
                }
            }
            if let (GuardOutcome::Refused(_), Some(demand)) = (&access, guard.demands.get(*position)) {
                self.refusals.record(&self.caller, demand);
            }
            if !matches!(access, GuardOutcome::Granted) {
                return access;
            }
        }
        GuardOutcome::Granted
    }
}
