//! A day in the life, in seconds: mixed load with faults, and what a reader of the metrics alone can say of it: which
//! table throttled, which operation cost most, when the reload came.
//!
//! `KEYFOLD_DAY_SECONDS` says how long it lasts, and `KEYFOLD_DAY_RATE` how many operations a second are sent.

use super::observed::{Observed, Series};
use super::{FLAT, FRIDGE, NESTED};
use crate::server::schema;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until};

/// The table that is throttled.
const THROTTLED: &str = "develop.Favorite";
/// The parts of the day, each as long as the others.
const PARTS: u32 = 5;

fn number(name: &str, usual: u64) -> u64 {
    std::env::var(name).ok().map_or(usual, |value| value.parse().unwrap())
}

/// The operations of clients. `Everything` costs most by far, and is sent least.
fn operation(number: usize) -> Value {
    let everything =
        "query Everything { me { groups { nodes { name users { nodes { name } } containers { nodes { name foods { name quantity } } } } }
        favorites { nodes { title tags { name } } } posts { nodes { title } } } }";
    match number % 10 {
        0 => json!({ "query": everything }),
        1 | 2 => json!({ "query": NESTED, "variables": { "group": FLAT, "id": FRIDGE } }),
        3 => json!({ "query": "mutation Rename($g: ID!, $n: String!) { renameGroup(id: $g, name: $n) { name } }",
                     "variables": { "g": FLAT, "n": format!("Flat {number}") } }),
        4 | 5 => json!({ "query": "query Favorites { me { favorites { nodes { title tags { name } } } } }" }),
        6 => json!({ "query": "query Mistake { nothing }" }),
        _ => json!({ "query": "query Name { me { name } }" }),
    }
}

/// Seconds since 1970.
fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs_f64()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_of_the_metrics_alone_can_say_what_happened() {
    let (seconds, rate) = (number("KEYFOLD_DAY_SECONDS", 15), number("KEYFOLD_DAY_RATE", 30));
    let part = Duration::from_secs(seconds) / PARTS;
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("schema.graphql");
    std::fs::copy(schema(), &file).unwrap();
    let observed = Observed::start_on(file.to_str().unwrap(), &["--request-timeout", "10s"], &[]).await;
    let (is_over, sent, unexpected) =
        (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let load = {
        let (caller, is_over, sent, unexpected) =
            (observed.caller.clone(), is_over.clone(), sent.clone(), unexpected.clone());
        tokio::spawn(async move {
            let mut beat = interval(Duration::from_secs(1) / u32::try_from(rate).unwrap());
            beat.set_missed_tick_behavior(MissedTickBehavior::Skip);
            let mut running = tokio::task::JoinSet::new();
            while !is_over.load(Ordering::SeqCst) {
                beat.tick().await;
                let number = sent.fetch_add(1, Ordering::SeqCst);
                let (caller, unexpected) = (caller.clone(), unexpected.clone());
                running.spawn(async move {
                    let answer = caller.send(operation(number), &[]).await;
                    let is_right = (number % 10 == 6) == answer.get("errors").is_some();
                    unexpected.fetch_add(usize::from(!is_right), Ordering::SeqCst);
                });
                while running.len() > 64 {
                    running.join_next().await;
                }
            }
            running.join_all().await;
        })
    };

    // Each part of the day, as the metrics show it: a quiet one, a table that throttles, calls that are cut off, a
    // reload, a quiet one.
    let begun = Instant::now();
    let mut shown: Vec<(f64, Series)> = vec![(now(), observed.metrics().await)];
    for number in 0..PARTS {
        match number {
            1 => *observed.proxy.throttles.lock().unwrap() = (THROTTLED.to_owned(), 30),
            2 => observed.proxy.cut_off.store(10, Ordering::SeqCst),
            3 => {
                let text = std::fs::read_to_string(&file).unwrap();
                std::fs::write(&file, format!("{text}\n# Another version.\n")).unwrap();
            }
            _ => {}
        }
        sleep_until(begun + part * (number + 1)).await;
        shown.push((now(), observed.metrics().await));
    }
    is_over.store(true, Ordering::SeqCst);
    load.await.unwrap();
    let whole = observed.metrics().await;
    let first = &shown[0].1;

    let throttled_in: Vec<usize> = (0..PARTS as usize)
        .filter(|part| {
            !shown[part + 1]
                .1
                .growth(&shown[*part].1, "keyfold_dynamodb_throttles_total", "db_collection_name")
                .is_empty()
        })
        .collect();
    assert!(throttled_in.starts_with(&[1]) && throttled_in.len() <= 2, "throttled in parts {throttled_in:?}");
    let throttled = whole.growth(first, "keyfold_dynamodb_throttles_total", "db_collection_name");
    assert!(throttled.iter().all(|(table, _)| table.split(',').any(|table| table == THROTTLED)), "{throttled:?}");
    let reported: f64 = throttled.iter().map(|(_, count)| count).sum();
    assert_eq!(reported as usize, observed.proxy.throttled.load(Ordering::SeqCst));

    let costs = whole.growth(first, "keyfold_capacity_units_total", "graphql_operation_name");
    assert_eq!(costs[0].0, "Everything", "{costs:?}");
    let often = whole.growth(first, "graphql_operations_total", "graphql_operation_name");
    assert_ne!(often[0].0, "Everything", "{often:?}");

    let reloaded = whole.sum("keyfold_last_reload_timestamp_seconds", &[]);
    assert_eq!(whole.sum("keyfold_reloads_total", &[("outcome", "taken")]), 1.0);
    assert!(shown[3].0 - 1.0 <= reloaded && reloaded <= now(), "{} <= {reloaded}", shown[3].0);

    // Nothing else happened: no call failed for good, and each operation counts once.
    assert_eq!(unexpected.load(Ordering::SeqCst), 0, "{:#?}", whole.growth(first, "graphql_errors_total", "code"));
    assert_eq!(whole.sum("keyfold_dynamodb_failures_total", &[]), 0.0);
    // A read that is throttled or cut off is made again, unless it was late and its second call answers first.
    let repeated = ["keyfold_dynamodb_retries_total", "keyfold_dynamodb_hedges_total"].map(|name| whole.sum(name, &[]));
    assert!(repeated.iter().sum::<f64>() >= 40.0, "retries and second calls: {repeated:?}");
    let counted = whole.sum("graphql_operations_total", &[]) - first.sum("graphql_operations_total", &[]);
    assert_eq!(counted as usize, sent.load(Ordering::SeqCst));
    println!(
        "{counted} operations; retries and second calls: {repeated:?}; throttled: {throttled:?}; cost: {costs:?}; reloaded {:.1} s after the beginning",
        reloaded - shown[0].0
    );
}
