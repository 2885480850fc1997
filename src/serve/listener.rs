//! A bound socket and the routes in, connections served until the process is asked to stop. Must not know what the routes do.

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
use tokio::sync::{Semaphore, watch};

/// How long to wait before the next try where the system has no socket to give (too many open files).
const PAUSE: Duration = Duration::from_millis(100);

/// Whether every request was finished when the server stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stopped {
    /// All were answered.
    Finished,
    /// Some were cut off at the end of the time for shutting down.
    CutOff,
}

/// Serves until `stop` resolves, then lets the requests that have begun finish, within their time.
///
/// HTTP/1.1 only: for HTTP/2 without TLS a server must first read which of the two a client speaks, and the library does that without a
/// time limit. TLS, and HTTP/2 with it, is the work of the load balancer in front.
///
/// A connection that has become a WebSocket is no longer waited for, but the operations that it has begun are. So are the mutations whose
/// clients have left.
pub async fn serve(listener: TcpListener, routes: Routes, limits: &RequestLimits, stop: impl Future<Output = ()>) -> Stopped {
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(limits.header_timeout);
    let most = u32::try_from(limits.max_connections).unwrap_or(u32::MAX);
    let places = Arc::new(Semaphore::new(most as usize));
    let (stopping, asked) = watch::channel(false);
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
        let mut asked = asked.clone();
        tokio::spawn(async move {
            let _place = place;
            let mut connection = pin!(connection);
            let ended = tokio::select! {
                ended = connection.as_mut() => ended,
                () = async { drop(asked.wait_for(|stopping| *stopping).await) } => {
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
    let _ = stopping.send(true);
    let requests = u32::try_from(limits.max_requests).unwrap_or(u32::MAX);
    let finished = async {
        // Every connection holds a place for as long as it is open, and every request a permit for as long as it is worked on. Once the
        // connections are closed, only WebSockets can bring another request, and while all permits are wanted none gets one.
        let _ = places.acquire_many(most).await;
        let _ = routes.permits.acquire_many(requests).await;
    };
    match tokio::time::timeout(limits.shutdown_timeout, finished).await {
        Ok(_) => Stopped::Finished,
        Err(_) => Stopped::CutOff,
    }
}

/// The next connection. Errors here are of one connection, or pass: none ends the server.
async fn accept(listener: &TcpListener) -> TcpStream {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                // A response is written at once, so waiting for more of it would only delay it.
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
