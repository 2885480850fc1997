//! `/graphql/ws`: operations over a WebSocket, by the graphql-transport-ws protocol and its older brother. Queries and mutations are
//! answered with one message each; a schema has no subscriptions yet. Must not know what runs the operation.
//!
//! A page of any origin may open a WebSocket, and no preflight asks first, so the origin is checked here.

use super::accept::MediaType;
use super::backend::{Answer, Call};
use super::graphql::{Endpoint, late, refuse};
use super::status::Refusal;
use crate::execute::request;
use async_graphql::http::ALL_WEBSOCKET_PROTOCOLS;
use async_graphql::{Data, Executor, Name, Request, Response, ServerError};
use async_graphql_axum::{GraphQLProtocol, GraphQLWebSocket};
use axum::extract::{State, WebSocketUpgrade};
use axum::http::{HeaderMap, header};
use axum::response::Response as Http;
use futures_util::stream::{self, BoxStream, StreamExt};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::time::Instant;

/// How long a client may leave a ping unanswered.
const KEEP_ALIVE: Duration = Duration::from_secs(30);

/// What runs the operations, and which pages may open a WebSocket beside those of the server's own origin.
#[derive(Clone)]
pub struct Socket {
    /// Runs the operations.
    pub endpoint: Arc<Endpoint>,
    /// The origins; `*` is every one.
    pub allow_origins: Arc<[String]>,
    /// One permit an open WebSocket.
    pub places: Arc<Semaphore>,
}

/// Opens a WebSocket.
pub async fn handle(State(socket): State<Socket>, headers: HeaderMap, protocol: GraphQLProtocol, upgrade: WebSocketUpgrade) -> Http {
    if !may_open(&headers, &socket.allow_origins) {
        return refuse(MediaType::Json, &Refusal::ForeignOrigin);
    }
    let Ok(place) = socket.places.try_acquire_owned() else { return refuse(MediaType::Json, &Refusal::Busy) };
    let longest = socket.endpoint.limits.body_limit;
    let upgrade = upgrade.protocols(ALL_WEBSOCKET_PROTOCOLS).max_message_size(longest).max_frame_size(longest);
    let operations = Operations { endpoint: socket.endpoint };
    upgrade.on_upgrade(move |stream| async move {
        GraphQLWebSocket::new(stream, operations, protocol).keepalive_timeout(KEEP_ALIVE).serve().await;
        drop(place);
    })
}

/// Whether a request comes from no page, from a page of this server, or from one of an allowed origin.
fn may_open(headers: &HeaderMap, allowed: &[String]) -> bool {
    let text = |name: header::HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    let Some(origin) = headers.get(header::ORIGIN) else { return true };
    let Ok(origin) = origin.to_str() else { return false };
    let own = origin.split_once("://").map(|(_, host)| host);
    own.is_some() && own == text(header::HOST) || allowed.iter().any(|allowed| allowed == "*" || allowed == origin)
}

/// Runs the operations of a connection; each takes one of the server's permits for as long as it is worked on.
#[derive(Clone)]
struct Operations {
    endpoint: Arc<Endpoint>,
}

impl Executor for Operations {
    async fn execute(&self, request: Request) -> Response {
        let Ok(permit) = self.endpoint.permits.clone().try_acquire_owned() else { return failed(&Refusal::Busy.error().message) };
        let variables = match serde_json::to_value(&request.variables).map(exact) {
            Ok(Value::Object(map)) => map,
            _ => serde_json::Map::new(),
        };
        let request = request::Request { query: request.query, operation_name: request.operation_name, variables };
        let deadline = Instant::now() + self.endpoint.limits.request_timeout;
        let call = Call { request, may_write: true, deadline, explain: false };
        let response = match self.endpoint.run(call, permit).await {
            Some(Answer::Response(response)) => response,
            Some(Answer::MayNotWrite) => return failed("Nothing may be written here."),
            None => late(),
        };
        raw(&response.body).unwrap_or_else(|error| failed(&error.to_string()))
    }

    fn execute_stream(&self, request: Request, _: Option<Arc<Data>>) -> BoxStream<'static, Response> {
        let operations = self.clone();
        stream::once(async move { operations.execute(request).await }).boxed()
    }
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

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    fn from(origin: Option<&'static str>) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, HeaderValue::from_static("localhost:4000"));
        if let Some(origin) = origin {
            headers.insert(header::ORIGIN, HeaderValue::from_static(origin));
        }
        headers
    }

    #[test]
    fn pages_of_other_origins_may_not_open_a_socket() {
        assert!(may_open(&from(None), &[]));
        assert!(may_open(&from(Some("http://localhost:4000")), &[]));
        for foreign in ["http://evil.example", "http://localhost:4001", "null", "http://localhost:4000.evil.example"] {
            assert!(!may_open(&from(Some(foreign)), &[]), "{foreign}");
        }
        assert!(may_open(&from(Some("https://app.example")), &["https://app.example".into()]));
        assert!(may_open(&from(Some("https://any.example")), &["*".into()]));
    }
}
