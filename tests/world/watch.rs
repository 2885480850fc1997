//! Subscribers to a cell, whatever dies: each change after the acknowledgement arrives, in order, and a live query ends
//! as the table.

use crate::cells::Cell;
use crate::copies::Copies;
use crate::network::Network;
use crate::store::ModelStore;
use crate::store::data::attribute::{Attribute, Item};
use crate::weather::rng_for;
use futures_util::StreamExt;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::sleep;

const CHANGES: &str = "subscription ($id: ID!, $after: ID) { \
    w: cellChanges(id: $id, after: $after) { node { value count version notes { text } } } }";

const LIVE: &str = "subscription ($id: ID!) { w: liveCell(id: $id) { value count version notes { text } } }";

/// What a subscriber got while one copy served it.
#[derive(Debug, Clone, Default)]
pub struct Segment {
    /// How many changes of the cell there were before the acknowledgement; `None` if the subscriber goes on after an
    /// event.
    begin: Option<usize>,
    /// The cell after each change.
    events: Vec<Value>,
}

/// A subscriber to one cell.
#[derive(Debug)]
pub struct Subscriber {
    pub cell: String,
    /// Whether it asks for the cell as it is now, rather than for its changes.
    is_live: bool,
    segments: Mutex<Vec<Segment>>,
    /// Errors that say neither that the copy could not begin nor that changes were lost.
    refused: Mutex<Vec<String>>,
}

impl Subscriber {
    pub fn new(cell: &str, is_live: bool) -> Arc<Self> {
        Arc::new(Self { cell: cell.to_owned(), is_live, segments: Mutex::default(), refused: Mutex::default() })
    }

    /// Subscribes at one copy after the other, as they die. It never ends.
    pub async fn follow(self: Arc<Self>, number: usize, (copies, network): (Arc<Copies>, Arc<Network>)) {
        let mut rng = rng_for(network.seed, ("subscriber", number));
        let mut after: Option<Arc<str>> = None;
        loop {
            let (query, variables) = match self.is_live {
                true => (LIVE, json!({ "id": self.cell })),
                false => (CHANGES, json!({ "id": self.cell, "after": after.as_deref() })),
            };
            let begun = copies.subscribe(rng.usize(..crate::program::COPIES), query, variables).await;
            let Some(mut responses) = begun else {
                sleep(Duration::from_millis(100)).await;
                continue;
            };
            // Who begins first does not depend on chance.
            sleep(Duration::from_millis(number as u64)).await;
            let begin = after.is_none().then(|| changes(&network.store.lock().unwrap(), &self.cell).len());
            network.note(&format!("subscriber {number} begins after {after:?}"));
            self.segments.lock().unwrap().push(Segment { begin, events: Vec::new() });
            while let Some(response) = responses.next().await {
                let body: Value = serde_json::from_slice(&response.body).unwrap();
                network.note(&format!("subscriber {number} gets {body}"));
                let code = body["errors"][0]["extensions"]["code"].as_str().unwrap_or_default();
                if !["", "UNAVAILABLE", "TIMEOUT", "THROTTLED"].contains(&code) {
                    self.refused.lock().unwrap().push(body.to_string());
                }
                if body["errors"].is_null() {
                    let mut segments = self.segments.lock().unwrap();
                    let cell = if self.is_live { &body["data"]["w"] } else { &body["data"]["w"]["node"] };
                    segments.last_mut().unwrap().events.push(cell.clone());
                }
                // An error says where to go on: what was lost before it, the subscriber would read.
                if let Some(event) = response.event.filter(|_| !self.is_live) {
                    let is_gap = !body["errors"].is_null();
                    after = (!is_gap).then_some(event);
                }
            }
            network.note(&format!("subscriber {number} is cut off"));
            sleep(Duration::from_millis(20)).await;
        }
    }

    /// What is wrong with what it got.
    pub fn check(&self, store: &ModelStore) -> Option<String> {
        if let Some(refused) = self.refused.lock().unwrap().first() {
            return Some(format!("a subscriber to {} is refused: {refused}", self.cell));
        }
        let changes = changes(store, &self.cell);
        let segments = self.segments.lock().unwrap();
        if self.is_live {
            let seen = segments.iter().flat_map(|segment| &segment.events).next_back();
            let now = changes.last().cloned().unwrap_or_default();
            let ends_otherwise = !segments.is_empty() && seen != Some(&now);
            return ends_otherwise.then(|| format!("a live query of {} ends as {seen:?}, not {now}", self.cell));
        }
        let (mut next, mut end) = (0, 0);
        for segment in segments.iter() {
            next = segment.begin.unwrap_or(next);
            // A subscriber that goes on may get a change again.
            let fits = |from: &usize| changes[*from..].starts_with(&segment.events);
            match (0..=next).rev().find(fits) {
                Some(from) => {
                    end = from + segment.events.len();
                    next = next.max(end);
                }
                None => return Some(format!("a subscriber to {} misses a change: {segments:#?}", self.cell)),
            }
        }
        // Who gets changes again gets all that follow.
        let ends_as = segments.last().map(|last| if last.events.is_empty() { next } else { end });
        let is_done = ends_as.is_none_or(|end| end == changes.len());
        (!is_done).then(|| format!("a subscriber to {} ends as {ends_as:?} of {} changes", self.cell, changes.len()))
    }
}

/// The cell after each of its changes.
fn changes(store: &ModelStore, cell: &str) -> Vec<Value> {
    let table = store.table("world").expect("the table of the schema");
    let partition = Attribute::S(format!("CELL#{cell}"));
    let key = table.keys_in(&partition).next();
    let versions = key.map(|key| table.versions(key)).unwrap_or_default();
    versions.iter().map(|version| version.item.as_ref().map_or(Value::Null, shown)).collect()
}

/// A stored cell as an answer has it.
fn shown(item: &Item) -> Value {
    let number = |name: &str| match item.get(name) {
        Some(Attribute::N(number)) => number.text().parse().unwrap(),
        _ => 0,
    };
    let text = |value: Option<&Attribute>| match value {
        Some(Attribute::S(text)) => text.clone(),
        _ => String::new(),
    };
    let notes = match item.get("notes") {
        Some(Attribute::L(notes)) => notes.as_slice(),
        _ => &[],
    };
    let note = |note: &Attribute| match note {
        Attribute::M(members) => text(members.get("text")),
        _ => String::new(),
    };
    let notes = notes.iter().map(note).collect();
    Cell { value: text(item.get("value")), count: number("count"), version: number("version"), notes }.json()
}
