//! All tables and what else a store remembers. The operations change it.

use crate::store::chance::Chance;
use crate::store::data::table::Table;
use crate::store::error::{Answer, ModelError};
use serde_json::Value;
use std::collections::BTreeMap;

#[derive(Debug, Default, Clone)]
pub struct State {
    pub tables: BTreeMap<String, Table>,
    /// The transactions whose tokens are still known.
    pub tokens: BTreeMap<String, Token>,
    pub clock: StreamClock,
}

/// A transaction that was made.
#[derive(Debug, Clone)]
pub struct Token {
    pub made: u64,
    /// Its actions.
    pub actions: Value,
}

/// How `ApproximateCreationDateTime` differs from the time of a change, in milliseconds.
#[derive(Debug, Default, Clone, Copy)]
pub struct StreamClock {
    /// It is ahead if this is less than none.
    pub behind: i64,
    /// It is rounded down to a multiple of this.
    pub rounded: u64,
}

impl StreamClock {
    pub fn created(self, made: u64) -> u64 {
        let time = made.saturating_add_signed(-self.behind);
        time - time % self.rounded.max(1)
    }
}

/// When a call is made, and who decides what DynamoDB leaves open.
pub struct Moment<'a> {
    /// Milliseconds since the epoch.
    pub now: u64,
    pub chance: &'a mut dyn Chance,
}

impl Moment<'_> {
    /// The time as of which something is seen that changed last at `changed`; a strongly consistent view has no lag.
    pub fn seen(&mut self, changed: Option<u64>, consistent: bool) -> u64 {
        let most = self.chance.most_lag();
        // Who has not changed for so long is seen as it is, however far the view lags.
        let may_lag = !consistent && most > 0 && changed.is_none_or(|changed| changed + most >= self.now);
        if may_lag { self.now.saturating_sub(self.chance.lag(most).min(most)) } else { self.now }
    }
}

impl State {
    pub fn table(&self, name: &str) -> Answer<&Table> {
        self.tables.get(name).ok_or_else(|| missing(name))
    }

    pub fn table_mut(&mut self, name: &str) -> Answer<&mut Table> {
        self.tables.get_mut(name).ok_or_else(|| missing(name))
    }
}

fn missing(name: &str) -> ModelError {
    ModelError::missing(format!("Requested resource not found: Table: {name} not found"))
}
