//! `keyfold init --table` and `keyfold verify --table`: a table of a server, sampled under a rate and read as a whole,
//! in bounded memory. `KEYFOLD_LIVE_ITEMS` is how many items it has: only of a million does the memory say much.

use crate::dynamo::Dynamo;
use crate::process::{Process, keyfold};
use dynoxide::{AttributeValue, ImportOptions, Item};
use serde_json::json;
use std::collections::HashMap;
use std::path::Path;
use std::time::{Duration, Instant};

const TABLE: &str = "orders";
/// The bytes that a read capacity unit reads, eventually consistent (DynamoDB developer guide, "Read consumption").
const UNIT_BYTES: u64 = 8192;
/// The most memory of a command, in bytes: a sample has 64 MiB at most.
const MOST_MEMORY: u64 = 200_000_000;
/// Longer than a million items take without optimisation.
const BOUND: Duration = Duration::from_secs(900);
/// Items that are put at once.
const AT_ONCE: usize = 10_000;
/// The orders of a customer.
const ORDERS: usize = 9;

/// The item of this number: a customer, and then each of their orders.
fn item(number: usize) -> Item {
    let (customer, order) = (number / (ORDERS + 1), number % (ORDERS + 1));
    let text = |text: String| AttributeValue::S(text);
    let mut item: HashMap<String, AttributeValue> = HashMap::new();
    item.insert("pk".into(), text(format!("CUSTOMER#c-{customer:07}")));
    item.insert("note".into(), text("a text as long as texts often are ".repeat(5)));
    if order == 0 {
        item.insert("sk".into(), text("PROFILE".into()));
        item.insert("name".into(), text(format!("Customer {customer}")));
        item.insert("kind".into(), text("Customer".into()));
    } else {
        let at = format!("2026-11-{order:02}T09:00:00Z");
        item.insert("sk".into(), text(format!("ORDER#{at}#{number:08}")));
        item.insert("placedAt".into(), text(at));
        item.insert("kind".into(), text("Order".into()));
    }
    item
}

/// The bytes of an item, as DynamoDB counts them: here, each attribute is a text.
fn bytes(item: &Item) -> u64 {
    let of = |(name, value): (&String, &AttributeValue)| match value {
        AttributeValue::S(text) => name.len() + text.len(),
        _ => 0,
    };
    item.iter().map(of).sum::<usize>() as u64
}

/// A server with the table.
fn server(items: usize) -> Dynamo {
    let dynamo = Dynamo::start();
    let key = |name: &str, kind: &str| json!({ "AttributeName": name, "KeyType": kind });
    let definition = |name: &str| json!({ "AttributeName": name, "AttributeType": "S" });
    let request = json!({
        "TableName": TABLE, "BillingMode": "PAY_PER_REQUEST",
        "KeySchema": [key("pk", "HASH"), key("sk", "RANGE")],
        "AttributeDefinitions": [definition("pk"), definition("sk")],
    });
    dynamo.database().create_table(serde_json::from_value(request).unwrap()).unwrap();
    for begin in (0..items).step_by(AT_ONCE) {
        let batch: Vec<Item> = (begin..items.min(begin + AT_ONCE)).map(item).collect();
        dynamo.database().import_items(TABLE, batch, ImportOptions::default()).unwrap();
    }
    dynamo
}

/// Runs a command: what it said, how long it took, and its most memory in bytes.
fn watched(directory: &Path, arguments: &[&str]) -> (String, Duration, u64) {
    let begun = Instant::now();
    let mut process = Process::start(keyfold(directory, arguments));
    let status = format!("/proc/{}/status", process.id());
    let watch = std::thread::spawn(move || {
        let mut most = 0;
        // "VmHWM: peak resident set size" (proc_pid_status(5)), in kB; a process that has ended has none.
        while let Some(peak) = std::fs::read_to_string(&status).ok().as_deref().and_then(peak) {
            most = peak;
            std::thread::sleep(Duration::from_millis(5));
        }
        most * 1024
    });
    let ended = process.ended_within(BOUND);
    let took = begun.elapsed();
    assert!(ended.success(), "{arguments:?}: {:?}", process.said);
    let memory = watch.join().unwrap();
    assert!(memory > 0, "the memory of the process is not known");
    (process.said.join("\n"), took, memory)
}

fn peak(status: &str) -> Option<u64> {
    status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?.trim().trim_end_matches(" kB").parse().ok()
}

#[test]
fn a_live_table_is_read_within_its_rate_and_in_bounded_memory() {
    let items: usize = std::env::var("KEYFOLD_LIVE_ITEMS").map_or(20_000, |items| items.parse().unwrap());
    assert!(items >= 20_000, "fewer items take no time");
    let (dynamo, directory) = (server(items), tempfile::tempdir().unwrap());
    let url = dynamo.url();
    let size = bytes(&item(1));
    // A twentieth of it is looked at, or as many items as usual.
    let sample = (items / 20).min(20_000);
    let units = sample as u64 * size / UNIT_BYTES / 2;
    let (number, rate) = (sample.to_string(), units.to_string());
    let init = ["init", "--table", TABLE, "--endpoint-url", &url, "--dir", "api", "--yes", "--sample", &number];
    let (said, took, memory) = watched(directory.path(), &[&init[..], &["--units", &rate]].concat());
    println!("init: {sample} of {items} items, {units} units a second, {took:?}, {memory} bytes of memory");
    assert!(said.contains(&format!("{TABLE}: {sample} of {sample} items are of a type (100.0 %)")), "{said}");
    // Two seconds at this rate, but for the last page, which nothing waits for.
    assert!(took > Duration::from_millis(1500), "{took:?}");
    assert!(memory < MOST_MEMORY, "{memory} bytes");

    let project = directory.path().join("api");
    let verify = ["verify", "--table", TABLE, "--endpoint-url", &url, "--units", "1000000"];
    let (said, took, memory) = watched(&project, &verify);
    println!("verify: {items} items, {took:?}, {memory} bytes of memory");
    assert!(said.contains(&format!("{TABLE}: {items} of {items} items are of a type (100.0 %)")), "{said}");
    assert!(memory < MOST_MEMORY, "{memory} bytes");
}
