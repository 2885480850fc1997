//! What one call does to the engine in; the engine's answer, or the attempt's failure, out. Must not know kinds of
//! calls.

use super::engine::EmbeddedEngine;
use super::refusal;
use super::tokens::Tokens;
use super::turns::Length;
use crate::table::attempt::failure::AttemptFailure;
use crate::table::data::error::TableErrorKind;
use crate::table::retry::table_health::Verdict;
use dynoxide::actions::transact_write_items::TransactWriteItemsResponse;
use dynoxide::{Database, DynoxideError};
use std::sync::Arc;

/// The engine while it runs one call.
pub(in crate::table) struct EngineRun<'e> {
    /// Holds the tables.
    pub(in crate::table) database: &'e Database,
    /// The transactions that were made a moment ago.
    pub(super) tokens: &'e Tokens,
}

impl EngineRun<'_> {
    /// Runs a transaction unless one with this token has run. `request` is a hash of it.
    pub(in crate::table) fn once(
        &self,
        token: &str,
        request: u64,
        transact: impl FnOnce(&Database) -> Result<TransactWriteItemsResponse, DynoxideError>,
    ) -> Result<TransactWriteItemsResponse, DynoxideError> {
        self.tokens.once(token, request, || transact(self.database))
    }
}

impl EmbeddedEngine {
    /// Makes one attempt of a call when its turn has come.
    pub(in crate::table) async fn attempt<T: Send + 'static>(
        self: &Arc<Self>,
        operation: &'static str,
        length: Length,
        operate: impl FnOnce(&EngineRun<'_>) -> Result<T, DynoxideError> + Send + 'static,
    ) -> Result<T, AttemptFailure> {
        let engine = self.clone();
        let work = move |database: &Database| {
            let run = EngineRun { database, tokens: &engine.tokens };
            engine.noted(operation, operate(&run))
        };
        match self.run(length, work).await {
            Ok(result) => result.map_err(refusal::failure),
            Err(stopped) => {
                let failure = AttemptFailure::unusable(TableErrorKind::Unavailable, stopped.to_string());
                Err(AttemptFailure { verdict: Verdict::Unknown, ..failure })
            }
        }
    }
}
