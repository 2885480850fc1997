//! Operations answered as a stream of events, by the protocol graphql-sse.

use super::gateway::running;
use crate::machine::{Machine, parts, start};
use serde_json::{Value, json};

/// The events of a stream: the name of each, and its data.
fn events(text: &str) -> Vec<(String, Value)> {
    let event = |block: &str| {
        let field =
            |name: &str| block.lines().filter_map(|line| line.strip_prefix(name)).collect::<Vec<_>>().join("\n");
        (field("event: "), serde_json::from_str(&field("data: ")).unwrap_or(Value::Null))
    };
    text.split("\n\n").filter(|block| !block.is_empty() && !block.starts_with(':')).map(event).collect()
}

async fn said(request: reqwest::RequestBuilder) -> Vec<(String, Value)> {
    let response =
        request.header("accept", "text/event-stream").header("accept-encoding", "gzip").send().await.unwrap();
    let header = |name: &str| response.headers().get(name).map(|value| value.to_str().unwrap().to_owned());
    assert_eq!((response.status().as_u16(), header("content-encoding")), (200, None));
    assert_eq!(header("content-type").unwrap(), "text/event-stream; charset=utf-8");
    // A proxy passes each event on at once, as it is, and keeps none.
    assert_eq!(header("cache-control").unwrap(), "no-cache, no-store, no-transform");
    assert_eq!(header("x-accel-buffering").unwrap(), "no");
    let text = response.text().await.unwrap();
    assert!(text.ends_with("event: complete\ndata:\n\n"), "{text}");
    events(&text)
}

#[tokio::test]
async fn a_query_is_answered_by_next_and_complete() {
    let (server, ..) = running().await;
    let expected =
        vec![("next".to_owned(), json!({"data": {"user": {"name": "Ann"}}})), ("complete".to_owned(), Value::Null)];
    assert_eq!(said(server.post(r#"{"query": "{ user(id: 1) { name } }"}"#)).await, expected);
    assert_eq!(said(server.get("/graphql?query=%7B%20user(id:%201)%20%7B%20name%20%7D%20%7D")).await, expected);
}

#[tokio::test]
async fn the_errors_of_an_operation_are_reported_by_next() {
    let (server, ..) = running().await;
    for (body, code) in [
        (r#"{"query": "{"}"#, "GRAPHQL_PARSE_FAILED"),
        (r#"{"query": "{ nothing }"}"#, "GRAPHQL_VALIDATION_FAILED"),
        (r#"{"extensions": {"persistedQuery": {"version": 1, "sha256Hash": "00"}}}"#, "PERSISTED_QUERY_NOT_FOUND"),
    ] {
        let said = said(server.post(body)).await;
        assert_eq!(said.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["next", "complete"], "{body}");
        assert_eq!(said[0].1["errors"][0]["extensions"]["code"], code, "{body}");
        assert!(said[0].1.get("data").is_none(), "{body}");
    }
}

#[tokio::test]
async fn a_request_that_is_none_is_refused_by_its_status() {
    let server = start(parts(Machine::default())).await;
    let refused = async |request: reqwest::RequestBuilder| {
        let response = request.header("accept", "text/event-stream").send().await.unwrap();
        assert_eq!(response.headers()["content-type"], "application/json; charset=utf-8");
        response.status().as_u16()
    };
    assert_eq!(refused(server.post("{}")).await, 400);
    assert_eq!(refused(server.post(r#"[{"query": "echo"}]"#)).await, 400);
    assert_eq!(refused(server.get("/graphql?query=mutation")).await, 405);
    assert_eq!(refused(server.client.post(server.url("/graphql")).body("{}")).await, 415);
}

#[tokio::test]
async fn a_mutation_and_a_large_response_are_events_too() {
    let server = start(parts(Machine::default())).await;
    let response = said(server.post(r#"{"query": "mutation"}"#)).await;
    assert_eq!(response[0].1["data"]["query"], "mutation");
    let response = said(server.post(r#"{"query": "large"}"#)).await;
    assert_eq!(response[0].1["data"].as_str().map(str::len), Some(5_000_000));
}

#[tokio::test]
async fn a_client_that_leaves_ends_its_operation() {
    let server = start(parts(Machine::default())).await;
    let mut response = server.post(r#"{"query": "hold"}"#).header("accept", "text/event-stream").send().await.unwrap();
    assert_eq!(response.status().as_u16(), 200);
    // Nothing is said until the operation answers; dropping the response ends it, and the server stops without waiting.
    drop(tokio::time::timeout(std::time::Duration::from_millis(10), response.chunk()).await);
    drop(response);
    let mut server = server;
    server.ask_to_stop();
    assert_eq!(server.stopped().await, keyfold::serve::listener::Stopped::Finished);
}
