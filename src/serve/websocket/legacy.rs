//! A WebSocket that speaks the predecessor of graphql-transport-ws in; served by async-graphql until its client leaves.
//! Must not know what runs the operations.
//!
//! The predecessor calls itself `graphql-ws`, as the library of its successor does
//! (<https://github.com/apollographql/subscriptions-transport-ws/blob/master/PROTOCOL.md>).

use super::executor::{SocketAnswer, SocketExecutor};
use super::identity::SocketIdentity;
use super::messages::Messages;
use super::protocol::{INITIALISATION_TIMEOUT, UNAUTHORIZED, close};
use super::session::{INITIALISATION, KEEP_ALIVE};
use crate::execute::error::ErrorCode;
use crate::serve::documents::parameters::from_members;
use async_graphql::{Data, Executor, Name, Request, Response, ServerError};
use async_graphql_axum::{GraphQLProtocol, GraphQLWebSocket};
use axum::Error;
use axum::extract::ws::{CloseFrame, Message, close_code};
use futures_util::sink::{self, Sink, SinkExt};
use futures_util::stream::{self, BoxStream, Stream, StreamExt};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::mpsc;
use tokio::time::{Instant, interval_at, sleep};

/// The name of the protocol, for the header `Sec-WebSocket-Protocol`.
pub const NAME: &str = "graphql-ws";

/// The responses of an operation, and the one that is being sent.
type Answering = (BoxStream<'static, SocketAnswer>, Option<SocketAnswer>);

/// Serves the socket until it ends. The frame must close it; without one, its client is gone, or the messages say why
/// they ended.
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
    let (heard, has_begun) = (AtomicBool::new(true), Arc::new(AtomicBool::new(false)));
    let (first, begins) = (identity.clone(), has_begun.clone());
    let initialise = move |payload: Value| async move {
        begins.store(true, Ordering::Relaxed);
        if first.initialise(payload).await {
            return Ok(Data::default());
        }
        // The library would choose another code to close the socket with.
        std::future::pending().await
    };
    // One answer at a time, so that the library waits for the client.
    let (answer, mut answers) = mpsc::channel(1);
    let answer =
        Box::pin(sink::unfold(answer, async |answer, message| answer.send(with_code(message)).await.map(|()| answer)));
    let messages = messages.inspect(|_| heard.store(true, Ordering::Relaxed));
    let served = GraphQLWebSocket::new_with_pair(answer, messages, LegacyExecutor(executor), protocol);
    let begins_late = async {
        sleep(INITIALISATION).await;
        if has_begun.load(Ordering::Relaxed) {
            std::future::pending().await
        }
    };
    let end = tokio::select! {
        () = served.on_connection_init(initialise).serve() => None,
        () = carry(sink, &mut answers, &heard) => None,
        () = begins_late => Some(close(INITIALISATION_TIMEOUT, "Connection initialisation timeout")),
        frame = identity.over() => Some(frame),
    };
    while let Ok(last) = answers.try_recv() {
        sink.send(last).await.ok()?;
    }
    end
}

/// Sends the answers, and asks a silent client whether it is there: it has no other way to say so. Ends if the client
/// is gone.
async fn carry<Out: Sink<Message> + Unpin>(sink: &mut Out, answers: &mut mpsc::Receiver<Message>, heard: &AtomicBool) {
    let mut asks = interval_at(Instant::now() + KEEP_ALIVE, KEEP_ALIVE);
    loop {
        let message = tokio::select! {
            Some(answer) = answers.recv() => answer,
            _ = asks.tick() => match heard.swap(false, Ordering::Relaxed) {
                true => Message::Ping(Default::default()),
                false => return,
            },
        };
        if sink.send(message).await.is_err() {
            return;
        }
    }
}

/// The message with the code of the successor for an operation before the handshake. The library sends that of a
/// server's mistake.
fn with_code(message: Message) -> Message {
    match message {
        Message::Close(Some(frame)) if frame.code == close_code::ERROR => {
            Message::Close(Some(close(UNAUTHORIZED, "Unauthorized")))
        }
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
        // A request that names its document by the hash has no query. The library gives an empty one.
        let text = |text: Option<String>| Ok(text.filter(|text| !text.is_empty()).into());
        let members = [
            ("query", text(Some(request.query))),
            ("operationName", text(request.operation_name)),
            ("variables", serde_json::to_value(&request.variables)),
            ("extensions", serde_json::to_value(&request.extensions)),
        ];
        let members = members.map(|(name, value)| (name.to_owned(), value.map(exact).unwrap_or_default()));
        let answers = match from_members(members.into_iter().collect()) {
            Ok(parameters) => self.0.answers(parameters),
            Err(message) => {
                let mut error = ServerError::new(message, None);
                error.extensions.get_or_insert_default().set("code", ErrorCode::BadUserInput.as_str());
                return stream::iter([Response::from_errors(vec![error])]).boxed();
            }
        };
        let next = |(mut answers, sent): Answering| async move {
            // The stream is polled again when its response is sent.
            drop(sent);
            let answer = answers.next().await?;
            Some((raw(&answer.body).unwrap_or_else(|error| failed(&error.to_string())), (answers, Some(answer))))
        };
        stream::unfold((answers, None), next).boxed()
    }
}

/// The name under which serde_json hands on a number that it keeps as text. async-graphql takes it for an object with
/// this one field (<https://github.com/async-graphql/async-graphql/issues/1719>).
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
        #[serde(borrow, default)]
        extensions: BTreeMap<String, &'b RawValue>,
    }
    let unchanged =
        |json: &RawValue| async_graphql::Value::Object([(Name::new(RAW), json.get().into())].into_iter().collect());
    let Body { data, errors, extensions } = serde_json::from_slice(body)?;
    let mut response = Response::from_errors(errors);
    if let Some(data) = data {
        response.data = unchanged(data);
    }
    response.extensions = extensions.into_iter().map(|(name, json)| (name, unchanged(json))).collect();
    Ok(response)
}

fn failed(message: &str) -> Response {
    Response::from_errors(vec![ServerError::new(message, None)])
}
