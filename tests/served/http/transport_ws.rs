//! graphql-transport-ws to the letter: what a client says and in which state, in; what the server says or the code that
//! it closes with, out (<https://github.com/enisdenjo/graphql-ws/blob/master/PROTOCOL.md>).
//!
//! | | the protocol says | test |
//! |---|---|---|
//! | 1 | the server chooses `graphql-transport-ws` where it is offered | `the_newer_protocol_is_chosen_where_both_are_offered` |
//! | 2 | without a subprotocol that both speak, no socket opens | the same |
//! | 3 | `connection_init`, with a payload or without, is answered by `connection_ack` | `the_handshake_is_accepted_once` |
//! | 4 | a second one closes with 4429 | the same |
//! | 5 | none in time closes with 4408 | `a_handshake_that_does_not_begin_closes_the_socket` |
//! | 6 | `subscribe` before the acknowledgement closes with 4401 | `an_operation_before_the_handshake_closes_the_socket` |
//! | 7 | `ping` is answered by `pong` at any time, with its payload | `a_ping_is_answered_before_and_after_the_handshake` |
//! | 8 | `pong` may come without being asked for | the same |
//! | 9 | what is no JSON object with a type closes with 4400 | `what_is_no_message_closes_the_socket` |
//! | 10 | so does a type that is unknown, or that only the server says | the same |
//! | 11 | so does a member that is missing or of another type | the same |
//! | 12 | a reason fits into its frame | `a_long_reason_is_cut` |
//! | 13 | a message that is too large closes with 1009 | `a_message_that_is_too_large_closes_the_socket` |
//! | 14 | `next` has the operation's id and its result, then comes `complete` | `an_operation_is_answered_and_completed` |
//! | 15 | an operation that does not run has `error` with the list of its errors, and nothing after it | `an_operation_that_does_not_run_has_errors_and_nothing_else` |
//! | 16 | one that ran has its errors in `next` | `subscriptions::an_operation_that_ran_has_its_errors_in_next` |
//! | 17 | a subscription has any number of `next`, and `complete` when the server ends it | `subscriptions::a_web_socket_hears_each_change_until_its_client_ends_it`, `subscriptions::a_server_that_stops_says_goodbye` |
//! | 18 | the id of a running operation closes with 4409 | `an_id_belongs_to_one_operation_at_a_time` |
//! | 19 | an id is free after `complete` or `error` | the same, and 15 |
//! | 20 | after the client's `complete` it hears no more; one for no operation is no mistake | `a_client_ends_an_operation_and_hears_no_more_of_it` |
//! | 21 | operations of one socket run side by side | `operations_run_side_by_side` |

use crate::machine::{Machine, Running, limits, parts, start};
use futures_util::{SinkExt, StreamExt};
use keyfold::serve::router::Parts;
use keyfold::serve::settings::{RequestLimits, SharedLimits};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::sync::Notify;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream};

/// Longer than anything that a test waits for.
const BOUND: Duration = Duration::from_secs(60);

/// A socket of a server whose operations answer by their text, and what releases those that are held.
struct Socket {
    stream: WebSocketStream<MaybeTlsStream<TcpStream>>,
    release: Arc<Notify>,
    held: Arc<Notify>,
    _server: Running,
}

/// What comes next from the server.
#[derive(Debug, Clone, PartialEq)]
enum Heard {
    Message(Value),
    Closed(u16, String),
}

async fn open(offered: &str) -> Result<(Socket, String), u16> {
    open_with(offered, limits()).await
}

async fn open_with(offered: &str, limits: RequestLimits) -> Result<(Socket, String), u16> {
    let machine = Machine::default();
    let (held, release) = (machine.held.clone(), machine.release.clone());
    let server = start(Parts { limits, ..parts(machine) }).await;
    let mut request = server.url("/graphql/ws").replacen("http", "ws", 1).into_client_request().unwrap();
    if !offered.is_empty() {
        request.headers_mut().insert("sec-websocket-protocol", offered.parse().unwrap());
    }
    match tokio_tungstenite::connect_async(request).await {
        Ok((stream, response)) => {
            let chosen = response.headers()["sec-websocket-protocol"].to_str().unwrap().to_owned();
            Ok((Socket { stream, release, held, _server: server }, chosen))
        }
        Err(tokio_tungstenite::tungstenite::Error::Http(response)) => Err(response.status().as_u16()),
        Err(error) => panic!("{error}"),
    }
}

