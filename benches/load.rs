//! Measures Keyfold against a program by hand, on one DynamoDB-compatible server: `cargo bench --bench load`. Prints
//! requests a second, latencies, CPU time a request and resident memory, as ratios to the program by hand.
//!
//! Each server is a process of its own on this machine. The rounds take turns, and the medians count. An argument of
//! digits is the number of rounds. `--other PATH` measures another binary of Keyfold beside this one, as often as it is
//! given. `--stores N` is the number of stores behind the tables' server; without it, each processor has one. Any other
//! argument is the name of the only case. With `--instructions`, callgrind counts the instructions of each server
//! instead: they hardly change from run to run.
//!
//! `--peers` compares Keyfold with the servers that teams write in Node, too, which are in `benches/peers`, and prints
//! tables in Markdown. It needs Node 20 and npm. With `--quick`, it takes a look. With `--counts`, it compares the
//! answers and counts calls and read units alone. The names of workloads choose these.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "load/by_hand.rs"]
mod by_hand;
#[path = "load/by_hand_groups.rs"]
mod by_hand_groups;
#[path = "load/by_hand_reviews.rs"]
mod by_hand_reviews;
#[path = "instructions/cases.rs"]
#[allow(dead_code)]
mod cases;
#[path = "load/client.rs"]
mod client;
#[path = "load/counted.rs"]
mod counted;
#[path = "load/figures.rs"]
mod figures;
#[path = "load/peers.rs"]
mod peers;
#[path = "load/process.rs"]
mod process;
#[path = "load/tables.rs"]
mod tables;
#[path = "load/train.rs"]
mod train;
#[path = "load/workloads.rs"]
mod workloads;

use cases::{CASES, Case, System};
use peers::Chosen;
use process::Process;
use serde_json::json;
use std::path::Path;
use std::process::Command;
use std::time::Duration;
use tokio::runtime::Runtime;

/// How long each measurement takes.
const TIME: Duration = Duration::from_secs(3);
/// The numbers of requests of the two runs whose instructions are compared. The first run fills caches and opens
/// connections, too.
const COUNTED: (u64, u64) = (20, 70);
/// The cases of a measurement, and the numbers of connections.
const MEASURED: [(&str, usize); 3] = [("100-objects", 32), ("100-objects", 1), ("one-object", 32)];

fn main() {
    let mut arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let others = taken(&mut arguments, "--other");
    let stores = taken(&mut arguments, "--stores").pop().map(|stores| stores.parse().unwrap());
    let stores = stores.unwrap_or_else(|| std::thread::available_parallelism().unwrap().get());
    let runtime = Runtime::new().unwrap();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["--tables", items, stores] => tables::serve(items, stores.parse().unwrap(), None),
        ["--tables", items, stores, delay] => {
            let delay = Duration::from_millis(delay.parse().unwrap());
            tables::serve(items, stores.parse().unwrap(), Some(delay));
        }
        ["--peers", rest @ ..] => {
            let (options, workloads): (Vec<&str>, Vec<&str>) = rest.iter().partition(|rest| rest.starts_with("--"));
            let extent = match options.as_slice() {
                [] => Some(&peers::FULL),
                ["--quick"] => Some(&peers::QUICK),
                ["--counts"] => None,
                other => panic!("--peers knows --quick and --counts, not {other:?}"),
            };
            peers::compare(&runtime, &Chosen { extent, workloads, others: &others }, stores);
        }
        ["--by-hand", endpoint] => runtime.block_on(by_hand::serve(endpoint)),
        ["--instructions"] => count(&runtime, &others, stores),
        ["--train", binary] => train::train(&runtime, binary),
        other => {
            let rounds = other.iter().find_map(|argument| argument.parse().ok()).unwrap_or(5);
            compare(&runtime, &others, (stores, rounds), |name| {
                other.iter().all(|argument| argument.parse::<usize>().is_ok() || *argument == name)
            });
        }
    }
}

/// Takes each value of an option out of the arguments.
fn taken(arguments: &mut Vec<String>, option: &str) -> Vec<String> {
    let mut values = Vec::new();
    while let Some(place) = arguments.iter().position(|argument| argument == option) {
        values.extend(arguments.drain(place..(place + 2).min(arguments.len())).skip(1));
    }
    values
}

/// The names of the servers, and the commands that start them. All are compared with the first.
fn servers(endpoint: &str, others: &[String]) -> Vec<(String, Command)> {
    let mut by_hand = Command::new(std::env::current_exe().unwrap());
    by_hand.args(["--by-hand", endpoint]);
    let schema = "benches/groups.graphql";
    let this = ["sdk", "direct"].map(|client| {
        (format!("Keyfold, {client}"), keyfold(env!("CARGO_BIN_EXE_keyfold"), client, (schema, endpoint)))
    });
    let others = others
        .iter()
        .map(|path| (path.rsplit('/').next().unwrap().to_owned(), keyfold(path, "direct", (schema, endpoint))));
    [("by hand".to_owned(), by_hand)].into_iter().chain(this).chain(others).collect()
}

