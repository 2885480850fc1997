//! The calls of copies in; which generated values each step sent, and how often each copy repeated the calls of crowds,
//! out.

use crate::work::crowds::CALLS;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use tokio::time::Instant;

/// The retries that the requests of a copy may send together: so many at once, for each first attempt, and in each
/// second (docs/operations.md).
const SAVED: f64 = 100.0;
const SHARE: f64 = 0.2;
const A_SECOND: f64 = 10.0;

/// What was sent.
#[derive(Default)]
pub struct Sent {
    codes: Mutex<BTreeMap<usize, BTreeSet<String>>>,
    copies: Mutex<BTreeMap<usize, Calls>>,
}

/// The calls of a copy.
struct Calls {
    first: Instant,
    last: Instant,
    all: usize,
    /// How often each step sent a query.
    queries: BTreeMap<usize, usize>,
}

impl Sent {
    /// A call of a copy for a step.
    pub fn note(&self, (copy, step): (usize, usize), operation: &str, body: &Value) {
        if is_write(operation) {
            let mut codes = BTreeSet::new();
            add_codes(body, &mut codes);
            self.codes.lock().unwrap().entry(step).or_default().extend(codes);
        }
        let now = Instant::now();
        let mut copies = self.copies.lock().unwrap();
        let calls = copies.entry(copy).or_insert(Calls { first: now, last: now, all: 0, queries: BTreeMap::new() });
        calls.last = now;
        calls.all += 1;
        if operation == "Query" {
            *calls.queries.entry(step).or_default() += 1;
        }
    }

    /// The generated values that the writes of a step sent.
    pub fn codes(&self, step: usize) -> BTreeSet<String> {
        self.codes.lock().unwrap().get(&step).cloned().unwrap_or_default()
    }

    /// Copies that sent more retries for these crowds than all requests may.
    pub fn too_many(&self, crowds: &BTreeSet<usize>) -> Vec<String> {
        let copies = self.copies.lock().unwrap();
        let too_many = copies.iter().filter_map(|(copy, calls)| {
            let queries = calls.queries.iter().filter(|(step, _)| crowds.contains(step));
            let retries: usize = queries.map(|(_, times)| times.saturating_sub(CALLS)).sum();
            let seconds = (calls.last - calls.first).as_secs_f64();
            let most = SAVED + SHARE * (calls.all - retries) as f64 + A_SECOND * seconds;
            (retries as f64 > most + 1.0).then(|| format!("copy {copy} sends {retries} retries of {most:.0}"))
        });
        too_many.collect()
    }
}

fn is_write(operation: &str) -> bool {
    ["PutItem", "UpdateItem", "TransactWriteItems"].contains(&operation)
}

/// Adds the generated values in a call.
fn add_codes(value: &Value, codes: &mut BTreeSet<String>) {
    match value {
        Value::String(text) if is_code(text) => _ = codes.insert(text.clone()),
        Value::Object(members) => members.values().for_each(|member| add_codes(member, codes)),
        Value::Array(elements) => elements.iter().for_each(|element| add_codes(element, codes)),
        _ => {}
    }
}

/// Whether a text is a UUID.
pub fn is_code(text: &str) -> bool {
    text.len() == 36 && text.bytes().filter(|byte| *byte == b'-').count() == 4
}
