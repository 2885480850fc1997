//! Operations over a WebSocket: a connection at `/graphql/ws` in, the responses of its operations out.

pub mod connection;
mod executor;
mod identity;
mod legacy;
mod messages;
mod protocol;
mod session;
