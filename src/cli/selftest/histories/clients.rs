//! Several clients on two gateways, which write the same few items at once while answers get lost, in; the items whose
//! history no order explains out.

use super::cells::{CellOperation, outcome};
use super::history::{CallerOutcome, Explanation, HistoryEvent, Sequential, explain};
use super::people::PersonOperation;
use crate::cli::selftest::scratch::Scratch;
use crate::cli::selftest::tap::Tap;
use crate::execute::gateway::{Gateway, Response};
use crate::execute::request::{Request, Settings};
use crate::plan::tree::SingleWrites;
use crate::schema::model::Model;
use anyhow::{Result, anyhow};
use futures_util::future::join_all;
use futures_util::stream::{self, StreamExt};
use serde::Serialize;
use serde_json::{Map, Value};
use std::fmt::Debug;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// The schema of the items.
pub const SCHEMA: &str = "tests/schemas/copies/cells.graphql";
/// What its table has in its name.
pub const GROUND: &str = "histories";

/// Clients that write one item at once, and how many operations each makes of it.
const CLIENTS: u64 = 4;
const OPERATIONS: usize = 4;
/// Items that are written at the same time.
const ITEMS_AT_ONCE: usize = 4;
/// The writes whose answers get lost, of a hundred.
const LOST: u8 = 20;
/// Longest time of an operation.
const OPERATION_LIMIT: Duration = Duration::from_secs(20);
/// The most states that the search for an order visits, some hundred megabytes.
const MAX_STATES: usize = 500_000;

/// What the histories of all items show.
#[derive(Debug, Default, Serialize)]
pub struct HistoryResult {
    /// The items.
    pub histories: usize,
    /// The operations on them.
    pub operations: usize,
    /// Operations that may have been made.
    pub open: usize,
    /// Items for which the search for an order did not end.
    pub undecided: usize,
    /// Items that no order explains, each with what callers got.
    pub unexplained: Vec<String>,
}

/// Two gateways on one table.
pub struct Clients {
    gateways: [Gateway; 2],
    clock: AtomicU64,
    seed: u64,
}

/// How an operation is chosen, and how it asks for an item.
struct Kind<O> {
    name: &'static str,
    any: fn(&mut fastrand::Rng) -> O,
    request: fn(&O, &str) -> (&'static str, Value),
    reads: Vec<O>,
}

impl Clients {
    /// Creates the table. One of the gateways sends a write of one item as a call, the other as a transaction.
    pub async fn set_up(mut model: Model, scratch: &Scratch, seed: u64) -> Result<Self> {
        scratch.rename(GROUND, &mut model.tables);
        scratch.create(&model.tables).await?;
        let model = Arc::new(model);
        let gateway = |number: usize, single_writes| {
            let tap = Arc::new(Tap::losing(scratch.meter.clone(), LOST, seed ^ number as u64));
            let settings = Settings { single_writes, ..Settings::default() };
            Gateway::new(model.clone(), scratch.tapped(number, &tap), settings)
        };
        let gateways = [gateway(0, SingleWrites::Call), gateway(1, SingleWrites::Transaction)];
        Ok(Self { gateways, clock: AtomicU64::new(0), seed })
    }

    /// Writes so many cells, and half as many groups of people with unique names. `done` is called after each.
    pub async fn run(&self, cells: usize, done: &(dyn Fn() + Sync)) -> Result<HistoryResult> {
        let of_cells = Kind {
            name: "cell",
            any: CellOperation::any,
            request: |operation: &CellOperation, item| operation.request(item),
            reads: vec![CellOperation::Read],
        };
        let of_people = Kind {
            name: "people",
            any: PersonOperation::any,
            request: |operation: &PersonOperation, _| operation.request(),
            reads: PersonOperation::reads().collect(),
        };
        let mut result = HistoryResult::default();
        self.play_all(&of_cells, cells, (&mut result, done)).await?;
        self.play_all(&of_people, cells.div_ceil(2), (&mut result, done)).await?;
        Ok(result)
    }

