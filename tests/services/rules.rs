//! What rules refuse, no service sees; and what a service learns of the caller.

use crate::scripted::{Scripted, by, shop};
use crate::support;
use serde_json::{Value, json};
use std::sync::Arc;

async fn as_guest(query: &str) -> (Value, Vec<(String, Vec<Value>)>) {
    let services = Scripted::by_item(|_, item| Ok(json!(item.to_string())));
    let (gateway, _) = shop(2, Some(Arc::new(services.clone()))).await;
    (support::run(&gateway, &by("guest", query), false).await, services.take())
}

#[tokio::test]
async fn a_field_that_a_rule_refuses_asks_nobody() {
    for query in [
        "{ orders { id secretWord } }",
        "{ orders { id word: secretWord } }",
        "{ orders { id ...F } } fragment F on Order { secretWord }",
        "{ orders { id ... on Order { secretWord } } }",
        "{ ordersPage(first: 1) { nodes { id secretWord } } }",
        "mutation { note(id: \"000\", note: \"x\") { secretWord } }",
    ] {
        let (response, calls) = as_guest(query).await;
        assert_eq!(calls, [], "{query}");
        assert_eq!(response["errors"][0]["extensions"]["code"], "FORBIDDEN", "{query}: {response}");
    }
}

#[tokio::test]
async fn a_field_whose_parts_a_rule_refuses_is_refused() {
    let (response, calls) = as_guest("{ orders { id fromNote } }").await;
    assert_eq!(calls, []);
    let codes: Vec<&Value> =
        response["errors"].as_array().unwrap().iter().map(|error| &error["extensions"]["code"]).collect();
    assert_eq!(codes, [&json!("FORBIDDEN"), &json!("FORBIDDEN")], "{response}");
    assert_eq!(response["data"]["orders"][1], json!({ "id": "001", "fromNote": null }));
}

#[tokio::test]
async fn a_service_gets_the_claims_that_it_names_and_no_other() {
    let services = Scripted::by_item(|_, _| Ok(json!("x")));
    let (gateway, _) = shop(1, Some(Arc::new(services.clone()))).await;
    let response = support::run(&gateway, &by("guest", "{ orders { mine kept } }"), false).await;
    assert_eq!(response, json!({ "data": { "orders": [{ "mine": "x", "kept": "x" }] } }));
    let mut claims_of: Vec<(String, Option<Value>)> =
        services.take_requests().into_iter().map(|call| (call.field, call.caller.map(Value::Object))).collect();
    claims_of.sort_by(|one, other| one.0.cmp(&other.0));
    let claims = json!({ "sub": "u1", "org": { "id": 7 } });
    assert_eq!(claims_of, [("Order.kept".to_owned(), None), ("Order.mine".to_owned(), Some(claims))]);
}
