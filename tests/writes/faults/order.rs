//! Several writes of one operation: each runs once, in order, and none after one that ends the operation.

use super::backend::{Backend, CONTAINER, GROUP, by, error, is_write, troubled};
use crate::scripted::Reply;
use crate::support;
use keyfold::plan::tree::SingleWrites;
use serde_json::{Value, json};
use std::time::Duration;

#[tokio::test(start_paused = true)]
async fn root_fields_are_written_one_after_another() {
    let backend = Backend::new("ledger").await;
    let operation = "mutation { a: open(id: \"a\", coins: 5) { coins } b: buy(id: \"a\", cost: 2) { coins } \
                     c: buy(id: \"a\", cost: 9) { coins } d: buy(id: \"a\", cost: 1) { coins } }";
    backend.script(troubled(0, false, || Reply::Reset));
    let answer = backend.run(operation, json!({})).await;
    let data = json!({ "a": { "coins": 5 }, "b": { "coins": 3 }, "c": null, "d": { "coins": 2 } });
    assert_eq!(answer["data"], data);
    assert_eq!(error(&answer), ("CONFLICT", "Not enough coins.", "[\"c\"]".to_owned()));
    assert_eq!(backend.operations(), ["PutItem", "UpdateItem", "UpdateItem", "UpdateItem"]);
}

#[tokio::test(start_paused = true)]
async fn a_field_in_doubt_does_not_keep_the_next_from_being_written() {
    let backend = Backend::new("ledger").await;
    backend.ok("mutation { open(id: \"a\", coins: 5) { coins } }", json!({})).await;
    backend.script(troubled(1, true, || Reply::Reset));
    let operation = "mutation { b: buy(id: \"a\", cost: 2) { coins } d: buy(id: \"a\", cost: 1) { coins } }";
    let answer = backend.run(operation, json!({})).await;
    assert_eq!(answer["data"], json!({ "b": null, "d": { "coins": 2 } }));
    assert_eq!(error(&answer).2, "[\"b\"]");
}

#[tokio::test(start_paused = true)]
async fn a_field_that_must_not_be_null_ends_the_operation() {
    let mut backend = Backend::new("pantry").await;
    backend.caller = by("nobody");
    let operation = "mutation ($g: ID!) { \
                     first: renameGroup(id: $g, name: \"Before\") { name } \
                     second: createGroup(name: \"G\") { id } \
                     third: renameGroup(id: $g, name: \"After\") { name } }";
    let answer = backend.run(operation, json!({ "g": GROUP })).await;
    assert_eq!(error(&answer), ("NOT_FOUND", "There is no such user.", "[\"second\"]".to_owned()));
    assert_eq!(answer["data"], Value::Null);
    let items = backend.items().join("\n");
    assert!(
        items.contains("\"Before\"") && !items.contains("\"After\"") && !items.contains("\"GroupName\":{\"S\":\"G\"}")
    );
}

#[tokio::test(start_paused = true)]
async fn after_the_deadline_nothing_more_is_written() {
    let backend = Backend::new("ledger").await;
    backend.ok("mutation { open(id: \"a\", coins: 5) { coins } }", json!({})).await;
    backend.script(|call| (is_write(call.operation) && call.before >= 1).then_some(Reply::Never));
    let operation = "mutation { b: buy(id: \"a\", cost: 1) { coins } c: buy(id: \"a\", cost: 1) { coins } \
                     d: buy(id: \"a\", cost: 1) { coins } e: open(id: \"b\", coins: 1) { coins } }";
    let answer = backend.run_within(Duration::from_secs(3), operation, json!({})).await;
    assert_eq!(answer["data"], json!({ "b": { "coins": 4 }, "c": null, "d": null, "e": null }));
    let errors: Vec<(&str, &str, String)> = answer["errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|error| {
            (
                error["extensions"]["code"].as_str().unwrap(),
                error["message"].as_str().unwrap(),
                error["path"].to_string(),
            )
        })
        .collect();
    let open = "The table did not answer, so the change may or may not have been made. Check before you repeat it.";
    let late = "The table did not answer in time.";
    let expected = [("TIMEOUT", open, "[\"c\"]"), ("TIMEOUT", late, "[\"d\"]"), ("TIMEOUT", late, "[\"e\"]")];
    assert_eq!(errors, expected.map(|(code, message, path)| (code, message, path.to_owned())));
    assert_eq!(backend.writes(), 2, "what comes after the deadline is not sent");
}

