//! Workloads in; what Keyfold, the program by hand and the servers that teams write in Node take for them on one table
//! out, as tables in Markdown. Their answers must be equal before anything is measured.

use super::client::{self, Measured};
use super::counted::Counts;
use super::figures::{self, Figures, Line, Row};
use super::process::Process;
use super::tables;
use super::workloads::{Operation, WORKLOADS, Workload};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;

/// How much is measured.
pub struct Extent {
    /// Rounds of each load.
    rounds: usize,
    /// How long a server is asked in each round.
    time: Duration,
    /// How long it is asked for an operation before the rounds, so that Node compiles what is used often.
    warm: Duration,
    /// How often each server is started.
    starts: usize,
}

/// What is compared.
pub struct Chosen<'c> {
    /// How much is measured. If it is none, the run says only what does not depend on the machine: calls and read
    /// units.
    pub extent: Option<&'c Extent>,
    /// The workloads; all of them if it is empty.
    pub workloads: Vec<&'c str>,
    /// Other binaries of Keyfold.
    pub others: &'c [String],
}

impl Chosen<'_> {
    fn has(&self, workload: &str) -> bool {
        self.workloads.is_empty() || self.workloads.contains(&workload)
    }
}

/// What docs/measurements.md shows.
pub const FULL: Extent =
    Extent { rounds: 3, time: Duration::from_millis(1000), warm: Duration::from_millis(2000), starts: 5 };
/// A look.
pub const QUICK: Extent =
    Extent { rounds: 1, time: Duration::from_millis(300), warm: Duration::from_millis(600), starts: 1 };
/// The connections before the rounds.
const WARM: usize = 32;

/// The delays of the table.
const DELAYS: [Duration; 2] = [Duration::ZERO, Duration::from_millis(4)];
/// How many requests are counted.
const COUNTED: u64 = 10;

/// A server, the command that starts it, and the files that somebody writes for it, from the project's folder.
pub struct Peer {
    /// What the tables of figures call it.
    pub name: String,
    /// The files.
    pub files: Vec<String>,
    command: Command,
}

/// Compares the servers, and prints the tables.
pub fn compare(runtime: &Runtime, chosen: &Chosen<'_>, stores: usize) {
    install();
    let (before, begun) = (figures::conditions(), Instant::now());
    let mut found = Found::default();
    for workload in WORKLOADS.iter().filter(|workload| chosen.has(workload.name)) {
        for delay in DELAYS {
            eprintln!("{}, {} ms, {:.0} s", workload.name, delay.as_millis(), begun.elapsed().as_secs_f64());
            let (tables, endpoint) = tables::counting(workload.name, stores, delay);
            let mut peers = peers(workload, &endpoint, chosen.others);
            let operations = (workload.operations)();
            let starts = chosen.extent.map(|extent| starts(runtime, &mut peers, &operations[0], extent.starts));
            let servers: Vec<_> = peers.iter_mut().map(|peer| Process::start(&mut peer.command)).collect();
            let run = Run { tables, servers };
            let equal = |operation: &Operation| runtime.block_on(run.equal(&peers, operation));
            let expected: Vec<_> = operations.iter().map(equal).collect();
            // Without a delay, chance decides which answer comes first, and what is read after it.
            if !delay.is_zero() {
                let counted =
                    |operation: &Operation| figures::calls(operation.name, &runtime.block_on(run.count(operation)));
                found.calls.extend(operations.iter().map(counted));
            }
            let (Some(extent), Some(starts)) = (chosen.extent, starts) else { continue };
            let at_rest: Vec<_> = run.servers.iter().map(Process::resident).collect();
            for (operation, expected) in operations.iter().zip(&expected) {
                runtime.block_on(run.warm(&operation.body, expected, extent));
                for connections in workload.connections {
                    let figures = runtime.block_on(run.measure((&operation.body, expected), connections, extent));
                    let name = format!("{}, {connections}, {} ms", operation.name, delay.as_millis());
                    found.loads.push(Row { name, figures });
                }
            }
            let peaks: Vec<_> = run.servers.iter().map(Process::peak).collect();
            let name = format!("{}, {} ms", workload.name, delay.as_millis());
            found.processes.push(figures::processes(&peers, &name, &starts, [&at_rest, &peaks]));
        }
    }
    let peers = WORKLOADS.iter().map(|workload| peers(workload, "", chosen.others)).max_by_key(Vec::len).unwrap();
    println!("{}", found.written(&peers.into_iter().map(|peer| peer.name).collect::<Vec<_>>()));
    println!("{before} before, {} after; {:.0} s.", figures::load_average(), begun.elapsed().as_secs_f64());
}

