//! A client of HTTP and HTTPS, through the proxies that the environment names. Must not know what it sends.

use super::proxied::ProxiedConnector;
use axum::body::Body;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rustls::crypto::ring;
use std::time::Duration;

/// How long a connection that nobody uses stays open.
const IDLE: Duration = Duration::from_secs(30);

/// How long a connection of HTTP/2 is silent before it is asked whether it is there, and how long that may take.
const PING: Duration = Duration::from_secs(5);
const PONG: Duration = Duration::from_secs(5);

/// Sends requests, over connections that it keeps.
pub type OutboundClient = Client<HttpsConnector<ProxiedConnector>, Body>;

/// A client of HTTP/1.1, and of HTTP/2 where a server offers that over TLS. It trusts the certificates that this
/// machine trusts. The error says why there are none.
pub fn outbound_client() -> std::io::Result<OutboundClient> {
    let https = HttpsConnectorBuilder::new()
        .with_provider_and_native_roots(ring::default_provider())?
        .https_or_http()
        .enable_http1()
        .enable_http2();
    let https = https.wrap_connector(ProxiedConnector::from_environment());
    let mut client = Client::builder(TokioExecutor::new());
    client.pool_timer(TokioTimer::new()).pool_idle_timeout(IDLE);
    // Many requests share a connection of HTTP/2, so that one which is dead would hold all of them up.
    client.timer(TokioTimer::new()).http2_keep_alive_interval(PING).http2_keep_alive_timeout(PONG);
    Ok(client.build(https))
}
