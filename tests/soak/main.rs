//! A quarter of an hour of reads and writes, by one client: the memory of the last ten minutes grows by less than 3 %.
//!
//! It does so with the same few documents, and with a new document for each operation. The new ones fill the memory
//! that docs/operations.md gives to documents and plans, and not more.
//!
//! `cargo test --test soak -- --ignored --nocapture` runs it. `KEYFOLD_SOAK_MINUTES` is its time, and
//! `KEYFOLD_SOAK_RATE` the operations a second. It reads the memory of the process from `/proc`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[allow(dead_code)]
#[path = "../support/dynamo.rs"]
mod dynamo;
#[allow(dead_code)]
#[path = "../support/process.rs"]
mod process;
#[allow(dead_code)]
#[path = "../support/server.rs"]
mod server;

use serde_json::{Value, json};
use server::Server;
use sha2::{Digest, Sha256};
use std::time::{Duration, Instant};
use tokio::time::interval;

const USER: &str = "11111111-1111-4111-8111-111111111111";
const GROUP: &str = "22222222-2222-4222-8222-222222222222";
/// How often to measure the memory.
const SAMPLE: Duration = Duration::from_secs(10);
/// The number of samples at the end whose memory counts.
const LAST: usize = 60;
/// The number of samples at each end of these, whose mean is compared.
const MEAN: usize = 6;

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().expect(name))
}

/// An operation: a transaction, an update, a nested read and a page, in turn.
fn operation(number: u64) -> (&'static str, Value) {
    match number % 4 {
        0 => (
            "mutation ($e: String!) { changeEmail(email: $e) { id } }",
            json!({ "e": format!("{number}@example.com") }),
        ),
        1 => (
            "mutation ($g: ID!, $n: String!) { renameGroup(id: $g, name: $n) { name } }",
            json!({ "g": GROUP, "n": format!("name {number}") }),
        ),
        2 => (
            "query ($u: ID!) { user(id: $u) { groups { nodes { name containers { nodes { name foods { name } } } } } } }",
            json!({ "u": USER }),
        ),
        _ => (
            "query ($g: ID!) { group(id: $g) { users(first: 3) { nodes { name } pageInfo { endCursor } } } }",
            json!({ "g": GROUP }),
        ),
    }
}

/// The same as a request whose document nobody has sent before. It names its document by the hash, so that the server
/// keeps its text, too.
fn of_new_document(number: u64) -> Value {
    let selection = "{ name groups { nodes { name containers { nodes { name foods { name } } } } } }";
    let fields: Vec<_> = (0..8).map(|place| format!("n{number}_{place}: user(id: $u) {selection}")).collect();
    // What clients send has comments, too.
    let query = format!("#{}\nquery New{number}($u: ID!) {{ {} }}", "-".repeat(10_000), fields.join(" "));
    let hash: String = Sha256::digest(&query).iter().map(|byte| format!("{byte:02x}")).collect();
    let extensions = json!({ "persistedQuery": { "version": 1, "sha256Hash": hash } });
    json!({ "query": query, "variables": { "u": USER }, "extensions": extensions })
}

/// The memory of documents and plans, in bytes, as docs/operations.md names it: of parsed operations and plans, half
/// for each, and of the texts that clients have sent.
const PARSED: f64 = (32 << 20) as f64;
const TEXTS: f64 = (16 << 20) as f64;

/// The current memory of a process.
fn resident_kilobytes(process: &process::Process) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", process.id())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

/// What is measured every ten seconds: the number of operations, and kilobytes.
struct Samples {
    name: &'static str,
    begun: Instant,
    number: u64,
    kilobytes: Vec<u64>,
}

impl Samples {
    fn begin(name: &'static str) -> Self {
        Self { name, begun: Instant::now(), number: 0, kilobytes: Vec::new() }
    }

    /// Measures, if it is time to.
    fn measure(&mut self, server: &Server) -> bool {
        let is_time = self.begun.elapsed() >= SAMPLE * (u32::try_from(self.kilobytes.len()).unwrap() + 1);
        if is_time {
            self.kilobytes.push(resident_kilobytes(&server.process));
            let (name, seconds, kilobytes) =
                (self.name, self.begun.elapsed().as_secs(), self.kilobytes.last().unwrap());
            println!("{name}: {seconds} s, {} operations, {kilobytes} kB", self.number);
        }
        is_time
    }

