//! Requests that name their documents: by the hash of one that a client sent before, or by the id of one that the
//! server trusts. Over HTTP and over a WebSocket.

use super::websocket::socket_by;
use crate::machine::{Machine, Running, parts, start};
use futures_util::{SinkExt, StreamExt};
use keyfold::serve::documents::lookup::Documents;
use keyfold::serve::documents::trusted::TrustedDocuments;
use keyfold::serve::router::Parts;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::time::Duration;
use tokio_tungstenite::tungstenite::Message;

fn extensions(text: &str) -> Value {
    let hash: String = Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect();
    json!({"persistedQuery": {"version": 1, "sha256Hash": hash}})
}

async fn answer(response: reqwest::Response) -> (u16, Value) {
    (response.status().as_u16(), response.json().await.unwrap())
}

async fn post(server: &Running, body: Value) -> (u16, Value) {
    let request = server.client.post(server.url("/graphql")).header("content-type", "application/json");
    answer(request.body(body.to_string()).send().await.unwrap()).await
}

async fn get(server: &Running, parameters: &[(&str, String)]) -> (u16, Value) {
    let url = url::Url::parse_with_params(&server.url("/graphql"), parameters).unwrap();
    answer(server.client.get(url).send().await.unwrap()).await
}

/// A server that runs one document only, whose id is `x`.
async fn strict() -> Running {
    let trusted = TrustedDocuments::new([("x".to_owned(), "trusted".to_owned())]);
    start(Parts { documents: Documents::new(Some(trusted), true, None), ..parts(Machine::default()) }).await
}

#[tokio::test]
async fn a_client_sends_a_document_once_and_its_hash_from_then_on() {
    let server = start(parts(Machine::default())).await;
    let by_hash = json!({"extensions": extensions("q"), "variables": {"n": 1}});
    let (status, body) = post(&server, by_hash.clone()).await;
    assert_eq!((status, &body["errors"][0]["message"]), (200, &json!("PersistedQueryNotFound")));
    assert_eq!(body["errors"][0]["extensions"]["code"], "PERSISTED_QUERY_NOT_FOUND");
    assert!(body.get("data").is_none(), "{body}");

    let (status, body) = post(&server, json!({"query": "q", "extensions": extensions("other")})).await;
    assert_eq!((status, &body["errors"][0]["extensions"]["code"]), (200, &json!("BAD_USER_INPUT")));
    assert_eq!(post(&server, json!({"query": "q", "extensions": extensions("q")})).await.1["data"]["query"], "q");

    let (status, body) = post(&server, by_hash).await;
    assert_eq!((status, &body["data"]["query"], &body["data"]["variables"]), (200, &json!("q"), &json!({"n": 1})));
    let query = [("extensions", extensions("q").to_string()), ("variables", json!({"n": 2}).to_string())];
    let (status, body) = get(&server, &query).await;
    assert_eq!((status, &body["data"]["query"], &body["data"]["variables"]), (200, &json!("q"), &json!({"n": 2})));
}

#[tokio::test]
async fn a_mutation_by_its_hash_is_still_a_mutation() {
    let server = start(parts(Machine::default())).await;
    post(&server, json!({"query": "mutation m", "extensions": extensions("mutation m")})).await;
    let query = [("extensions", extensions("mutation m").to_string())];
    let (status, _) = get(&server, &query).await;
    assert_eq!(status, 405);
}

#[tokio::test]
async fn the_status_tells_with_the_newer_media_type() {
    let server = start(parts(Machine::default())).await;
    let request = server.client.post(server.url("/graphql")).header("content-type", "application/json");
    let request = request
        .header("accept", "application/graphql-response+json")
        .body(json!({"extensions": extensions("q")}).to_string());
    assert_eq!(request.send().await.unwrap().status(), 400);
}

#[tokio::test]
async fn a_server_that_trusts_its_documents_only_runs_no_other() {
    let server = strict().await;
    for known in [json!({"documentId": "x"}), json!({"query": "trusted"}), json!({"extensions": extensions("trusted")})]
    {
        let (status, body) = post(&server, known.clone()).await;
        assert_eq!((status, &body["data"]["query"]), (200, &json!("trusted")), "{known}");
    }
    for (other, code) in [
        (json!({"query": "other"}), "FORBIDDEN"),
        (json!({"query": "other", "extensions": extensions("other")}), "FORBIDDEN"),
        (json!({"extensions": extensions("other")}), "PERSISTED_QUERY_NOT_FOUND"),
        (json!({"documentId": "y"}), "PERSISTED_QUERY_NOT_FOUND"),
        (json!({"query": "other", "documentId": "x"}), "BAD_USER_INPUT"),
    ] {
        let (_, body) = post(&server, other.clone()).await;
        assert_eq!(body["errors"][0]["extensions"]["code"], code, "{other}");
    }
}

/// What a server says over a WebSocket of this protocol to operations with these payloads, until it has said all of
/// this.
async fn said(server: &Running, protocol: &'static str, payloads: [Value; 2], until: [&str; 2]) -> String {
    let mut socket = socket_by(protocol, server, None).await.unwrap();
    let begin = if protocol == "graphql-ws" { "start" } else { "subscribe" };
    socket.send(Message::text(json!({"type": "connection_init"}).to_string())).await.unwrap();
    for (id, payload) in ["a", "b"].into_iter().zip(payloads) {
        socket.send(Message::text(json!({"type": begin, "id": id, "payload": payload}).to_string())).await.unwrap();
    }
    let mut heard = String::new();
    while !until.iter().all(|part| heard.contains(part)) {
        let message = tokio::time::timeout(Duration::from_secs(60), socket.next()).await.unwrap().unwrap().unwrap();
        heard.push_str(message.to_text().unwrap());
    }
    heard
}

/// The answer to the document that is trusted.
const TRUSTED: &str = "\"query\":\"trusted\"";

#[tokio::test]
async fn a_web_socket_obeys_the_same_rules() {
    let server = strict().await;
    for protocol in ["graphql-transport-ws", "graphql-ws"] {
        let payloads = ["other", "trusted"].map(|query| json!({"query": query}));
        let heard = said(&server, protocol, payloads, [TRUSTED, "FORBIDDEN"]).await;
        assert!(!heard.contains("\"query\":\"other\""), "{heard}");
    }
}

#[tokio::test]
async fn both_protocols_of_web_sockets_know_documents_by_their_hash() {
    let server = strict().await;
    for protocol in ["graphql-transport-ws", "graphql-ws"] {
        let payloads = ["unknown", "trusted"].map(|query| json!({"extensions": extensions(query)}));
        said(&server, protocol, payloads, [TRUSTED, "PERSISTED_QUERY_NOT_FOUND"]).await;
    }
}