/// The lines of the tables.
#[derive(Default)]
struct Found {
    calls: Vec<Line>,
    processes: Vec<Line>,
    loads: Vec<Row>,
}

impl Found {
    /// The tables, ratios first.
    fn written(self, servers: &[String]) -> String {
        let (load, others) = ("operation, connections, delay", &servers[1..]);
        let ratios = figures::table(figures::RATIOS, load, others, self.loads.iter().map(figures::ratios));
        let calls = figures::table(figures::CALLS, "operation", servers, self.calls);
        let processes = figures::table(figures::PROCESSES, "workload, delay", servers, self.processes);
        let loads = figures::table(figures::LOADS, load, servers, self.loads.iter().map(figures::loads));
        [ratios, calls, processes, loads].into_iter().flatten().collect::<Vec<_>>().join("\n")
    }
}

/// The packages of the lock file.
fn install() {
    let directory = directory();
    let time = |file: &str| std::fs::metadata(directory.join(file)).and_then(|file| file.modified()).ok();
    if time("node_modules/.package-lock.json") >= time("package-lock.json") {
        return;
    }
    let mut npm = Command::new("npm");
    npm.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]).current_dir(directory);
    assert!(npm.status().unwrap().success(), "npm could not install the packages of benches/peers");
}

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/peers")
}

/// The servers of a workload. The first is Keyfold. The last is the federation, where there is one.
fn peers(workload: &Workload, endpoint: &str, others: &[String]) -> Vec<Peer> {
    let mut by_hand = Command::new(std::env::current_exe().unwrap());
    by_hand.args(["--by-hand", endpoint]);
    let keyfold = |name: &str, binary: &str| Peer {
        name: name.to_owned(),
        files: vec![workload.schema.to_owned()],
        command: super::keyfold(binary, "direct", (workload.schema, endpoint)),
    };
    let node = |name: &str, file: &str, other: &[&str]| {
        let mut command = Command::new("node");
        command.arg(format!("{}/{file}.js", workload.name)).current_dir(directory());
        command.envs([("NODE_ENV", "production"), ("DYNAMODB_ENDPOINT", endpoint)]);
        let file = format!("{file}.js");
        let own = [file.as_str(), "entities.js", "reads.js"].into_iter().chain(other.iter().copied());
        let own = own.map(|file| format!("benches/peers/{}/{file}", workload.name));
        Peer { name: name.to_owned(), files: own.chain(["benches/peers/table.js".to_owned()]).collect(), command }
    };
    let files = workload.by_hand.iter().map(|&file| file.to_owned()).collect();
    let mut peers = vec![
        keyfold("Keyfold", env!("CARGO_BIN_EXE_keyfold")),
        Peer { name: "Rust by hand".to_owned(), files, command: by_hand },
        node("Apollo Server", "apollo", &["schema.graphql"]),
        node("Yoga + Pothos", "yoga", &[]),
        node("mercurius", "mercurius", &["schema.graphql"]),
    ];
    peers.extend(others.iter().map(|path| keyfold(path.rsplit('/').next().unwrap(), path)));
    if workload.is_federated {
        peers.push(node("Hive Gateway", "federation", &["subgraph.js"]));
    }
    peers
}

/// How long each server takes from its start to its first answer: the median.
fn starts(runtime: &Runtime, peers: &mut [Peer], operation: &Operation, starts: usize) -> Vec<Duration> {
    let mut times = vec![Vec::new(); peers.len()];
    for _ in 0..starts {
        for (peer, times) in peers.iter_mut().zip(&mut times) {
            let begun = Instant::now();
            let server = Process::start(&mut peer.command);
            runtime.block_on(client::respond(&server.address, &operation.body, 1));
            times.push(begun.elapsed());
        }
    }
    times.into_iter().map(median).collect()
}

