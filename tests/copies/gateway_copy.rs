//! A `keyfold serve` that shares streams with others, and its subscribers.

use crate::process::{KEY, Process, keyfold, repository};
use crate::store::Store;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::Notify;

/// A copy of the gateway.
pub struct GatewayCopy {
    pub process: Process,
    pub url: String,
}

impl GatewayCopy {
    /// A copy that serves.
    pub fn start(store: &Store, bus: &str) -> Self {
        let schema = repository("tests/schemas/copies/feed.graphql");
        let arguments = ["serve", "--listen", "127.0.0.1:0", "--schema", schema.to_str().unwrap(), "--endpoint-url"];
        let options = [&store.url(), "--bus", bus, "--log-format", "json", "--cache-size", "1000000"];
        Self::serve(store.directory.path(), &[&arguments[..], &options[..]].concat())
    }

    /// A copy that serves with these arguments, and logs JSON.
    pub fn serve(directory: &Path, arguments: &[&str]) -> Self {
        let mut process = Process::start(keyfold(directory, arguments));
        let line: Value = serde_json::from_str(&process.wait_for("\"serving\"")).unwrap();
        let address = line["address"].as_str().or(line["fields"]["address"].as_str()).unwrap();
        Self { url: format!("http://{address}"), process }
    }

    /// The greatest number of a lease that it took.
    pub fn fence(&mut self) -> u64 {
        let fences = self.process.said_so_far().iter().filter(|line| line.contains("this copy reads a shard"));
        let fence = |line: &String| {
            let line: Value = serde_json::from_str(line).unwrap();
            line["fence"].as_u64().or(line["fields"]["fence"].as_u64()).unwrap()
        };
        fences.map(fence).max().unwrap_or_default()
    }
}

/// Who receives the changes, wherever it finds a copy.
pub struct Subscriber {
    /// The copies' URLs; the first that answers is asked.
    urls: Arc<Mutex<Vec<String>>>,
    /// The numbers and versions of the notes that it received.
    pub heard: Mutex<Vec<(usize, u64)>>,
    /// How often it began.
    pub begun: Mutex<usize>,
    pub more: Notify,
}

impl Subscriber {
    pub fn new(urls: Arc<Mutex<Vec<String>>>) -> Arc<Self> {
        Arc::new(Self { urls, heard: Mutex::default(), begun: Mutex::default(), more: Notify::new() })
    }

    /// Listens for ever. It goes on after its last event when its copy is gone.
    pub async fn listen(self: Arc<Self>) {
        let client = reqwest::Client::new();
        let mut after: Option<String> = None;
        loop {
            let url = self.urls.lock().unwrap()[0].clone();
            let query = "subscription ($after: ID) { notes(room: 1, after: $after) { node { id version } } }";
            let body = json!({ "query": query, "variables": { "after": after } }).to_string();
            let request = client
                .post(format!("{url}/graphql"))
                .header("content-type", "application/json")
                .header("x-api-key", KEY);
            if let Ok(mut response) = request.header("accept", "text/event-stream").body(body).send().await {
                assert_eq!(response.status(), 200);
                *self.begun.lock().unwrap() += 1;
                let mut text = String::new();
                while let Ok(Some(bytes)) = response.chunk().await {
                    text.push_str(std::str::from_utf8(&bytes).unwrap());
                    while let Some((event, rest)) = text.split_once("\n\n") {
                        if let Some(id) = self.hear(event) {
                            after = Some(id);
                        }
                        text = rest.to_owned();
                    }
                }
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    /// Takes an event. Gives its id.
    fn hear(&self, event: &str) -> Option<String> {
        let line = |name: &str| event.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
        let data: Value = serde_json::from_str(line("data:").filter(|data| !data.is_empty())?).unwrap();
        // A copy that stops, or one that cannot follow yet, says so, and with which id to go on.
        let Some(node) = data["data"]["notes"]["node"].as_object() else {
            assert!(data["errors"].is_array(), "{data}");
            return None;
        };
        let number = node["id"].as_str().unwrap().parse().unwrap();
        self.heard.lock().unwrap().push((number, node["version"].as_u64().unwrap()));
        self.more.notify_one();
        line("id:").map(str::to_owned)
    }
}
