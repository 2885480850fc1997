//! A call of any kind in; the embedded engine's answer to it, or the attempt's failure, out. No HTTP, and JSON only for
//! an observer of what is sent.

use super::call::Call;
use crate::table::attempt::failure::AttemptFailure;
use crate::table::data_store::Metered;
use crate::table::embedded::engine::EmbeddedEngine;
use crate::table::embedded::observer::CallObserver;
use std::sync::Arc;

/// Makes calls on the embedded engine.
pub(in crate::table) struct EmbeddedMaker {
    /// The engine that answers.
    pub(in crate::table) engine: Arc<EmbeddedEngine>,
    /// Who observes each call. There is no answer in JSON to observe.
    pub(in crate::table) observer: Option<Arc<dyn CallObserver>>,
}

impl EmbeddedMaker {
    /// Makes one attempt. Gives what the answer says, and the capacity units consumed.
    pub(in crate::table) async fn make<C: Call>(&self, call: &C) -> Result<Metered<C::Answer>, AttemptFailure> {
        let operation = call.operation();
        if let Some(observer) = &self.observer {
            observer.begun(operation, &call.json());
        }
        self.engine.attempt(operation, call.length(), call.by_engine()).await
    }
}
