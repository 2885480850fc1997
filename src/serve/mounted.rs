//! The routes of a gateway inside the server of another program. Must not know what the program does besides.
//!
//! Keyfold's own server gives each request the address of its client. Here the program's server does, if it tells it.

use super::admission::Quotas;
use super::backend::Backend;
use super::client::ClientAddress;
use super::documents::lookup::Documents;
use super::endpoint::Endpoint;
use super::http::graphql::{self, HttpEndpoint};
use super::settings::RequestLimits;
use super::sign_in::authenticator::Authenticator;
use super::sign_in::rate_limit::RateLimit;
use axum::Router;
use axum::extract::{ConnectInfo, Request};
use axum::middleware::{Next, from_fn};
use axum::routing::any;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

/// What the routes are made of.
pub struct MountedParts {
    /// Runs the operations.
    pub backend: Arc<dyn Backend>,
    /// Checks who calls, where the program has not.
    pub authenticator: Authenticator,
    /// Bounds of one request.
    pub limits: RequestLimits,
}

/// The routes.
pub fn routes(parts: MountedParts) -> Router {
    let MountedParts { backend, authenticator, limits } = parts;
    let (quotas, proxies) = (Quotas::new(&limits.shared, limits.write_timeout), limits.shared.trusted_proxies);
    let endpoint = Arc::new(Endpoint {
        backend,
        rate_limit: limits.shared.rate_limit.map(RateLimit::new),
        limits,
        authenticator,
        documents: Documents::default(),
        explain: false,
        quotas,
        telemetry: Arc::default(),
    });
    let http = HttpEndpoint { endpoint, compressor: Arc::default() };
    Router::new().route("/graphql", any(graphql::handle).with_state(http)).layer(from_fn(
        move |mut request: Request, next: Next| {
            let peer = request.extensions().get::<ConnectInfo<SocketAddr>>();
            let peer = peer.map_or(IpAddr::V4(Ipv4Addr::LOCALHOST), |peer| peer.0.ip());
            let client = ClientAddress::behind_proxies(peer, request.headers(), proxies);
            request.extensions_mut().insert(client);
            next.run(request)
        },
    ))
}
