//! Listeners who stop reading, or who are gone without a word: what they cost, and what they learn.

use super::subscriptions::{LONG, NOTE, SCHEMA, events, message};
use super::websocket::{begin, socket};
use crate::machine::{Machine, Running, limits, parts, start};
use futures_util::{SinkExt, StreamExt};
use keyfold::execute::gateway::Gateway;
use keyfold::execute::request::Request;
use keyfold::serve::backend::current_gateway::CurrentGateway;
use keyfold::serve::router::Parts;
use keyfold::serve::settings::{RequestLimits, SharedLimits};
use keyfold::table::store::TableStore;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, timeout};
use tokio_tungstenite::tungstenite::Message;

/// Longer than any test waits, in the time of the test.
const FOREVER: Duration = Duration::from_secs(36_000);
/// The changes that a listener does not take, and the length of each: together more than the system's buffers hold.
const CHANGES: usize = 60;
const LENGTH: usize = 300_000;

/// Enough for one subscription, and not for two.
const ONE: usize = 10_000;

async fn running(shared: SharedLimits) -> (Running, Gateway) {
    let gateway = super::gateway::gateway(SCHEMA, &TableStore::in_memory().unwrap()).await;
    let backend = Arc::new(CurrentGateway::new(gateway.clone()));
    // Whoever takes nothing gets an error, and is not cut off.
    let limits = RequestLimits { write_timeout: FOREVER, shared, ..limits() };
    (start(Parts { backend, limits, ..parts(Machine::default()) }).await, gateway)
}

