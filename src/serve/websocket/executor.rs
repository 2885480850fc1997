//! An operation of a WebSocket in, its responses out, as async-graphql passes them on. Must not know what runs the operation.

use super::identity::SocketIdentity;
use crate::execute::{gateway, request};
use crate::serve::backend::{Invocation, MayNotWrite};
use crate::serve::client::ClientAddress;
use crate::serve::endpoint::{Endpoint, timed_out};
use crate::serve::http::status::HttpRefusal;
use crate::serve::quota::Share;
use crate::serve::shutdown::OpenConnection;
use async_graphql::{Data, Executor, Name, Request, Response, ServerError};
use futures_util::future::FutureExt;
use futures_util::stream::{self, BoxStream, StreamExt};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::time::Instant;

/// Runs the operations of one WebSocket. Each is admitted as one over HTTP is.
#[derive(Clone)]
pub struct SocketExecutor {
    endpoint: Arc<Endpoint>,
    client: ClientAddress,
    identity: SocketIdentity,
    open: OpenConnection,
    running: Arc<AtomicUsize>,
    expected: Arc<Mutex<Option<Share>>>,
}

/// The responses of an operation, each with its share; the operation, which is unanswered until this is dropped; and the share of the
/// response that is being sent.
type Answering = (BoxStream<'static, (Response, Option<Share>)>, Unanswered, Option<Share>);

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
    /// An executor of this client's WebSocket, which has just been opened.
    pub fn new(endpoint: Arc<Endpoint>, client: ClientAddress, identity: SocketIdentity, open: OpenConnection) -> Self {
        Self { endpoint, client, identity, open, running: Arc::default(), expected: Arc::default() }
    }

    /// Whether every operation is answered.
    pub fn is_idle(&self) -> bool {
        self.running.load(Ordering::Relaxed) == 0
    }

    /// Whether so many refusals wait to be sent that the client's messages must wait, too.
    pub fn is_flooded(&self) -> bool {
        self.running.load(Ordering::Relaxed) >= 2 * self.endpoint.limits.shared.max_socket_operations
    }

    /// Takes the memory of the next message.
    pub fn expect(&self, memory: Share) {
        *self.expected() = Some(memory);
    }

    fn expected(&self) -> MutexGuard<'_, Option<Share>> {
        self.expected.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts an operation next to this number of others of the same socket.
    ///
    /// Beyond the limit, it is refused at once. If the messages waited instead, a client could neither end an operation nor answer a ping.
    fn begin(&self, request: Request, others: usize) -> Result<BoxStream<'static, gateway::Response>, HttpRefusal> {
        let memory = self.expected().take();
        if self.open.is_closing() {
            return Err(HttpRefusal::Busy);
        }
        if others >= self.endpoint.limits.shared.max_socket_operations {
            return Err(HttpRefusal::SocketBusy);
        }
        let identity = self.identity.current();
        self.endpoint.may_begin(&identity, self.client)?;
        let memory = memory.map_or_else(|| self.endpoint.quotas.requests.take(self.client, 0), Ok)?;
        let admission = self.endpoint.quotas.admit(self.client, memory)?;
        let variables = match serde_json::to_value(&request.variables).map(exact) {
            Ok(Value::Object(map)) => map,
            _ => serde_json::Map::new(),
        };
        let caller = identity.caller;
        let request = request::Request { query: request.query, operation_name: request.operation_name, variables, caller };
        let deadline = Instant::now() + self.endpoint.limits.request_timeout;
        let invocation = Invocation { request, may_write: true, deadline, explain: false };
        let endpoint = self.endpoint.clone();
        let responses = async move {
            endpoint.run(invocation, admission).await.unwrap_or_else(|MayNotWrite| {
                let refused = gateway::Response::refused(&[HttpRefusal::NotByGet.error()]);
                stream::once(std::future::ready(refused)).boxed()
            })
        };
        Ok(responses.flatten_stream().boxed())
    }

    /// A response, and its share until it is sent.
    fn held(&self, response: &gateway::Response) -> (Response, Option<Share>) {
        match self.endpoint.quotas.hold_response(self.client, response.body.len()) {
            Ok(share) => (converted(response), Some(share)),
            Err(exhausted) => (refused(&HttpRefusal::ResponseDropped(exhausted)), None),
        }
    }
}

impl Executor for SocketExecutor {
    async fn execute(&self, request: Request) -> Response {
        let response = self.execute_stream(request, None).next().await;
        response.unwrap_or_else(|| converted(&timed_out()))
    }

    fn execute_stream(&self, request: Request, _: Option<Arc<Data>>) -> BoxStream<'static, Response> {
        let others = self.running.fetch_add(1, Ordering::Relaxed);
        let unanswered = Unanswered { running: self.running.clone() };
        let responses = match self.begin(request, others) {
            Ok(responses) => {
                let executor = self.clone();
                responses.map(move |response| executor.held(&response)).boxed()
            }
            Err(refusal) => stream::once(std::future::ready((refused(&refusal), None))).boxed(),
        };
        let next = |(mut responses, unanswered, sent): Answering| async move {
            // The stream is polled again when its response is sent.
            drop(sent);
            let (response, share) = responses.next().await?;
            Some((response, (responses, unanswered, share)))
        };
        stream::unfold((responses, unanswered, None), next).boxed()
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

/// A response whose data is sent unchanged.
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

fn refused(refusal: &HttpRefusal) -> Response {
    converted(&gateway::Response::refused(&[refusal.error()]))
}

fn failed(message: &str) -> Response {
    Response::from_errors(vec![ServerError::new(message, None)])
}