/// A socket before its handshake.
async fn silent() -> Socket {
    open("graphql-transport-ws").await.unwrap().0
}

/// A socket after its handshake.
async fn ready() -> Socket {
    let mut socket = silent().await;
    socket.say(json!({"type": "connection_init"})).await;
    assert_eq!(socket.hear().await, Heard::Message(json!({"type": "connection_ack"})));
    socket
}

impl Socket {
    async fn say(&mut self, message: Value) {
        self.stream.send(Message::text(message.to_string())).await.unwrap();
    }

    async fn subscribe(&mut self, id: &str, query: &str) {
        self.say(json!({"type": "subscribe", "id": id, "payload": {"query": query}})).await;
    }

    async fn hear(&mut self) -> Heard {
        loop {
            match tokio::time::timeout(BOUND, self.stream.next()).await.unwrap() {
                Some(Ok(Message::Text(text))) => return Heard::Message(serde_json::from_str(&text).unwrap()),
                Some(Ok(Message::Close(Some(frame)))) => {
                    return Heard::Closed(frame.code.into(), frame.reason.as_str().to_owned());
                }
                Some(Ok(_)) => {}
                other => panic!("{other:?}"),
            }
        }
    }

    /// The type and the id of what comes next.
    async fn kind(&mut self) -> String {
        match self.hear().await {
            Heard::Message(message) => {
                format!("{} {}", message["type"].as_str().unwrap(), message["id"].as_str().unwrap_or("-"))
            }
            Heard::Closed(code, _) => code.to_string(),
        }
    }

    /// The code of the end, which is next.
    async fn code(&mut self) -> u16 {
        match self.hear().await {
            Heard::Closed(code, _) => code,
            Heard::Message(message) => panic!("{message}"),
        }
    }
}

#[tokio::test]
async fn the_newer_protocol_is_chosen_where_both_are_offered() {
    for (offered, chosen) in [
        ("graphql-transport-ws", "graphql-transport-ws"),
        ("graphql-ws, graphql-transport-ws", "graphql-transport-ws"),
        ("graphql-ws", "graphql-ws"),
    ] {
        let (mut socket, named) = open(offered).await.unwrap();
        assert_eq!(named, chosen, "{offered}");
        let begin = if chosen == "graphql-ws" { "start" } else { "subscribe" };
        socket.say(json!({"type": "connection_init"})).await;
        socket.say(json!({"type": begin, "id": "a", "payload": {"query": "q", "variables": {"n": 1}}})).await;
        let heard = [socket.kind().await, socket.kind().await, socket.kind().await];
        let next = if chosen == "graphql-ws" { "data a" } else { "next a" };
        assert_eq!(heard, ["connection_ack -", next, "complete a"], "{offered}");
    }
    for unknown in ["", "graphql", "graphql-transport-ws2"] {
        assert_eq!(open(unknown).await.map(drop).unwrap_err(), 400, "{unknown}");
    }
}

#[tokio::test]
async fn the_handshake_is_accepted_once() {
    for payload in [json!(null), json!({}), json!({"lang": "en"})] {
        let mut socket = silent().await;
        socket.say(json!({"type": "connection_init", "payload": payload})).await;
        assert_eq!(socket.hear().await, Heard::Message(json!({"type": "connection_ack"})), "{payload}");
        socket.say(json!({"type": "connection_init"})).await;
        assert_eq!(socket.hear().await, Heard::Closed(4429, "Too many initialisation requests".into()));
    }
}

#[tokio::test]
async fn a_handshake_that_does_not_begin_closes_the_socket() {
    let (mut newer, mut legacy) = (silent().await, open("graphql-ws").await.unwrap().0);
    let end = Heard::Closed(4408, "Connection initialisation timeout".into());
    assert_eq!(futures_util::future::join(newer.hear(), legacy.hear()).await, (end.clone(), end));
}

#[tokio::test]
async fn an_operation_before_the_handshake_closes_the_socket() {
    let mut socket = silent().await;
    socket.subscribe("a", "q").await;
    assert_eq!(socket.hear().await, Heard::Closed(4401, "Unauthorized".into()));
}

#[tokio::test]
async fn a_ping_is_answered_before_and_after_the_handshake() {
    for mut socket in [silent().await, ready().await] {
        for message in [json!({"type": "pong"}), json!({"type": "pong", "payload": {"a": 1}}), json!({"type": "ping"})]
        {
            socket.say(message).await;
        }
        assert_eq!(socket.hear().await, Heard::Message(json!({"type": "pong"})));
        socket.say(json!({"type": "ping", "payload": {"at": 1.5}})).await;
        assert_eq!(socket.hear().await, Heard::Message(json!({"type": "pong", "payload": {"at": 1.5}})));
    }
}