    fn level_off(&self) {
        let mean = |samples: &[u64]| samples.iter().sum::<u64>() as f64 / samples.len() as f64;
        let last = &self.kilobytes[self.kilobytes.len().saturating_sub(LAST)..];
        let (from, to) = (mean(&last[..MEAN.min(last.len())]), mean(&last[last.len().saturating_sub(MEAN)..]));
        let (name, growth) = (self.name, (to / from - 1.0) * 100.0);
        println!("{name}: {from:.0} kB at the begin of the last ten minutes, {to:.0} kB at their end: {growth:+.2} %");
        assert!(to < from * 1.03, "{from} kB → {to} kB");
    }
}

fn time() -> Duration {
    Duration::from_secs(60 * setting("KEYFOLD_SOAK_MINUTES", 15))
}

async fn soak(name: &'static str, server: &Server) {
    let mut beat = interval(Duration::from_secs(1) / u32::try_from(setting("KEYFOLD_SOAK_RATE", 20)).unwrap());
    let mut samples = Samples::begin(name);
    while samples.begun.elapsed() < time() {
        beat.tick().await;
        let (query, variables) = operation(samples.number);
        server.ask(query, variables).await.data();
        samples.number += 1;
        samples.measure(server);
    }
    samples.level_off();
}

/// The values of a metric, by the name of the cache.
fn of_caches(metrics: &str, name: &str) -> Vec<(String, f64)> {
    let lines =
        metrics.lines().filter_map(|line| line.strip_prefix(name)?.strip_prefix("{cache=\"")?.split_once("\"} "));
    lines.map(|(cache, value)| (cache.to_owned(), value.parse().unwrap())).collect()
}

#[tokio::test]
#[ignore = "it takes 15 minutes"]
async fn memory_levels_off_in_memory() {
    let samples = server::samples();
    soak("in memory", &Server::dev(&["--log", "warn", "--sample", samples.to_str().unwrap()])).await;
}

#[tokio::test]
#[ignore = "it takes 15 minutes"]
async fn memory_levels_off_in_a_directory() {
    let samples = server::samples();
    soak("in a directory", &Server::dev(&["--log", "warn", "--data", "data", "--sample", samples.to_str().unwrap()]))
        .await;
}

#[tokio::test]
#[ignore = "it takes 15 minutes"]
async fn memory_levels_off_at_its_bounds_with_new_documents() {
    let samples = server::samples();
    let options =
        ["--log", "warn,keyfold::cli=info", "--metrics-listen", "127.0.0.1:0", "--sample", samples.to_str().unwrap()];
    let mut server = Server::dev(&options);
    let said =
        server.process.said_so_far().iter().find_map(|line| line.split_once("the metrics are at /metrics address="));
    let metrics = format!("http://{}/metrics", said.expect("the address of the metrics").1.trim());
    let mut beat = interval(Duration::from_secs(1) / u32::try_from(setting("KEYFOLD_SOAK_RATE", 20)).unwrap());
    let (before, mut samples) = (resident_kilobytes(&server.process) as f64 * 1024.0, Samples::begin("new documents"));
    let mut evictions = Vec::new();
    while samples.begun.elapsed() < time() {
        beat.tick().await;
        server.send(of_new_document(samples.number).to_string().into_bytes(), false).await.data();
        samples.number += 1;
        if samples.measure(&server) {
            let text = server.client.get(&metrics).send().await.unwrap().text().await.unwrap();
            let bytes = of_caches(&text, "keyfold_cache_bytes");
            println!("{}: {bytes:?}", samples.name);
            assert!(bytes.iter().filter(|(cache, _)| cache != "items").all(|(_, bytes)| *bytes <= PARSED), "{bytes:?}");
            evictions = of_caches(&text, "keyfold_cache_evictions_total");
        }
    }
    let has_evicted = |name: &str| evictions.iter().any(|(cache, evicted)| cache == name && *evicted > 0.0);
    assert!(has_evicted("documents") && has_evicted("plans"), "the bounds were not reached: {evictions:?}");
    samples.level_off();
    // The allocator rounds up, and leaves gaps.
    let (most, last) = (before + 1.25 * (2.0 * PARSED + TEXTS), *samples.kilobytes.last().unwrap() as f64 * 1024.0);
    println!("{}: {before:.0} bytes before, {last:.0} at the end, {most:.0} by the bounds", samples.name);
    assert!(last <= most, "{last} > {most}");
}
