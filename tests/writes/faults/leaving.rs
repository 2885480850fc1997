//! Clients that hang up during a mutation, over HTTP and over a WebSocket: it runs to its end, and a stopping server
//! waits for it.

use super::backend::{Backend, Call, GROUP, is_write};
use crate::scripted::Reply;
use futures_util::{SinkExt, StreamExt};
use keyfold::serve::backend::current_gateway::CurrentGateway;
use keyfold::serve::browsers::host::Hosts;
use keyfold::serve::browsers::origins::Origins;
use keyfold::serve::documents::lookup::Documents;
use keyfold::serve::listener::{self, Stopped};
use keyfold::serve::router::{Parts, router};
use keyfold::serve::settings::{RequestLimits, SharedLimits};
use keyfold::serve::sign_in::authenticator::Authenticator;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, oneshot};
use tokio::task::JoinHandle;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;

/// Longer than any wait of these tests.
const BOUND: Duration = Duration::from_secs(30);

/// A server on a backend. One call is held until it is released.
struct Held {
    backend: Backend,
    address: SocketAddr,
    stop: oneshot::Sender<()>,
    served: JoinHandle<Stopped>,
    begun: Arc<Notify>,
    release: Arc<Notify>,
}

impl Held {
    /// Holds the first call that `which` picks.
    async fn new(backend: Backend, which: impl Fn(&Call<'_>) -> bool + Send + Sync + 'static) -> Self {
        let (begun, release) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let (has_begun, let_go) = (begun.clone(), release.clone());
        let first = std::sync::atomic::AtomicBool::new(true);
        backend.script(move |call| {
            let held = which(call) && first.swap(false, std::sync::atomic::Ordering::Relaxed);
            held.then(|| {
                has_begun.notify_one();
                Reply::Held(let_go.clone(), Box::new(call.table.apply(call.operation, call.body.clone())))
            })
        });
        let limits = RequestLimits {
            body_limit: 100_000,
            max_batch: 3,
            header_timeout: BOUND,
            keep_alive: BOUND,
            body_timeout: BOUND,
            request_timeout: BOUND,
            write_timeout: BOUND,
            shutdown_timeout: BOUND,
            shared: SharedLimits { max_requests: 1, ..SharedLimits::default() },
        };
        let current = Arc::new(CurrentGateway::new(backend.gateway.clone()));
        let (console, origins, hosts) = (None, Origins::default(), Hosts::All);
        let authenticator = Authenticator::off();
        let limits_of_all = limits.clone();
        let routes = router(Parts {
            backend: current,
            authenticator,
            limits: limits_of_all,
            documents: Documents::default(),
            explain: false,
            console,
            development: None,
            origins,
            hosts,
            telemetry: Arc::default(),
        });
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel();
        let served = tokio::spawn(async move {
            listener::serve(listener.into(), routes, &limits, async { stopped.await.unwrap_or(()) }).await
        });
        Self { backend, address, stop, served, begun, release }
    }

    /// Sends an operation over HTTP and hangs up while it runs. Returns when the server has closed the connection.
    async fn leave(&self, operation: &str, variables: Value) {
        let body = json!({ "query": operation, "variables": variables }).to_string();
        let head = format!(
            "POST /graphql HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        stream.write_all(format!("{head}{body}").as_bytes()).await.unwrap();
        self.has_begun().await;
        stream.shutdown().await.unwrap();
        let mut answer = Vec::new();
        let _ = tokio::time::timeout(BOUND, stream.read_to_end(&mut answer)).await.unwrap();
        assert_eq!(String::from_utf8_lossy(&answer), "", "the client left before the answer");
    }

    /// Sends an operation over a WebSocket and abandons it with this message while it runs. Returns when the server has
    /// handled the message.
    async fn abandon(&self, operation: &str, variables: Value, by: Message) {
        let mut request = format!("ws://{}/graphql/ws", self.address).into_client_request().unwrap();
        request.headers_mut().insert("sec-websocket-protocol", "graphql-transport-ws".parse().unwrap());
        let (mut socket, _) = tokio_tungstenite::connect_async(request).await.unwrap();
        let subscribe =
            json!({ "id": "a", "type": "subscribe", "payload": { "query": operation, "variables": variables } });
        for message in [json!({ "type": "connection_init" }), subscribe] {
            socket.send(Message::text(message.to_string())).await.unwrap();
        }
        self.has_begun().await;
        let closes = by.is_close();
        socket.send(by).await.unwrap();
        if !closes {
            socket.send(Message::text(json!({ "type": "ping" }).to_string())).await.unwrap();
        }
        loop {
            match tokio::time::timeout(BOUND, socket.next()).await.unwrap() {
                Some(Ok(message)) if !closes && message.to_text().is_ok_and(|text| text.contains("pong")) => return,
                Some(Ok(_)) => {}
                _ => return,
            }
        }
    }

    async fn has_begun(&self) {
        tokio::time::timeout(BOUND, self.begun.notified()).await.unwrap();
    }

    /// The status of another request.
    async fn status(&self) -> u16 {
        let request = reqwest::Client::new()
            .post(format!("http://{}/graphql", self.address))
            .header("content-type", "application/json");
        request.body(json!({ "query": "{ __typename }" }).to_string()).send().await.unwrap().status().as_u16()
    }

    /// Stops the server and releases the held call.
    async fn end(self) -> Backend {
        self.stop.send(()).unwrap();
        self.release.notify_one();
        assert_eq!(tokio::time::timeout(BOUND, self.served).await.unwrap().unwrap(), Stopped::Finished);
        self.backend
    }
}

/// One operation that opens thirty accounts.
fn thirty() -> String {
    let fields: Vec<String> =
        (0..30).map(|number| format!("a{number}: open(id: \"{number}\", coins: 1) {{ coins }}")).collect();
    format!("mutation {{ {} }}", fields.join(" "))
}

fn first_write(call: &Call<'_>) -> bool {
    is_write(call.operation)
}

#[tokio::test]
async fn a_mutation_whose_client_hangs_up_is_written_to_its_last_field() {
    let held = Held::new(Backend::new("ledger").await, first_write).await;
    held.leave(&thirty(), json!({})).await;
    let backend = held.end().await;
    assert_eq!(backend.items().len(), 30);
}

#[tokio::test]
async fn a_mutation_whose_socket_closes_is_written_to_its_last_field() {
    let complete = Message::text(json!({ "id": "a", "type": "complete" }).to_string());
    for by in [Message::Close(None), complete] {
        let held = Held::new(Backend::new("ledger").await, first_write).await;
        held.abandon(&thirty(), json!({}), by.clone()).await;
        let backend = held.end().await;
        assert_eq!(backend.items().len(), 30, "{by:?}");
    }
}

#[tokio::test]
async fn a_mutation_without_a_client_still_counts_as_a_request() {
    let held = Held::new(Backend::new("ledger").await, first_write).await;
    held.leave(&thirty(), json!({})).await;
    assert_eq!(held.status().await, 503, "the only place is taken");
    held.end().await;
}

/// The sweep after a delete runs, too: it finds the entry that was put meanwhile.
#[tokio::test]
async fn a_delete_whose_client_hangs_up_sweeps() {
    let backend = Backend::new("ledger").await;
    backend.ok("mutation { open(id: \"a\", coins: 0) { id } }", json!({})).await;
    let held = Held::new(backend, first_write).await;
    held.leave("mutation { retire(id: \"a\") { id } }", json!({})).await;
    let s = |text: &str| json!({ "S": text });
    let entry = json!({ "PK": s("Account#a"), "SK": s("Entry#1"), "text": s("t"), "shelf": s("s"), "state": s("new"), "StateKey": s("s#new") });
    held.backend.table.put("ledger", entry);
    assert_eq!(held.end().await.items(), Vec::<String>::new());
}

/// A query ends when its client hangs up, because nobody needs its answer.
#[tokio::test]
async fn a_query_whose_client_hangs_up_ends() {
    let held = Held::new(Backend::new("pantry").await, |call| call.operation == "GetItem").await;
    held.leave("query ($g: ID!) { group(id: $g) { name } }", json!({ "g": GROUP })).await;
    assert_eq!(held.status().await, 200, "its place is free again");
    held.end().await;
}
