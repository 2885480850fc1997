//! Operations over a WebSocket, which pages may open one, and how it ends when the server stops.

use super::gateway::running;
use crate::machine::{Machine, Running, parts, start};
use futures_util::{SinkExt, StreamExt};
use keyfold::serve::listener::Stopped;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream};

pub type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// Opens a WebSocket as a page of this origin.
pub async fn socket(server: &Running, origin: Option<&'static str>) -> Result<Socket, String> {
    socket_by("graphql-transport-ws", server, origin).await
}

/// A socket that speaks a protocol.
pub async fn socket_by(
    protocol: &'static str,
    server: &Running,
    origin: Option<&'static str>,
) -> Result<Socket, String> {
    let mut request = server.url("/graphql/ws").replacen("http", "ws", 1).into_client_request().unwrap();
    request.headers_mut().insert("sec-websocket-protocol", protocol.parse().unwrap());
    if let Some(origin) = origin {
        request.headers_mut().insert("origin", origin.parse().unwrap());
    }
    tokio_tungstenite::connect_async(request).await.map(|(stream, _)| stream).map_err(|error| error.to_string())
}

#[tokio::test]
async fn operations_run_over_a_web_socket() {
    let (server, ..) = running().await;
    let mut socket = socket(&server, None).await.unwrap();
    let mut say = async |message: Value| {
        socket.send(Message::text(message.to_string())).await.unwrap();
    };
    say(json!({"type": "connection_init"})).await;
    say(json!({"id": "a", "type": "subscribe", "payload": {"query": "query ($id: ID!) { user(id: $id) { name } }", "variables": {"id": "1"}}})).await;
    say(json!({"id": "b", "type": "subscribe", "payload": {"query": "{ nothing }"}})).await;
    let mut heard = Vec::new();
    let is_over =
        |heard: &[Value], id: &str| heard.iter().any(|message| message["id"] == id && message["type"] != "next");
    while !is_over(&heard, "a") || !is_over(&heard, "b") {
        let message = tokio::time::timeout(Duration::from_secs(60), socket.next()).await.unwrap().unwrap().unwrap();
        heard.extend(message.to_text().ok().and_then(|text| serde_json::from_str::<Value>(text).ok()));
    }
    assert!(heard.contains(&json!({"type": "connection_ack"})), "{heard:?}");
    assert!(
        heard.contains(&json!({"type": "next", "id": "a", "payload": {"data": {"user": {"name": "Ann"}}}})),
        "{heard:?}"
    );
    assert!(heard.contains(&json!({"type": "complete", "id": "a"})), "{heard:?}");
    let refused = heard.iter().find(|message| message["id"] == "b").unwrap();
    assert!(refused.to_string().contains("GRAPHQL_VALIDATION_FAILED"), "{refused}");
}

#[tokio::test]
async fn a_page_of_another_origin_opens_no_web_socket() {
    let (server, ..) = running().await;
    let refused = socket(&server, Some("https://evil.example")).await.map(drop).unwrap_err();
    assert!(refused.contains("403"), "{refused}");
}

/// Starts an operation `a`, after the handshake.
pub async fn begin(socket: &mut Socket, query: &str) {
    for message in
        [json!({"type": "connection_init"}), json!({"id": "a", "type": "subscribe", "payload": {"query": query}})]
    {
        socket.send(Message::text(message.to_string())).await.unwrap();
    }
}

/// Everything that the server sends until the socket is closed: the types of its messages, and the code of the last
/// frame.
async fn rest(socket: &mut Socket) -> (Vec<String>, Option<CloseCode>) {
    let (mut types, mut code) = (Vec::new(), None);
    while let Some(Ok(message)) = tokio::time::timeout(Duration::from_secs(60), socket.next()).await.unwrap() {
        match message {
            Message::Close(frame) => code = frame.map(|frame| frame.code),
            message => {
                let message: Value = serde_json::from_str(message.to_text().unwrap()).unwrap();
                types.push(message["type"].as_str().unwrap().to_owned());
            }
        }
    }
    (types, code)
}

#[test]
fn a_stopping_server_answers_what_has_begun_before_it_closes_a_web_socket() {
    for operation in ["mutation that holds", "hold"] {
        // The server has its own runtime, which ends with its process.
        let server = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let client = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        client.block_on(async {
            let machine = Machine::default();
            let (held, release) = (machine.held.clone(), machine.release.clone());
            let mut running = server.spawn(start(parts(machine))).await.unwrap();
            let (mut socket, mut idle) = (socket(&running, None).await.unwrap(), socket(&running, None).await.unwrap());
            begin(&mut socket, operation).await;
            held.notified().await;
            running.ask_to_stop();
            assert_eq!(
                rest(&mut idle).await,
                (vec![], Some(CloseCode::Away)),
                "one without operations is closed at once"
            );
            release.notify_one();
            let heard = tokio::spawn(async move { rest(&mut socket).await });
            assert_eq!(running.stopped().await, Stopped::Finished);
            server.shutdown_background();
            let types = ["connection_ack", "next", "complete"].map(str::to_owned).to_vec();
            assert_eq!(heard.await.unwrap(), (types, Some(CloseCode::Away)), "{operation}");
        });
    }
}
