//! What is answered over HTTP: operations at `/graphql`, and health checks. Every request is logged.

pub mod body;
pub mod graphql;
pub mod health;
pub mod host;
pub mod media_type;
pub mod operations;
pub mod request;
pub mod request_log;
pub mod sse;
pub mod status;
