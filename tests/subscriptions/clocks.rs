//! Subscriptions on a server whose streams have a clock that is wrong or rounds, as that of DynamoDB Local does: every change after the
//! beginning arrives, and a live query ends as the table.

use crate::listener::{Watching, watching_on};
use axum::Router;
use axum::body::Bytes;
use axum::http::{HeaderMap, StatusCode};
use dynoxide::Database;
use keyfold::table::sdk::store::SdkStore;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::net::TcpListener;

const BOARD: &str = include_str!("board.graphql");

/// What a clock shows at a second.
type Clock = fn(f64) -> f64;

/// What they show may precede the beginning of a subscription.
const CLOCKS: [(&str, Clock); 4] = [
    ("5 s behind", |now| now - 5.0),
    ("rounds to the minute", |now| (now / 60.0).floor() * 60.0 - 60.0),
    ("5 s ahead", |now| now + 5.0),
    ("a year behind", |now| now - 31_536_000.0),
];

async fn bound() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address)
}

/// A board on a server with this clock.
async fn board(clock: Clock) -> Watching {
    let ((server, behind), (proxy, address)) = (bound().await, bound().await);
    tokio::spawn(dynoxide::server::serve_on(server, Database::memory().unwrap()));
    let client = reqwest::Client::new();
    let app = Router::new().fallback(move |headers: HeaderMap, body: Bytes| carry((client.clone(), behind), clock, headers, body));
    tokio::spawn(async move { axum::serve(proxy, app).await });
    let store = SdkStore::connect(Some(&format!("http://{address}")), Some("local")).await.unwrap();
    watching_on(BOARD, store, Arc::default()).await
}

/// Carries a request to the server, and the answer back with the times of this clock.
async fn carry(
    (client, server): (reqwest::Client, SocketAddr),
    clock: Clock,
    headers: HeaderMap,
    body: Bytes,
) -> (StatusCode, [(&'static str, &'static str); 1], String) {
    let answer = client.post(format!("http://{server}/")).headers(headers).body(body).send().await.unwrap();
    let status = StatusCode::from_u16(answer.status().as_u16()).unwrap();
    let mut body: Value = serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap();
    for record in body["Records"].as_array_mut().into_iter().flatten() {
        let created = &mut record["dynamodb"]["ApproximateCreationDateTime"];
        *created = json!(clock(created.as_f64().unwrap()).floor());
    }
    (status, [("content-type", "application/x-amz-json-1.0")], body.to_string())
}

async fn put(board: &Watching, text: &str) {
    board.run(&format!(r#"mutation {{ putCard(boardId: "b", id: "1", text: "{text}") {{ id }} }}"#)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_change_after_the_beginning_arrives() {
    for (name, clock) in CLOCKS {
        let board = board(clock).await;
        put(&board, "before").await;
        let query = |after: &str| format!(r#"subscription {{ cards(boardId: "b"{after}) {{ id node {{ text }} }} }}"#);
        let mut cards = board.subscribe(&query("")).await;
        cards.begin().await;
        for text in ["one", "two", "three"] {
            put(&board, text).await;
        }
        let (id, first) = cards.next_with_id().await;
        assert_eq!(first["cards"]["node"], json!({ "text": "one" }), "{name}");
        for text in ["two", "three"] {
            assert_eq!(cards.next().await["cards"]["node"], json!({ "text": text }), "{name}");
        }
        // Who comes back hears the rest, of a copy with a log and of one without.
        for other in [None, Some(board.with_fresh_hub())] {
            let mut again = other.as_ref().unwrap_or(&board).subscribe(&query(&format!(", after: {id:?}"))).await;
            for text in ["two", "three"] {
                assert_eq!(again.next().await["cards"]["node"], json!({ "text": text }), "{name}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_live_query_ends_as_the_table() {
    for (name, clock) in CLOCKS {
        let board = board(clock).await;
        put(&board, "before").await;
        let query = |after: &str| format!(r#"subscription {{ card(boardId: "b", id: "1"{after}) {{ text }} }}"#);
        let mut card = board.subscribe(&query("")).await;
        let (begun, first) = card.next_with_id().await;
        assert_eq!(first, json!({ "card": { "text": "before" } }), "{name}");
        for text in ["one", "two"] {
            put(&board, text).await;
            assert_eq!(card.next().await, json!({ "card": { "text": text } }), "{name}");
        }
        // Its beginning is a place to go on from, too.
        let mut again = board.subscribe(&query(&format!(", after: {begun:?}"))).await;
        for text in ["one", "two"] {
            assert_eq!(again.next().await, json!({ "card": { "text": text } }), "{name}");
        }
        board.run(r#"mutation { deleteCard(boardId: "b", id: "1") { id } }"#).await;
        for listener in [&mut card, &mut again] {
            assert_eq!(listener.next().await, json!({ "card": null }), "{name}");
        }
    }
}
