//! HTTP requests in, responses out: operations at `/graphql`, and health checks. The log has a line for each request.

pub mod body;
pub mod caching;
pub mod graphql;
pub mod health;
pub mod idempotency_key;
pub mod media_type;
pub mod operations;
pub mod request;
pub mod request_log;
pub mod sse;
pub mod status;
pub mod transport;
