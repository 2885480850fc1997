//! A connection that speaks HTTP/1.1 in, its requests answered one after the other. It may become a WebSocket.

use super::accepted::{AcceptedConnection, EndedEarly, MAX_HEADER_BYTES};
use super::workers::Workers;
use crate::serve::client::ClientAddress;
use crate::serve::http::graphql::refuse;
use crate::serve::http::media_type::MediaType;
use crate::serve::http::status::HttpRefusal;
use axum::body::Body;
use axum::http::header::UPGRADE;
use axum::http::{Request, StatusCode};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::pin::pin;
use tower::Service;

/// Serves the connection until it ends.
pub async fn serve(accepted: AcceptedConnection) -> Result<(), EndedEarly> {
    let AcceptedConnection { mut connection, peer, router, workers, limits, mut open, .. } = accepted;
    // hyper has one time for both.
    connection.wait_for_headers(limits.header_timeout, limits.keep_alive);
    let (received, proxies) = (connection.received(), limits.shared.trusted_proxies);
    let service = service_fn(move |mut request: Request<Incoming>| {
        received.header_is_complete();
        let client = ClientAddress::behind_proxies(peer, request.headers(), proxies);
        request.extensions_mut().insert(client);
        request.extensions_mut().insert(received.clone());
        // A WebSocket stays where its connection is.
        let workers = if request.headers().contains_key(UPGRADE) { Workers::default() } else { workers.clone() };
        // It is always ready.
        let answer = router.clone().call(request.map(Body::new));
        let answered = received.clone();
        async move {
            let response = match workers.answer(answer).await {
                Some(Ok(response)) => response,
                _ => refuse(MediaType::Json, &HttpRefusal::Failed),
            };
            if response.status() != StatusCode::SWITCHING_PROTOCOLS {
                answered.header_begins();
            }
            let answering = answered.answers();
            let until_its_end = move |error| {
                let _answering = &answering;
                error
            };
            Ok::<_, Infallible>(response.map(|body| body.map_err(until_its_end)))
        }
    });
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(None).max_buf_size(MAX_HEADER_BYTES);
    let mut served = pin!(builder.serve_connection(TokioIo::new(connection), service).with_upgrades());
    tokio::select! {
        ended = served.as_mut() => return Ok(ended?),
        () = open.closing() => served.as_mut().graceful_shutdown(),
    }
    Ok(served.await?)
}
