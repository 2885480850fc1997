//! `/graphql/ws`: a request to upgrade in, a WebSocket that is served until its client leaves or the server stops out.
//! It speaks the graphql-transport-ws protocol and its predecessor. Must not know what runs the operations.
//!
//! A page of any origin may open a WebSocket without a preflight, so the origin is checked here.

use super::executor::SocketExecutor;
use super::identity::{SocketIdentity, TRY_AGAIN_LATER};
use super::messages::{Messages, PartialMessage};
use super::session::SocketSession;
use super::{legacy, protocol};
use crate::serve::browsers::origins::Origins;
use crate::serve::client::ClientAddress;
use crate::serve::connection::ReceivedBytes;
use crate::serve::endpoint::Endpoint;
use crate::serve::http::graphql::refuse;
use crate::serve::http::media_type::MediaType;
use crate::serve::http::status::HttpRefusal;
use crate::serve::quota::{Quota, Share};
use crate::serve::shutdown::OpenConnections;
use crate::serve::sign_in::credentials::Credentials;
use crate::serve::sign_in::origin::{RequestId, RequestOrigin};
use async_graphql_axum::GraphQLProtocol;
use axum::Extension;
use axum::extract::rejection::ExtensionRejection;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::ws::{CloseFrame, Message, WebSocket, close_code};
use axum::extract::{FromRequestParts, State, WebSocketUpgrade};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::Response;
use futures_util::future::FutureExt;
use futures_util::sink::SinkExt;
use futures_util::stream::{SplitSink, SplitStream, StreamExt};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

/// How long a client may take to confirm that the socket is closed.
const CLOSE_LIMIT: Duration = Duration::from_secs(1);
/// The most bytes that a socket reads at once. The library keeps a buffer of this size for each, and most sockets wait
/// for most of the time.
const READ_BUFFER: usize = 1 << 10;

/// What every WebSocket needs.
#[derive(Clone)]
pub struct Sockets {
    /// Runs the operations.
    pub endpoint: Arc<Endpoint>,
    /// The origins whose pages may open a WebSocket, besides the server's own; `*` is every one.
    pub origins: Origins,
    /// The WebSockets that may be open.
    pub places: Arc<Quota>,
    /// The connections that are open; a WebSocket is one.
    pub open: OpenConnections,
}

/// What is known of the request that opens a WebSocket, besides what it offers.
pub struct SocketRequest {
    client: ClientAddress,
    received: Option<ReceivedBytes>,
    request_id: Option<RequestId>,
    headers: HeaderMap,
}

impl<S: Send + Sync> FromRequestParts<S> for SocketRequest {
    type Rejection = ExtensionRejection;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Self::Rejection> {
        let Extension(client) = Extension::from_request_parts(parts, state).await?;
        let Parts { headers, extensions, .. } = parts;
        Ok(Self {
            client,
            received: extensions.get().cloned(),
            request_id: extensions.get().cloned(),
            headers: headers.clone(),
        })
    }
}

/// A WebSocket that is open.
struct OpenSocket {
    sink: SplitSink<WebSocket, Message>,
    messages: Messages<SplitStream<WebSocket>>,
    executor: SocketExecutor,
    identity: SocketIdentity,
    /// Its place among those that may be open.
    place: Share,
}

/// Opens a WebSocket.
pub async fn handle(
    State(sockets): State<Sockets>,
    SocketRequest { client, received, request_id, headers }: SocketRequest,
    offered: Result<GraphQLProtocol, StatusCode>,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Response {
    let Some(received) = received else { return refuse(MediaType::Json, &HttpRefusal::NoWebSockets) };
    let Ok(upgrade) = upgrade else { return refuse(MediaType::Json, &HttpRefusal::NoWebSocket) };
    let Ok(offered) = offered else {
        let sentence = format!("Name the subprotocol {} in the header Sec-WebSocket-Protocol.", protocol::NAME);
        return refuse(MediaType::Json, &HttpRefusal::Malformed(sentence));
    };
    if !sockets.origins.admit(&headers) {
        headers.get(header::ORIGIN).into_iter().for_each(|origin| sockets.origins.note(origin));
        return refuse(MediaType::Json, &HttpRefusal::ForeignOrigin);
    }
    let origin = RequestOrigin { client, request_id, caller: None };
    let authenticator = sockets.endpoint.authenticator.clone();
    let identity = match authenticator.identify(Credentials::from_headers(&headers), &origin).await {
        Ok(identity) => SocketIdentity::new(authenticator, origin, identity),
        Err(refused) => return refuse(MediaType::Json, &refused.into()),
    };
    let reserved =
        sockets.places.take(client, 1).and_then(|place| Ok((place, sockets.endpoint.quotas.requests.take(client, 0)?)));
    let (place, memory) = match reserved {
        Ok(reserved) => reserved,
        Err(exhausted) => return refuse(MediaType::Json, &exhausted.into()),
    };
    let limits = &sockets.endpoint.limits;
    let longest = limits.body_limit;
    let upgrade = upgrade
        .protocols([protocol::NAME, legacy::NAME])
        .max_message_size(longest)
        .max_frame_size(longest)
        .read_buffer_size(READ_BUFFER);
    let predecessor = (upgrade.selected_protocol().is_some_and(|selected| selected == legacy::NAME)).then_some(offered);
    let (open, body_timeout) = (sockets.open.open(), limits.body_timeout);
    upgrade.on_upgrade(move |socket| {
        let executor = SocketExecutor::new(sockets.endpoint, client, identity.clone(), open.clone());
        let (sink, messages) = socket.split();
        let messages =
            Messages::new(messages, executor.clone(), PartialMessage::new(received, memory, body_timeout), open);
        // Sockets are many, and most of them wait: what is not needed then is apart, here and below.
        OpenSocket { sink, messages, executor, identity, place }.serve(predecessor).boxed()
    })
}

impl OpenSocket {
    /// Serves the WebSocket until its client leaves, or until the server ends it. Then its place is free.
    async fn serve(mut self, predecessor: Option<GraphQLProtocol>) {
        let (sink, messages) = (&mut self.sink, &mut self.messages);
        let over = match predecessor {
            None => SocketSession::new(sink, messages, self.executor, self.identity).serve().await,
            Some(protocol) => legacy::serve(sink, messages, protocol, self.executor, self.identity).boxed().await,
        };
        close(self.sink, self.messages, over).boxed().await;
        drop(self.place);
    }
}

/// Closes a WebSocket with a frame, or after its client or its messages have ended.
async fn close(
    mut sink: SplitSink<WebSocket, Message>,
    mut messages: Messages<SplitStream<WebSocket>>,
    over: Option<CloseFrame>,
) {
    match over {
        Some(frame) => messages.end_with(frame),
        // A frame of the client that closes the socket is answered by one (RFC 6455 section 5.5.1): it waits to be
        // sent. Without it, clients take the connection for broken.
        None => drop(timeout(CLOSE_LIMIT, sink.flush()).await),
    }
    if let (Some(frame), mut messages) = messages.into_end() {
        let has_memory = ![TRY_AGAIN_LATER, close_code::POLICY].contains(&frame.code);
        let confirmed = async {
            // Without the client's confirmation, the system may drop bytes that the client has not received yet. The
            // server does not wait for a client whose message is refused, because it still has the memory of the
            // message.
            if sink.send(Message::Close(Some(frame))).await.is_ok() && has_memory {
                while let Some(Ok(_)) = messages.next().await {}
            }
        };
        let _ = timeout(CLOSE_LIMIT, confirmed).await;
    }
}
