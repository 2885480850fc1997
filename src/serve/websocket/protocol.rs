//! The messages of graphql-transport-ws: a client's text in, what it says out; what the server says in, its text out
//! (<https://github.com/enisdenjo/graphql-ws/blob/master/PROTOCOL.md>). Must not know when a message may come.

use crate::serve::documents::parameters::{RequestParameters, from_members};
use axum::extract::ws::{CloseCode, CloseFrame};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// The name of the protocol, for the header `Sec-WebSocket-Protocol`.
pub const NAME: &str = "graphql-transport-ws";
/// A text that is no message of the protocol.
pub const BAD_MESSAGE: CloseCode = 4400;
/// An operation that begins before the handshake.
pub const UNAUTHORIZED: CloseCode = 4401;
/// A client that is not let in, or not any longer.
pub const FORBIDDEN: CloseCode = 4403;
/// A handshake that does not begin in time.
pub const INITIALISATION_TIMEOUT: CloseCode = 4408;
/// An operation with the id of one that runs.
pub const SUBSCRIBER_EXISTS: CloseCode = 4409;
/// A second handshake.
pub const TOO_MANY_INITIALISATIONS: CloseCode = 4429;

/// The most bytes of a reason: a control frame has 125, and two are the code (RFC 6455 section 5.5).
const REASON: usize = 123;

/// What a client says.
#[derive(Debug)]
pub enum ClientMessage {
    /// Begins the handshake, with a payload or null.
    ConnectionInit(Value),
    /// Asks whether the server is there. The answer has the same payload.
    Ping(Option<Value>),
    /// Answers the server's question.
    Pong,
    /// Begins an operation.
    Subscribe {
        /// Its id.
        id: String,
        /// What the operation is.
        asked: Box<RequestParameters>,
    },
    /// Ends the operation with this id.
    Complete(String),
}

/// The members that a message may have.
#[derive(Deserialize)]
struct Members {
    r#type: String,
    id: Option<String>,
    payload: Option<Value>,
}

impl ClientMessage {
    /// Reads a message. The error is a sentence for the client.
    pub fn read(text: &str) -> Result<Self, String> {
        // serde reads the members from a list, too.
        if !text.trim_start().starts_with('{') {
            return Err(format!("This is no message of {NAME}: it is no object."));
        }
        let Members { r#type: kind, id, payload } =
            serde_json::from_str(text).map_err(|error| format!("This is no message of {NAME}: {error}."))?;
        let id = || id.filter(|id| !id.is_empty()).ok_or_else(|| format!("A message of type \"{kind}\" needs an id."));
        Ok(match kind.as_str() {
            "connection_init" => Self::ConnectionInit(optional(payload)?.map_or(Value::Null, Value::Object)),
            "ping" => Self::Ping(optional(payload)?.map(Value::Object)),
            "pong" => optional(payload).map(|_| Self::Pong)?,
            "subscribe" => {
                let Some(Value::Object(members)) = payload else {
                    return Err("The payload of \"subscribe\" must be an object.".into());
                };
                Self::Subscribe { id: id()?, asked: Box::new(from_members(members)?) }
            }
            "complete" => Self::Complete(id()?),
            _ => return Err(format!("A client sends no message of type {kind:?}.")),
        })
    }
}

fn optional(payload: Option<Value>) -> Result<Option<Map<String, Value>>, String> {
    match payload {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Object(members)) => Ok(Some(members)),
        Some(_) => Err("The payload must be an object or null.".into()),
    }
}

/// Accepts the handshake.
pub fn connection_ack() -> String {
    r#"{"type":"connection_ack"}"#.to_owned()
}

/// Answers a ping.
pub fn pong(payload: Option<Value>) -> String {
    match payload {
        None => r#"{"type":"pong"}"#.to_owned(),
        Some(payload) => format!(r#"{{"type":"pong","payload":{payload}}}"#),
    }
}

/// A response of an operation. `body` is the response map as JSON.
pub fn next(id: &str, body: &[u8]) -> String {
    with_payload("next", id, str::from_utf8(body).unwrap_or_default())
}

/// The errors of an operation that did not run. `body` is the response map as JSON.
pub fn error(id: &str, body: &[u8]) -> String {
    #[derive(Deserialize)]
    struct Errors<'b> {
        #[serde(borrow)]
        errors: &'b RawValue,
    }
    let errors = serde_json::from_slice(body).map_or("[]", |Errors { errors }| errors.get());
    with_payload("error", id, errors)
}

