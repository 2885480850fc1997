//! One operation of the engine in, its typed answer out: what a call is given to run on. Must not know kinds of calls.

use super::tokens::Tokens;
use dynoxide::actions::transact_write_items::TransactWriteItemsResponse;
use dynoxide::{Database, DynoxideError};
use serde::Serialize;

/// The engine while it runs one call.
pub(in crate::table) struct EngineRun<'e> {
    /// Holds the tables.
    pub(super) database: &'e Database,
    /// The transactions that were made a moment ago.
    pub(super) tokens: &'e Tokens,
    /// Whether somebody wants to see the answer.
    pub(super) is_observed: bool,
    /// The JSON of the answer, for whoever wants to see it.
    pub(super) answer: Vec<u8>,
}

impl EngineRun<'_> {
    /// Runs an operation.
    pub(in crate::table) fn run<R: Serialize>(
        &mut self,
        operation: impl FnOnce(&Database) -> Result<R, DynoxideError>,
    ) -> Result<R, DynoxideError> {
        let answer = operation(self.database);
        self.keep(answer)
    }

    /// Runs a transaction unless one with this token has run. `request` is a hash of it.
    pub(in crate::table) fn once(
        &mut self,
        token: &str,
        request: u64,
        operation: impl FnOnce(&Database) -> Result<TransactWriteItemsResponse, DynoxideError>,
    ) -> Result<TransactWriteItemsResponse, DynoxideError> {
        let answer = self.tokens.once(token, request, || operation(self.database));
        self.keep(answer)
    }

    fn keep<R: Serialize>(&mut self, answer: Result<R, DynoxideError>) -> Result<R, DynoxideError> {
        if let (true, Ok(answer)) = (self.is_observed, &answer) {
            self.answer = serde_json::to_vec(answer).unwrap_or_default();
        }
        answer
    }
}