#[tokio::test]
async fn what_is_no_message_closes_the_socket() {
    let payload = json!({"query": "q"});
    for text in [
        "".to_owned(),
        "ping".to_owned(),
        "{\"type\":\"ping\"".to_owned(),
        json!("ping").to_string(),
        json!({"id": "a"}).to_string(),
        json!({"type": "connection_terminate"}).to_string(),
        json!({"type": "connection_init", "payload": "x"}).to_string(),
        json!({"type": "start", "id": "a", "payload": payload}).to_string(),
        json!({"type": "connection_ack"}).to_string(),
        json!({"type": "complete"}).to_string(),
        json!({"type": "subscribe", "payload": payload}).to_string(),
        json!({"type": "subscribe", "id": "", "payload": payload}).to_string(),
        json!({"type": "subscribe", "id": 1, "payload": payload}).to_string(),
        json!({"type": "subscribe", "id": "a"}).to_string(),
        json!({"type": "subscribe", "id": "a", "payload": {}}).to_string(),
        json!({"type": "subscribe", "id": "a", "payload": {"query": ["q"]}}).to_string(),
        json!({"type": "subscribe", "id": "a", "payload": {"query": "q", "variables": "x"}}).to_string(),
        json!({"type": "subscribe", "id": "a", "payload": {"query": "q", "operationName": 1}}).to_string(),
        json!({"type": "subscribe", "id": "a", "payload": {"query": "q", "extensions": 1}}).to_string(),
    ] {
        let mut socket = ready().await;
        socket.stream.send(Message::text(text.clone())).await.unwrap();
        assert_eq!(socket.code().await, 4400, "{text}");
    }
    let mut socket = ready().await;
    socket.stream.send(Message::binary(&b"\xff\xfe"[..])).await.unwrap();
    assert_eq!(socket.code().await, 4400);
}

#[tokio::test]
async fn a_long_reason_is_cut() {
    let mut socket = ready().await;
    socket.say(json!({"type": "é".repeat(200)})).await;
    let Heard::Closed(4400, reason) = socket.hear().await else { panic!() };
    assert!((100..=123).contains(&reason.len()), "{reason}");
}

#[tokio::test]
async fn a_message_that_is_too_large_closes_the_socket() {
    let mut socket = ready().await;
    // The limit of this server is 1000 bytes.
    socket.subscribe("a", &"x".repeat(2_000)).await;
    assert_eq!(socket.code().await, 1009);
}

#[tokio::test]
async fn an_operation_is_answered_and_completed() {
    let mut socket = ready().await;
    let payload = json!({"query": "q", "operationName": "N", "variables": {"n": 0.1}, "extensions": {}});
    socket.say(json!({"type": "subscribe", "id": "\"é", "payload": payload})).await;
    let data = json!({"query": "q", "operationName": "N", "variables": {"n": 0.1}, "explain": false});
    assert_eq!(socket.hear().await, Heard::Message(json!({"type": "next", "id": "\"é", "payload": {"data": data}})));
    assert_eq!(socket.hear().await, Heard::Message(json!({"type": "complete", "id": "\"é"})));
}

#[tokio::test]
async fn an_operation_that_does_not_run_has_errors_and_nothing_else() {
    let mut socket = ready().await;
    socket.subscribe("a", "invalid").await;
    let Heard::Message(message) = socket.hear().await else { panic!() };
    assert_eq!((&message["type"], &message["id"]), (&json!("error"), &json!("a")));
    assert_eq!(message["payload"][0]["message"], "on purpose");
    // The id is free again.
    socket.subscribe("a", "q").await;
    assert_eq!([socket.kind().await, socket.kind().await], ["next a", "complete a"]);
}

#[tokio::test]
async fn an_id_belongs_to_one_operation_at_a_time() {
    let mut socket = ready().await;
    for _ in 0..2 {
        socket.subscribe("a", "q").await;
        assert_eq!([socket.kind().await, socket.kind().await], ["next a", "complete a"]);
    }
    socket.subscribe("a", "hold").await;
    socket.subscribe("a", "q").await;
    assert_eq!(socket.hear().await, Heard::Closed(4409, "Subscriber for a already exists".into()));
}

