//! A request in, its answer out, over a connection to the server that is kept for the next request. Must not know what
//! requests and answers mean.

use super::exchange::{ExchangeError, Stream, TableConnection, TableRequest};
use bytes::Bytes;
use foldhash::quality::RandomState;
use hyper::{HeaderMap, Response, Uri};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder, MaybeHttpsStream};
use hyper_util::client::legacy::connect::HttpConnector;
use rustls::crypto::ring;
use std::collections::HashMap;
use std::error::Error;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use thiserror::Error;
use tokio::runtime::{self, Handle};
use tokio::task::AbortHandle;
use tokio::time::{Instant, sleep, timeout};
use tower::ServiceExt;

/// Longest time to make a connection. Within a region it takes milliseconds.
pub(in crate::table) const CONNECT_LIMIT: Duration = Duration::from_secs(2);
/// How long a connection that nobody uses stays open.
const IDLE: Duration = Duration::from_secs(60);
/// How often connections that nobody uses are looked at.
const SWEEP: Duration = Duration::from_secs(1);

/// Connections to one server. A request takes that of its own runtime which was idle for the shortest time, or makes
/// one: a connection of another runtime would wake another thread.
pub(super) struct ConnectionPool {
    inner: Arc<Inner>,
}

struct Inner {
    server: Uri,
    connector: Connector,
    idle: Mutex<Idle>,
}

/// Connections without a request.
#[derive(Default)]
struct Idle {
    /// Those of each runtime, the last used one last.
    connections: HashMap<runtime::Id, Vec<(TableConnection, Instant)>, RandomState>,
    /// The task that sweeps them. It may end before they do: with its runtime.
    sweeper: Option<AbortHandle>,
}

/// Connects to the server.
enum Connector {
    Tcp(HttpConnector),
    Tls(HttpsConnector<HttpConnector>),
}

/// Why a request was not answered.
#[derive(Debug, Error)]
pub(super) enum SendError {
    /// There is no connection, so nothing was sent.
    #[error("no connection")]
    NotConnected(#[source] Box<dyn Error + Send + Sync>),
    /// No connection was made in time, so nothing was sent.
    #[error("no connection within {seconds} seconds", seconds = CONNECT_LIMIT.as_secs())]
    NotConnectedInTime,
    /// The connection was of no use.
    #[error(transparent)]
    Exchange(#[from] ExchangeError),
}

impl ConnectionPool {
    /// No connections yet, to the server of a URL. The error says why no certificates can be checked.
    pub(super) fn new(server: Uri) -> std::io::Result<Self> {
        let mut tcp = HttpConnector::new();
        tcp.set_nodelay(true);
        let connector = if server.scheme_str() == Some("https") {
            tcp.enforce_http(false);
            let tls = HttpsConnectorBuilder::new().with_provider_and_native_roots(ring::default_provider())?;
            Connector::Tls(tls.https_only().enable_http1().wrap_connector(tcp))
        } else {
            Connector::Tcp(tcp)
        };
        Ok(Self { inner: Arc::new(Inner { server, connector, idle: Mutex::default() }) })
    }

    /// Sends a request, and reads its answer whole; `begins` sees the header before the body has arrived. An idle
    /// connection may end at any moment; a request that it did not send any of goes over the next one.
    pub(super) async fn send(
        &self,
        mut request: TableRequest,
        begins: impl Fn(&HeaderMap),
    ) -> Result<Response<Bytes>, SendError> {
        loop {
            let kept = self.inner.take();
            let is_new = kept.is_none();
            let mut connection = match kept {
                Some(connection) => connection,
                // The future that connects is large, and rarely runs.
                None => Box::pin(self.inner.connect()).await?,
            };
            match connection.send(request, &begins).await {
                Ok(answer) => {
                    self.inner.keep(connection);
                    return Ok(answer);
                }
                Err(ExchangeError::Unsent(back)) if !is_new => request = back,
                Err(error) => return Err(error.into()),
            }
        }
    }
}

impl Inner {
    fn idle(&self) -> MutexGuard<'_, Idle> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The connection of this runtime that was idle for the shortest time.
    fn take(&self) -> Option<TableConnection> {
        let (connection, _) = self.idle().connections.get_mut(&Handle::current().id())?.pop()?;
        Some(connection)
    }

    /// Keeps a connection for the next request of this runtime.
    fn keep(self: &Arc<Self>, mut connection: TableConnection) {
        if connection.is_ready() {
            return self.push(connection);
        }
        // Its answer is here, and its own task has not ended its turn yet.
        let pool = self.clone();
        tokio::spawn(async move {
            if connection.ready().await {
                pool.push(connection);
            }
        });
    }

    fn push(self: &Arc<Self>, connection: TableConnection) {
        let mut idle = self.idle();
        idle.connections.entry(Handle::current().id()).or_default().push((connection, Instant::now()));
        if idle.sweeper.as_ref().is_none_or(AbortHandle::is_finished) {
            idle.sweeper = Some(tokio::spawn(sweep(Arc::downgrade(self))).abort_handle());
        }
    }

    async fn connect(&self) -> Result<TableConnection, SendError> {
        let connected = timeout(CONNECT_LIMIT, async {
            let stream = self.connector.stream(self.server.clone()).await?;
            Ok(TableConnection::new(stream).await?)
        });
        connected.await.map_err(|_| SendError::NotConnectedInTime)?.map_err(SendError::NotConnected)
    }
}

impl Connector {
    async fn stream(&self, server: Uri) -> Result<Stream, Box<dyn Error + Send + Sync>> {
        match self {
            Self::Tcp(tcp) => Ok(MaybeHttpsStream::Http(tcp.clone().oneshot(server).await?)),
            Self::Tls(tls) => tls.clone().oneshot(server).await,
        }
    }
}

/// Ends idle connections when it is time, until there are none or the pool is gone.
async fn sweep(pool: Weak<Inner>) {
    loop {
        sleep(SWEEP).await;
        let Some(pool) = pool.upgrade() else { return };
        let mut idle = pool.idle();
        idle.connections.retain(|_, of_runtime| {
            of_runtime.retain(|(connection, since)| since.elapsed() < IDLE && connection.is_ready());
            !of_runtime.is_empty()
        });
        if idle.connections.is_empty() {
            // Under the same lock, so that no connection comes in unseen.
            idle.sweeper = None;
            return;
        }
    }
}
