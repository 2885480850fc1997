//! A call of any kind in; the embedded engine's answer to it, or the attempt's failure, out. No HTTP, and JSON only for an observer of
//! what is sent.

use super::engine::EmbeddedEngine;
use super::observer::CallObserver;
use super::refusal;
use super::run::EngineRun;
use crate::table::attempt::failure::AttemptFailure;
use crate::table::calls::call::Call;
use crate::table::data::error::TableErrorKind;
use crate::table::data_store::Metered;
use crate::table::retry::table_health::Verdict;
use dynoxide::Database;
use std::sync::Arc;

/// Makes calls on the embedded engine.
pub(in crate::table) struct EmbeddedMaker {
    /// The engine that answers.
    pub(in crate::table) engine: Arc<EmbeddedEngine>,
    /// Who observes each call. There is no answer in JSON to observe.
    pub(in crate::table) observer: Option<Arc<dyn CallObserver>>,
}

impl EmbeddedMaker {
    /// Makes one attempt. Gives what the answer tells, and the capacity units consumed.
    pub(in crate::table) async fn make<C: Call>(&self, call: &C) -> Result<Metered<C::Answer>, AttemptFailure> {
        let operation = call.operation();
        if let Some(observer) = &self.observer {
            observer.begun(operation, &call.json());
        }
        let (engine, operate) = (self.engine.clone(), call.by_engine());
        let work = move |database: &Database| {
            let run = EngineRun { database, tokens: &engine.tokens };
            engine.noted(operation, operate(&run))
        };
        match self.engine.run(call.length(), work).await {
            Ok(result) => result.map_err(refusal::failure),
            Err(stopped) => {
                let failure = AttemptFailure::unusable(TableErrorKind::Unavailable, stopped.to_string());
                Err(AttemptFailure { verdict: Verdict::Unknown, ..failure })
            }
        }
    }
}
