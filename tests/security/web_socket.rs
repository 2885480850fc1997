//! WebSockets: what a client shows in its header or its first message in; who sends its operations, or the code that
//! closes the socket, out.

use crate::server::Server;
use crate::signer::{AUDIENCE, ISSUER, Signer, Token, now};
use futures_util::{SinkExt, StreamExt};
use keyfold::serve::sign_in::issuer::{Issuer, IssuerKeys};
use keyfold::serve::sign_in::keys::key_set::KeySet;
use serde_json::{Value, json};
use std::time::Duration;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::{Error, Message};

/// Longer than anything that a test waits for.
const BOUND: Duration = Duration::from_secs(60);

async fn server() -> Server {
    let keys = KeySet::from_json(json!({"keys": [Signer::rsa().jwk("rsa")]}).to_string().as_bytes()).unwrap();
    let issuer = Issuer { name: ISSUER.into(), audiences: vec![AUDIENCE.into()], keys: IssuerKeys::Fixed(keys) };
    Server::start(vec![issuer], "[]").await
}

fn good() -> Token {
    Token::good("RS256", "rsa")
}

/// Opens a socket at an address with these headers, sends these messages, and gives the types of what comes back, the
/// response, and the code of the end. A refused request gives its status.
pub async fn talk(
    address: &str,
    headers: &[(&'static str, String)],
    messages: &[Value],
) -> Result<(Vec<String>, Value, u16), u16> {
    let mut request = address.into_client_request().unwrap();
    request.headers_mut().insert("sec-websocket-protocol", "graphql-transport-ws".parse().unwrap());
    for (name, value) in headers {
        request.headers_mut().insert(*name, value.parse().unwrap());
    }
    let mut socket = match tokio_tungstenite::connect_async(request).await {
        Ok((socket, _)) => socket,
        Err(Error::Http(response)) => return Err(response.status().as_u16()),
        Err(error) => panic!("{error}"),
    };
    for message in messages {
        // The server may have closed the socket by now.
        let _ = socket.send(Message::text(message.to_string())).await;
    }
    let (mut types, mut response, mut code) = (Vec::new(), Value::Null, 0);
    while let Some(Ok(message)) = tokio::time::timeout(BOUND, socket.next()).await.unwrap() {
        if let Message::Close(frame) = &message {
            code = frame.as_ref().map_or(0, |frame| frame.code.into());
        }
        let Ok(message) = serde_json::from_str::<Value>(message.to_text().unwrap_or_default()) else { continue };
        let kind = message["type"].as_str().unwrap().to_owned();
        if kind == "next" {
            response = message["payload"].clone();
        }
        let over = kind == "complete";
        types.push(kind);
        if over {
            break;
        }
    }
    Ok((types, response, code))
}

fn at(server: &Server) -> String {
    server.running.url("/graphql/ws").replacen("http", "ws", 1)
}

fn init(payload: Value) -> Value {
    json!({"type": "connection_init", "payload": payload})
}

fn ask() -> Value {
    json!({"id": "a", "type": "subscribe", "payload": {"query": "{ me }"}})
}

#[tokio::test]
async fn a_token_in_the_first_message_or_in_the_header_says_who_asks() {
    let (server, rsa) = (server().await, Signer::rsa());
    let token = good().signed(&rsa);
    let header = vec![("authorization", format!("Bearer {token}"))];
    let cases = [
        ("nothing", vec![], json!(null), json!(null)),
        ("a header", header.clone(), json!(null), json!("ann")),
        ("a payload", vec![], json!({"Authorization": format!("Bearer {token}")}), json!("ann")),
        ("a payload in small letters", vec![], json!({"authorization": format!("Bearer {token}")}), json!("ann")),
        ("a bare token", vec![], json!({"token": token}), json!("ann")),
        ("a payload over a header", header, json!({"token": good().claim("sub", "bob").signed(&rsa)}), json!("bob")),
    ];
    for (name, headers, payload, sub) in cases {
        let (types, response, _) = talk(&at(&server), &headers, &[init(payload), ask()]).await.unwrap();
        assert_eq!(
            (types, &response["data"]["sub"]),
            (["connection_ack", "next", "complete"].map(str::to_owned).to_vec(), &sub),
            "{name}"
        );
    }
}

#[tokio::test]
async fn a_wrong_token_closes_the_socket_before_anything_runs() {
    let (server, rsa) = (server().await, Signer::rsa());
    let expired = good().claim("exp", now() - 120).signed(&rsa);
    let foreign = good().signed(&Signer::other_rsa());
    let payloads = [
        ("a text that is no token", json!({"token": "x"})),
        ("another scheme", json!({"Authorization": format!("Basic {}", good().signed(&rsa))})),
        ("an expired token", json!({"token": expired})),
        ("a token by the key of a stranger", json!({"token": foreign})),
        ("a token that is a list", json!({"token": [good().signed(&rsa)]})),
        (
            "two tokens",
            json!({"token": good().signed(&rsa), "authorization": format!("Bearer {}", good().signed(&rsa))}),
        ),
        ("an unknown key of a machine", json!({"X-Api-Key": "x"})),
    ];
    for (name, payload) in payloads {
        assert_eq!(talk(&at(&server), &[], &[init(payload), ask()]).await, Ok((vec![], Value::Null, 4403)), "{name}");
    }
    let header = vec![("authorization", format!("Bearer {expired}"))];
    assert_eq!(
        talk(&at(&server), &header, &[init(json!(null)), ask()]).await,
        Err(401),
        "an expired token in the header"
    );
    assert_eq!(server.operations(), 0, "nothing has run");
}

#[tokio::test]
async fn an_operation_before_the_handshake_closes_the_socket() {
    let server = server().await;
    assert_eq!(talk(&at(&server), &[], &[ask()]).await, Ok((vec![], Value::Null, 4401)));
    assert_eq!(server.operations(), 0, "nothing has run");
}

#[tokio::test]
async fn the_socket_closes_when_its_token_ends() {
    let (server, rsa) = (server().await, Signer::rsa());
    // It ends a minute later than it says, which is in a moment. On a slow machine, it is over before the handshake.
    let soon = good().claim("exp", now() - 58).signed(&rsa);
    let (_, _, code) = talk(&at(&server), &[], &[init(json!({ "token": soon }))]).await.unwrap();
    assert_eq!(code, 4403);
}
