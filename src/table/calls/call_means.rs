//! What the calls of a store need beside themselves in; their attempts out. Must not know kinds of calls.

use crate::table::attempt::attempts::Attempts;
use crate::table::attempt::failure::AttemptFailure;
use crate::table::call_scope::CallTally;
use crate::table::data::error::TableErrorKind;
use crate::table::data_store::Metered;
use crate::table::makers::call::Call;
use crate::table::makers::call_maker::CallMaker;
use crate::table::retry::budget::RetryBudget;
use crate::table::retry::table_health::TableHealth;
use crate::table::wire::Wire;
use futures_util::future::BoxFuture;
use tokio::time::Instant;

/// What the calls of a store need beside themselves.
#[derive(Clone, Copy)]
pub(in crate::table) struct CallMeans<'a> {
    /// Makes the attempts.
    pub(in crate::table) maker: CallMaker<'a>,
    /// The store's retry budget.
    pub(in crate::table) budget: &'a RetryBudget,
    /// The health of the store's tables.
    pub(in crate::table) health: &'a TableHealth,
    /// Whether calls end while a table does not answer.
    pub(in crate::table) has_circuit: bool,
    /// Where the call counts what it takes.
    pub(in crate::table) tally: Option<&'a CallTally>,
    /// What the attempts pass, if anything.
    pub(in crate::table) wire: Option<&'a dyn Wire>,
}

impl<'a> CallMeans<'a> {
    /// The attempts of a call, until it is answered, the deadline passes, or the table does not answer at all.
    pub(in crate::table) fn attempts(self, operation: &'static str, table: &'a str, deadline: Instant) -> Attempts<'a> {
        Attempts {
            operation,
            table,
            deadline,
            budget: self.budget,
            health: self.has_circuit.then_some(self.health),
            tally: self.tally,
        }
    }

    /// Makes one attempt. Gives what the answer says, and the capacity units consumed.
    pub(in crate::table) fn make<'c, C: Call>(
        self,
        call: &'c C,
    ) -> BoxFuture<'c, Result<Metered<C::Answer>, AttemptFailure>>
    where
        'a: 'c,
    {
        let Some(wire) = self.wire else { return self.maker.make(call, self.tally) };
        Box::pin(async move {
            wire.sent(call.operation(), &call.json());
            let answer = self.maker.make(call, self.tally).await;
            let units = answer.as_ref().ok().map(|(_, units)| *units);
            match wire.arrives(call.operation(), units) {
                true => answer,
                false => Err(AttemptFailure::unusable(TableErrorKind::Unavailable, "the answer is lost".to_owned())),
            }
        })
    }

    /// Notes an answer that refuses a part of a call because too much is asked for.
    pub(in crate::table) fn throttled(self, table: &str) {
        self.health.throttled(table);
        self.tally.inspect(|tally| tally.throttle());
    }
}
