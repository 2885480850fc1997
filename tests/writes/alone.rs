//! One writer: each response, and every item after it, agree with the model.

use crate::case::{Case, block_on, cases, gateway, law, load, run};
use crate::compare::{difference, differs};
use crate::engine::Engine;
use crate::model::{Memory, Outcome};
use crate::random_schema::Dimensions;
use crate::random_schema::mutations::LIST;
use serde_json::{Value, json};
use std::cell::Cell;

const OPERATIONS: usize = 40;

#[test]
fn writes_alone_are_what_the_model_says() {
    let range = cases(60);
    let (count, lists) = (usize::try_from(range.end - range.start).unwrap(), Cell::new(0));
    law(range, &Dimensions::default(), OPERATIONS, &|case| fails(case, &lists));
    let lists = lists.get();
    assert!(lists * 2 >= count, "{count} schemas write only {lists} lists of several elements");
}

/// What is wrong with a case, if anything. Counts the writes of lists of several elements.
fn fails(case: &Case, lists: &Cell<usize>) -> Option<String> {
    let model = load(&case.schema)?;
    block_on(async {
        let engine = Engine::new(case.seed);
        let gateway = gateway(&engine, &model, 0);
        engine.store(0).create_missing(&model.tables).await.unwrap();
        let mut memory = Memory::new();
        for operation in &case.operations {
            let mutation = &case.schema.mutations[operation.mutation];
            let outcome = memory.apply(&case.schema, mutation, &operation.arguments);
            let is_list = operation.arguments.get(LIST).and_then(Value::as_array).is_some_and(|lines| lines.len() > 1);
            lists.set(lists.get() + usize::from(is_list && matches!(outcome, Outcome::Data(_))));
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
