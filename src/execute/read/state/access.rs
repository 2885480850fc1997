//! A guard and a row → whether the caller is let in to what stands behind it.

use super::ReadState;
use crate::execute::auth::refusals::{self, Alternative, Decision};
use crate::execute::error::{ErrorCode, Failure, FieldError};
use crate::execute::expression::scope::Scope;
use crate::plan::tree::{Demand, Guard, GuardId, Holder, SpaceId};
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
        let by = self.refusing(guard).map(|demand| (demand.of.as_str(), demand.rules.as_slice()));
        vec![FieldError::new(code, refusals::message(&self.caller, code, by))]
    }

    /// The demand that refuses the caller, or may do so: of the outermost guard that does not let everybody in.
    fn refusing(&self, guard: Option<GuardId>) -> Option<&Demand> {
        let within = std::iter::successors(guard, |id| self.plan.guards[*id].within);
        let refusing = within.filter(|id| !matches!(self.refusals.decision(*id), Decision::LetIn)).last()?;
        self.plan.guards[refusing].demands.first()
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
