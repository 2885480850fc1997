//! GraphQL over HTTP: which requests arrive, which are refused, and the form of the answer.

use crate::machine::{Machine, Running, parts, start};
use keyfold::serve::browsers::origins::Origins;
use reqwest::{Method, Response};
use serde_json::{Value, json};

const GRAPHQL: &str = "application/graphql-response+json";

async fn server() -> Running {
    start(parts(Machine::default())).await
}

fn header<'a>(response: &'a Response, name: &str) -> &'a str {
    response.headers().get(name).map_or("", |value| value.to_str().unwrap())
}

async fn body(response: Response) -> Value {
    serde_json::from_slice(&response.bytes().await.unwrap()).unwrap()
}

/// Status, the code of the first error, and the header `Allow`.
async fn refusal(response: Response) -> (u16, String, String) {
    let status = response.status().as_u16();
    let allow = header(&response, "allow").to_owned();
    assert!(header(&response, "content-type").contains("json"));
    let body = body(response).await;
    assert!(body.get("data").is_none(), "{body}");
    assert!(!body["errors"][0]["message"].as_str().unwrap().is_empty());
    (status, body["errors"][0]["extensions"]["code"].as_str().unwrap().to_owned(), allow)
}

#[tokio::test]
async fn post_and_get_bring_the_same_operation() {
    let server = server().await;
    let posted =
        server.post(r#"{"query": "echo é", "variables": {"a": 1}, "operationName": "A"}"#).send().await.unwrap();
    assert_eq!((posted.status().as_u16(), header(&posted, "content-type")), (200, "application/json; charset=utf-8"));
    assert_eq!(header(&posted, "cache-control"), "no-store");
    let expected = json!({"data": {"query": "echo é", "variables": {"a": 1}, "operationName": "A", "explain": false}});
    assert_eq!(body(posted).await, expected);
    let got = server.get("/graphql?query=echo+%C3%A9&variables=%7B%22a%22:1%7D&operationName=A").send().await.unwrap();
    assert_eq!(body(got).await, expected);
}

#[tokio::test]
async fn head_is_answered_as_get_is_without_the_body() {
    let server = server().await;
    let (path, body_of) = ("/graphql?query=echo", async |response: Response| response.bytes().await.unwrap());
    let got = server.get(path).send().await.unwrap();
    let head = server.client.head(server.url(path)).send().await.unwrap();
    assert_eq!(head.status(), 200);
    for name in ["content-type", "content-length", "cache-control", "vary"] {
        assert_eq!(header(&head, name), header(&got, name), "{name}");
    }
    assert_eq!((body_of(head).await.len(), body_of(got).await.is_empty()), (0, false));
    let writes = server.client.head(server.url("/graphql?query=mutation")).send().await.unwrap();
    assert_eq!(writes.status(), 405);
}

#[tokio::test]
async fn the_status_tells_of_refusals_where_the_media_type_lets_it() {
    let server = server().await;
    for (query, graphql) in
        [(r#"{"query": "invalid"}"#, 400), (r#"{"query": "unavailable"}"#, 503), (r#"{"query": "echo"}"#, 200)]
    {
        let response = server.post(query).header("accept", GRAPHQL).send().await.unwrap();
        assert_eq!(
            (response.status().as_u16(), header(&response, "content-type")),
            (graphql, format!("{GRAPHQL}; charset=utf-8").as_str())
        );
        let response = server.post(query).header("accept", "application/json").send().await.unwrap();
        assert_eq!(
            (response.status().as_u16(), header(&response, "content-type")),
            (200, "application/json; charset=utf-8")
        );
    }
}

#[tokio::test]
async fn requests_that_are_not_well_formed_are_400_in_either_media_type() {
    let server = server().await;
    for accept in [GRAPHQL, "application/json"] {
        for text in ["", "{ \"not a JSON", "{}", "[]", "{\"query\": 1}", "{\"query\": \"echo\", \"variables\": []}"] {
            let response = server.post(text).header("accept", accept).send().await.unwrap();
            assert_eq!(refusal(response).await, (400, "BAD_USER_INPUT".into(), String::new()), "{text}");
        }
    }
}

#[tokio::test]
async fn only_queries_come_by_get() {
    let server = server().await;
    let refused = server.get("/graphql?query=mutation").send().await.unwrap();
    assert_eq!(refusal(refused).await, (405, "BAD_USER_INPUT".into(), "POST".into()));
    assert_eq!(server.post(r#"{"query": "mutation"}"#).send().await.unwrap().status().as_u16(), 200);
}

#[tokio::test]
async fn other_methods_media_types_and_paths_are_refused() {
    let server = server().await;
    for method in [Method::PUT, Method::DELETE, Method::OPTIONS, Method::PATCH] {
        let response = server.client.request(method, server.url("/graphql")).send().await.unwrap();
        assert_eq!(refusal(response).await, (405, "BAD_USER_INPUT".into(), "GET, HEAD, POST".into()));
    }
    let not_acceptable = server.post(r#"{"query": "echo"}"#).header("accept", "text/plain").send().await.unwrap();
    assert_eq!(refusal(not_acceptable).await.0, 406);
    for content_type in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"] {
        let request = server
            .client
            .post(server.url("/graphql"))
            .header("content-type", content_type)
            .body(r#"{"query": "echo"}"#);
        assert_eq!(refusal(request.send().await.unwrap()).await.0, 415, "{content_type}");
    }
    let nowhere = server.get("/nowhere").send().await.unwrap();
    assert_eq!(refusal(nowhere).await, (404, "NOT_FOUND".into(), String::new()));
    let elsewhere = server.client.post(server.url("/")).body("{}").send().await.unwrap();
    assert_eq!(refusal(elsewhere).await, (405, "BAD_USER_INPUT".into(), "GET,HEAD".into()));
}

#[tokio::test]
async fn a_websocket_that_cannot_be_opened_is_refused_with_a_reason() {
    let server = server().await;
    let plain = server.get("/graphql/ws").send().await.unwrap();
    assert_eq!(header(&plain, "sec-websocket-version"), "13");
    assert_eq!(refusal(plain).await.0, 426);
    let upgrade = |version: &'static str| {
        let request = server.get("/graphql/ws").header("connection", "upgrade").header("upgrade", "websocket");
        request.header("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ==").header("sec-websocket-version", version)
    };
    let old = upgrade("12").send().await.unwrap();
    assert_eq!(header(&old, "sec-websocket-version"), "13");
    assert_eq!(refusal(old).await.0, 426);
    let nameless = upgrade("13").send().await.unwrap();
    assert_eq!(refusal(nameless).await.0, 400);
}

#[tokio::test]
async fn a_stream_of_events_has_no_coding() {
    let server = server().await;
    for (accepted, status) in [("gzip", 200), ("gzip, identity;q=0", 406)] {
        let request = server.post(r#"{"query": "echo"}"#).header("accept", "text/event-stream");
        assert_eq!(request.header("accept-encoding", accepted).send().await.unwrap().status(), status, "{accepted}");
    }
}

#[tokio::test]
async fn explanations_are_given_where_they_are_allowed() {
    let allowed = server().await;
    let forbidden = start(keyfold::serve::router::Parts { explain: false, ..parts(Machine::default()) }).await;
    for (server, expected) in [(&allowed, true), (&forbidden, false)] {
        let response = server.post(r#"{"query": "echo"}"#).header("x-keyfold-explain", "1").send().await.unwrap();
        assert_eq!(body(response).await["data"]["explain"], expected);
    }
}

#[tokio::test]
async fn every_answer_has_a_request_id() {
    let server = server().await;
    let kept = server.get("/nowhere").header("x-request-id", "mine-1").send().await.unwrap();
    assert_eq!(header(&kept, "x-request-id"), "mine-1");
    let made = server.get("/health/live").header("x-request-id", "not mine").send().await.unwrap();
    assert_eq!(header(&made, "x-request-id").len(), 36);
}

#[tokio::test]
async fn browsers_get_the_page_and_others_a_line_of_text() {
    let server = server().await;
    let page = server.get("/").header("accept", "text/html").send().await.unwrap();
    assert!(page.text().await.unwrap().starts_with("<!doctype html>"));
    let line = server.get("/").send().await.unwrap();
    assert!(line.text().await.unwrap().contains("/graphql"));
}

#[tokio::test]
async fn health_tells_the_kind_of_trouble_only() {
    let well = server().await;
    assert_eq!(well.get("/health/live").send().await.unwrap().status().as_u16(), 200);
    assert_eq!(body(well.get("/health/ready").send().await.unwrap()).await, json!({"status": "ok"}));
    let ill = start(parts(Machine { trouble: Some("NoSuchTable"), ..Machine::default() })).await;
    assert_eq!(ill.get("/health/live").send().await.unwrap().status().as_u16(), 200);
    let ready = ill.get("/health/ready").send().await.unwrap();
    assert_eq!(ready.status().as_u16(), 503);
    assert_eq!(body(ready).await, json!({"status": "unavailable", "reason": "NoSuchTable"}));
}

#[tokio::test]
async fn browsers_of_other_origins_are_let_in_where_the_settings_say_so() {
    let preflight = async |origins: &[&str]| {
        let named: Vec<String> = origins.iter().map(|origin| origin.to_string()).collect();
        let origins = Origins::read(&named, false).unwrap();
        let server = start(keyfold::serve::router::Parts { origins, ..parts(Machine::default()) }).await;
        let request =
            server.client.request(Method::OPTIONS, server.url("/graphql")).header("origin", "https://app.example.com");
        let request = request
            .header("access-control-request-method", "POST")
            .header("access-control-request-headers", "content-type");
        let response = request.send().await.unwrap();
        ["origin", "headers", "credentials"]
            .map(|what| header(&response, &format!("access-control-allow-{what}")).to_owned())
    };
    assert_eq!(preflight(&[]).await, ["", "", ""]);
    assert_eq!(preflight(&["https://app.example.com"]).await, ["https://app.example.com", "content-type", "true"]);
    assert_eq!(preflight(&["https://other.example.com"]).await[0], "");
    assert_eq!(preflight(&["*"]).await, ["*", "content-type", ""]);
}
