//! Three copies of the gateway, as processes of their own, on one DynamoDB-compatible server and one NATS server: what
//! is written reaches the subscribers of all copies whatever dies, and no copy answers with what another has changed.
//!
//! `lost_answers` loses answers of the server between two copies, without a bus, and checks that some order explains
//! what callers learned. `orders` does so with writes of lists, and counts what is gone from the stock. `payments`
//! sends writes again with their keys, until each is answered. `charges` does so with writes that call a service first.
//! `moves` looks at items that move, at every moment.
//!
//! Without the program `nats-server`, there is nothing to test with, and the tests say so. `KEYFOLD_NATS_SERVER` names
//! it, and must then be right.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, dead_code)]

mod charges;
mod counters;
mod gateway_copy;
mod lossy;
mod lost_answers;
mod moves;
mod orders;
mod payments;
#[path = "../support/process.rs"]
mod process;
mod store;

use gateway_copy::{GatewayCopy, Subscriber};
use keyfold::cli::selftest::histories::{cells, history};
use process::{KEY, Process, repository, run};
use serde_json::{Value, json};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use store::{BATCH, Store, owner, write};
use tokio::time::{interval, timeout};

const NOTES: usize = 4 * BATCH;
/// Longer than anything takes, on a machine that does other things too.
const LONG: Duration = Duration::from_secs(120);

fn number(name: &str, usual: u64) -> u64 {
    std::env::var(name).ok().map_or(usual, |value| value.parse().unwrap())
}

/// A NATS server.
struct Nats {
    process: Process,
    port: u16,
}

impl Nats {
    /// A server on a free port, or on this one. `None` if the program is missing.
    fn start(port: Option<u16>) -> Option<Self> {
        let named = std::env::var("KEYFOLD_NATS_SERVER").ok();
        let program = named.clone().unwrap_or_else(|| "nats-server".to_owned());
        if named.is_none() && Command::new(&program).arg("--version").output().is_err() {
            eprintln!("`nats-server` is not installed: nothing is tested");
            return None;
        }
        let mut command = Command::new(program);
        command.args(["--user", "copies", "--pass", "p@ss", "-a", "127.0.0.1", "-p"]);
        command.arg(port.map_or("-1".to_owned(), |port| port.to_string()));
        let mut process = Process::start(command);
        let line = process.wait_for("Listening for client connections on ");
        let port = line.rsplit_once(':').unwrap().1.trim().parse().unwrap();
        process.wait_for("Server is ready");
        Some(Self { process, port })
    }

    fn url(&self) -> String {
        format!("nats://copies:p%40ss@127.0.0.1:{}", self.port)
    }
}