#[tokio::test(start_paused = true)]
async fn a_delete_whose_item_is_not_known_any_more_is_reported_where_it_must_be() {
    let settled = "mutation { settled(id: \"a\") { coins } }";
    let backend = Backend::new("ledger").await;
    let answer = backend.run(settled, json!({})).await;
    assert_eq!(error(&answer), ("NOT_FOUND", "This Account does not exist.", "[\"settled\"]".to_owned()));
    backend.ok("mutation { open(id: \"a\", coins: 5) { coins } }", json!({})).await;
    backend.script(troubled(1, true, || Reply::Reset));
    let answer = backend.run(settled, json!({})).await;
    let message = "The table did not answer, so the change may or may not have been made. Check before you repeat it.";
    assert_eq!(error(&answer), ("UNAVAILABLE", message, "[\"settled\"]".to_owned()));
    assert_eq!(backend.items(), Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn all_broken_constraints_are_reported_and_nothing_is_sent() {
    let backend = Backend::new("pantry").await;
    backend.script(|_| None);
    let operation = "mutation { createUser(name: \"\", email: \"nobody\") { id } }";
    let answer = backend.run(operation, json!({})).await;
    let errors = answer["errors"].as_array().unwrap();
    assert!(
        errors.len() == 2 && errors.iter().all(|error| error["extensions"]["code"] == "BAD_USER_INPUT"),
        "{answer}"
    );
    assert!(errors.iter().all(|error| error["path"] == json!(["createUser"])), "{answer}");
    assert_eq!(backend.operations(), Vec::<String>::new());
}

/// The calls of an explained operation and what they cost.
async fn explained(backend: &Backend, operation: &str, variables: Value) -> (Vec<String>, f64, f64) {
    let answer = support::run(&backend.gateway, &backend.request(operation, variables), true).await;
    let explained = &answer["extensions"]["keyfold"];
    let calls = explained["calls"].as_array().unwrap_or_else(|| panic!("{answer}"));
    let calls = calls.iter().map(|call| format!("{} {}", call["operation"].as_str().unwrap(), call["keys"])).collect();
    (calls, explained["capacity"]["read"].as_f64().unwrap(), explained["capacity"]["write"].as_f64().unwrap())
}

#[tokio::test(start_paused = true)]
async fn what_a_write_costs_is_reported() {
    let mut backend = Backend::new("pantry").await;
    backend.caller = by("u");
    let rename = "mutation ($g: ID!) { renameGroup(id: $g, name: \"N\") { name } }";
    assert_eq!(explained(&backend, rename, json!({ "g": GROUP })).await, (vec!["UpdateItem 1".to_owned()], 0.0, 1.0));
    let create = "mutation { createUser(name: \"U\", email: \"u@example.com\") { id } }";
    let (calls, read, write) = explained(&backend, create, json!({})).await;
    assert_eq!((calls, read), (vec!["TransactWriteItems 2".to_owned()], 0.0));
    assert!(write >= 4.0, "two items, each for two units and the user's index besides: {write}");
    let food = "mutation ($g: ID!, $c: ID!) { addFood(groupId: $g, containerId: $c, input: { name: \"F\", category: \"c\" }) { group { name } } }";
    let (calls, read, write) = explained(&backend, food, json!({ "g": GROUP, "c": CONTAINER })).await;
    assert_eq!(calls[0], "TransactWriteItems 2");
    assert!(calls.len() > 1 && read > 0.0 && write >= 1.0, "{calls:?} {read} {write}");
    // Refused attempts are part of their call.
    backend.script(troubled(3, false, || Reply::error(400, "ThrottlingException")));
    assert_eq!(explained(&backend, rename, json!({ "g": GROUP })).await, (vec!["UpdateItem 1".to_owned()], 0.0, 1.0));
}

/// Items that a transaction needs, and whose keys the arguments give, are read in one BatchGetItem, including the item
/// of `@find`.
#[tokio::test(start_paused = true)]
async fn items_that_a_write_needs_are_read_together() {
    let backend = Backend::new("ledger").await;
    backend.ok("mutation { launch(id: \"s\") { id } }", json!({})).await;
    backend.ok("mutation { enlist(a: \"x\", mail: \"x\", b: \"y\", other: \"y\") }", json!({})).await;
    backend.calm();
    assert_eq!(
        backend.ok("mutation { pay(a: \"x\", b: \"y\", ship: \"s\") }", json!({})).await,
        json!({ "pay": true })
    );
    assert_eq!(backend.operations(), ["BatchGetItem", "TransactWriteItems"]);
    assert_eq!(backend.items().len(), 1, "the ship");
}

/// What docs/language/certainty.md says of the two forms of a write of one item.
#[tokio::test(start_paused = true)]
async fn a_single_write_as_a_transaction_costs_twice() {
    for (field, by_call, by_transaction) in [
        (
            "open(id: \"n\", coins: 1) { coins }",
            (vec!["PutItem 1"], 0.0, 1.0),
            (vec!["TransactWriteItems 1"], 0.0, 2.0),
        ),
        (
            "refund(id: \"a\", coins: 1) { coins }",
            (vec!["UpdateItem 1"], 0.0, 1.0),
            (vec!["TransactWriteItems 1", "GetItem 1"], 1.0, 2.0),
        ),
        (
            "settled(id: \"a\") { coins }",
            (vec!["DeleteItem 1"], 0.0, 1.0),
            (vec!["GetItem 1", "TransactWriteItems 1"], 1.0, 2.0),
        ),
    ] {
        for (form, (calls, read, write)) in [(SingleWrites::Call, by_call), (SingleWrites::Transaction, by_transaction)]
        {
            let backend = Backend::with("ledger", form).await;
            backend.ok("mutation { open(id: \"a\", coins: 0) { coins } }", json!({})).await;
            let is = explained(&backend, &format!("mutation {{ {field} }}"), json!({})).await;
            assert_eq!(is, (calls.iter().map(|call| (*call).to_owned()).collect(), read, write), "{field} {form:?}");
        }
    }
}