/// The command that starts a binary of Keyfold. It says where it serves, and nothing about each request: the program by
/// hand does not either. The schema's path begins at the project's folder.
fn keyfold(binary: &str, client: &str, (schema, endpoint): (&str, &str)) -> Command {
    let mut command = Command::new(binary);
    command.args(["serve", "--listen", "127.0.0.1:0", "--client", client, "--endpoint-url", endpoint]);
    command.args(["--schema", &format!("{}/{schema}", env!("CARGO_MANIFEST_DIR")), "--log", "keyfold::cli=info"]);
    command
}

/// Counts the instructions of a request, over HTTP and in the whole process: the difference of two runs with different
/// numbers of requests.
fn count(runtime: &Runtime, others: &[String], stores: usize) {
    let (_tables, endpoint) = tables::filled(System::Groups, stores);
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR"));
    for name in ["100-objects", "one-object"] {
        let case = CASES.iter().find(|case| case.name == name).unwrap();
        let body = json!({ "query": case.operation, "variables": (case.variables)() }).to_string();
        let mut by_hand = None;
        println!("{name}: instructions a request, in thousands, and the ratio to the program by hand");
        for (position, (server, command)) in servers(&endpoint, others).iter().enumerate() {
            let total = |requests: u64| {
                let profile = directory.join(format!("load.{name}.{position}.{requests}.out"));
                let mut command = process::under_callgrind(command, &profile);
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

fn compare(runtime: &Runtime, others: &[String], (stores, rounds): (usize, usize), is_chosen: impl Fn(&str) -> bool) {
    let (tables, endpoint) = tables::filled(System::Groups, stores);
    let (names, servers): (Vec<_>, Vec<_>) =
        servers(&endpoint, others).into_iter().map(|(name, mut command)| (name, Process::start(&mut command))).unzip();
    for (name, connections) in MEASURED.into_iter().filter(|(name, _)| is_chosen(name)) {
        let case = CASES.iter().find(|case| case.name == name).unwrap();
        println!("{name}, connections: {connections}");
        println!(
            "{:18} {:>10} {:>10} {:>10} {:>12} {:>8} {:>12}",
            "", "req/s", "p50 ms", "p99 ms", "CPU ms/req", "MB", "table's CPU"
        );
        let medians = runtime.block_on(measure(&tables, &servers, case, connections, rounds));
        for (server, figures) in names.iter().zip(&medians) {
            let [rate, p50, p99, cpu, memory, of_tables] = figures;
            println!("{server:18} {rate:>10.0} {p50:>10.2} {p99:>10.2} {cpu:>12.3} {memory:>8.1} {of_tables:>12.3}");
        }
        for (server, figures) in names.iter().zip(&medians).skip(1) {
            let [rate, p50, p99, cpu, memory, of_tables] =
                std::array::from_fn(|figure| figures[figure] / medians[0][figure]);
            println!(
                "{:18} {rate:>9.2}x {p50:>9.2}x {p99:>9.2}x {cpu:>11.2}x {memory:>7.2}x {of_tables:>11.2}x",
                format!("  {server}")
            );
        }
        println!();
    }
}

/// The medians of each server: requests a second, p50 and p99 in milliseconds, CPU in milliseconds a request,
/// megabytes, and the CPU of the tables' server in milliseconds a request.
async fn measure(
    tables: &Process,
    servers: &[Process],
    case: &Case,
    connections: usize,
    rounds: usize,
) -> Vec<[f64; 6]> {
    let body = json!({ "query": case.operation, "variables": (case.variables)() }).to_string();
    let expected = client::respond(&servers[0].address, &body, 1).await;
    let mut measured = vec![[const { Vec::<f64>::new() }; 6]; servers.len()];
    // The first round fills caches and opens connections. Each round begins with the next server: who is measured after
    // whom matters.
    for round in 0..=rounds {
        for place in 0..servers.len() {
            let place = (round + place) % servers.len();
            let (server, measured) = (&servers[place], &mut measured[place]);
            let before = [server, tables].map(Process::cpu);
            let run = client::load(&server.address, &body, (connections, TIME), &expected).await;
            let used = [server.cpu() - before[0], tables.cpu() - before[1]];
            let [cpu, of_tables] = used.map(|cpu| cpu.as_secs_f64() * 1e3 / run.requests as f64);
            let at = |share: usize| run.latencies[run.latencies.len() * share / 100].as_secs_f64() * 1e3;
            let figures =
                [run.requests as f64 / run.time.as_secs_f64(), at(50), at(99), cpu, server.resident(), of_tables];
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
