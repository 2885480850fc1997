//! The server over HTTP, by its public interface. `protocol` and `limits` use a scripted backend in the gateway's
//! place; the others use a schema on the embedded store. Each request goes to a socket of this process; nothing waits
//! longer than an answer takes.

mod caching;
mod coding;
mod coercion;
mod documents;
mod gateway;
mod http2;
mod limits;
mod listeners;
mod lists;
mod protocol;
mod response;
mod sse;
mod subscriptions;
mod transport_ws;
mod validation;
mod websocket;
