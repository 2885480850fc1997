//! Measures what subscribers cost one process: `cargo bench --bench subscribers`. Prints the memory of each idle
//! subscriber, and the server's CPU time and the elapsed time from a write until every subscriber has its change.
//!
//! The server is a process of its own with an embedded store in memory. The subscribers are real WebSockets from this
//! process, which uses the same processors: the CPU time is the server's alone, the elapsed time is not. An argument of
//! digits is the number of changes of each case, another argument is a part of the names of the cases to run.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "load/client.rs"]
#[allow(dead_code)]
mod client;
#[path = "subscribers/listeners.rs"]
mod listeners;
#[path = "load/process.rs"]
#[allow(dead_code)]
mod process;

use listeners::{Audience, Listeners};
use process::Process;
use serde_json::json;
use std::process::Command;
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;

/// What a case opens.
struct Case {
    name: &'static str,
    subscribers: usize,
    /// The subscriptions of one WebSocket.
    per_socket: usize,
    audience: Audience,
}

const CASES: [Case; 4] = [
    Case { name: "one group, shared sockets", subscribers: 10_000, per_socket: 25, audience: Audience::Same },
    Case { name: "one group, a socket each", subscribers: 10_000, per_socket: 1, audience: Audience::Same },
    Case { name: "a group each, shared sockets", subscribers: 10_000, per_socket: 25, audience: Audience::Different },
    Case { name: "idle, shared sockets", subscribers: 100_000, per_socket: 25, audience: Audience::Same },
];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let changes = arguments.iter().find_map(|argument| argument.parse().ok()).unwrap_or(5);
    let names: Vec<&String> = arguments.iter().filter(|argument| argument.parse::<usize>().is_err()).collect();
    let runtime = Runtime::new().unwrap();
    println!(
        "{:30} {:>9} {:>9} {:>9} {:>10} {:>10} {:>9} {:>10}",
        "", "opening", "idle", "idle", "change", "last has", "after", "leaving"
    );
    println!(
        "{:30} {:>9} {:>9} {:>9} {:>10} {:>10} {:>9} {:>10}",
        "", "CPU ms", "MB", "kB each", "CPU ms", "it ms", "MB", "CPU ms"
    );
    for case in CASES.iter().filter(|case| names.iter().all(|name| case.name.contains(name.as_str()))) {
        runtime.block_on(measure(case, changes));
    }
}

/// A server with an empty table, and bounds that let one client open everything. It says its address on standard
/// output.
fn server() -> Process {
    let schema = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/subscribers/room.graphql");
    let mut command = Command::new("sh");
    command.args(["-c", r#"exec "$0" "$@" >&2"#, env!("CARGO_BIN_EXE_keyfold")]);
    command.args([
        "dev",
        "--memory",
        "--no-sample",
        "--listen",
        "127.0.0.1:0",
        "--schema",
        schema,
        "--log",
        "keyfold::cli=info",
    ]);
    command.args(["--max-connections", "100000", "--max-requests", "1000000", "--playground=false"]);
    command.args([
        "--request-memory",
        "8589934592",
        "--response-memory",
        "8589934592",
        "--subscription-memory",
        "8589934592",
    ]);
    Process::start(&mut command)
}

async fn measure(case: &Case, changes: usize) {
    let server = server();
    // What the first operations leave behind is no subscriber's.
    let warm = Listeners::open(&server.address, (1, 1), case.audience).await;
    quiet(&server).await;
    post(&server, 0).await;
    warm.heard(1).await;
    drop(warm);
    quiet(&server).await;

    let (empty, before) = (server.resident(), server.cpu());
    let listeners = Listeners::open(&server.address, (case.subscribers, case.per_socket), case.audience).await;
    quiet(&server).await;
    let (opening, idle) = (server.cpu() - before, server.resident());
    let mut measured = Vec::new();
    for change in 1..=changes {
        let (begun, before) = (Instant::now(), server.cpu());
        post(&server, change).await;
        listeners.heard(change * case.subscribers).await;
        measured.push((server.cpu() - before, begun.elapsed()));
        quiet(&server).await;
    }
    let (after, before) = (server.resident(), server.cpu());
    drop(listeners);
    quiet(&server).await;
    let leaving = server.cpu() - before;

    let median = |figure: fn(&(Duration, Duration)) -> Duration| {
        let mut all: Vec<Duration> = measured.iter().map(figure).collect();
        all.sort_unstable();
        all.get(all.len() / 2).map_or(0.0, Duration::as_secs_f64) * 1e3
    };
    let each = (idle - empty) * 1024.0 / case.subscribers as f64;
    let (change, last) = (median(|(cpu, _)| *cpu), median(|(_, time)| *time));
    let millis = |time: Duration| time.as_secs_f64() * 1e3;
    println!(
        "{:30} {:>9.0} {idle:>9.1} {each:>9.2} {change:>10.1} {last:>10.1} {after:>9.1} {:>10.0}",
        case.name,
        millis(opening),
        millis(leaving)
    );
}

/// Writes a message that concerns every subscriber.
async fn post(server: &Process, number: usize) {
    let operation =
        r#"mutation($text: String!) { post(roomId: "1", id: "1", author: "Ada", text: $text, level: 1000000) { id } }"#;
    let text = format!("The message number {number}, of the length of what people write to each other in a room");
    let body = json!({ "query": operation, "variables": { "text": text } }).to_string();
    let answer = client::respond(&server.address, &body, 1).await;
    assert_eq!(answer, br#"{"data":{"post":{"id":"1"}}}"#, "{}", String::from_utf8_lossy(&answer));
}

/// Waits until the server does nothing for a second.
async fn quiet(server: &Process) {
    loop {
        let before = server.cpu();
        tokio::time::sleep(Duration::from_secs(1)).await;
        if server.cpu() - before < Duration::from_millis(20) {
            return;
        }
    }
}
