//! The server over HTTP, by its public interface. `protocol` and `limits` use a scripted backend in the gateway's place; the others use a
//! schema on the embedded store. Each request goes to a socket of this process; nothing waits longer than an answer takes.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "http/caching.rs"]
mod caching;
#[path = "http/coding.rs"]
mod coding;
#[path = "http/coercion.rs"]
mod coercion;
#[path = "http/documents.rs"]
mod documents;
#[path = "http/gateway.rs"]
mod gateway;
#[path = "http/http2.rs"]
mod http2;
#[path = "http/limits.rs"]
mod limits;
#[path = "http/listeners.rs"]
mod listeners;
#[path = "http/lists.rs"]
mod lists;
#[path = "http/machine.rs"]
mod machine;
#[path = "http/protocol.rs"]
mod protocol;
#[path = "http/response.rs"]
mod response;
#[path = "http/sse.rs"]
mod sse;
#[path = "http/subscriptions.rs"]
mod subscriptions;
#[path = "http/transport_ws.rs"]
mod transport_ws;
#[path = "http/validation.rs"]
mod validation;
#[path = "http/websocket.rs"]
mod websocket;
