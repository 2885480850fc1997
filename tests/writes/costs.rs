//! What a write costs is never above what `atMost` says before it runs: its calls, its read units and its write units. One writer, no faults.

use crate::case::{Case, block_on, cases, law, load, request};
use crate::random_schema::Dimensions;
use crate::support;
use keyfold::execute::gateway::Gateway;
use keyfold::execute::request::Settings;
use keyfold::plan::tree::SingleWrites;
use keyfold::table::store::TableStore;
use serde_json::json;

const OPERATIONS: usize = 40;

#[test]
fn a_write_costs_at_most_what_is_said_before() {
    law(cases(60), &Dimensions::default(), OPERATIONS, &fails);
}

/// Which operation of a case costs more than was said, if any.
fn fails(case: &Case) -> Option<String> {
    let model = load(&case.schema)?;
    block_on(async {
        let store = TableStore::in_memory().unwrap();
        store.create_missing(&model.tables).await.unwrap();
        let single_writes = if case.seed.is_multiple_of(3) { SingleWrites::Transaction } else { SingleWrites::Call };
        let gateway = Gateway::new(model, store, Settings { single_writes, ..Settings::default() });
        for operation in &case.operations {
            let response = support::run(&gateway, &request(&case.schema, operation), true).await;
            if let Some(excess) = support::costs_more(&response) {
                let name = &case.schema.mutations[operation.mutation].name;
                return Some(format!("{name} {}\n{excess}\n{response:#}", json!(operation.arguments)));
            }
        }
        None
    })
}
