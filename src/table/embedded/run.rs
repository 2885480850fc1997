//! The engine in while it runs one call; what the call is given to run on out. Must not know kinds of calls.

use super::tokens::Tokens;
use dynoxide::actions::transact_write_items::TransactWriteItemsResponse;
use dynoxide::{Database, DynoxideError};

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
