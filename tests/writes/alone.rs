//! One writer: each response, and every item after it, agree with the model.

use crate::case::{Case, block_on, cases, gateway, law, load, run};
use crate::compare::{difference, differs};
use crate::engine::Engine;
use crate::model::Memory;
use crate::random_schema::Dimensions;
use serde_json::json;

const OPERATIONS: usize = 40;

#[test]
fn writes_alone_are_what_the_model_says() {
    law(cases(60), &Dimensions::default(), OPERATIONS, &fails);
}

/// What is wrong with a case, if anything.
fn fails(case: &Case) -> Option<String> {
    let model = load(&case.schema)?;
    block_on(async {
        let engine = Engine::new(case.seed);
        let gateway = gateway(&engine, &model, 0);
        engine.store(0).create_missing(&model.tables).await.unwrap();
        let mut memory = Memory::new();
        for operation in &case.operations {
            let mutation = &case.schema.mutations[operation.mutation];
            let outcome = memory.apply(&case.schema, mutation, &operation.arguments);
            let response = run(&gateway, &case.schema, operation).await;
            let found = differs(&outcome, &response)
                .or_else(|| difference(&memory.stored(&case.schema), &engine.stored(&case.schema)));
            if let Some(found) = found {
                return Some(format!("{} {}\n{found}\n{response}", mutation.name, json!(operation.arguments)));
            }
        }
        None
    })
}
