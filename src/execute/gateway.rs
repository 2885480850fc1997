//! The whole of it for one schema and one store: operation text in, response bytes out. Must not know HTTP.

use super::error::{ErrorCode, GraphqlError};
use crate::schema::model::Model;
use crate::table::store::Store;
use serde_json::{Map, Value};
use std::sync::Arc;
use tokio::time::Instant;

/// A schema on a store.
#[derive(Clone)]
pub struct Gateway {
    inner: Arc<Inner>,
}

struct Inner {
    model: Arc<Model>,
    store: Store,
    settings: Settings,
}

/// What a gateway's owner may set.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Deepest nesting of fields.
    pub max_depth: usize,
    /// Most fields of an operation after its fragments are spread.
    pub max_fields: usize,
    /// Most aliases of an operation.
    pub max_aliases: usize,
    /// Most objects in a response.
    pub max_nodes: usize,
    /// Distinct operations whose plans are kept.
    pub plan_cache: usize,
    /// Whether clients may introspect the schema.
    pub introspection: bool,
    /// The secret that makes cursors tamper-evident; all copies of a gateway must share it.
    pub cursor_key: Vec<u8>,
}

/// An operation to run.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// The GraphQL document.
    pub query: String,
    /// Which of its operations.
    pub operation_name: Option<String>,
    /// Its variables.
    pub variables: Map<String, Value>,
}

/// An operation that passed validation.
pub struct Prepared {
    /// Whether it is a mutation.
    pub mutation: bool,
}

/// What came of a request.
#[derive(Debug)]
pub struct Response {
    /// The response map, as JSON.
    pub body: Vec<u8>,
    /// Set where the request failed before execution, so that the body has no `data` (GraphQL spec section 7.1.2, "Request errors").
    pub refused: Option<ErrorCode>,
}

impl Gateway {
    /// A gateway for a schema on a store.
    pub fn new(model: Arc<Model>, store: Store, settings: Settings) -> Self {
        Self { inner: Arc::new(Inner { model, store, settings }) }
    }

    /// The schema's model.
    pub fn model(&self) -> &Arc<Model> {
        &self.inner.model
    }

    /// The store.
    pub fn store(&self) -> &Store {
        &self.inner.store
    }

    /// Parses, validates and plans; the result is cached by the operation's text.
    pub fn prepare(&self, _request: &Request) -> Result<Prepared, Vec<GraphqlError>> {
        todo!()
    }

    /// Runs a prepared operation until its deadline; with `explain`, `extensions.keyfold` tells the plan and the calls.
    pub async fn run(&self, _prepared: Prepared, _request: Request, _deadline: Instant, _explain: bool) -> Response {
        let _ = &self.inner.settings;
        todo!()
    }
}

impl Response {
    /// The response to a request that failed before execution.
    pub fn refused(errors: &[GraphqlError]) -> Self {
        let code = errors.first().map_or(ErrorCode::Internal, |error| error.code);
        let list: Vec<Value> = errors.iter().map(GraphqlError::to_json).collect();
        Self { body: serde_json::json!({ "errors": list }).to_string().into_bytes(), refused: Some(code) }
    }
}
