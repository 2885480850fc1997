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

/// Sends requests, over connections that it keeps.
pub type OutboundClient = Client<HttpsConnector<ProxiedConnector>, Body>;

/// A client that trusts the certificates which this machine trusts. The error says why there are none.
pub fn outbound_client() -> std::io::Result<OutboundClient> {
    let https = HttpsConnectorBuilder::new()
        .with_provider_and_native_roots(ring::default_provider())?
        .https_or_http()
        .enable_http1();
    let https = https.wrap_connector(ProxiedConnector::from_environment());
    Ok(Client::builder(TokioExecutor::new()).pool_timer(TokioTimer::new()).pool_idle_timeout(IDLE).build(https))
}
