//! An operation of a WebSocket in, its responses out, as async-graphql passes them on. Must not know what runs the operation.

use crate::execute::{gateway, request};
use crate::serve::backend::{Invocation, MayNotWrite};
use crate::serve::endpoint::{Endpoint, timed_out};
use crate::serve::http::status::HttpRefusal;
use crate::serve::shutdown::OpenConnection;
use async_graphql::{Data, Executor, Name, Request, Response, ServerError};
use futures_util::stream::{self, BoxStream, StreamExt};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::time::Instant;

/// Runs the operations of one WebSocket. Each takes one of the server's permits while it runs.
#[derive(Clone)]
pub struct SocketExecutor {
    endpoint: Arc<Endpoint>,
    open: OpenConnection,
    running: Arc<AtomicUsize>,
}

/// One operation that is not answered yet.
struct Unanswered {
    running: Arc<AtomicUsize>,
}

impl Drop for Unanswered {
    fn drop(&mut self) {
        self.running.fetch_sub(1, Ordering::Relaxed);
    }
}

impl SocketExecutor {
    /// An executor of a WebSocket that has just been opened.
    pub fn new(endpoint: Arc<Endpoint>, open: OpenConnection) -> Self {
        Self { endpoint, open, running: Arc::default() }
    }

    /// Whether every operation is answered.
    pub fn is_idle(&self) -> bool {
        self.running.load(Ordering::Relaxed) == 0
    }

    fn begin(&self, request: Request) -> Result<BoxStream<'static, gateway::Response>, HttpRefusal> {
        if self.open.is_closing() {
            return Err(HttpRefusal::Busy);
        }
        let permit = self.endpoint.permits.clone().try_acquire_owned().map_err(|_| HttpRefusal::Busy)?;
        let variables = match serde_json::to_value(&request.variables).map(exact) {
            Ok(Value::Object(map)) => map,
            _ => serde_json::Map::new(),
        };
        let request = request::Request { query: request.query, operation_name: request.operation_name, variables };
        let deadline = Instant::now() + self.endpoint.limits.request_timeout;
        let invocation = Invocation { request, may_write: true, deadline, explain: false };
        self.endpoint.run(invocation, permit).map_err(|MayNotWrite| HttpRefusal::NotByGet)
    }
}

impl Executor for SocketExecutor {
    async fn execute(&self, request: Request) -> Response {
        let response = self.execute_stream(request, None).next().await;
        response.unwrap_or_else(|| converted(&timed_out()))
    }

    fn execute_stream(&self, request: Request, _: Option<Arc<Data>>) -> BoxStream<'static, Response> {
        self.running.fetch_add(1, Ordering::Relaxed);
        let unanswered = Unanswered { running: self.running.clone() };
        let responses = match self.begin(request) {
            Ok(responses) => responses.map(|response| converted(&response)).boxed(),
            Err(refusal) => stream::once(std::future::ready(failed(&refusal.error().message))).boxed(),
        };
        // The operation counts as unanswered until the stream is dropped.
        let next = |(mut responses, unanswered): (BoxStream<'static, Response>, Unanswered)| async move {
            let response = responses.next().await?;
            Some((response, (responses, unanswered)))
        };
        stream::unfold((responses, unanswered), next).boxed()
    }
}

/// A response as async-graphql's.
fn converted(response: &gateway::Response) -> Response {
    raw(&response.body).unwrap_or_else(|error| failed(&error.to_string()))
}

/// The name under which serde_json hands on a number that it keeps as text. async-graphql takes it for an object with this one field
/// (<https://github.com/async-graphql/async-graphql/issues/1719>).
const NUMBER: &str = "$serde_json::private::Number";
/// The name of an object's only field whose text async-graphql writes as the JSON that it is.
const RAW: &str = "$serde_json::private::RawValue";

/// Variables with the numbers that async-graphql holds as objects made numbers again.
fn exact(value: Value) -> Value {
    match value {
        Value::Array(values) => values.into_iter().map(exact).collect(),
        Value::Object(fields) => match fields.get(NUMBER).and_then(Value::as_str).and_then(|text| text.parse().ok()) {
            Some(number) if fields.len() == 1 => Value::Number(number),
            _ => fields.into_iter().map(|(name, value)| (name, exact(value))).collect(),
        },
        other => other,
    }
}

/// A response whose data is sent as it stands in the body.
fn raw(body: &[u8]) -> serde_json::Result<Response> {
    #[derive(Deserialize)]
    struct Body<'b> {
        #[serde(borrow)]
        data: Option<&'b RawValue>,
        #[serde(default)]
        errors: Vec<ServerError>,
    }
    let Body { data, errors } = serde_json::from_slice(body)?;
    let mut response = Response::from_errors(errors);
    if let Some(data) = data {
        response.data = async_graphql::Value::Object([(Name::new(RAW), data.get().into())].into_iter().collect());
    }
    Ok(response)
}

fn failed(message: &str) -> Response {
    Response::from_errors(vec![ServerError::new(message, None)])
}