/// A table and the servers on it.
struct Run {
    tables: Process,
    servers: Vec<Process>,
}

impl Run {
    /// Lets caches fill, and Node compile.
    async fn warm(&self, body: &str, expected: &[Vec<u8>], extent: &Extent) {
        for (server, expected) in self.servers.iter().zip(expected) {
            client::load(&server.address, body, (WARM, extent.warm), expected).await;
        }
    }

    /// Each server's answer, which must say the same as the others'.
    async fn equal(&self, peers: &[Peer], operation: &Operation) -> Vec<Vec<u8>> {
        let mut answers: Vec<Vec<u8>> = Vec::new();
        for (peer, server) in peers.iter().zip(&self.servers) {
            let answer = client::respond(&server.address, &operation.body, 2).await;
            let read = |text: &[u8]| serde_json::from_slice::<Value>(text).unwrap();
            let (this, first) = (read(&answer), read(answers.first().unwrap_or(&answer)));
            assert!(this["data"].is_object() && this.get("errors").is_none(), "{}: {this}", peer.name);
            assert_eq!(this, first, "{} and {} answer {} differently", peer.name, peers[0].name, operation.name);
            answers.push(answer);
        }
        answers
    }

    /// What each server reads for a request.
    async fn count(&self, operation: &Operation) -> Vec<Counts> {
        let mut all = Vec::new();
        for server in &self.servers {
            let before = self.counts().await;
            client::respond(&server.address, &operation.body, COUNTED).await;
            all.push(self.counts().await.a_request_since(&before, COUNTED));
        }
        all
    }

    async fn counts(&self) -> Counts {
        serde_json::from_slice(&client::get(&self.tables.address, "/counts").await).unwrap()
    }

    /// The figures of each server, which is asked the same by each connection. The rounds take turns, and each begins
    /// with the next server.
    async fn measure(&self, (body, expected): (&str, &[Vec<u8>]), connections: usize, extent: &Extent) -> Vec<Figures> {
        let mut measured: Vec<Vec<Round>> = self.servers.iter().map(|_| Vec::new()).collect();
        for round in 0..extent.rounds {
            for place in 0..self.servers.len() {
                let place = (round + place) % self.servers.len();
                let server = &self.servers[place];
                let before = (server.cpu(), self.counts().await);
                let run = client::load(&server.address, body, (connections, extent.time), &expected[place]).await;
                let (cpu, counts) = (server.cpu() - before.0, self.counts().await);
                let calls = counts.a_request_since(&before.1, run.requests as u64).calls();
                measured[place].push(Round { run, cpu, calls });
            }
        }
        measured.into_iter().map(summary).collect()
    }
}

/// What one server did in one round.
struct Round {
    run: Measured,
    cpu: Duration,
    /// Calls of a request.
    calls: f64,
}

/// Medians of the rounds, and latencies of all of them.
fn summary(rounds: Vec<Round>) -> Figures {
    let of_each = |figure: &dyn Fn(&Round) -> f64| median(rounds.iter().map(figure).collect());
    let rate = of_each(&|round| round.run.requests as f64 / round.run.time.as_secs_f64());
    let cpu = of_each(&|round| round.cpu.as_secs_f64() * 1e3 / round.run.requests as f64);
    let calls = of_each(&|round| round.calls);
    let mut latencies: Vec<_> = rounds.into_iter().flat_map(|round| round.run.latencies).collect();
    latencies.sort_unstable();
    let at = |share: usize| latencies[latencies.len() * share / 100].as_secs_f64() * 1e3;
    Figures { cpu, latencies: [50, 95, 99].map(at), rate, calls }
}

fn median<T: PartialOrd + Copy>(mut all: Vec<T>) -> T {
    all.sort_unstable_by(|one, other| one.partial_cmp(other).unwrap());
    all[all.len() / 2]
}
