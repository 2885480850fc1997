//! Measures Keyfold against a program by hand, on one DynamoDB-compatible server: `cargo bench --bench load`. Prints requests a second,
//! latencies, CPU time a request and resident memory, as ratios to the program by hand.
//!
//! Each server is a process of its own on this machine. The rounds take turns, and the medians count. An argument of digits is the number of
//! rounds. Any other argument is the name of the only case. With `--instructions`, callgrind counts the instructions of each server instead: they
//! hardly change from run to run.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "load/by_hand.rs"]
mod by_hand;
#[path = "instructions/cases.rs"]
#[allow(dead_code)]
mod cases;
#[path = "load/client.rs"]
mod client;
#[path = "load/process.rs"]
mod process;

use cases::{CASES, Case, System};
use keyfold::schema;
use keyfold::table::bulk::export_lines::parse_line;
use keyfold::table::sdk::store::SdkStore;
use process::Process;
use serde_json::json;
use std::path::Path;
use std::process::Command;
use std::time::Duration;
use tokio::runtime::Runtime;

/// How long each measurement takes.
const TIME: Duration = Duration::from_secs(3);
/// The servers, the first of which the others are compared with.
const SERVERS: [&str; 3] = ["by hand", "Keyfold, sdk", "Keyfold, direct"];
/// The numbers of requests of the two runs whose instructions are compared. The first run fills caches and opens connections, too.
const COUNTED: (u64, u64) = (20, 70);
/// The cases of a measurement, and the numbers of connections.
const MEASURED: [(&str, usize); 3] = [("100-objects", 32), ("100-objects", 1), ("one-object", 32)];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let runtime = Runtime::new().unwrap();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["--tables"] => runtime.block_on(tables()),
        ["--by-hand", endpoint] => runtime.block_on(by_hand::serve(endpoint)),
        ["--instructions"] => count(&runtime),
        other => {
            let rounds = other.iter().find_map(|argument| argument.parse().ok()).unwrap_or(5);
            compare(&runtime, rounds, |name| other.iter().all(|argument| argument.parse::<usize>().is_ok() || *argument == name));
        }
    }
}

/// The commands that start the servers, in the order of [`SERVERS`].
fn servers(endpoint: &str) -> [Command; 3] {
    let mut by_hand = Command::new(std::env::current_exe().unwrap());
    by_hand.args(["--by-hand", endpoint]);
    let schema = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/groups.graphql");
    let keyfold = |client: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_keyfold"));
        command.args(["serve", "--listen", "127.0.0.1:0", "--schema", schema, "--endpoint-url", endpoint, "--client", client]);
        // It says where it serves, and nothing about each request: the program by hand does not either.
        command.args(["--log", "keyfold::cli=info"]);
        command
    };
    [by_hand, keyfold("sdk"), keyfold("direct")]
}

/// A DynamoDB-compatible server with the items of the benchmark, and its URL.
fn filled_tables(runtime: &Runtime) -> (Process, String) {
    let tables = Process::start(Command::new(std::env::current_exe().unwrap()).arg("--tables"));
    let endpoint = format!("http://{}", tables.address);
    runtime.block_on(fill(&endpoint));
    (tables, endpoint)
}

/// Counts the instructions of a request, over HTTP and in the whole process: the difference of two runs with different numbers of requests.
fn count(runtime: &Runtime) {
    let (_tables, endpoint) = filled_tables(runtime);
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR"));
    for name in ["100-objects", "one-object"] {
        let case = CASES.iter().find(|case| case.name == name).unwrap();
        let body = json!({ "query": case.operation, "variables": (case.variables)() }).to_string();
        let mut by_hand = None;
        println!("{name}: instructions a request, in thousands, and the ratio to the program by hand");
        for (position, server) in SERVERS.iter().enumerate() {
            let total = |requests: u64| {
                let profile = directory.join(format!("load.{name}.{position}.{requests}.out"));
                let mut command = process::under_callgrind(&servers(&endpoint)[position], &profile);
                let process = Process::start(&mut command);
                runtime.block_on(client::respond(&process.address, &body, requests));
                process.stop();
                process::instructions(&profile)
            };
            let counted = (total(COUNTED.1) - total(COUNTED.0)) / (COUNTED.1 - COUNTED.0);
            let ratio = counted as f64 / *by_hand.get_or_insert(counted) as f64;
            println!("{server:18} {:>10} {ratio:>8.2}x", counted / 1000);
        }
        println!();
    }
}

