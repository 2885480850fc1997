//! Lists of operations in one request.

use crate::machine::{Machine, Running, parts, start};
use keyfold::serve::router::Parts;
use serde_json::{Value, json};

async fn post(server: &Running, body: Value) -> (u16, Value) {
    let request = server.client.post(server.url("/graphql")).header("content-type", "application/json");
    let response = request.body(body.to_string()).send().await.unwrap();
    (response.status().as_u16(), serde_json::from_slice(&response.bytes().await.unwrap()).unwrap())
}

fn list(queries: &[&str]) -> Value {
    queries.iter().map(|query| json!({"query": query})).collect()
}

#[tokio::test]
async fn the_operations_of_a_list_run_side_by_side_and_are_answered_in_order() {
    let machine = Machine::default();
    let (held, release) = (machine.held.clone(), machine.release.clone());
    let server = start(parts(machine)).await;
    let asked = post(&server, list(&["hold", "hold", "q"]));
    let both = async {
        // The first two have begun before either is answered.
        held.notified().await;
        held.notified().await;
        release.notify_one();
        release.notify_one();
    };
    let ((status, body), ()) = tokio::join!(asked, both);
    assert_eq!((status, body.as_array().map(Vec::len)), (200, Some(3)));
    assert_eq!(
        (&body[0]["data"], &body[1]["data"], &body[2]["data"]["query"]),
        (&json!("released"), &json!("released"), &json!("q"))
    );
}

#[tokio::test]
async fn an_operation_that_does_not_run_has_its_errors_in_its_place() {
    let server = start(parts(Machine::default())).await;
    let (status, body) = post(&server, list(&["invalid", "q", "large"])).await;
    assert_eq!(
        (status, &body[0]["errors"][0]["message"], &body[1]["data"]["query"]),
        (200, &json!("on purpose"), &json!("q"))
    );
    assert_eq!(body[2]["data"].as_str().map(str::len), Some(5_000_000));
}

#[tokio::test]
async fn a_list_has_a_bound() {
    let server = start(parts(Machine::default())).await;
    let (status, body) = post(&server, list(&["q", "q", "q", "q"])).await;
    assert_eq!((status, &body["errors"][0]["message"]), (400, &json!("A list may have 3 operations.")));
    let mut one = parts(Machine::default());
    one.limits.max_batch = 1;
    let server = start(Parts { ..one }).await;
    let (status, body) = post(&server, list(&["q", "q"])).await;
    assert_eq!((status, &body["errors"][0]["extensions"]["code"]), (400, &json!("LIMIT_EXCEEDED")));
    assert_eq!(post(&server, list(&["q"])).await.1[0]["data"]["query"], "q");
}

#[tokio::test]
async fn a_list_with_a_mistake_is_refused_as_a_whole() {
    let server = start(parts(Machine::default())).await;
    for wrong in [json!([]), json!([{"query": "q"}, {}]), json!([[{"query": "q"}]]), json!(["q"])] {
        let (status, body) = post(&server, wrong.clone()).await;
        assert_eq!((status, &body["errors"][0]["extensions"]["code"]), (400, &json!("BAD_USER_INPUT")), "{wrong}");
    }
}
