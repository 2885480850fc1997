//! What a write costs is never above what `atMost` says before it runs: its calls, its read units and its write units.
//! With rules and without, one writer, no faults.

use crate::case::{Case, block_on, cases, law, load, request};
use crate::random_schema::Dimensions;
use crate::support;
use keyfold::execute::gateway::Gateway;
use keyfold::execute::request::Settings;
use keyfold::plan::tree::SingleWrites;
use keyfold::table::store::TableStore;
use serde_json::json;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

const OPERATIONS: usize = 40;

#[test]
fn a_write_costs_at_most_what_is_said_before() {
    law(cases(60), &Dimensions::default(), OPERATIONS, &|case| fails(case, &mut BTreeMap::new()));
}

/// With its record, and again, when the record is there.
#[test]
fn a_write_with_a_key_costs_at_most_what_is_said_before() {
    let dimensions = Dimensions { idempotent: true, ..Dimensions::default() };
    law(cases(30), &dimensions, OPERATIONS, &|case| fails(case, &mut BTreeMap::new()));
}

#[test]
fn a_write_by_rules_costs_at_most_what_is_said_before() {
    let codes = RefCell::new(BTreeMap::new());
    let (hiding, looking_up) = (RefCell::new(0), RefCell::new(0));
    let range = cases(30);
    let count = usize::try_from(range.end - range.start).unwrap();
    law(range, &Dimensions { rules: true, ..Dimensions::default() }, OPERATIONS, &|case| {
        *hiding.borrow_mut() += case.schema.rules.iter().filter(|rule| rule.text.contains("hide: true")).count();
        *looking_up.borrow_mut() += case.schema.rules.iter().filter(|rule| rule.text.contains("exists: ")).count();
        fails(case, &mut codes.borrow_mut())
    });
    let (hiding, looking_up, codes) = (hiding.take(), looking_up.take(), codes.take());
    eprintln!("{count} schemas, {hiding} rules that hide, {looking_up} look-ups, {codes:?}");
    assert!(
        hiding * 2 >= count && looking_up >= count,
        "few rules: {hiding} hide, {looking_up} look up, in {count} schemas"
    );
    assert!(["", "FORBIDDEN", "UNAUTHENTICATED"].iter().all(|code| codes.get(*code) > Some(&count)), "{codes:?}");
    assert!(!codes.contains_key("UNAVAILABLE"), "nothing fails: {codes:?}");
}

/// Which operation of a case costs more than was said, if any. Counts the operations by the code of their first error.
fn fails(case: &Case, codes: &mut BTreeMap<String, usize>) -> Option<String> {
    let (model, unruled) = (load(&case.schema)?, Arc::into_inner(load(&case.schema)?)?);
    block_on(async {
        let store = TableStore::in_memory().unwrap();
        store.create_missing(&model.tables).await.unwrap();
        let single_writes = if case.seed.is_multiple_of(3) { SingleWrites::Transaction } else { SingleWrites::Call };
        let settings = Settings { single_writes, ..Settings::default() };
        // Everybody may do the first of them, so that there are items.
        let unruled = Gateway::new(Arc::new(unruled.without_rules()), store.clone(), settings.clone());
        let ruled = Gateway::new(model, store, settings);
        for (position, operation) in case.operations.iter().enumerate() {
            let gateway = if position < OPERATIONS / 3 { &unruled } else { &ruled };
            let mutation = &case.schema.mutations[operation.mutation];
            let request = request(&case.schema, operation);
            let response = support::run(gateway, &request, true).await;
            let code = response["errors"][0]["extensions"]["code"].as_str().unwrap_or_default();
            *codes.entry(code.to_owned()).or_default() += 1;
            if let Some(excess) = support::costs_more(&response) {
                let name = &mutation.name;
                return Some(format!("{name} {}\n{excess}\n{response:#}", json!(operation.arguments)));
            }
            if mutation.is_idempotent(&case.schema) {
                let again = support::run(gateway, &request, true).await;
                if let Some(excess) = support::costs_more(&again) {
                    return Some(format!(
                        "{} again {}\n{excess}\n{again:#}",
                        mutation.name,
                        json!(operation.arguments)
                    ));
                }
            }
        }
        None
    })
}
