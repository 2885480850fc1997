//! A quarter of an hour of reads and writes of the same items, by one client: the memory of the last ten minutes grows by less than 3 %.
//!
//! `cargo test --test soak -- --ignored --nocapture` runs it. `KEYFOLD_SOAK_MINUTES` is its time, and `KEYFOLD_SOAK_RATE` the operations a
//! second. It reads the memory of the process from `/proc`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[allow(dead_code)]
#[path = "served/dynamo.rs"]
mod dynamo;
#[allow(dead_code)]
#[path = "served/process.rs"]
mod process;
#[allow(dead_code)]
#[path = "served/server.rs"]
mod server;

use serde_json::{Value, json};
use server::Server;
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
        0 => ("mutation ($e: String!) { changeEmail(email: $e) { id } }", json!({ "e": format!("{number}@example.com") })),
        1 => (
            "mutation ($g: ID!, $n: String!) { renameGroup(id: $g, name: $n) { name } }",
            json!({ "g": GROUP, "n": format!("name {number}") }),
        ),
        2 => (
            "query ($u: ID!) { user(id: $u) { groups { nodes { name containers { nodes { name foods { name } } } } } } }",
            json!({ "u": USER }),
        ),
        _ => ("query ($g: ID!) { group(id: $g) { users(first: 3) { nodes { name } pageInfo { endCursor } } } }", json!({ "g": GROUP })),
    }
}

/// The current memory of a process.
fn resident_kilobytes(process: &process::Process) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", process.id())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

async fn soak(name: &str, server: &Server) {
    let time = Duration::from_secs(60 * setting("KEYFOLD_SOAK_MINUTES", 15));
    let mut beat = interval(Duration::from_secs(1) / u32::try_from(setting("KEYFOLD_SOAK_RATE", 20)).unwrap());
    let (begun, mut samples, mut number) = (Instant::now(), Vec::new(), 0);
    while begun.elapsed() < time {
        beat.tick().await;
        let (query, variables) = operation(number);
        server.ask(query, variables).await.data();
        number += 1;
        if begun.elapsed() >= SAMPLE * (u32::try_from(samples.len()).unwrap() + 1) {
            samples.push(resident_kilobytes(&server.process));
            println!("{name}: {} s, {number} operations, {} kB", begun.elapsed().as_secs(), samples.last().unwrap());
        }
    }
    let mean = |samples: &[u64]| samples.iter().sum::<u64>() as f64 / samples.len() as f64;
    let last = &samples[samples.len().saturating_sub(LAST)..];
    let (from, to) = (mean(&last[..MEAN.min(last.len())]), mean(&last[last.len().saturating_sub(MEAN)..]));
    println!("{name}: {from:.0} kB at the begin of the last ten minutes, {to:.0} kB at their end: {:+.2} %", (to / from - 1.0) * 100.0);
    assert!(to < from * 1.03, "{from} kB → {to} kB");
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
    soak("in a directory", &Server::dev(&["--log", "warn", "--data", "data", "--sample", samples.to_str().unwrap()])).await;
}