/// Changes the note, so that each change can be distinguished from the others.
async fn put(gateway: &Gateway, number: usize) {
    let query = "mutation($text: String!) { put(id: 1, text: $text) { id } }".to_owned();
    let Value::Object(variables) = json!({ "text": format!("{number} {}", "x".repeat(LENGTH)) }) else {
        panic!("an object")
    };
    let prepared = gateway
        .prepare(&Request { query, variables, ..Request::default() })
        .await
        .unwrap_or_else(|errors| panic!("{errors:?}"));
    let response = gateway.run(&prepared, Instant::now() + LONG, false).await;
    assert_eq!(&response.body[..], br#"{"data":{"put":{"id":"1"}}}"#);
}

/// The number of a change.
fn number(response: &Value) -> usize {
    let text = response["data"]["note"]["text"].as_str().unwrap_or_else(|| panic!("{response}"));
    text.split(' ').next().unwrap().parse().unwrap()
}

/// Checks the error of a slow listener, and gives the number of its last change and the id to go on from.
fn read_end(error: &Value, (number, id): (usize, String)) -> (usize, String) {
    assert_eq!(error["extensions"]["code"], "LIMIT_EXCEEDED", "{error}");
    assert_eq!(error["extensions"]["after"], id.as_str(), "{error}");
    assert!(number < CHANGES, "the server kept all changes for a listener that took none");
    (number, id)
}

fn id(response: &Value) -> String {
    response["extensions"]["keyfold"]["id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_web_socket_that_is_not_read_learns_where_to_go_on() {
    let (server, gateway) = running(SharedLimits::default()).await;
    let mut socket = socket(&server, None).await.unwrap();
    begin(&mut socket, NOTE).await;
    message(&mut socket).await;
    message(&mut socket).await;
    put(&gateway, 0).await;
    let first = message(&mut socket).await["payload"].clone();
    let mut last = (number(&first), id(&first));
    for number in 1..=CHANGES {
        put(&gateway, number).await;
    }
    let error = loop {
        let heard = message(&mut socket).await;
        match heard["type"].as_str() {
            Some("next") => last = (number(&heard["payload"]), id(&heard["payload"])),
            _ => break heard,
        }
    };
    assert_eq!(error["type"], "error");
    let (mut heard, mut id) = read_end(&error["payload"][0], last);
    while heard < CHANGES {
        let query = format!("subscription {{ note(id: 1, after: {id:?}) {{ text }} }}");
        socket
            .send(Message::text(json!({ "id": "b", "type": "subscribe", "payload": { "query": query } }).to_string()))
            .await
            .unwrap();
        while heard < CHANGES {
            let next = message(&mut socket).await;
            if next["type"] == "error" {
                // The last changes are still being delivered to all, and wait for this one until it has had the others.
                assert_eq!(next["payload"][0]["extensions"]["code"], "LIMIT_EXCEEDED", "{next}");
                id = next["payload"][0]["extensions"]["after"].as_str().unwrap().to_owned();
                break;
            }
            assert_eq!(number(&next["payload"]), heard + 1);
            heard += 1;
        }
    }
}

#[tokio::test]
async fn a_stream_of_events_that_is_not_read_learns_where_to_go_on() {
    let (server, gateway) = running(SharedLimits::default()).await;
    let subscribe = |last: &str| {
        let request = server.client.post(server.url("/graphql")).header("content-type", "application/json");
        let request = request.header("accept", "text/event-stream").header("last-event-id", last);
        request.body(json!({ "query": NOTE }).to_string()).send()
    };
    let data = |event: &str| -> Option<Value> {
        serde_json::from_str(event.lines().find_map(|line| line.strip_prefix("data: "))?).unwrap()
    };
    let mut stream = events(subscribe("").await.unwrap());
    stream.event().await;
    put(&gateway, 0).await;
    let first = data(&stream.event().await).unwrap();
    let mut last = (number(&first), id(&first));
    for number in 1..=CHANGES {
        put(&gateway, number).await;
    }
    let error = loop {
        let response = data(&stream.event().await).unwrap();
        if response.get("errors").is_some() {
            break response["errors"][0].clone();
        }
        last = (number(&response), id(&response));
    };
    let (mut heard, mut id) = read_end(&error, last);
    assert_eq!(stream.event().await, "event: complete\ndata:");
    while heard < CHANGES {
        let mut stream = events(subscribe(&id).await.unwrap());
        while heard < CHANGES {
            let response = data(&stream.event().await).unwrap();
            if let Some(error) = response["errors"].get(0) {
                assert_eq!(error["extensions"]["code"], "LIMIT_EXCEEDED", "{error}");
                id = error["extensions"]["after"].as_str().unwrap().to_owned();
                break;
            }
            assert_eq!(number(&response), heard + 1);
            heard += 1;
        }
    }
}

#[tokio::test]
async fn a_client_that_is_gone_without_a_word_leaves() {
    // The memory of one subscription.
    let shared = SharedLimits { subscription_memory: ONE, ..SharedLimits::default() };
    let (server, _) = running(shared).await;
    let mut gone = socket(&server, None).await.unwrap();
    begin(&mut gone, NOTE).await;
    message(&mut gone).await;
    message(&mut gone).await;
    let mut other = socket(&server, None).await.unwrap();
    begin(&mut other, NOTE).await;
    message(&mut other).await;
    assert_eq!(message(&mut other).await["payload"][0]["extensions"]["code"], "UNAVAILABLE");
    // From now on, time passes as fast as nobody works. The first client answers no ping, because nobody reads its
    // socket.
    tokio::time::pause();
    let query = json!({ "id": "b", "type": "subscribe", "payload": { "query": NOTE } }).to_string();
    let begun = async {
        loop {
            other.send(Message::text(query.clone())).await.unwrap();
            loop {
                match other.next().await.unwrap().unwrap() {
                    Message::Text(text) if text.contains("UNAVAILABLE") => break,
                    Message::Text(text) => return serde_json::from_str::<Value>(&text).unwrap(),
                    _ => {}
                }
            }
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    };
    let heard = timeout(FOREVER, begun).await.unwrap();
    assert_eq!((heard["type"].as_str(), &heard["payload"]["data"]), (Some("next"), &json!({ "note": null })));
    tokio::time::resume();
    drop(gone);
}