    async fn play_all<O: Sequential + Clone + Debug>(
        &self,
        kind: &Kind<O>,
        items: usize,
        (result, done): (&mut HistoryResult, &(dyn Fn() + Sync)),
    ) -> Result<()> {
        let mut played = stream::iter((0..items).map(|item| async move {
            let name = format!("{}{item}", kind.name);
            self.play(kind, &name).await.map(|events| (name, events))
        }))
        .buffer_unordered(ITEMS_AT_ONCE);
        while let Some(history) = played.next().await {
            let (name, events) = history?;
            result.add(&name, &events);
            done();
        }
        Ok(())
    }

    /// The history of one item: what all clients did, and at the end what is there.
    async fn play<O: Sequential + Clone>(&self, kind: &Kind<O>, item: &str) -> Result<Vec<HistoryEvent<O>>> {
        let events = Mutex::new(Vec::new());
        let client = |number: u64| {
            let mut rng = fastrand::Rng::with_seed(self.seed.wrapping_mul(1_000_003) ^ hash(item) ^ number);
            let events = &events;
            async move {
                for _ in 0..OPERATIONS {
                    let (operation, gateway) = ((kind.any)(&mut rng), rng.usize(..2));
                    self.ask(kind, (item, gateway), operation, events).await?;
                }
                Ok::<(), anyhow::Error>(())
            }
        };
        join_all((0..CLIENTS).map(client)).await.into_iter().collect::<Result<()>>()?;
        for read in &kind.reads {
            self.ask(kind, (item, 0), read.clone(), &events).await?;
        }
        Ok(events.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    async fn ask<O: Sequential>(
        &self,
        kind: &Kind<O>,
        (item, gateway): (&str, usize),
        operation: O,
        events: &Mutex<Vec<HistoryEvent<O>>>,
    ) -> Result<()> {
        let (query, variables) = (kind.request)(&operation, item);
        // Each group of people has ids and names of its own.
        let own = format!("{item}-");
        let is_shared = kind.name == "people";
        let variables = if let Value::Object(variables) = variables { variables } else { Map::new() };
        let variables = variables.into_iter().map(|(name, value)| match value {
            Value::String(text) if is_shared => (name, Value::String(own.clone() + &text)),
            value => (name, value),
        });
        let request = Request { query: query.to_owned(), variables: variables.collect(), ..Request::default() };
        let (begun, gateway) = (self.now(), &self.gateways[gateway]);
        let response = match gateway.prepare(&request).await {
            Ok(prepared) => gateway.run(&prepared, Instant::now() + OPERATION_LIMIT, false).await,
            Err(errors) => Response::refused(&errors),
        };
        let text = String::from_utf8_lossy(&response.body).replace(&own, "");
        let outcome = outcome(Some(&serde_json::from_str(&text)?));
        let event = HistoryEvent { begun, ended: self.now(), operation, outcome };
        match &event.outcome {
            // Nothing was written, whatever the state is.
            CallerOutcome::Refused(code) if code == "CONTENTION" || code == "THROTTLED" => {}
            CallerOutcome::Refused(code) if !matches!(code.as_str(), "CONFLICT" | "NOT_FOUND") => {
                return Err(anyhow!("an operation on {item} is refused: {text}"));
            }
            _ => events.lock().unwrap_or_else(PoisonError::into_inner).push(event),
        }
        Ok(())
    }

    fn now(&self) -> u64 {
        self.clock.fetch_add(1, Ordering::SeqCst)
    }
}

impl HistoryResult {
    fn add<O: Sequential + Debug>(&mut self, item: &str, events: &[HistoryEvent<O>]) {
        self.histories += 1;
        self.operations += events.len();
        self.open += events.iter().filter(|event| event.outcome == CallerOutcome::Open).count();
        match explain(events, MAX_STATES) {
            Explanation::Explained => {}
            Explanation::Undecided => self.undecided += 1,
            Explanation::NotExplained => {
                let shown = |event: &HistoryEvent<O>| {
                    let HistoryEvent { begun, ended, operation, outcome } = event;
                    format!("  {begun}..{ended}: {operation:?} → {outcome:?}\n")
                };
                self.unexplained.push(format!("{item}:\n{}", events.iter().map(shown).collect::<String>()));
            }
        }
    }
}

/// A number that differs for different items.
fn hash(item: &str) -> u64 {
    item.bytes().fold(0, |hash: u64, byte| hash.wrapping_mul(31).wrapping_add(byte.into()))
}
