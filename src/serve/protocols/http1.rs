//! A connection that speaks HTTP/1.1 in, its requests answered one after the other. It may become a WebSocket.

use super::accepted::{AcceptedConnection, EndedEarly, LONGEST_HEADER};
use crate::serve::client::ClientAddress;
use axum::body::Body;
use axum::http::{Request, StatusCode};
use futures_util::TryFutureExt;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::pin::pin;
use tower::Service;

/// Serves the connection until it ends.
pub async fn serve(accepted: AcceptedConnection) -> Result<(), EndedEarly> {
    let AcceptedConnection { connection, peer, router, limits, mut open, .. } = accepted;
    let (received, proxies) = (connection.received(), limits.shared.trusted_proxies);
    let service = service_fn(move |mut request: Request<Incoming>| {
        received.header_is_complete();
        let client = ClientAddress::behind_proxies(peer, request.headers(), proxies);
        request.extensions_mut().insert(client);
        request.extensions_mut().insert(received.clone());
        let answered = received.clone();
        // It is always ready.
        router.clone().call(request.map(Body::new)).inspect_ok(move |response| {
            if response.status() != StatusCode::SWITCHING_PROTOCOLS {
                answered.header_begins();
            }
        })
    });
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(limits.header_timeout).max_buf_size(LONGEST_HEADER);
    let mut served = pin!(builder.serve_connection(TokioIo::new(connection), service).with_upgrades());
    tokio::select! {
        ended = served.as_mut() => return Ok(ended?),
        () = open.closing() => served.as_mut().graceful_shutdown(),
    }
    Ok(served.await?)
}
