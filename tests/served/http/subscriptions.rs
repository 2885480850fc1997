//! Subscriptions as clients hear them: over WebSockets and as streams of events, until the client or the server ends
//! them.

use super::websocket::{Socket, begin, socket, socket_by};
use crate::machine::{Running, parts, start};
use futures_util::{SinkExt, StreamExt};
use keyfold::execute::gateway::Gateway;
use keyfold::serve::backend::current_gateway::CurrentGateway;
use keyfold::serve::listener::Stopped;
use keyfold::serve::router::Parts;
use keyfold::table::store::TableStore;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;

pub const SCHEMA: &str = r#"
extend schema @table(name: "notes", partitionKey: "PK", stream: NEW_AND_OLD_IMAGES)
type Note @item(keys: { PK: "{id}" }) { id: ID! text: String }
type Query { note(id: ID!): Note @find }
type Mutation { put(id: ID!, text: String!): Note @put(replace: true) create(id: ID!, text: String!): Note @put }
type Subscription { note(id: ID!, after: ID): Note @watch(initial: true) }
"#;
pub const LONG: Duration = Duration::from_secs(60);

async fn running() -> (Running, Gateway) {
    let store = TableStore::in_memory().unwrap();
    let gateway = super::gateway::gateway(SCHEMA, &store).await;
    let backend = Arc::new(CurrentGateway::new(gateway.clone()));
    (start(Parts { backend, ..parts(crate::machine::Machine::default()) }).await, gateway)
}

async fn put(server: &Running, text: &str) {
    let body = json!({ "query": format!("mutation {{ put(id: 1, text: {text:?}) {{ id }} }}") }).to_string();
    let answer = server
        .client
        .post(server.url("/graphql"))
        .header("content-type", "application/json")
        .body(body)
        .send()
        .await
        .unwrap();
    assert!(answer.text().await.unwrap().contains("\"id\":\"1\""));
}

/// The next message of a socket that is of the protocol.
pub async fn message(socket: &mut Socket) -> Value {
    loop {
        match timeout(LONG, socket.next()).await.unwrap().unwrap().unwrap() {
            Message::Text(text) => return serde_json::from_str(&text).unwrap(),
            Message::Close(frame) => return json!({ "code": frame.map(|frame| u16::from(frame.code)) }),
            _ => {}
        }
    }
}

pub const NOTE: &str = "subscription { note(id: 1) { text } }";

#[tokio::test]
async fn a_web_socket_hears_each_change_until_its_client_ends_it() {
    let (server, _) = running().await;
    let mut socket = socket(&server, None).await.unwrap();
    begin(&mut socket, NOTE).await;
    assert_eq!(message(&mut socket).await["type"], "connection_ack");
    let data = |message: &Value| message["payload"]["data"]["note"].clone();
    assert_eq!(data(&message(&mut socket).await), Value::Null, "there is none yet");
    for text in ["one", "two"] {
        put(&server, text).await;
        let heard = message(&mut socket).await;
        assert_eq!(
            (heard["type"].as_str(), heard["id"].as_str(), data(&heard)),
            (Some("next"), Some("a"), json!({ "text": text }))
        );
        assert!(heard["payload"]["extensions"]["keyfold"]["id"].is_string());
    }
    socket.send(Message::text(json!({ "id": "a", "type": "complete" }).to_string())).await.unwrap();
    put(&server, "nobody receives this").await;
    let query = json!({ "id": "b", "type": "subscribe", "payload": { "query": "{ note(id: 1) { text } }" } });
    socket.send(Message::text(query.to_string())).await.unwrap();
    assert_eq!(message(&mut socket).await["id"], "b");
}

#[tokio::test]
async fn a_client_of_the_predecessor_hears_the_same() {
    let (server, _) = running().await;
    let mut socket = socket_by("graphql-ws", &server, None).await.unwrap();
    for message in
        [json!({ "type": "connection_init" }), json!({ "id": "a", "type": "start", "payload": { "query": NOTE } })]
    {
        socket.send(Message::text(message.to_string())).await.unwrap();
    }
    assert_eq!(message(&mut socket).await["type"], "connection_ack");
    assert_eq!(message(&mut socket).await["payload"]["data"], json!({ "note": null }));
    put(&server, "one").await;
    let heard = message(&mut socket).await;
    assert_eq!(
        (heard["type"].as_str(), &heard["payload"]["data"]),
        (Some("data"), &json!({ "note": { "text": "one" } }))
    );
    assert!(heard["payload"]["extensions"]["keyfold"]["id"].is_string(), "it goes on after this");
}

#[tokio::test]
async fn a_subscription_that_is_refused_is_an_error() {
    let (server, _) = running().await;
    // What is no id at all, and the id of no record: `1763846480 0 shard`.
    for after in ["?", "MTc2Mzg0NjQ4MCAwIHNoYXJk"] {
        let mut socket = socket(&server, None).await.unwrap();
        begin(&mut socket, &format!("subscription {{ note(id: 1, after: {after:?}) {{ text }} }}")).await;
        message(&mut socket).await;
        let heard = message(&mut socket).await;
        assert_eq!(
            (heard["type"].as_str(), heard["payload"][0]["extensions"]["code"].as_str()),
            (Some("error"), Some("BAD_USER_INPUT"))
        );
    }
}

