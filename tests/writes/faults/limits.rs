//! DynamoDB's limits, clearly reported: 100 items and 4 MB in a transaction, 400 KB in an item.

use super::backend::{Backend, CONTAINER, GROUP, error};
use serde_json::{Value, json};

const LARGER: &str = "A transaction writes at most 4 MB, but these items are larger.";
const ITEM: &str = "An item has at most 400 KB, but this one would be larger.";

fn s(text: &str) -> Value {
    json!({ "S": text })
}

/// A ledger with this many entries of one owner.
async fn entries(count: usize) -> Backend {
    let backend = Backend::new("ledger").await;
    for no in 0..count {
        let item = json!({ "PK": s("Account#a"), "SK": s(&format!("Entry#{no:03}")), "text": s("t"), "shelf": s("s"), "state": s("new"),
            "StateKey": s("s#new") });
        backend.table.put("ledger", item);
    }
    backend
}

#[tokio::test(start_paused = true)]
async fn a_hundred_items_are_written_at_once_and_no_more() {
    let mark = "mutation ($t: String!) { mark(owner: \"a\", text: $t) { no } }";
    let backend = entries(100).await;
    let answer = backend.ok(mark, json!({ "t": "m" })).await;
    assert_eq!(answer["mark"].as_array().unwrap().len(), 100);
    assert!(backend.items().iter().all(|item| item.contains("\"text\":{\"S\":\"m\"}")));
    let backend = entries(101).await;
    let before = backend.items();
    let answer = backend.run(mark, json!({ "t": "m" })).await;
    let message = "A transaction writes at most 100 items, but this one has 101.";
    assert_eq!(error(&answer), ("LIMIT_EXCEEDED", message, "[\"mark\"]".to_owned()));
    assert_eq!(backend.items(), before);
}

#[tokio::test(start_paused = true)]
async fn four_megabytes_are_written_at_once_and_no_more() {
    let twelve = "mutation ($t: String!) { enterTwelve(owner: \"a\", text: $t, shelf: \"s\", state: \"new\") }";
    let backend = Backend::new("ledger").await;
    let answer = backend.run(twelve, json!({ "t": "x".repeat(370_000) })).await;
    assert_eq!(error(&answer), ("LIMIT_EXCEEDED", LARGER, "[\"enterTwelve\"]".to_owned()));
    assert_eq!(backend.items(), Vec::<String>::new());
    assert_eq!(backend.ok(twelve, json!({ "t": "x".repeat(340_000) })).await, json!({ "enterTwelve": true }));
    assert_eq!(backend.items().len(), 12);
    // The same with updates.
    let backend = entries(15).await;
    let before = backend.items();
    let mark = "mutation ($t: String!) { mark(owner: \"a\", text: $t) { no } }";
    let answer = backend.run(mark, json!({ "t": "x".repeat(300_000) })).await;
    assert_eq!(error(&answer), ("LIMIT_EXCEEDED", LARGER, "[\"mark\"]".to_owned()));
    assert_eq!(backend.items(), before);
}

#[tokio::test(start_paused = true)]
async fn an_item_has_400_kilobytes_and_no_more() {
    let large = "x".repeat(420_000);
    // Put, alone and in a transaction.
    let backend = Backend::new("ledger").await;
    let enter =
        "mutation ($t: String!) { enter(owner: \"a\", no: \"1\", text: $t, shelf: \"s\", state: \"new\") { no } }";
    let answer = backend.run(enter, json!({ "t": large })).await;
    assert_eq!(error(&answer), ("LIMIT_EXCEEDED", ITEM, "[\"enter\"]".to_owned()));
    let page = "mutation ($t: String!) { createPage(id: \"p\", title: $t) { id } }";
    assert_eq!(error(&backend.run(page, json!({ "t": "x".repeat(4_200_000) })).await).0, "LIMIT_EXCEEDED");
    assert_eq!(backend.items(), Vec::<String>::new());
    // Updated, alone and in a transaction.
    for count in [1, 2] {
        let backend = entries(count).await;
        let before = backend.items();
        let answer =
            backend.run("mutation ($t: String!) { mark(owner: \"a\", text: $t) { no } }", json!({ "t": large })).await;
        assert_eq!(error(&answer), ("LIMIT_EXCEEDED", ITEM, "[\"mark\"]".to_owned()), "{count}");
        assert_eq!(backend.items(), before);
    }
    // Grown element by element.
    let backend = Backend::new("pantry").await;
    let food = "mutation ($g: ID!, $c: ID!, $k: String!) { addFood(groupId: $g, containerId: $c, input: { name: \"F\", category: $k }) { id } }";
    backend.ok(food, json!({ "g": GROUP, "c": CONTAINER, "k": "x".repeat(300_000) })).await;
    let before = backend.items();
    let answer = backend.run(food, json!({ "g": GROUP, "c": CONTAINER, "k": "x".repeat(150_000) })).await;
    assert_eq!(error(&answer), ("LIMIT_EXCEEDED", ITEM, "[\"addFood\"]".to_owned()));
    assert_eq!(backend.items(), before);
}
