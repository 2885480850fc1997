//! Two copies on one server whose answers are lost, one of them killed again and again: some order explains all that
//! callers learned. So nothing acknowledged is undone, and nothing is done twice.

use crate::gateway_copy::GatewayCopy;
use crate::history::{Cell, Event, Operation, Outcome, is_explained};
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

/// What the callers share.
struct World {
    urls: [Mutex<String>; 2],
    clock: AtomicU64,
    events: Mutex<BTreeMap<String, Vec<Event>>>,
}

impl World {
    fn now(&self) -> u64 {
        self.clock.fetch_add(1, Ordering::SeqCst)
    }

    /// Runs an operation by one of the copies, and notes its outcome.
    async fn run(&self, client: &reqwest::Client, copy: usize, cell: &str, operation: Operation) {
        let url = self.urls[copy].lock().unwrap().clone();
        let (query, variables) = request(cell, &operation);
        let begun = self.now();
        let body = json!({ "query": query, "variables": variables });
        let sent = client.post(format!("{url}/graphql")).header("x-api-key", KEY).json(&body).send().await;
        let answer: Option<Value> = match sent {
            Ok(answer) => answer.json().await.ok(),
            Err(_) => None,
        };
        let outcome = read_outcome(&operation, answer.as_ref());
        let event = Event { begun, ended: self.now(), operation, outcome };
        self.events.lock().unwrap().entry(cell.to_owned()).or_default().push(event);
    }
}

fn request(cell: &str, operation: &Operation) -> (&'static str, Value) {
    use Operation::{Add, Create, Drop, Edit, Note, Read, Remove, Replace, Set};
    match operation {
        Create(value) => {
            ("mutation ($id: ID!, $v: String!) { w: create(id: $id, value: $v) }", json!({ "id": cell, "v": value }))
        }
        Replace(value) => {
            ("mutation ($id: ID!, $v: String!) { w: replace(id: $id, value: $v) }", json!({ "id": cell, "v": value }))
        }
        Set(value) => {
            ("mutation ($id: ID!, $v: String!) { w: set(id: $id, value: $v) }", json!({ "id": cell, "v": value }))
        }
        Edit(value, version) => (
            "mutation ($id: ID!, $v: String!, $n: Int!) { w: edit(id: $id, value: $v, version: $n) }",
            json!({ "id": cell, "v": value, "n": version }),
        ),
        Add => ("mutation ($id: ID!) { w: add(id: $id) }", json!({ "id": cell })),
        Note(note) => {
            ("mutation ($id: ID!, $n: String!) { w: note(id: $id, text: $n) }", json!({ "id": cell, "n": note }))
        }
        Drop(note) => {
            ("mutation ($id: ID!, $n: String!) { w: drop(id: $id, text: $n) }", json!({ "id": cell, "n": note }))
        }
        Remove => {
            ("mutation ($id: ID!) { w: remove(id: $id) { value count version notes { text } } }", json!({ "id": cell }))
        }
        Read => ("query ($id: ID!) { w: cell(id: $id) { value count version notes { text } } }", json!({ "id": cell })),
    }
}

/// What an answer says of its operation.
fn read_outcome(operation: &Operation, answer: Option<&Value>) -> Outcome {
    let Some(answer) = answer else { return Outcome::Open };
    match answer["errors"][0]["extensions"]["code"].as_str() {
        Some("UNAVAILABLE" | "TIMEOUT") => return Outcome::Open,
        Some(code) => return Outcome::Refused(code.to_owned()),
        None => {}
    }
    let cell = &answer["data"]["w"];
    match operation {
        Operation::Read | Operation::Remove if cell.is_null() => Outcome::Cell(None),
        Operation::Read | Operation::Remove => Outcome::Cell(Some(Cell {
            value: cell["value"].as_str().unwrap().to_owned(),
            count: cell["count"].as_i64().unwrap(),
            version: cell["version"].as_i64().unwrap(),
            notes: cell["notes"]
                .as_array()
                .unwrap()
                .iter()
                .map(|note| note["text"].as_str().unwrap().to_owned())
                .collect(),
        })),
        _ => {
            assert_eq!(*cell, json!(true), "{answer}");
            Outcome::Done
        }
    }
}

fn any(rng: &mut fastrand::Rng) -> Operation {
    // Equal values of two callers are what distinguishes them least.
    let value = || ["x", "y"][fastrand::usize(..2)].to_owned();
    match rng.usize(..12) {
        0 | 1 => Operation::Create(value()),
        2 => Operation::Replace(value()),
        3 | 4 => Operation::Set(value()),
        5 => Operation::Edit(value(), rng.i64(1..=2)),
        6 => Operation::Add,
        7 => Operation::Note(["m", "n"][rng.usize(..2)].to_owned()),
        8 => Operation::Drop(["m", "n"][rng.usize(..2)].to_owned()),
        9 | 10 => Operation::Remove,
        _ => Operation::Read,
    }
}

/// Runs all callers, and gives what they learned, by cell.
async fn histories(losses: Losses, form: &str, kills: bool) -> BTreeMap<String, Vec<Event>> {
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
                    world.run(&client, copy, &format!("c{cell}"), any(&mut rng)).await;
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
        world.run(&client, 0, &format!("c{cell}"), Operation::Read).await;
    }
    std::mem::take(&mut *world.events.lock().unwrap())
}

fn assert_explained(histories: &BTreeMap<String, Vec<Event>>) {
    for (cell, events) in histories {
        assert!(
            is_explained(events),
            "no order explains {cell}:\n{}",
            events.iter().map(|event| format!("{event:?}\n")).collect::<String>()
        );
    }
}

fn open(histories: &BTreeMap<String, Vec<Event>>) -> usize {
    histories.values().flatten().filter(|event| event.outcome == Outcome::Open).count()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_two_copies_tell_has_an_order_whatever_is_lost_or_killed() {
    let events = histories(Losses { seed: 1, percent: 20, late: true }, "call", true).await;
    assert_explained(&events);
    assert!(open(&events) > 0, "nothing was lost");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn transactions_of_one_item_are_certain_while_their_copy_lives() {
    let events = histories(Losses { seed: 2, percent: 20, late: false }, "transaction", false).await;
    assert_explained(&events);
    assert_eq!(open(&events), 0, "each was made or refused");
    let events = histories(Losses { seed: 3, percent: 20, late: false }, "transaction", true).await;
    assert_explained(&events);
}