#[tokio::test]
async fn an_operation_that_ran_has_its_errors_in_next() {
    let (server, _) = running().await;
    let mut socket = socket(&server, None).await.unwrap();
    begin(&mut socket, r#"mutation { create(id: 1, text: "one") { id } again: create(id: 1, text: "two") { id } }"#)
        .await;
    message(&mut socket).await;
    let heard = message(&mut socket).await;
    assert_eq!(
        (heard["type"].as_str(), &heard["payload"]["data"]),
        (Some("next"), &json!({ "create": { "id": "1" }, "again": null }))
    );
    assert_eq!(heard["payload"]["errors"][0]["extensions"]["code"], "CONFLICT");
    assert_eq!(message(&mut socket).await, json!({ "type": "complete", "id": "a" }));
}

#[tokio::test]
async fn a_stream_of_events_has_ids() {
    let (server, _) = running().await;
    put(&server, "one").await;
    let body = json!({ "query": NOTE }).to_string();
    let request = server.client.post(server.url("/graphql")).header("content-type", "application/json").body(body);
    let mut stream = events(request.header("accept", "text/event-stream").send().await.unwrap());
    let first = stream.event().await;
    assert!(first.starts_with("event: next\nid: ") && first.contains(r#"{"data":{"note":{"text":"one"}}"#), "{first}");
    put(&server, "two").await;
    let second = stream.event().await;
    let id = second.lines().find_map(|line| line.strip_prefix("id: ")).unwrap().to_owned();
    assert!(second.contains(r#""text":"two""#) && second.contains(&format!(r#""id":"{id}""#)), "{second}");
    drop(stream);
    put(&server, "three").await;
    let again = json!({ "query": format!("subscription {{ note(id: 1, after: {id:?}) {{ text }} }}") }).to_string();
    let request = server.client.post(server.url("/graphql")).header("content-type", "application/json").body(again);
    let mut stream = events(request.header("accept", "text/event-stream").send().await.unwrap());
    assert!(stream.event().await.contains(r#""text":"three""#));
}

#[tokio::test]
async fn a_stream_goes_on_after_the_last_event_that_its_header_names() {
    let (server, _) = running().await;
    let subscribe = |query: String, last: &str| {
        let body = json!({ "query": query }).to_string();
        let request = server.client.post(server.url("/graphql")).header("content-type", "application/json").body(body);
        request.header("accept", "text/event-stream").header("last-event-id", last).send()
    };
    put(&server, "one").await;
    // A browser that has had no event sends no id.
    let mut stream = events(subscribe(NOTE.to_owned(), "").await.unwrap());
    stream.event().await;
    let mut ids = Vec::new();
    for text in ["two", "three"] {
        put(&server, text).await;
        let event = stream.event().await;
        assert!(event.contains(text), "{event}");
        ids.push(event.lines().find_map(|line| line.strip_prefix("id: ")).unwrap().to_owned());
    }
    drop(stream);
    put(&server, "four").await;
    // The argument is of the first connection, the header of the last event.
    let query = format!("subscription {{ note(id: 1, after: {:?}) {{ text }} }}", ids[0]);
    let mut stream = events(subscribe(query, &ids[1]).await.unwrap());
    let event = stream.event().await;
    assert!(event.contains(r#""text":"four""#), "{event}");
    let refused = events(subscribe(NOTE.to_owned(), "nonsense").await.unwrap()).event().await;
    assert!(refused.contains("BAD_USER_INPUT"), "{refused}");
}

#[tokio::test]
async fn a_single_response_cannot_hold_a_subscription() {
    let (server, _) = running().await;
    let body = json!({ "query": NOTE }).to_string();
    let request = server.client.post(server.url("/graphql")).header("content-type", "application/json").body(body);
    let answer = request.header("accept", "application/graphql-response+json").send().await.unwrap();
    assert_eq!(answer.status().as_u16(), 400);
    assert!(answer.text().await.unwrap().contains("WebSocket"));
}

#[tokio::test]
async fn a_server_that_stops_says_goodbye() {
    let (mut server, _) = running().await;
    let mut socket = socket(&server, None).await.unwrap();
    begin(&mut socket, NOTE).await;
    message(&mut socket).await;
    message(&mut socket).await;
    let body = json!({ "query": NOTE }).to_string();
    let request = server.client.post(server.url("/graphql")).header("content-type", "application/json").body(body);
    let mut stream = events(request.header("accept", "text/event-stream").send().await.unwrap());
    stream.event().await;
    server.ask_to_stop();
    assert_eq!(message(&mut socket).await["type"], "complete");
    assert_eq!(message(&mut socket).await["code"], 1001);
    assert_eq!(stream.event().await, "event: complete\ndata:");
    drop(socket);
    assert_eq!(server.stopped().await, Stopped::Finished);
}

/// The events of a response, one by one.
pub struct Events {
    response: reqwest::Response,
    text: String,
}

/// The events of a response.
pub fn events(response: reqwest::Response) -> Events {
    Events { response, text: String::new() }
}

impl Events {
    /// The next event that is no comment.
    pub async fn event(&mut self) -> String {
        loop {
            if let Some((event, rest)) = self.text.split_once("\n\n") {
                let (event, rest) = (event.to_owned(), rest.to_owned());
                self.text = rest;
                if !event.starts_with(':') {
                    return event;
                }
                continue;
            }
            let chunk = timeout(LONG, self.response.chunk()).await.unwrap().unwrap().expect("an event");
            self.text.push_str(std::str::from_utf8(&chunk).unwrap());
        }
    }
}
