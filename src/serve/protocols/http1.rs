//! A connection that speaks HTTP/1.1 in, its requests answered one after the other. It may become a WebSocket.

use super::accepted::{AcceptedConnection, EndedEarly, LONGEST_HEADER};
use crate::serve::client::ClientAddress;
use axum::http::{Request, StatusCode};
use axum::response::Response;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::pin::pin;
use tower::ServiceExt;

/// Serves the connection until it ends.
pub async fn serve(accepted: AcceptedConnection) -> Result<(), EndedEarly> {
    let AcceptedConnection { connection, peer, router, limits, mut open, .. } = accepted;
    let (received, answered, proxies) = (connection.received(), connection.received(), limits.shared.trusted_proxies);
    let service = router.map_request(move |mut request: Request<Incoming>| {
        received.header_is_complete();
        let client = ClientAddress::behind_proxies(peer, request.headers(), proxies);
        request.extensions_mut().insert(client);
        request.extensions_mut().insert(received.clone());
        request
    });
    let service = service.map_response(move |response: Response| {
        if response.status() != StatusCode::SWITCHING_PROTOCOLS {
            answered.header_begins();
        }
        response
    });
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(limits.header_timeout).max_buf_size(LONGEST_HEADER);
    let mut served = pin!(builder.serve_connection(TokioIo::new(connection), TowerToHyperService::new(service)).with_upgrades());
    tokio::select! {
        ended = served.as_mut() => return Ok(ended?),
        () = open.closing() => served.as_mut().graceful_shutdown(),
    }
    Ok(served.await?)
}
