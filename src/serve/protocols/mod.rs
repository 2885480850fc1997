//! An accepted connection in, the requests on it answered by the routes, by the protocol that its client speaks.

pub mod accepted;
pub mod busy;
pub mod choose;
pub mod http1;
pub mod http2;
pub mod pieces;
pub mod stream_memory;
pub mod streams;
pub mod workers;
