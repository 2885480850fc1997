//! A bound socket and the routes in, connections served until the server is asked to stop. Must not know what the routes do.

use super::router::Routes;
use super::settings::RequestLimits;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

/// How long to wait before the next attempt when the system has no socket to give (too many open files).
const PAUSE: Duration = Duration::from_millis(100);

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
    builder.timer(TokioTimer::new()).header_read_timeout(limits.header_timeout);
    let places = Arc::new(Semaphore::new(limits.max_connections));
    let mut stop = pin!(stop);
    loop {
        let place = tokio::select! {
            place = places.clone().acquire_owned() => place,
            () = &mut stop => break,
        };
        let stream = tokio::select! {
            stream = accept(&listener) => stream,
            () = &mut stop => break,
        };
        let connection = builder.serve_connection(TokioIo::new(stream), TowerToHyperService::new(routes.router.clone())).with_upgrades();
        let mut open = routes.connections.open();
        tokio::spawn(async move {
            let _place = place;
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
    let requests = u32::try_from(limits.max_requests).unwrap_or(u32::MAX);
    let finished = async {
        routes.connections.closed().await;
        // What still runs are mutations whose clients have left.
        let _ = routes.permits.acquire_many(requests).await;
    };
    match tokio::time::timeout(limits.shutdown_timeout, finished).await {
        Ok(_) => Stopped::Finished,
        Err(_) => Stopped::CutOff,
    }
}

/// The next connection. An error concerns one connection, or passes: none ends the server.
async fn accept(listener: &TcpListener) -> TcpStream {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                // A response is written at once. Waiting for more of it would only delay it.
                let _ = stream.set_nodelay(true);
                return stream;
            }
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}