#[tokio::test]
async fn a_client_ends_an_operation_and_hears_no_more_of_it() {
    let mut socket = ready().await;
    socket.subscribe("a", "hold").await;
    tokio::time::timeout(BOUND, socket.held.notified()).await.unwrap();
    socket.say(json!({"type": "complete", "id": "a"})).await;
    // The id is free at once.
    socket.subscribe("a", "q").await;
    assert_eq!([socket.kind().await, socket.kind().await], ["next a", "complete a"]);
    // An operation that has ended may end again.
    for id in ["a", "never begun"] {
        socket.say(json!({"type": "complete", "id": id})).await;
    }
    socket.say(json!({"type": "ping"})).await;
    assert_eq!(socket.kind().await, "pong -");
}

#[tokio::test]
async fn operations_run_side_by_side() {
    let mut socket = ready().await;
    socket.subscribe("slow", "hold").await;
    tokio::time::timeout(BOUND, socket.held.notified()).await.unwrap();
    socket.subscribe("fast", "q").await;
    assert_eq!([socket.kind().await, socket.kind().await], ["next fast", "complete fast"]);
    socket.release.notify_one();
    assert_eq!([socket.kind().await, socket.kind().await], ["next slow", "complete slow"]);
}

#[tokio::test]
async fn one_operation_too_many_waits_for_its_turn() {
    let mut socket = ready().await;
    let most = SharedLimits::default().max_socket_operations;
    for number in 0..most {
        socket.subscribe(&number.to_string(), "hang").await;
    }
    socket.subscribe("more", "q").await;
    socket.subscribe("left", "q").await;
    socket.say(json!({"type": "complete", "id": "left"})).await;
    socket.say(json!({"type": "ping"})).await;
    assert_eq!(socket.kind().await, "pong -", "the socket is read meanwhile");
    socket.say(json!({"type": "complete", "id": "0"})).await;
    assert_eq!([socket.kind().await, socket.kind().await], ["next more", "complete more"]);
}

#[tokio::test]
async fn an_operation_that_waits_too_long_gets_an_error() {
    let limits = RequestLimits { request_timeout: Duration::from_millis(500), ..limits() };
    let mut socket = open_with("graphql-transport-ws", limits).await.unwrap().0;
    socket.say(json!({"type": "connection_init"})).await;
    assert_eq!(socket.kind().await, "connection_ack -");
    let most = SharedLimits::default().max_socket_operations;
    for number in 0..most {
        socket.subscribe(&number.to_string(), "mutation that holds").await;
    }
    socket.subscribe("more", "q").await;
    let mut heard = Vec::new();
    for _ in 0..=most {
        heard.push(socket.kind().await);
    }
    assert!(heard.contains(&"error more".to_owned()), "{heard:?}");
}

#[tokio::test]
async fn subscriptions_take_no_place_of_queries() {
    let mut socket = ready().await;
    let most = SharedLimits::default().max_socket_subscriptions;
    for number in 0..most {
        socket.subscribe(&number.to_string(), "feed").await;
    }
    socket.subscribe("query", "q").await;
    assert_eq!([socket.kind().await, socket.kind().await], ["next query", "complete query"]);
    socket.subscribe("more", "feed").await;
    assert_eq!(socket.kind().await, "error more", "it is refused alone");
    socket.say(json!({"type": "complete", "id": "0"})).await;
    socket.subscribe("again", "feed").await;
    socket.subscribe("last", "q").await;
    assert_eq!([socket.kind().await, socket.kind().await], ["next last", "complete last"], "there is room for another");
}

#[tokio::test]
async fn operations_that_wait_have_a_bound() {
    let mut socket = ready().await;
    let SharedLimits { max_socket_operations, max_socket_subscriptions, .. } = SharedLimits::default();
    let most = 9 * max_socket_operations + max_socket_subscriptions;
    for number in 0..most {
        socket.subscribe(&number.to_string(), "hang").await;
    }
    socket.subscribe("more", "q").await;
    assert_eq!(socket.kind().await, "error more");
}

#[tokio::test]
async fn a_client_that_closes_is_answered_so() {
    for mut socket in [silent().await, ready().await, open("graphql-ws").await.unwrap().0] {
        let frame = CloseFrame { code: CloseCode::Normal, reason: "Normal Closure".into() };
        socket.stream.send(Message::Close(Some(frame))).await.unwrap();
        assert_eq!(socket.code().await, 1000);
    }
}
