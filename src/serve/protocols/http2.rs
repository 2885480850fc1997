//! A connection that speaks HTTP/2 in, its requests answered side by side.
//!
//! What HTTP/1.1 bounds by a connection for each request is bounded here for each stream: the memory of its header and
//! of its handler, and the time over which the client must take its response. The connection has memory of its own
//! while streams run, and ends when nothing is asked for some time.

use super::accepted::{AcceptedConnection, EndedEarly, MAX_HEADER_BYTES};
use super::pieces::{PIECE, Pieces};
use super::stream_memory::ConnectionMemory;
use super::streams::Streams;
use crate::serve::client::ClientAddress;
use crate::serve::http::graphql::refuse;
use crate::serve::http::media_type::MediaType;
use crate::serve::http::status::HttpRefusal;
use axum::body::Body;
use axum::http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::pin::pin;
use std::time::Duration;
use tower::ServiceExt;

/// The bytes of bodies that a client may send before they are read, of one stream and of all together: what RFC 9113
/// begins with.
const WINDOW: u32 = (1 << 16) - 1;
/// The memory of a connection while streams run, in bytes: the window, a header that arrives, the tables of header
/// compression, and the buffers.
const CONNECTION: usize = (WINDOW as usize) + 2 * MAX_HEADER_BYTES;
/// The memory of a stream besides its header and its body, in bytes: its handler, and two pieces of its response.
const STREAM: usize = (8 << 10) + 2 * PIECE;
/// What a field of a header takes besides its name and value (RFC 9113 section 10.5.1).
const FIELD: usize = 32;

/// The most streams of a connection at once. Their memory bounds them, too.
const MAX_STREAMS: u32 = 256;
/// The most streams that a client may open and reset before they are looked at, and by mistakes. Then the connection
/// ends.
const MAX_RESET: usize = 32;
/// How often the client is asked whether it is still there, and how long it may take to answer.
const PING: Duration = Duration::from_secs(30);

/// How long a connection that ends waits for its client to agree.
const LAST: Duration = Duration::from_secs(5);

/// Serves the connection until it ends, or nothing is asked for the time of a header.
pub async fn serve(accepted: AcceptedConnection) -> Result<(), EndedEarly> {
    let AcceptedConnection { connection, peer, router, workers, requests, limits, mut open } = accepted;
    let (received, proxies) = (connection.received(), limits.shared.trusted_proxies);
    let own = ConnectionMemory::new(requests.clone(), CONNECTION, received.clone());
    let service = service_fn(move |mut request: Request<Incoming>| {
        let client = ClientAddress::behind_proxies(peer, request.headers(), proxies);
        request.extensions_mut().insert(client);
        request.extensions_mut().insert(received.clone());
        let memory = own.begin(client, STREAM + header_size(&request));
        let (router, workers) = (router.clone(), workers.clone());
        async move {
            let response = match &memory {
                // A proxy may have one connection for all its clients.
                Ok(_) => match workers.answer(router.oneshot(request.map(Body::new))).await {
                    Some(response) => response?,
                    None => refuse(MediaType::Json, &HttpRefusal::Failed),
                },
                Err(exhausted) => refuse(MediaType::Json, &(*exhausted).into()),
            };
            Ok::<_, Infallible>(response.map(|body| Pieces::new(body, memory.ok())))
        }
    });
    let streams = Streams::new(limits.write_timeout);
    let mut builder = http2::Builder::new(streams.clone());
    builder
        .timer(TokioTimer::new())
        .initial_stream_window_size(WINDOW)
        .initial_connection_window_size(WINDOW)
        .max_concurrent_streams(MAX_STREAMS)
        .max_header_list_size(MAX_HEADER_BYTES as u32)
        .max_pending_accept_reset_streams(MAX_RESET)
        .max_local_error_reset_streams(MAX_RESET)
        .max_send_buf_size(PIECE)
        .keep_alive_interval(PING)
        .keep_alive_timeout(PING);
    let mut served = pin!(builder.serve_connection(TokioIo::new(connection), service));
    tokio::select! {
        ended = served.as_mut() => return Ok(ended?),
        () = streams.idle(limits.header_timeout) => {}
        () = open.closing() => {}
    }
    served.as_mut().graceful_shutdown();
    tokio::select! {
        ended = served => Ok(ended?),
        () = streams.idle(LAST) => Ok(()),
    }
}

/// The memory of a request's header, in bytes.
fn header_size(request: &Request<Incoming>) -> usize {
    let target = request.uri().path_and_query().map_or(0, |target| target.as_str().len());
    request.headers().iter().map(|(name, value)| name.as_str().len() + value.len() + FIELD).sum::<usize>() + target
}
