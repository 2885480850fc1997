//! HTTP around a gateway: requests in, responses out. Must not know DynamoDB.
//!
//! [`listener`] accepts connections, [`router`] says which handler answers which path. [`http`] and [`websocket`] turn requests into
//! operations, [`endpoint`] bounds them, and a [`backend::Backend`] runs them.

pub mod backend;
pub mod endpoint;
pub mod http;
pub mod listener;
pub mod logging;
pub mod router;
pub mod settings;
pub mod shutdown;
pub mod websocket;
