//! `keyfold serve` on a server of which two calls in a hundred are four seconds late.

use super::dynamo::Dynamo;
use super::process::{Process, keyfold};
use super::server::{Server, load, samples, schema};
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, Response};
use futures_util::future::join_all;
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

const LATE: Duration = Duration::from_secs(4);
const CLIENTS: usize = 4;
const REQUESTS: usize = 600;

/// A proxy before a server that holds every fiftieth call back, and counts all.
struct Proxy {
    url: String,
    client: reqwest::Client,
    calls: AtomicUsize,
}

async fn pass(State(proxy): State<Arc<Proxy>>, headers: HeaderMap, body: Bytes) -> Response<Body> {
    if proxy.calls.fetch_add(1, Ordering::SeqCst) % 50 == 49 {
        tokio::time::sleep(LATE).await;
    }
    let answer = proxy.client.post(&proxy.url).headers(headers).body(body).send().await.unwrap();
    let mut response = Response::builder().status(answer.status());
    *response.headers_mut().unwrap() = answer.headers().clone();
    response.body(Body::from(answer.bytes().await.unwrap())).unwrap()
}

/// The times of requests by key and by partition, in order of their length, and the number of calls.
async fn times(hedge: &str) -> (Vec<Duration>, usize) {
    let (dynamo, directory) = (Dynamo::start(), tempfile::tempdir().unwrap());
    load(&dynamo, directory.path(), &samples());
    let proxy = Arc::new(Proxy { url: dynamo.url(), client: reqwest::Client::new(), calls: AtomicUsize::new(0) });
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let routes = axum::Router::new().fallback(pass).with_state(proxy.clone());
    let service = hyper_util::service::TowerToHyperService::new(routes);
    tokio::spawn(async move {
        loop {
            let (stream, service) = (listener.accept().await.unwrap().0, service.clone());
            let served = hyper::server::conn::http1::Builder::new()
                .serve_connection(hyper_util::rt::TokioIo::new(stream), service);
            tokio::spawn(served);
        }
    });
    let (url, schema) = (format!("http://{address}"), schema());
    let arguments =
        ["serve", "--listen", "127.0.0.1:0", "--schema", &schema, "--endpoint-url", &url, "--log-format", "json"];
    let mut process = Process::start(keyfold(directory.path(), &[&arguments[..], &["--hedge", hedge]].concat()));
    let line: serde_json::Value = serde_json::from_str(&process.wait_for("\"serving\"")).unwrap();
    let address = line["address"].as_str().or(line["fields"]["address"].as_str()).unwrap();
    let url = format!("http://{address}");
    let server = Server { url, process, client: reqwest::Client::new(), dynamo: Some(dynamo), _directory: directory };
    let before = proxy.calls.load(Ordering::SeqCst);
    let clients = (0..CLIENTS).map(|_| async {
        let mut times = Vec::new();
        for number in 0..REQUESTS / CLIENTS {
            let query = if number % 2 == 0 {
                "query ($id: ID!) { user(id: $id) { name } }"
            } else {
                "query ($id: ID!) { user(id: $id) { memberships { nodes { groupId } } } }"
            };
            let begun = Instant::now();
            server.ask(query, json!({ "id": "11111111-1111-4111-8111-111111111111" })).await.data();
            times.push(begun.elapsed());
        }
        times
    });
    let mut times: Vec<Duration> = join_all(clients).await.concat();
    times.sort_unstable();
    (times, proxy.calls.load(Ordering::SeqCst) - before)
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "it measures: run it on a machine that does nothing else"]
async fn two_late_calls_in_a_hundred_do_not_show() {
    for hedge in ["0", "5"] {
        let (times, calls) = times(hedge).await;
        let at = |share: f64| times[(times.len() as f64 * share) as usize];
        println!(
            "--hedge {hedge}: {calls} calls; p50 {:?}, p95 {:?}, p99 {:?}, p99.5 {:?}",
            at(0.5),
            at(0.95),
            at(0.99),
            at(0.995)
        );
        assert_eq!(at(0.99) < Duration::from_millis(300), hedge == "5");
    }
}
