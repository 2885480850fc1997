//! `/graphql/ws`: a request to upgrade in, a WebSocket that is served until its client leaves or the server stops out. It speaks the
//! graphql-transport-ws protocol and its predecessor. Must not know what runs the operations.
//!
//! A page of any origin may open a WebSocket without a preflight, so the origin is checked here.

use super::executor::SocketExecutor;
use crate::serve::endpoint::Endpoint;
use crate::serve::http::graphql::refuse;
use crate::serve::http::media_type::MediaType;
use crate::serve::http::status::HttpRefusal;
use crate::serve::shutdown::{OpenConnection, OpenConnections};
use async_graphql::http::ALL_WEBSOCKET_PROTOCOLS;
use async_graphql_axum::{GraphQLProtocol, GraphQLWebSocket};
use axum::Error;
use axum::extract::ws::{CloseFrame, Message, WebSocket, close_code};
use axum::extract::{State, WebSocketUpgrade};
use axum::http::{HeaderMap, header};
use axum::response::Response;
use futures_util::future::FutureExt;
use futures_util::sink::SinkExt;
use futures_util::stream::{self, Stream, StreamExt};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::time::timeout;

/// How long a client may leave a ping unanswered.
const KEEP_ALIVE: Duration = Duration::from_secs(30);
/// How long a client may take to confirm that the socket is closed.
const CLOSE_LIMIT: Duration = Duration::from_secs(1);

/// What every WebSocket needs.
#[derive(Clone)]
pub struct Sockets {
    /// Runs the operations.
    pub endpoint: Arc<Endpoint>,
    /// The origins whose pages may open a WebSocket, besides the server's own; `*` is every one.
    pub allow_origins: Arc<[String]>,
    /// One permit for each open WebSocket.
    pub places: Arc<Semaphore>,
    /// The connections that are open; a WebSocket is one.
    pub open: OpenConnections,
}

/// Opens a WebSocket.
pub async fn handle(State(sockets): State<Sockets>, headers: HeaderMap, protocol: GraphQLProtocol, upgrade: WebSocketUpgrade) -> Response {
    if !may_open(&headers, &sockets.allow_origins) {
        return refuse(MediaType::Json, &HttpRefusal::ForeignOrigin);
    }
    let Ok(place) = sockets.places.try_acquire_owned() else { return refuse(MediaType::Json, &HttpRefusal::Busy) };
    let open = sockets.open.open();
    let longest = sockets.endpoint.limits.body_limit;
    let upgrade = upgrade.protocols(ALL_WEBSOCKET_PROTOCOLS).max_message_size(longest).max_frame_size(longest);
    upgrade.on_upgrade(move |socket| async move {
        serve(socket, protocol, sockets.endpoint, open).await;
        drop(place);
    })
}

/// Serves a WebSocket until its client leaves, or until the server stops and its last operation is answered.
async fn serve(socket: WebSocket, protocol: GraphQLProtocol, endpoint: Arc<Endpoint>, open: OpenConnection) {
    let (mut sink, mut messages) = socket.split();
    let executor = SocketExecutor::new(endpoint, open.clone());
    let until_answered = until_answered(&mut messages, open.clone(), executor.clone());
    GraphQLWebSocket::new_with_pair(&mut sink, until_answered, executor, protocol).keepalive_timeout(KEEP_ALIVE).serve().await;
    if open.is_closing() {
        let frame = CloseFrame { code: close_code::AWAY, reason: "The server is shutting down.".into() };
        // Without the client's confirmation, the system may drop what the client has not received yet.
        let confirmed = async {
            if sink.send(Message::Close(Some(frame))).await.is_ok() {
                while let Some(Ok(_)) = messages.next().await {}
            }
        };
        let _ = timeout(CLOSE_LIMIT, confirmed).await;
    }
}

/// The messages of a client, which end when the server stops and no operation is left to answer.
fn until_answered<'a>(
    mut messages: impl Stream<Item = Result<Message, Error>> + Unpin + Send + 'a,
    mut open: OpenConnection,
    executor: SocketExecutor,
) -> impl Stream<Item = Result<Message, Error>> + 'a {
    let mut asked = async move { open.closing().await }.boxed();
    let mut closing = false;
    stream::poll_fn(move |context| {
        closing = closing || asked.poll_unpin(context).is_ready();
        if closing && executor.is_idle() {
            return Poll::Ready(None);
        }
        messages.poll_next_unpin(context)
    })
}

/// Whether a request comes from no page, from a page of this server, or from a page of an allowed origin.
fn may_open(headers: &HeaderMap, allowed: &[String]) -> bool {
    let text = |name: header::HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    let Some(origin) = headers.get(header::ORIGIN) else { return true };
    let Ok(origin) = origin.to_str() else { return false };
    let own = origin.split_once("://").map(|(_, host)| host);
    own.is_some() && own == text(header::HOST) || allowed.iter().any(|allowed| allowed == "*" || allowed == origin)
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
