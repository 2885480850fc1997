//! A WebSocket that speaks the predecessor of graphql-transport-ws in; served by async-graphql until its client leaves. Must not know what
//! runs the operations.
//!
//! The predecessor calls itself `graphql-ws`, as the library of its successor does
//! (<https://github.com/apollographql/subscriptions-transport-ws/blob/master/PROTOCOL.md>).

use super::executor::{SocketAnswer, SocketExecutor};
use super::identity::SocketIdentity;
use super::messages::Messages;
use super::protocol::{UNAUTHORIZED, close};
use crate::serve::documents::parameters::RequestParameters;
use async_graphql::{Data, Executor, Name, Request, Response, ServerError};
use async_graphql_axum::{GraphQLProtocol, GraphQLWebSocket};
use axum::Error;
use axum::extract::ws::{CloseFrame, Message, close_code};
use futures_util::sink::{Sink, SinkExt};
use futures_util::stream::{self, BoxStream, Stream, StreamExt};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::sync::Arc;
use std::time::Duration;

/// The name of the protocol, for the header `Sec-WebSocket-Protocol`.
pub const NAME: &str = "graphql-ws";

/// How long a client may be silent.
const KEEP_ALIVE: Duration = Duration::from_secs(30);

/// The responses of an operation, and the one that is being sent.
type Answering = (BoxStream<'static, SocketAnswer>, Option<SocketAnswer>);

/// Serves the socket until it ends. The frame must close it; without one, its client is gone, or the messages say why they ended.
pub async fn serve<Out, In>(
    sink: &mut Out,
    messages: &mut Messages<In>,
    protocol: GraphQLProtocol,
    executor: SocketExecutor,
    identity: SocketIdentity,
) -> Option<CloseFrame>
where
    Out: Sink<Message> + Unpin,
    In: Stream<Item = Result<Message, Error>> + Unpin,
{
    let first = identity.clone();
    let initialise = move |payload: Value| async move {
        if first.initialise(payload).await {
            return Ok(Data::default());
        }
        // The library would choose another code to close the socket with.
        std::future::pending().await
    };
    let answers = sink.with(|message: Message| std::future::ready(Ok::<_, Out::Error>(with_code(message))));
    let served = GraphQLWebSocket::new_with_pair(answers, messages, LegacyExecutor(executor), protocol);
    let served = served.on_connection_init(initialise).keepalive_timeout(KEEP_ALIVE).serve();
    tokio::select! {
        () = served => None,
        frame = identity.over() => Some(frame),
    }
}

/// The message with the code of the successor for an operation before the handshake. The library sends that of a server's mistake.
fn with_code(message: Message) -> Message {
    match message {
        Message::Close(Some(frame)) if frame.code == close_code::ERROR => Message::Close(Some(close(UNAUTHORIZED, "Unauthorized"))),
        other => other,
    }
}

/// Runs operations for async-graphql.
#[derive(Clone)]
struct LegacyExecutor(SocketExecutor);

impl Executor for LegacyExecutor {
    async fn execute(&self, request: Request) -> Response {
        let response = self.execute_stream(request, None).next().await;
        response.unwrap_or_else(|| failed("The operation has no response."))
    }

    fn execute_stream(&self, request: Request, _: Option<Arc<Data>>) -> BoxStream<'static, Response> {
        let variables = match serde_json::to_value(&request.variables).map(exact) {
            Ok(Value::Object(map)) => map,
            _ => serde_json::Map::new(),
        };
        let (query, operation_name) = (Some(request.query), request.operation_name);
        let answers = self.0.answers(RequestParameters { query, operation_name, variables, ..RequestParameters::default() });
        let next = |(mut answers, sent): Answering| async move {
            // The stream is polled again when its response is sent.
            drop(sent);
            let answer = answers.next().await?;
            Some((raw(&answer.body).unwrap_or_else(|error| failed(&error.to_string())), (answers, Some(answer))))
        };
        stream::unfold((answers, None), next).boxed()
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

fn failed(message: &str) -> Response {
    Response::from_errors(vec![ServerError::new(message, None)])
}
