//! A bound socket and the routes in, connections served until the server is asked to stop. Must not know what the routes do.

use super::client::ClientAddress;
use super::connection::Connection;
use super::quota::Quota;
use super::router::Routes;
use super::settings::RequestLimits;
use axum::http::{Request, StatusCode};
use axum::response::Response;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::future::Future;
use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tower::ServiceExt;

/// How long to wait before the next attempt when the system has no socket to give (too many open files).
const PAUSE: Duration = Duration::from_millis(100);

/// Longest header of a request, in bytes. A longer operation comes by POST.
const LONGEST_HEADER: usize = 32 << 10;

/// Whether every request was finished when the server stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stopped {
    /// All were answered.
    Finished,
    /// Some were cut off when the time for shutting down was over.
    CutOff,
}

/// Serves until `stop` resolves, then lets the requests that have begun finish, within the time for shutting down.
///
/// It speaks HTTP/1.1 only. For HTTP/2 without TLS, a server must first read which protocol the client speaks, and the library does that
/// without a time limit. TLS, and HTTP/2 with it, belongs to the load balancer in front.
///
/// A WebSocket closes once its operations are answered. Mutations whose clients have left run to their end.
pub async fn serve(listener: TcpListener, routes: Routes, limits: &RequestLimits, stop: impl Future<Output = ()>) -> Stopped {
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(limits.header_timeout).max_buf_size(LONGEST_HEADER);
    let most = limits.shared.max_connections;
    let places = Arc::new(Semaphore::new(most));
    // The peer of a connection through a proxy is not a client.
    let clients = if limits.shared.trusted_proxies == 0 { Quota::with_quarters(most) } else { Quota::new(most, most) };
    let mut stop = pin!(stop);
    loop {
        let place = tokio::select! {
            place = places.clone().acquire_owned() => place,
            () = &mut stop => break,
        };
        let (stream, peer) = tokio::select! {
            accepted = accept(&listener) => accepted,
            () = &mut stop => break,
        };
        // A client that already has its part is disconnected, so that it takes no place from others.
        let client = ClientAddress::of(peer);
        let shares = clients.take(client, 1).and_then(|share| Ok((share, routes.quotas.requests.take(client, 0)?)));
        let Ok((share, memory)) = shares else { continue };
        let mut open = routes.connections.open();
        let stream = Connection::new(stream, limits.write_timeout, memory, open.clone());
        let (received, answered, proxies) = (stream.received(), stream.received(), limits.shared.trusted_proxies);
        let service = routes.router.clone().map_request(move |mut request: Request<Incoming>| {
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
        let connection = builder.serve_connection(TokioIo::new(stream), TowerToHyperService::new(service)).with_upgrades();
        tokio::spawn(async move {
            let _places = (place, share);
            let mut connection = pin!(connection);
            let ended = tokio::select! {
                ended = connection.as_mut() => ended,
                () = open.closing() => {
                    connection.as_mut().graceful_shutdown();
                    connection.await
                }
            };
            if let Err(error) = ended {
                tracing::debug!(%error, "a connection ended early");
            }
        });
    }
    drop(listener);
    routes.connections.close();
    let finished = async {
        routes.connections.closed().await;
        // What still runs are mutations whose clients have left.
        routes.quotas.operations.all_returned().await;
    };
    match tokio::time::timeout(limits.shutdown_timeout, finished).await {
        Ok(_) => Stopped::Finished,
        Err(_) => Stopped::CutOff,
    }
}

/// The next connection, and the address of its peer. An error concerns one connection, or passes: none ends the server.
async fn accept(listener: &TcpListener) -> (TcpStream, IpAddr) {
    loop {
        match listener.accept().await {
            Ok((stream, peer)) => {
                // A response is written at once. Waiting for more of it would only delay it.
                let _ = stream.set_nodelay(true);
                return (stream, peer.ip());
            }
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}
