//! A server on a free port, and a backend that answers by the text of the operation.

use futures_util::future::BoxFuture;
use futures_util::{FutureExt, StreamExt};
use keyfold::execute::error::{ErrorCode, GraphqlError};
use keyfold::execute::gateway::Response;
use keyfold::serve::backend::{Backend, Execution, Invocation, MayNotWrite, OperationAnswer};
use keyfold::serve::browsers::host::Hosts;
use keyfold::serve::browsers::origins::Origins;
use keyfold::serve::console::page::{CallerChoice, Console, PageParts};
use keyfold::serve::documents::lookup::Documents;
use keyfold::serve::documents::persisted::PersistedDocuments;
use keyfold::serve::listener::{self, Stopped};
use keyfold::serve::router::{Parts, router};
use keyfold::serve::settings::{RequestLimits, SharedLimits};
use keyfold::serve::sign_in::authenticator::Authenticator;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::{Notify, oneshot};
use tokio::task::JoinHandle;

/// Answers by the text: `echo` returns the request, `hang` never answers, `feed` is a subscription without events,
/// `hold` and `mutation that holds` wait until they are released, `panic` and `mutation that panics` panic, `large`
/// gives 5 MB, `invalid` and `unavailable` fail. A text with `mutation` in it writes.
#[derive(Default)]
pub struct Machine {
    /// One notice for each `hold` that has started.
    pub held: Arc<Notify>,
    /// Releases a `hold`.
    pub release: Arc<Notify>,
    /// Why the tables are not ready.
    pub trouble: Option<&'static str>,
}

impl Backend for Machine {
    fn begin(&self, invocation: Invocation) -> BoxFuture<'static, Result<Execution, MayNotWrite>> {
        let (held, release) = (self.held.clone(), self.release.clone());
        let data = |data: serde_json::Value| Response {
            body: serde_json::json!({"data": data}).to_string().into(),
            ..Response::default()
        };
        let writes = invocation.request.query.contains("mutation");
        if writes && !invocation.may_write {
            return async { Err(MayNotWrite) }.boxed();
        }
        if invocation.request.query == "feed" && invocation.may_last {
            let answer = OperationAnswer::Many(futures_util::stream::pending().boxed());
            return async { Ok(Execution { writes: false, answer }) }.boxed();
        }
        let response = async move {
            match invocation.request.query.as_str() {
                "hang" => std::future::pending().await,
                "hold" | "mutation that holds" => {
                    held.notify_one();
                    release.notified().await;
                    data("released".into())
                }
                "panic" | "mutation that panics" => panic!("on purpose"),
                "large" => Response {
                    body: format!("{{\"data\":\"{}\"}}", "x".repeat(5_000_000)).into(),
                    ..Response::default()
                },
                "invalid" => refused(ErrorCode::GraphqlValidationFailed),
                "unavailable" => refused(ErrorCode::Unavailable),
                _ => data(serde_json::json!({
                    "query": invocation.request.query, "variables": invocation.request.variables,
                    "operationName": invocation.request.operation_name, "explain": invocation.explain,
                })),
            }
        };
        async move { Ok(Execution::single(writes, response)) }.boxed()
    }

    fn ready(&self) -> BoxFuture<'static, Result<(), String>> {
        let answer = self.trouble.map_or(Ok(()), |trouble| Err(trouble.to_owned()));
        async move { answer }.boxed()
    }
}

fn refused(code: ErrorCode) -> Response {
    Response::refused(&[GraphqlError::new(code, "on purpose")])
}

/// A running server.
pub struct Running {
    pub address: SocketAddr,
    pub client: reqwest::Client,
    stop: Option<oneshot::Sender<()>>,
    served: JoinHandle<Stopped>,
}

impl Running {
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub fn get(&self, path: &str) -> reqwest::RequestBuilder {
        self.client.get(self.url(path))
    }

    pub fn post(&self, body: &'static str) -> reqwest::RequestBuilder {
        self.client.post(self.url("/graphql")).header("content-type", "application/json").body(body)
    }

    /// Asks the server to stop without waiting for it.
    pub fn ask_to_stop(&mut self) {
        self.stop.take().unwrap().send(()).unwrap();
    }

    /// Waits for the server to stop, and gives its result.
    pub async fn stopped(self) -> Stopped {
        self.served.await.unwrap()
    }
}

pub fn limits() -> RequestLimits {
    RequestLimits {
        body_limit: 1000,
        max_batch: 3,
        header_timeout: Duration::from_secs(30),
        keep_alive: Duration::from_secs(30),
        body_timeout: Duration::from_secs(30),
        request_timeout: Duration::from_secs(30),
        write_timeout: Duration::from_secs(30),
        shutdown_timeout: Duration::from_secs(30),
        shared: SharedLimits::default(),
    }
}

pub fn parts(backend: impl Backend) -> Parts {
    let page = PageParts { plan: true, development: false, callers: CallerChoice::None };
    let (console, authenticator) =
        (Some(Console::new(Arc::new(vec!["{ echo }".to_owned()]), page)), Authenticator::off());
    let documents = Documents::new(None, false, Some(PersistedDocuments::new(1 << 20)));
    Parts {
        backend: Arc::new(backend),
        authenticator,
        limits: limits(),
        documents,
        explain: true,
        console,
        development: None,
        origins: Origins::default(),
        hosts: Hosts::All,
        telemetry: Arc::default(),
    }
}

pub async fn start(parts: Parts) -> Running {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let limits = parts.limits.clone();
    let routes = router(parts);
    let (stop, stopped) = oneshot::channel();
    let served = tokio::spawn(async move {
        let stop = async { stopped.await.unwrap_or(()) };
        listener::serve(listener.into(), routes, &limits, stop).await
    });
    Running { address, client: reqwest::Client::new(), stop: Some(stop), served }
}
