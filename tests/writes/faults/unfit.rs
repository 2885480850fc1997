//! Writes that the current item, or the values of a request, make impossible: each is refused with a plain sentence,
//! and nothing is written.

use super::backend::{Backend, error};
use serde_json::{Value, json};

/// The code and the message of an operation's only error. Nothing may be written.
async fn refused(backend: &Backend, operation: &str, variables: Value) -> (String, String) {
    let before = backend.items();
    let answer = backend.run(operation, variables).await;
    let (code, message, _) = error(&answer);
    assert_eq!(backend.items(), before, "{operation}");
    (code.to_owned(), message.to_owned())
}

async fn ships() -> Backend {
    let backend = Backend::new("ledger").await;
    backend
        .ok(
            "mutation { a: launch(id: \"a\") { id } b: launch(id: \"b\", speed: 1, cargo: { weight: 2 }) { id } }",
            json!({}),
        )
        .await;
    backend
}

#[tokio::test(start_paused = true)]
async fn an_update_that_the_item_does_not_admit_is_a_conflict() {
    let (path, value) = (
        "The update changes part of a value that this Ship does not have.",
        "The update calculates with a value that this Ship does not have.",
    );
    for (operation, message) in [
        ("mutation { speedUp(id: \"a\", by: 3) { id } }", value),
        ("mutation { lead(a: \"b\", b: \"a\", by: 3) }", value),
    ] {
        assert_eq!(
            refused(&ships().await, operation, json!({})).await,
            ("CONFLICT".into(), message.into()),
            "{operation}"
        );
    }
    // What somebody else stored is no object, and is not overwritten. A missing one or a null is made.
    let backend = ships().await;
    backend.table.update("ledger", ["Ship#b", "Ship"], "SET cargo = :n", json!({ ":n": { "S": "coal" } }));
    let weigh = "mutation { weigh(id: \"b\", weight: 3) { id } }";
    assert_eq!(refused(&backend, weigh, json!({})).await, ("CONFLICT".into(), path.into()));
}

#[tokio::test(start_paused = true)]
async fn a_number_that_no_item_holds_is_the_callers() {
    let message = "A number of this Ship would have more than 38 digits, or be out of range.";
    let backend = ships().await;
    let speed = |operation: &str| format!("mutation ($s: Decimal!) {{ {operation} }}");
    backend.ok(&speed("launch(id: \"c\", speed: $s) { id }"), json!({ "s": "9.9e125" })).await;
    for operation in ["speedUp(id: \"c\", by: $s) { id }", "accelerate(id: \"c\", by: $s) { id }"] {
        let refusal = refused(&backend, &speed(operation), json!({ "s": "9.9e125" })).await;
        assert_eq!(refusal, ("BAD_USER_INPUT".into(), message.into()), "{operation}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_value_that_is_nested_too_deep_is_the_callers() {
    let deep = (0..40).fold(json!(1), |inner, _| json!({ "a": inner }));
    let operation = "mutation ($l: JSON) { launch(id: \"c\", log: $l) { id } }";
    let (code, message) = refused(&ships().await, operation, json!({ "l": deep })).await;
    assert_eq!(code, "BAD_USER_INPUT", "{message}");
}

#[tokio::test(start_paused = true)]
async fn two_writes_of_one_key_are_the_callers() {
    let backend = ships().await;
    let operation = "mutation { convoy(a: \"x\", b: \"x\") }";
    let twice = "This would write the same Ship twice.";
    assert_eq!(refused(&backend, operation, json!({})).await, ("BAD_USER_INPUT".into(), twice.into()));
    let operation = "mutation { enlist(a: \"1\", mail: \"m@example.com\", b: \"2\", other: \"m@example.com\") }";
    let message = "Two items of type Sailor would have the same mail.";
    assert_eq!(refused(&backend, operation, json!({})).await, ("CONFLICT".into(), message.into()));
}

/// An author's message is about the condition, not about a missing item.
#[tokio::test(start_paused = true)]
async fn an_item_that_is_not_there_is_reported_as_such() {
    let backend = ships().await;
    for (operation, code, message) in [
        ("mutation { halt(id: \"none\") { id } }", "NOT_FOUND", "This Ship does not exist."),
        ("mutation { hail(id: \"none\") }", "NOT_FOUND", "This Ship does not exist."),
        ("mutation { board(id: \"none\") }", "NOT_FOUND", "It cannot be boarded."),
        ("mutation { discharge(id: \"none\") { id } }", "NOT_FOUND", "This Sailor does not exist."),
        ("mutation { halt(id: \"a\") { id } }", "CONFLICT", "It lies at anchor."),
        ("mutation { hail(id: \"a\") }", "CONFLICT", "It lies at anchor."),
        ("mutation { board(id: \"a\") }", "CONFLICT", "It cannot be boarded."),
    ] {
        assert_eq!(refused(&backend, operation, json!({})).await, (code.into(), message.into()), "{operation}");
    }
}

/// A condition that cannot be evaluated is an error. It does not count as unmet.
#[tokio::test(start_paused = true)]
async fn a_condition_of_many_that_cannot_be_evaluated_is_an_error() {
    let backend = Backend::new("ledger").await;
    backend
        .ok("mutation { enter(owner: \"a\", no: \"1\", text: \"t\", shelf: \"s\", state: \"new\") { no } }", json!({}))
        .await;
    let states: Vec<String> = (0..101).map(|number| format!("s{number}")).chain(["new".to_owned()]).collect();
    let operation = "mutation ($s: [String!]!) { clearStates(owner: \"a\", states: $s) { no } }";
    let (code, message) = refused(&backend, operation, json!({ "s": states })).await;
    assert_eq!((code.as_str(), message.contains("at most 100")), ("BAD_USER_INPUT", true), "{message}");
}
