//! `keyfold serve` on a server behind a proxy that can throttle a table, with metrics, JSON logs and, if wanted,
//! traces.

use crate::dynamo::Dynamo;
use crate::process::{KEY, Process, keyfold};
use crate::server::{TABLE, load, samples, schema};
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, Response};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tempfile::TempDir;

/// Passes calls on. It names each answer, as DynamoDB does, and can throttle the calls of a table.
pub struct Proxy {
    server: String,
    client: reqwest::Client,
    answers: AtomicUsize,
    /// The table to throttle, and how many of its calls.
    pub throttles: Mutex<(String, usize)>,
    /// How many calls were throttled.
    pub throttled: AtomicUsize,
    /// How many of the next calls are made, and their answers cut off, if they are reads.
    pub cut_off: AtomicUsize,
}

async fn pass(State(proxy): State<Arc<Proxy>>, headers: HeaderMap, body: Bytes) -> Response<Body> {
    let number = proxy.answers.fetch_add(1, Ordering::SeqCst);
    let response = Response::builder().header("x-amzn-requestid", format!("ANSWER{number}"));
    let is_throttled = {
        let mut throttles = proxy.throttles.lock().unwrap();
        let named = throttles.1 > 0 && String::from_utf8_lossy(&body).contains(&format!("\"{}\"", throttles.0));
        throttles.1 -= usize::from(named);
        named
    };
    if is_throttled {
        proxy.throttled.fetch_add(1, Ordering::SeqCst);
        let refusal =
            json!({ "__type": "com.amazonaws.dynamodb.v20120810#ThrottlingException", "message": "Too much." });
        return response.status(400).body(Body::from(refusal.to_string())).unwrap();
    }
    let is_read = headers.get("x-amz-target").is_some_and(|target| {
        !target.to_str().unwrap().contains("Write") && !target.to_str().unwrap().contains("Update")
    });
    if is_read && proxy.cut_off.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_ok() {
        return response.header("x-amz-crc32", "1").body(Body::from("{")).unwrap();
    }
    let answer = proxy.client.post(&proxy.server).headers(headers).body(body).send().await;
    let Ok(answer) = answer else { return response.status(502).body(Body::empty()).unwrap() };
    let mut response = response.status(answer.status());
    for (name, value) in answer.headers().iter().filter(|(name, _)| *name != "x-amzn-requestid") {
        response = response.header(name, value);
    }
    response.body(Body::from(answer.bytes().await.unwrap_or_default())).unwrap()
}

/// A client of a gateway.
#[derive(Clone)]
pub struct Caller {
    pub client: reqwest::Client,
    pub url: String,
}

impl Caller {
    /// Sends a body as Aiko, with these headers besides.
    pub async fn send(&self, body: Value, headers: &[(&str, &str)]) -> Value {
        let mut request = self.client.post(format!("{}/graphql", self.url)).header("content-type", "application/json");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let response = request.header("x-api-key", KEY).body(body.to_string()).send().await.unwrap();
        serde_json::from_slice(&response.bytes().await.unwrap()).unwrap()
    }
}

/// A gateway, and what it says of itself.
pub struct Observed {
    pub process: Process,
    pub caller: Caller,
    pub metrics_url: String,
    pub proxy: Arc<Proxy>,
    pub directory: TempDir,
    pub dynamo: Dynamo,
}

impl Observed {
    /// A gateway with the samples of the pantry, with these options and variables besides.
    pub async fn start(options: &[&str], variables: &[(&str, &str)]) -> Self {
        Self::start_on(&schema(), options, variables).await
    }

