//! The log lines of requests and operations.

use super::observed::Observed;
use super::{FLAT, FRIDGE, NESTED};
use crate::process::{KEY, run};
use crate::server::{TABLE, schema};
use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;

/// The line of the last request.
fn last(observed: &mut Observed) -> Value {
    observed.lines("request").pop().unwrap()
}

/// Reads the log until it has this many lines of requests.
async fn wait_for(observed: &mut Observed, message: &str, count: usize) {
    for _ in 0..1000 {
        if observed.lines(message).len() >= count {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    panic!("there are no {count} lines \"{message}\"");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_is_one_line_with_its_operation_its_errors_and_its_cost() {
    let mut observed = Observed::start(&["--max-batch", "3"], &[]).await;
    let body = json!({ "query": NESTED, "variables": { "group": FLAT, "id": FRIDGE } });
    let explained = observed.send(body, &[("x-keyfold-explain", "1")]).await["extensions"]["keyfold"].clone();
    wait_for(&mut observed, "request", 1).await;
    let line = last(&mut observed);
    assert_eq!(
        (&line["operation"], &line["kind"], &line["codes"]),
        (&json!("Nested"), &json!("query"), &Value::Null),
        "{line:#}"
    );
    let calls = explained["calls"].as_array().unwrap().len();
    assert_eq!(
        (&line["waves"], &line["calls"], &line["read_units"]),
        (&json!(3), &json!(calls), &explained["capacity"]["read"])
    );
    assert_eq!(line.get("trace_id"), None, "nothing is traced");

    observed.send(json!({ "query": "query Ghost { me { name group(id: 1) { id } } }" }), &[]).await;
    wait_for(&mut observed, "request", 2).await;
    let line = last(&mut observed);
    assert_eq!((&line["status"], &line["codes"]), (&json!(200), &json!("GRAPHQL_VALIDATION_FAILED")), "{line:#}");

    let list =
        json!([{ "query": "query One { me { name } }" }, { "query": "query Two { me { name } }" }, { "query": "{" }]);
    observed.send(list, &[]).await;
    wait_for(&mut observed, "request", 3).await;
    let line = last(&mut observed);
    assert_eq!((&line["calls"], &line["codes"]), (&json!(2), &json!("GRAPHQL_PARSE_FAILED")), "{line:#}");
    let mut names: Vec<&str> = line["operation"].as_str().unwrap().split(',').collect();
    names.sort_unstable();
    assert_eq!(names, ["One", "Two"]);

    let refused = observed
        .caller
        .client
        .post(format!("{}/graphql", observed.caller.url))
        .header("content-type", "application/json")
        .header("x-api-key", "wrong");
    refused.body("{}").send().await.unwrap();
    wait_for(&mut observed, "request", 4).await;
    let line = last(&mut observed);
    assert_eq!(
        (&line["status"], &line["codes"], line.get("waves")),
        (&json!(401), &json!("UNAUTHENTICATED"), None),
        "{line:#}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_operation_is_logged_with_its_plan() {
    let mut observed = Observed::start(&["--slow", "1ms"], &[]).await;
    let body = json!({ "query": NESTED, "variables": { "group": FLAT, "id": FRIDGE } });
    observed.send(body, &[]).await;
    wait_for(&mut observed, "slow operation", 1).await;
    let line = observed.lines("slow operation").remove(0);
    assert_eq!((&line["level"], &line["operation"], &line["waves"]), (&json!("WARN"), &json!("Nested"), &json!(3)));
    let plan: Value = serde_json::from_str(line["plan"].as_str().unwrap()).unwrap();
    assert!(plan["reads"].as_array().is_some_and(|reads| reads.len() > 3), "{plan:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_trace_is_named_in_the_line() {
    let mut observed = Observed::start(&[], &[("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")]).await;
    let trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    observed
        .send(json!({ "query": "{ me { name } }" }), &[("traceparent", &format!("00-{trace}-00f067aa0ba902b7-01"))])
        .await;
    wait_for(&mut observed, "request", 1).await;
    assert_eq!(last(&mut observed)["trace_id"], trace);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_operation_over_a_websocket_is_a_line() {
    let mut observed = Observed::start(&[], &[]).await;
    let mut request =
        format!("{}/graphql/ws", observed.caller.url.replace("http", "ws")).into_client_request().unwrap();
    request.headers_mut().insert("sec-websocket-protocol", "graphql-transport-ws".parse().unwrap());
    request.headers_mut().insert("x-api-key", KEY.parse().unwrap());
    let (mut socket, _) = tokio_tungstenite::connect_async(request).await.unwrap();
    let mut send = async |message: Value, answer: &str| {
        socket.send(Message::text(message.to_string())).await.unwrap();
        loop {
            let text = socket.next().await.unwrap().unwrap().into_text().unwrap();
            if text.contains(answer) {
                return;
            }
        }
    };
    send(json!({ "type": "connection_init" }), "connection_ack").await;
    send(json!({ "type": "subscribe", "id": "1", "payload": { "query": "query Socket { me { name } }" } }), "complete")
        .await;
    wait_for(&mut observed, "operation over a WebSocket", 1).await;
    let line = observed.lines("operation over a WebSocket").remove(0);
    assert_eq!((&line["operation"], &line["calls"]), (&json!("Socket"), &json!(1)), "{line:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stored_value_that_does_not_fit_is_found_by_its_line() {
    let mut observed = Observed::start(&[], &[]).await;
    let aiko = "11111111-1111-4111-8111-111111111111";
    let broken = json!({ "Item": { "PK": { "S": aiko }, "SK": { "S": "User" }, "UserName": { "N": "5" }, "EMailAddress": { "S": "a@example.com" } } });
    std::fs::write(observed.directory.path().join("broken.jsonl"), broken.to_string()).unwrap();
    let (schema, url) = (schema(), observed.dynamo.url());
    run(
        observed.directory.path(),
        &["import", "broken.jsonl", "--table", TABLE, "--schema", &schema, "--endpoint-url", &url],
    )
    .well();
    let answer = observed
        .send(json!({ "query": "query ($id: ID!) { user(id: $id) { name } }", "variables": { "id": aiko } }), &[])
        .await;
    assert_eq!(answer["errors"][0]["extensions"]["code"], "INTERNAL", "{answer:#}");
    assert!(!answer.to_string().contains("UserName"), "{answer:#}");
    wait_for(&mut observed, "a stored value does not fit the schema", 1).await;
    let line = observed.lines("a stored value does not fit the schema").pop().unwrap();
    let values = [&line["level"], &line["table"], &line["key"], &line["attribute"], &line["stored"]];
    assert_eq!(
        values,
        [&json!("WARN"), &json!(TABLE), &json!(format!("{aiko}, User")), &json!("UserName"), &json!("N")],
        "{line:#}"
    );
}
