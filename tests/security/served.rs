//! The attacks on rules and on tenants as a client sends them: each to a running `keyfold`, by HTTP or on a WebSocket,
//! with a signed token; what comes back over the wire out. One server has all attacks on rules, and one all attacks on
//! tenants.

use crate::process::{Process, keyfold, repository};
use crate::signer::{AUDIENCE, ISSUER, Signer, Token};
use crate::store::codes;
use crate::web_socket::talk;
use crate::{by_pass, tenants};
use serde_json::{Value, json};
use tempfile::TempDir;

/// The secret by which the issuer signs.
const SECRET: &[u8] = b"a secret of more than 32 bytes for tests";

/// A running `keyfold` on a store in memory.
struct Served {
    _process: Process,
    _directory: TempDir,
    address: String,
    client: reqwest::Client,
}

/// What a client gets.
#[derive(Debug)]
enum Got {
    Answer(Value),
    /// The credentials are not accepted.
    Stopped,
}

impl Served {
    fn start(schema: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("secret"), SECRET).unwrap();
        let schema = repository(schema);
        let arguments = ["dev", "--listen", "127.0.0.1:0", "--schema", schema.to_str().unwrap()];
        let sign_in = ["--issuer", ISSUER, "--audience", AUDIENCE, "--jwt-secret-file", "secret"];
        let mut process = Process::start(keyfold(directory.path(), &[&arguments[..], &sign_in].concat()));
        let line = process.wait_for("http://");
        let address = line.split_once("http://").unwrap().1.trim_end_matches("/graphql").to_owned();
        Self { _process: process, _directory: directory, address, client: reqwest::Client::new() }
    }

    /// The headers of a caller with these claims; none for null.
    fn headers(claims: &Value) -> Vec<(&'static str, String)> {
        let Some(claims) = claims.as_object() else { return Vec::new() };
        let good = Token::good("HS256", "").without("sub");
        let token = claims.iter().fold(good, |token, (name, value)| token.claim(name, value.clone()));
        vec![("authorization", format!("Bearer {}", token.signed(&Signer::Secret(SECRET.to_vec()))))]
    }

    async fn post(&self, claims: &Value, operation: &str) -> Got {
        let mut request =
            self.client.post(format!("http://{}/graphql", self.address)).header("content-type", "application/json");
        request = request.body(json!({ "query": operation }).to_string());
        for (name, value) in Self::headers(claims) {
            request = request.header(name, value);
        }
        let response = request.send().await.unwrap();
        let status = response.status().as_u16();
        let body: Value = serde_json::from_slice(&response.bytes().await.unwrap()).unwrap();
        if status == 401 && codes(&body) == ["UNAUTHENTICATED"] { Got::Stopped } else { Got::Answer(body) }
    }

    async fn on_a_socket(&self, claims: &Value, operation: &str) -> Got {
        let messages = [
            json!({ "type": "connection_init" }),
            json!({ "id": "a", "type": "subscribe", "payload": { "query": operation } }),
        ];
        match talk(&format!("ws://{}/graphql/ws", self.address), &Self::headers(claims), &messages).await {
            Ok((types, payload, _)) => {
                assert!(types.contains(&"next".to_owned()), "{types:?} {payload}");
                Got::Answer(payload)
            }
            Err(status) => {
                assert_eq!(status, 401);
                Got::Stopped
            }
        }
    }

    async fn fill(&self, claims: &Value, operation: &str) -> Value {
        let Got::Answer(filled) = self.post(claims, operation).await else { panic!("the caller is not let in") };
        assert_eq!(filled["errors"], Value::Null, "{filled}");
        filled
    }

    /// Sends each attack, every third on a WebSocket, and compares what comes back.
    async fn attacked(&self, attacks: Vec<by_pass::Attack>, cursor: &str) {
        let mut wrong = String::new();
        for (position, (name, claims, operation, data, expected)) in attacks.into_iter().enumerate() {
            let operation = operation.replace("<cursor>", cursor);
            let got = match position % 3 {
                0 => self.on_a_socket(&claims, &operation).await,
                _ => self.post(&claims, &operation).await,
            };
            // No token has a subject that is not a text.
            let no_token = claims.get("sub").is_some_and(|sub| !sub.is_string());
            let is_right = match &got {
                Got::Stopped => no_token,
                Got::Answer(response) => !no_token && response["data"] == data && codes(response) == expected,
            };
            if !is_right {
                wrong += &format!("{name}: {got:?}\n");
            }
        }
        assert!(wrong.is_empty(), "{wrong}");
    }
}

fn cursor(page: &Value) -> &str {
    page["data"]["notes"]["pageInfo"]["endCursor"].as_str().unwrap()
}

#[tokio::test]
async fn no_operation_gets_around_a_rule_over_the_wire() {
    let served = Served::start("tests/schemas/security/club.graphql");
    for fill in by_pass::FILLS {
        served.fill(&by_pass::staff(), fill).await;
    }
    let page = served.fill(&json!({ "sub": "ann" }), by_pass::PAGE).await;
    served.attacked(by_pass::attacks(), cursor(&page)).await;
    assert_eq!(served.fill(&by_pass::staff(), by_pass::ALL).await["data"], by_pass::left());
}

#[tokio::test]
async fn no_request_names_a_key_of_another_tenant_over_the_wire() {
    let served = Served::start("tests/schemas/security/offices.graphql");
    served.fill(&tenants::one(), tenants::FILL).await;
    let page = served.fill(&tenants::one(), tenants::PAGE).await;
    served.attacked(tenants::attacks(), cursor(&page)).await;
    assert_eq!(served.fill(&tenants::one(), tenants::ALL).await["data"], tenants::left());
}
