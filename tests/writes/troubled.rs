//! One writer, and a table that throttles, breaks connections and loses answers. Acknowledged writes are there, refused
//! ones are not, and those with an unknown outcome are there completely or not at all.

use crate::case::{Case, block_on, cases, gateway, law, load, run};
use crate::compare::{difference, differs};
use crate::engine::Engine;
use crate::model::{Memory, Outcome};
use crate::random_schema::Dimensions;
use serde_json::json;

const OPERATIONS: usize = 30;
/// The percentage of calls that meet trouble.
const TROUBLES: u8 = 25;

#[test]
fn what_is_acknowledged_is_there_whatever_the_table_does() {
    law(cases(30), &Dimensions::default(), OPERATIONS, &fails);
}

/// What is wrong with a case, if anything.
fn fails(case: &Case) -> Option<String> {
    let model = load(&case.schema)?;
    block_on(async {
        let engine = Engine::new(case.seed);
        let gateway = gateway(&engine, &model, 0);
        engine.store(0).create_missing(&model.tables).await.unwrap();
        engine.unsettle(0, TROUBLES);
        let mut memory = Memory::new();
        for operation in &case.operations {
            let mutation = &case.schema.mutations[operation.mutation];
            let before = memory.stored(&case.schema);
            let mut after = memory.clone();
            let outcome = after.apply(&case.schema, mutation, &operation.arguments);
            let from = engine.calls();
            let response = run(&gateway, &case.schema, operation).await;
            let stored = engine.stored(&case.schema);
            let code = response["errors"][0]["extensions"]["code"].as_str();
            let found = match code {
                // The outcome is unknown: all or nothing may be written, but not half.
                Some("TIMEOUT" | "UNAVAILABLE") if stored == before => None,
                Some("TIMEOUT" | "UNAVAILABLE") => match &outcome {
                    Outcome::Data(_) => difference(&after.stored(&case.schema), &stored).or_else(|| {
                        memory = after;
                        None
                    }),
                    Outcome::Refused(codes) => Some(format!("expected one of {codes:?}, or nothing written")),
                },
                _ => {
                    memory = after;
                    differs(&outcome, &response).or_else(|| difference(&memory.stored(&case.schema), &stored))
                }
            };
            if let Some(found) = found {
                return Some(format!(
                    "{} {}\n{found}\n{response}\n{:#?}",
                    mutation.name,
                    json!(operation.arguments),
                    engine.log(from)
                ));
            }
        }
        None
    })
}
