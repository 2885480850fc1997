//! One writer with `@idempotent`, and a table that throttles, breaks connections and loses answers. A request that is
//! repeated with its key until it has an answer is made once, or refused for good; when it comes again later, nothing
//! changes.

use crate::case::{Case, Operation, block_on, cases, gateway, law, load, run, run_within};
use crate::compare::{difference, differs};
use crate::engine::Engine;
use crate::model::{Memory, Outcome};
use crate::random_schema::{Dimensions, Rng, Schema};
use keyfold::execute::gateway::Gateway;
use serde_json::{Value, json};
use std::cell::Cell;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

const OPERATIONS: usize = 30;
/// The percentage of calls that meet trouble.
const TROUBLES: u8 = 25;
/// The codes of an answer that does not say whether the write was made, or that it may be made later.
const OPEN: [&str; 4] = ["TIMEOUT", "UNAVAILABLE", "THROTTLED", "IDEMPOTENCY_KEY_IN_USE"];
/// The time of a request: less than a call waits for an answer.
const TIME: Duration = Duration::from_secs(2);
/// After so many open answers in a row, something is wrong.
const MOST: usize = 20;

#[test]
fn a_request_with_a_key_writes_once() {
    let range = cases(20);
    let (count, made, open) = (usize::try_from(range.end - range.start).unwrap(), Cell::new(0), Cell::new(0));
    let dimensions = Dimensions { idempotent: true, ..Dimensions::default() };
    law(range, &dimensions, OPERATIONS, &|case| fails(case, &made, &open));
    let (made, open) = (made.get(), open.get());
    eprintln!("{count} schemas: {made} writes were made, {open} answers were open");
    assert!(made > 4 * count && open > count / 4, "{made} writes were made, {open} answers were open");
}

/// A gateway on an engine.
struct Table<'a> {
    schema: &'a Schema,
    engine: &'a Arc<Engine>,
    gateway: Gateway,
    open: &'a Cell<usize>,
}

impl Table<'_> {
    /// Sends an operation until the answer is not open. What is stored is one of these after each answer.
    async fn send(&self, operation: &Operation, states: &[&BTreeSet<(String, String)>]) -> Result<Value, String> {
        for _ in 0..MOST {
            let response = run_within(TIME, &self.gateway, self.schema, operation).await;
            let stored = self.engine.stored(self.schema);
            if !states.contains(&&stored) {
                return Err(states.iter().filter_map(|state| difference(state, &stored)).collect());
            }
            if !response["errors"][0]["extensions"]["code"].as_str().is_some_and(|code| OPEN.contains(&code)) {
                return Ok(response);
            }
            self.open.set(self.open.get() + 1);
        }
        Err("no answer".to_owned())
    }
}

/// What is wrong with a case, if anything. Counts the writes that were made, and the answers that were open.
fn fails(case: &Case, made: &Cell<usize>, open: &Cell<usize>) -> Option<String> {
    let model = load(&case.schema)?;
    block_on(async {
        let engine = Engine::new(case.seed);
        engine.store(0).create_missing(&model.tables).await.unwrap();
        engine.unsettle(0, TROUBLES);
        let table = Table { schema: &case.schema, engine: &engine, gateway: gateway(&engine, &model, 0), open };
        let (mut memory, mut rng, mut done) = (Memory::new(), Rng::with_seed(case.seed), Vec::<Operation>::new());
        for operation in &case.operations {
            let mutation = &case.schema.mutations[operation.mutation];
            if !mutation.is_idempotent(&case.schema) {
                continue;
            }
            let before = memory.stored(&case.schema);
            let outcome = memory.apply(&case.schema, mutation, &operation.arguments);
            let after = memory.stored(&case.schema);
            let failed = |found: String| Some(format!("{} {}\n{found}", mutation.name, json!(operation.arguments)));
            let response = match table.send(operation, &[&before, &after]).await {
                Ok(response) => response,
                Err(found) => return failed(found),
            };
            let found = differs(&outcome, &response).or_else(|| difference(&after, &engine.stored(&case.schema)));
            if let Some(found) = found {
                return failed(format!("{found}\n{response}"));
            }
            if matches!(outcome, Outcome::Data(_)) {
                made.set(made.get() + 1);
                match table.send(operation, &[&after]).await {
                    Ok(again) if differs(&outcome, &again).is_none() => {}
                    Ok(again) => return failed(format!("{response}\nand then {again}")),
                    Err(found) => return failed(format!("again: {found}")),
                }
                done.push(operation.clone());
            }
            // One of before changes nothing, whatever it can show now.
            if let Some(earlier) = done.get(rng.usize(..=done.len())) {
                let response = run(&table.gateway, &case.schema, earlier).await;
                if let Some(found) = difference(&after, &engine.stored(&case.schema)) {
                    return failed(format!("{} comes again: {found}\n{response}", json!(earlier.arguments)));
                }
            }
        }
        None
    })
}