    /// The same on another schema of the same tables.
    pub async fn start_on(schema: &str, options: &[&str], variables: &[(&str, &str)]) -> Self {
        let (dynamo, directory) = (Dynamo::start(), tempfile::tempdir().unwrap());
        load(&dynamo, directory.path(), &samples());
        let proxy = Arc::new(Proxy {
            server: dynamo.url(),
            client: reqwest::Client::new(),
            answers: AtomicUsize::new(0),
            throttles: Mutex::new((TABLE.to_owned(), 0)),
            throttled: AtomicUsize::new(0),
            cut_off: AtomicUsize::new(0),
        });
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        let routes = axum::Router::new().fallback(pass).with_state(proxy.clone());
        tokio::spawn(async move { axum::serve(listener, routes).await });
        let arguments = [
            "serve",
            "--listen",
            "127.0.0.1:0",
            "--schema",
            schema,
            "--endpoint-url",
            &endpoint,
            "--log-format",
            "json",
        ];
        let mut command = keyfold(
            directory.path(),
            &[&arguments[..], &["--metrics-listen", "127.0.0.1:0", "--explain"], options].concat(),
        );
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("OTEL_")) {
            command.env_remove(name);
        }
        command.envs(variables.iter().copied());
        let mut process = Process::start(command);
        let mut address = |text: &str| {
            let line: Value = serde_json::from_str(&process.wait_for(text)).unwrap();
            format!("http://{}", line["address"].as_str().unwrap())
        };
        let (metrics, url) = (address("\"the metrics are at /metrics\""), address("\"serving\""));
        let metrics_url = format!("{metrics}/metrics");
        // The server closes a connection that is silent for ten seconds. A request must not meet that.
        let client = reqwest::Client::builder().pool_idle_timeout(Duration::from_secs(2)).build().unwrap();
        Self { process, caller: Caller { client, url }, metrics_url, proxy, directory, dynamo }
    }

    /// Sends a body as Aiko, with these headers besides.
    pub async fn send(&self, body: Value, headers: &[(&str, &str)]) -> Value {
        self.caller.send(body, headers).await
    }

    /// The metrics as text.
    pub async fn text(&self) -> String {
        self.caller.client.get(&self.metrics_url).send().await.unwrap().text().await.unwrap()
    }

    /// The metrics.
    pub async fn metrics(&self) -> Series {
        Series::read(&self.text().await)
    }

    /// The log lines with this message so far.
    pub fn lines(&mut self, message: &str) -> Vec<Value> {
        let lines = self.process.said_so_far().iter().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        lines.filter(|line| line["message"] == message).collect()
    }

    /// Ends it as a supervisor does, and waits for its end.
    pub fn end(&mut self) {
        self.process.terminate();
        assert!(self.process.ended().success(), "{}", self.process.said.join("\n"));
    }
}

/// The value of each series: its name, and its labels in the order of their names.
#[derive(Debug, Clone)]
pub struct Series(pub BTreeMap<(String, Vec<(String, String)>), f64>);

impl Series {
    /// Reads the classic text of Prometheus. Values of labels have no quotation marks here.
    fn read(text: &str) -> Self {
        let series = text.lines().filter(|line| !line.starts_with('#')).map(|line| {
            let (named, value) = line.rsplit_once(' ').unwrap();
            let (name, labels) = named.split_once('{').unwrap_or((named, "}"));
            // Each label ends with a quotation mark: `a="1",b="2"`.
            let labels = labels.trim_end_matches('}').split_inclusive('"').collect::<Vec<_>>();
            let pairs = labels
                .chunks_exact(2)
                .map(|pair| (pair[0].trim_start_matches(',').trim_end_matches("=\""), pair[1].trim_end_matches('"')));
            let mut labels: Vec<(String, String)> =
                pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
            labels.sort();
            ((name.to_owned(), labels), value.parse().unwrap())
        });
        Self(series.collect())
    }

    /// The sum of the series of this name that have these labels.
    pub fn sum(&self, name: &str, labels: &[(&str, &str)]) -> f64 {
        let has = |known: &[(String, String)]| {
            labels.iter().all(|(name, value)| known.iter().any(|(n, v)| n == name && v == value))
        };
        self.0.iter().filter(|((known, of), _)| known == name && has(of)).fold(0.0, |sum, (_, value)| sum + value)
    }

    /// The values that a label has.
    pub fn values_of(&self, label: &str) -> std::collections::BTreeSet<String> {
        self.0
            .keys()
            .flat_map(|(_, labels)| labels)
            .filter(|(name, _)| name == label)
            .map(|(_, value)| value.clone())
            .collect()
    }

    /// What has grown since, by the values of a label: the greatest growth first.
    pub fn growth(&self, before: &Self, name: &str, label: &str) -> Vec<(String, f64)> {
        let mut grown: Vec<(String, f64)> = self
            .values_of(label)
            .into_iter()
            .map(|value| {
                let of = [(label, value.as_str())];
                let growth = self.sum(name, &of) - before.sum(name, &of);
                (value, growth)
            })
            .filter(|(_, growth)| *growth > 0.0)
            .collect();
        grown.sort_by(|a, b| b.1.total_cmp(&a.1));
        grown
    }
}