/// Waits until one of the copies has taken a lease with a greater number than this. Gives its place and the number.
async fn reader(copies: &mut [GatewayCopy], after: u64) -> (usize, u64) {
    let search = async {
        loop {
            let fences: Vec<u64> = copies.iter_mut().map(GatewayCopy::fence).collect();
            let (place, fence) = fences.into_iter().enumerate().max_by_key(|(_, fence)| *fence).unwrap();
            if fence > after {
                return (place, fence);
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    timeout(LONG, search).await.expect("another copy takes the lease")
}

/// `KEYFOLD_COPIES_KILLS` says how often the reader is killed, and `KEYFOLD_COPIES_RATE` how many notes are written a
/// second.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_subscriber_has_every_change_whatever_dies() {
    let Some(mut nats) = Nats::start(None) else { return };
    let (kills, rate) = (number("KEYFOLD_COPIES_KILLS", 3), number("KEYFOLD_COPIES_RATE", 200));
    let store = Store::start();
    let mut copies: Vec<GatewayCopy> = (0..3).map(|_| GatewayCopy::start(&store, &nats.url())).collect();
    let urls: Vec<Arc<Mutex<Vec<String>>>> =
        copies.iter().map(|copy| Arc::new(Mutex::new(vec![copy.url.clone()]))).collect();
    // Two subscribers of each copy.
    let subscribers: Vec<Arc<Subscriber>> =
        urls.iter().chain(&urls).map(|urls| Subscriber::new(urls.clone())).collect();
    let listening: Vec<_> = subscribers.iter().map(|subscriber| tokio::spawn(subscriber.clone().listen())).collect();
    let begun = async {
        while subscribers.iter().any(|subscriber| *subscriber.begun.lock().unwrap() == 0) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(LONG, begun).await.unwrap();
    let client = store.client().await;
    // Version 0 gives each subscriber an event to go on from.
    for subscriber in &subscribers {
        let hears = async {
            while subscriber.heard.lock().unwrap().is_empty() {
                write(&client, 0..1, 0).await;
                let _ = timeout(Duration::from_secs(1), subscriber.more.notified()).await;
            }
        };
        timeout(LONG, hears).await.expect("a subscriber receives the first note");
    }
    let (stop, stopped) = tokio::sync::watch::channel(false);
    let writing = tokio::spawn(async move {
        let mut tick = interval(Duration::from_secs_f64(BATCH as f64 / rate as f64));
        let mut version = 0;
        while !*stopped.borrow() {
            version += 1;
            for part in 0..NOTES / BATCH {
                tick.tick().await;
                write(&client, part * BATCH..(part + 1) * BATCH, version).await;
            }
        }
        version
    });
    let (mut fence, mut taken) = (0, Vec::new());
    for kill in 0..kills {
        let (place, next) = reader(&mut copies, fence).await;
        fence = next;
        tokio::time::sleep(Duration::from_secs(1)).await;
        copies[place].process.kill();
        let killed = Instant::now();
        copies[place] = GatewayCopy::start(&store, &nats.url());
        urls[place].lock().unwrap()[0] = copies[place].url.clone();
        reader(&mut copies, fence).await;
        taken.push(killed.elapsed());
        if kill == 0 {
            // The bus goes away and comes back.
            let port = nats.port;
            nats.process.kill();
            tokio::time::sleep(Duration::from_secs(2)).await;
            nats = Nats::start(Some(port)).unwrap();
            reader(&mut copies, fence).await;
        }
    }
    stop.send(true).unwrap();
    let last = timeout(LONG, writing).await.unwrap().unwrap();
    eprintln!("{last} versions of {NOTES} notes at {rate} a second; another copy had read after {taken:?}");
    for (place, subscriber) in subscribers.iter().enumerate() {
        let has_all = || {
            let heard = subscriber.heard.lock().unwrap();
            (0..NOTES).filter(|note| note.is_multiple_of(2)).all(|note| heard.contains(&(note, last)))
        };
        let wait = async {
            while !has_all() {
                subscriber.more.notified().await;
            }
        };
        let is_there = timeout(LONG, wait).await.is_ok();
        let heard = subscriber.heard.lock().unwrap();
        for note in 0..NOTES {
            let mut versions: Vec<u64> = Vec::new();
            for (_, version) in heard.iter().filter(|(number, _)| *number == note) {
                // An event may come again, but a new one only in its place.
                if !versions.contains(version) {
                    versions.push(*version);
                }
            }
            versions.retain(|version| *version > 0);
            let expected: Vec<u64> = if owner(note) == owner(0) { (1..=last).collect() } else { Vec::new() };
            let begins = subscriber.begun.lock().unwrap();
            assert!(
                is_there && versions == expected,
                "subscriber {place}, which began {begins} times, received note {note}: {versions:?}"
            );
        }
    }
    listening.iter().for_each(tokio::task::JoinHandle::abort);
}

/// Asks a copy for a note's version.
async fn version(client: &reqwest::Client, url: &str) -> u64 {
    let body = json!({ "query": "{ note(room: 1, id: 0) { version } }" }).to_string();
    let request =
        client.post(format!("{url}/graphql")).header("content-type", "application/json").header("x-api-key", KEY);
    let answer: Value =
        serde_json::from_slice(&request.body(body).send().await.unwrap().bytes().await.unwrap()).unwrap();
    answer["data"]["note"]["version"].as_u64().unwrap_or_else(|| panic!("{answer}"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_another_copy_has_written_leaves_the_cache() {
    let Some(nats) = Nats::start(None) else { return };
    let store = Store::start();
    let mut copies: Vec<GatewayCopy> = (0..3).map(|_| GatewayCopy::start(&store, &nats.url())).collect();
    reader(&mut copies, 0).await;
    let client = reqwest::Client::new();
    let mut latest = Duration::ZERO;
    for written in 1..=10 {
        let text = format!(
            "mutation {{ putNote(room: 1, id: 0, ownerId: {:?}, version: {written}) {{ version }} }}",
            owner(0)
        );
        let by = &copies[written as usize % 3];
        let request = client
            .post(format!("{}/graphql", by.url))
            .header("content-type", "application/json")
            .header("x-api-key", KEY);
        let answer = request.body(json!({ "query": text }).to_string()).send().await.unwrap().text().await.unwrap();
        assert!(answer.contains(&format!("\"version\":{written}")), "{answer}");
        let began = Instant::now();
        for copy in &copies {
            let seen = async {
                while version(&client, &copy.url).await != written {
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
            };
            // It would be five minutes without the stream.
            timeout(LONG, seen).await.expect("the copy sees what another has written");
        }
        latest = latest.max(began.elapsed());
    }
    eprintln!("every copy saw a write after {latest:?} at the latest");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_bus_needs_is_said_at_the_start() {
    let store = Store::start();
    let schema = repository("tests/schemas/copies/feed.graphql");
    let serve = |options: &[&str]| {
        let arguments =
            ["serve", "--listen", "127.0.0.1:0", "--schema", schema.to_str().unwrap(), "--endpoint-url", &store.url()];
        run(store.directory.path(), &[&arguments[..], options].concat()).badly(1)
    };
    let said = serve(&["--bus", "nats://127.0.0.1:4222", "--lease-table", "others"]);
    assert!(said.contains("others") && said.contains("`keyfold tables --lease-table`"), "{said}");
    let said = serve(&["--bus", "a bus"]);
    assert!(said.contains("\"a bus\" is not the address of a NATS server, such as nats://localhost:4222"), "{said}");
    let said = serve(&["--bus", "nats://127.0.0.1:4222", "--bus-credentials", "nowhere.creds"]);
    assert!(said.contains("the credentials of the bus cannot be read"), "{said}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_copy_serves_before_its_bus_does() {
    let Some(mut nats) = Nats::start(None) else { return };
    let (port, url, store) = (nats.port, nats.url(), Store::start());
    nats.process.kill();
    let mut copies = vec![GatewayCopy::start(&store, &url)];
    let client = store.client().await;
    write(&client, 0..1, 7).await;
    let asked = reqwest::Client::new();
    assert_eq!(version(&asked, &copies[0].url).await, 7);
    let _nats = Nats::start(Some(port)).unwrap();
    reader(&mut copies, 0).await;
    // A copy that is asked to stop gives its leases back: another reads at once.
    copies.push(GatewayCopy::start(&store, &url));
    copies[0].process.terminate();
    assert!(copies[0].process.ended().success());
    reader(&mut copies[1..], 1).await;
}