/// The end of an operation.
pub fn complete(id: &str) -> String {
    format!(r#"{{"type":"complete","id":{}}}"#, Value::from(id))
}

fn with_payload(kind: &str, id: &str, payload: &str) -> String {
    let id = Value::from(id).to_string();
    let mut text = String::with_capacity(kind.len() + id.len() + payload.len() + 32);
    for part in [r#"{"type":""#, kind, r#"","id":"#, &id, r#","payload":"#, payload, "}"] {
        text.push_str(part);
    }
    text
}

/// The last frame of a socket. A long reason is cut.
pub fn close(code: CloseCode, reason: &str) -> CloseFrame {
    CloseFrame { code, reason: reason[..reason.floor_char_boundary(REASON)].into() }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use serde_json::json;

    fn read(message: Value) -> Result<ClientMessage, String> {
        ClientMessage::read(&message.to_string())
    }

    #[test]
    fn every_message_of_a_client_is_read() {
        let payload = json!({"a": 1});
        assert!(matches!(read(json!({"type": "connection_init"})), Ok(ClientMessage::ConnectionInit(Value::Null))));
        let init = read(json!({"type": "connection_init", "payload": payload}));
        assert!(matches!(init, Ok(ClientMessage::ConnectionInit(shown)) if shown == payload));
        let ping = read(json!({"type": "ping", "payload": payload}));
        assert!(matches!(ping, Ok(ClientMessage::Ping(Some(shown))) if shown == payload));
        assert!(matches!(read(json!({"type": "ping", "payload": null})), Ok(ClientMessage::Ping(None))));
        assert!(matches!(read(json!({"type": "pong", "more": 1})), Ok(ClientMessage::Pong)));
        assert!(matches!(read(json!({"type": "complete", "id": "é"})), Ok(ClientMessage::Complete(id)) if id == "é"));
        let variables = json!({"n": 12345678901234567890_u64});
        let payload = json!({"query": "{a}", "variables": variables});
        let subscribe = read(json!({"type": "subscribe", "id": "1", "payload": payload}));
        let has_all = |asked: &RequestParameters| {
            asked.query.as_deref() == Some("{a}") && Value::Object(asked.variables.clone()) == variables
        };
        assert!(matches!(subscribe, Ok(ClientMessage::Subscribe { id, asked }) if id == "1" && has_all(&asked)));
    }

    #[test]
    fn anything_else_is_no_message() {
        let payload = json!({"query": "{a}"});
        for wrong in [
            json!("ping"),
            json!([]),
            json!({}),
            json!({"type": 1}),
            json!({"type": "start", "id": "1", "payload": payload}),
            json!({"type": "next", "id": "1", "payload": {}}),
            json!({"type": "connection_init", "payload": "x"}),
            json!({"type": "ping", "payload": [1]}),
            json!({"type": "complete"}),
            json!({"type": "complete", "id": 1}),
            json!({"type": "subscribe", "payload": payload}),
            json!({"type": "subscribe", "id": "", "payload": payload}),
            json!({"type": "subscribe", "id": "1"}),
            json!({"type": "subscribe", "id": "1", "payload": "{a}"}),
            json!({"type": "subscribe", "id": "1", "payload": {}}),
            json!({"type": "subscribe", "id": "1", "payload": {"query": 1}}),
            json!({"type": "subscribe", "id": "1", "payload": {"query": "{a}", "variables": []}}),
        ] {
            assert!(read(wrong.clone()).is_err(), "{wrong}");
        }
        for text in ["", "{", "{\"type\":\"ping\"} {}", "ping"] {
            assert!(ClientMessage::read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn messages_of_the_server_are_json() {
        let is = |text: String, value: Value| assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
        is(connection_ack(), json!({"type": "connection_ack"}));
        is(pong(None), json!({"type": "pong"}));
        is(pong(Some(json!({"a": 1}))), json!({"type": "pong", "payload": {"a": 1}}));
        is(next("a\"b", br#"{"data":{"a":1}}"#), json!({"type": "next", "id": "a\"b", "payload": {"data": {"a": 1}}}));
        let errors = br#"{"errors":[{"message":"no"}],"extensions":{}}"#;
        is(error("a", errors), json!({"type": "error", "id": "a", "payload": [{"message": "no"}]}));
        is(complete("a"), json!({"type": "complete", "id": "a"}));
    }

    #[test]
    fn a_reason_fits_into_its_frame() {
        assert_eq!(close(BAD_MESSAGE, "short").reason.as_str(), "short");
        assert_eq!(close(BAD_MESSAGE, &"é".repeat(100)).reason.as_str(), "é".repeat(61));
    }
}
