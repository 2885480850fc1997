//! HTTP around a gateway: requests in, responses out. Must not know DynamoDB; what runs operations is behind [`backend::Backend`].

pub mod accept;
pub mod backend;
pub mod graphql;
pub mod health;
pub mod listener;
pub mod logging;
pub mod playground;
pub mod request;
pub mod request_log;
pub mod router;
pub mod settings;
pub mod status;
pub mod websocket;