/// An empty DynamoDB-compatible server.
async fn tables() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    eprintln!("{}", listener.local_addr().unwrap());
    dynoxide::server::serve_on(listener, dynoxide::Database::memory().unwrap()).await;
}

fn compare(runtime: &Runtime, rounds: usize, is_chosen: impl Fn(&str) -> bool) {
    let (_tables, endpoint) = filled_tables(runtime);
    let servers = servers(&endpoint).map(|mut command| Process::start(&mut command));
    for (name, connections) in MEASURED.into_iter().filter(|(name, _)| is_chosen(name)) {
        let case = CASES.iter().find(|case| case.name == name).unwrap();
        println!("{name}, connections: {connections}");
        println!("{:18} {:>10} {:>10} {:>10} {:>12} {:>8}", "", "req/s", "p50 ms", "p99 ms", "CPU ms/req", "MB");
        let medians = runtime.block_on(measure(&servers, case, connections, rounds));
        for (server, figures) in SERVERS.iter().zip(&medians) {
            let [rate, p50, p99, cpu, memory] = figures;
            println!("{server:18} {rate:>10.0} {p50:>10.2} {p99:>10.2} {cpu:>12.3} {memory:>8.1}");
        }
        for (server, figures) in SERVERS.iter().zip(&medians).skip(1) {
            let [rate, p50, p99, cpu, memory] = std::array::from_fn(|figure| figures[figure] / medians[0][figure]);
            println!("{:18} {rate:>9.2}x {p50:>9.2}x {p99:>9.2}x {cpu:>11.2}x {memory:>7.2}x", format!("  {server}"));
        }
        println!();
    }
}

/// The medians of each server: requests a second, p50 and p99 in milliseconds, CPU in milliseconds a request, and megabytes.
async fn measure(servers: &[Process], case: &Case, connections: usize, rounds: usize) -> Vec<[f64; 5]> {
    let body = json!({ "query": case.operation, "variables": (case.variables)() }).to_string();
    let expected = client::respond(&servers[0].address, &body, 1).await;
    let mut measured = vec![[const { Vec::<f64>::new() }; 5]; servers.len()];
    // The first round fills caches and opens connections.
    for round in 0..=rounds {
        for (server, measured) in servers.iter().zip(&mut measured) {
            let before = server.cpu();
            let run = client::load(&server.address, &body, (connections, TIME), &expected).await;
            let cpu = (server.cpu() - before).as_secs_f64() * 1e3 / run.requests as f64;
            let at = |share: usize| run.latencies[run.latencies.len() * share / 100].as_secs_f64() * 1e3;
            let figures = [run.requests as f64 / run.time.as_secs_f64(), at(50), at(99), cpu, server.resident()];
            if round > 0 {
                measured.iter_mut().zip(figures).for_each(|(all, figure)| all.push(figure));
            }
        }
    }
    let median = |mut all: Vec<f64>| {
        all.sort_unstable_by(f64::total_cmp);
        all[all.len() / 2]
    };
    measured.into_iter().map(|figures| figures.map(median)).collect()
}

/// Creates the table and puts its items.
async fn fill(endpoint: &str) {
    let (file, text) = System::Groups.schema();
    let (model, _) = schema::load(file, &text, &|_| None).unwrap_or_else(|found| panic!("{}", found.render(false)));
    let store = SdkStore::connect(Some(endpoint), None).await.unwrap();
    store.create_missing(&model.tables).await.unwrap();
    let items = System::Groups.items();
    let items = items.into_iter().map(|item| parse_line(&json!({ "Item": item }).to_string()).unwrap().unwrap()).collect();
    store.load(&model.tables[0], items, tokio::time::Instant::now() + Duration::from_secs(60)).await.unwrap();
}
