//! A gateway on a store in memory, with the calls that it makes: what attacks on rules and tenants run on.

use keyfold::execute::caller::Caller;
use keyfold::execute::gateway::{Gateway, Response};
use keyfold::execute::request::{Request, Settings};
use keyfold::schema::load;
use keyfold::table::embedded::observer::Recorder;
use keyfold::table::store::TableStore;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// A gateway on a store in memory.
pub struct Store {
    gateway: Gateway,
    recorder: Arc<Recorder>,
}

impl Store {
    /// The store of a schema, without items.
    pub async fn open(name: &str, schema: &str) -> Self {
        let (model, _) = load(name, schema, &|_| None).unwrap_or_else(|mistakes| panic!("{}", mistakes.render(false)));
        let recorder = Arc::new(Recorder::default());
        let store = TableStore::in_memory_observed(recorder.clone()).unwrap();
        store.create_missing(&model.tables).await.unwrap();
        let settings = Settings { cursor_key: b"a key for tests".to_vec(), ..Settings::default() };
        Self { gateway: Gateway::new(Arc::new(model), store, settings), recorder }
    }

    /// The response to an operation of a caller with these claims; null is an anonymous caller.
    pub async fn run(&self, claims: &Value, operation: &str) -> Value {
        self.answer(claims, operation, false).await
    }

    /// The response with its explanation.
    pub async fn explained(&self, claims: &Value, operation: &str) -> Value {
        self.answer(claims, operation, true).await
    }

    async fn answer(&self, claims: &Value, operation: &str, explain: bool) -> Value {
        self.recorder.take();
        let caller = match claims {
            Value::Object(claims) => Caller::signed_in(claims.clone()),
            _ => Caller::anonymous(),
        };
        let request = Request { query: operation.to_owned(), caller, ..Request::default() };
        let response = match self.gateway.prepare(&request).await {
            Ok(prepared) => self.gateway.run(&prepared, Instant::now() + Duration::from_secs(60), explain).await,
            Err(errors) => Response::refused(&errors),
        };
        serde_json::from_slice(&response.body).unwrap()
    }

    /// The calls of the last operation: the kind of each, and its body.
    pub fn calls(&self) -> Vec<(String, Value)> {
        self.recorder.take()
    }
}

/// The codes of a response's errors.
pub fn codes(response: &Value) -> Vec<&str> {
    let errors = response["errors"].as_array().into_iter().flatten();
    errors.map(|error| error["extensions"]["code"].as_str().unwrap_or_default()).collect()
}
