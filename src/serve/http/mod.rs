//! What is answered over HTTP: operations at `/graphql`, health checks, and the page for browsers. Every request is logged.

pub mod body;
pub mod console;
pub mod graphql;
pub mod health;
pub mod host;
pub mod media_type;
pub mod operations;
pub mod request;
pub mod request_log;
pub mod sample_callers;
pub mod sse;
pub mod status;
