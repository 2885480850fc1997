//! Two copies on one server whose answers are lost, one of them killed again and again: some order explains all that
//! callers got. So nothing acknowledged is undone, and nothing is done twice.

use crate::cells::{CellOperation, outcome};
use crate::gateway_copy::GatewayCopy;
use crate::history::{CallerOutcome, Explanation, HistoryEvent, explain};
use crate::lossy::{Losses, in_front_of};
use crate::process::{KEY, repository, run};
use crate::store::Store;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::task::JoinSet;

const CALLERS: usize = 6;
/// How many cells the callers write one after another, and how many operations each makes of a cell.
const CELLS: usize = 60;
const OPERATIONS: usize = 4;

/// The most states of a cell that the search for an order visits: some gigabytes.
const MAX_STATES: usize = 10_000_000;

/// What the callers share.
struct World {
    urls: [Mutex<String>; 2],
    clock: AtomicU64,
    events: Mutex<BTreeMap<String, Vec<HistoryEvent<CellOperation>>>>,
}

impl World {
    fn now(&self) -> u64 {
        self.clock.fetch_add(1, Ordering::SeqCst)
    }

    /// Runs an operation by one of the copies, and notes what its caller got.
    async fn run(&self, client: &reqwest::Client, copy: usize, cell: &str, operation: CellOperation) {
        let url = self.urls[copy].lock().unwrap().clone();
        let (query, variables) = operation.request(cell);
        let begun = self.now();
        let body = json!({ "query": query, "variables": variables });
        let sent = client.post(format!("{url}/graphql")).header("x-api-key", KEY).json(&body).send().await;
        let answer: Option<Value> = match sent {
            Ok(answer) => answer.json().await.ok(),
            Err(_) => None,
        };
        let outcome = outcome(answer.as_ref());
        let event = HistoryEvent { begun, ended: self.now(), operation, outcome };
        self.events.lock().unwrap().entry(cell.to_owned()).or_default().push(event);
    }
}

/// Runs all callers, and gives what they got, by cell.
async fn histories(losses: Losses, form: &str, kills: bool) -> BTreeMap<String, Vec<HistoryEvent<CellOperation>>> {
    let store = Store::start();
    let schema = repository("tests/schemas/copies/cells.graphql");
    let schema = schema.to_str().unwrap();
    run(store.directory.path(), &["tables", "--create", "--schema", schema, "--endpoint-url", &store.url()]).well();
    let lossy = format!("http://{}", in_front_of(store.url(), losses).await);
    let arguments = [
        "serve",
        "--listen",
        "127.0.0.1:0",
        "--log-format",
        "json",
        "--schema",
        schema,
        "--endpoint-url",
        &lossy,
        "--single-writes",
        form,
    ];
    let start = || GatewayCopy::serve(store.directory.path(), &arguments);
    let mut copies = [start(), start()];
    let urls = [0, 1].map(|copy: usize| Mutex::new(copies[copy].url.clone()));
    let world = Arc::new(World { urls, clock: AtomicU64::new(0), events: Mutex::default() });
    let ended = Arc::new(AtomicBool::new(false));
    let mut callers = JoinSet::new();
    for caller in 0..CALLERS {
        let world = world.clone();
        let mut rng = fastrand::Rng::with_seed(losses.seed * 100 + caller as u64);
        callers.spawn(async move {
            let client = reqwest::Client::builder().timeout(Duration::from_secs(60)).build().unwrap();
            for cell in 0..CELLS {
                for _ in 0..OPERATIONS {
                    let copy = rng.usize(..2);
                    world.run(&client, copy, &format!("c{cell}"), CellOperation::any(&mut rng)).await;
                }
            }
        });
    }
    let finished = {
        let ended = ended.clone();
        tokio::spawn(async move {
            while let Some(caller) = callers.join_next().await {
                caller.unwrap();
            }
            ended.store(true, Ordering::SeqCst);
        })
    };
    while kills && !ended.load(Ordering::SeqCst) {
        tokio::time::sleep(Duration::from_millis(700)).await;
        copies[1].process.kill();
        copies[1] = start();
        world.urls[1].lock().unwrap().clone_from(&copies[1].url);
    }
    finished.await.unwrap();
    // What was on its way has arrived.
    tokio::time::sleep(Duration::from_millis(100)).await;
    let client = reqwest::Client::new();
    for cell in 0..CELLS {
        world.run(&client, 0, &format!("c{cell}"), CellOperation::Read).await;
    }
    std::mem::take(&mut *world.events.lock().unwrap())
}

fn assert_explained(histories: &BTreeMap<String, Vec<HistoryEvent<CellOperation>>>) {
    for (cell, events) in histories {
        let verdict = explain(events, MAX_STATES);
        assert!(
            verdict == Explanation::Explained,
            "{verdict:?}: {cell}:\n{}",
            events.iter().map(|event| format!("{event:?}\n")).collect::<String>()
        );
    }
}

fn open(histories: &BTreeMap<String, Vec<HistoryEvent<CellOperation>>>) -> usize {
    histories.values().flatten().filter(|event| event.outcome == CallerOutcome::Open).count()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_two_copies_tell_has_an_order_whatever_is_lost_or_killed() {
    let found = histories(Losses { seed: 1, percent: 20, late: true }, "call", true).await;
    assert_explained(&found);
    assert!(open(&found) > 0, "nothing was lost");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn transactions_of_one_item_are_certain_while_their_copy_lives() {
    let found = histories(Losses { seed: 2, percent: 20, late: false }, "transaction", false).await;
    assert_explained(&found);
    assert_eq!(open(&found), 0, "each was made or refused");
    let found = histories(Losses { seed: 3, percent: 20, late: false }, "transaction", true).await;
    assert_explained(&found);
}
