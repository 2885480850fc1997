//! HTTP around a gateway: requests in, responses out. Must not know DynamoDB.
//!
//! [`listener`] accepts connections, which [`protocols::workers`] serve, or [`lambda`] takes invocations; [`router`]
//! says which handler answers which path. [`http`] and [`websocket`] turn requests into operations, [`documents`] finds
//! the documents that requests name, [`sign_in`] says who sends them, [`admission`] says how many may run, [`endpoint`]
//! bounds them, and a [`backend::Backend`] runs them. [`telemetry`] shows operators all this. [`mounted`] puts the
//! routes into the server of another program.

pub mod admission;
pub mod backend;
pub mod browsers;
pub mod client;
pub mod connection;
pub mod console;
pub mod documents;
pub mod endpoint;
pub mod http;
pub mod lambda;
pub mod listener;
pub mod logging;
pub mod mounted;
pub mod outbound;
pub mod pace;
pub mod protocols;
pub mod quota;
pub mod router;
pub mod settings;
pub mod shutdown;
pub mod sign_in;
pub mod telemetry;
pub mod websocket;
