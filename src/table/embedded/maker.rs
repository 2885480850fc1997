//! A call of any kind in; the embedded engine's answer to it, or the attempt's failure, out. No HTTP, and JSON only for an observer.

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
    /// Who observes each call.
    pub(in crate::table) observer: Option<Arc<dyn CallObserver>>,
}

impl EmbeddedMaker {
    /// Makes one attempt. Gives what the answer tells, and the capacity units consumed.
    pub(in crate::table) async fn make<C: Call>(&self, call: &C) -> Result<Metered<C::Answer>, AttemptFailure> {
        let operation = call.operation();
        let observed = self.observer.as_ref().map(|observer| (observer.clone(), call.json()));
        if let Some((observer, body)) = &observed {
            observer.begun(operation, body);
        }
        let (engine, operate) = (self.engine.clone(), call.by_engine());
        let work = move |database: &Database| {
            let mut run = EngineRun { database, tokens: &engine.tokens, is_observed: observed.is_some(), answer: Vec::new() };
            let result = engine.noted(operation, operate(&mut run));
            if let Some((observer, body)) = &observed {
                let answer = result.as_ref().map_or_else(|refused| refusal::answer(refused).1, |_| run.answer);
                observer.answered(operation, body, &answer);
            }
            result
        };
        let answered = if call.is_short() { self.engine.run_short(work).await } else { self.engine.run(work).await };
        match answered {
            Ok(result) => result.map_err(refusal::failure),
            Err(stopped) => {
                let failure = AttemptFailure::unusable(TableErrorKind::Unavailable, stopped.to_string());
                Err(AttemptFailure { verdict: Verdict::Unknown, ..failure })
            }
        }
    }
}
