//! A bound socket and the routes in, connections served until the server is asked to stop. Must not know what the
//! routes do.

use super::client::ClientAddress;
use super::connection::Connection;
use super::protocols::accepted::AcceptedConnection;
use super::protocols::choose;
use super::router::Routes;
use super::settings::RequestLimits;
use std::future::Future;
use std::net::IpAddr;
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
/// It speaks HTTP/1.1, and HTTP/2 to clients that begin with it. TLS belongs to the load balancer in front.
///
/// What holds the listener, too, may go on with it.
///
/// A WebSocket closes once its operations are answered. Mutations whose clients have left run to their end.
pub async fn serve(
    listener: Arc<TcpListener>,
    routes: Routes,
    limits: &RequestLimits,
    stop: impl Future<Output = ()>,
) -> Stopped {
    let most = limits.shared.max_connections;
    let places = Arc::new(Semaphore::new(most));
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
        let client = ClientAddress::new(peer);
        let shares =
            routes.clients.take(client, 1).and_then(|share| Ok((share, routes.quotas.requests.take(client, 0)?)));
        let Ok((share, memory)) = shares else { continue };
        let (open, limits, workers) = (routes.connections.open(), limits.clone(), routes.workers.clone());
        let (router, requests) = (routes.router.clone(), routes.quotas.requests.clone());
        routes.workers.serve(async move {
            let _places = (place, share);
            let served = async {
                // The runtime of the worker watches the socket from here on.
                let connection =
                    Connection::new(TcpStream::from_std(stream)?, limits.write_timeout, memory, open.clone());
                choose::serve(AcceptedConnection { connection, peer, router, workers, requests, limits, open }).await
            };
            if let Err(error) = served.await {
                tracing::debug!(%error, "a connection ended early");
            }
        });
    }
    drop(listener);
    routes.backend.close();
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
async fn accept(listener: &TcpListener) -> (std::net::TcpStream, IpAddr) {
    loop {
        match listener.accept().await {
            Ok((stream, peer)) => {
                // A response is written at once. Waiting for more of it would only delay it.
                let _ = stream.set_nodelay(true);
                match stream.into_std() {
                    Ok(stream) => return (stream, peer.ip()),
                    Err(error) => tracing::warn!(%error, "a connection could not be handed over"),
                }
            }
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}
