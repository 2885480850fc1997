//! Tokens that are not accepted: `keyfold dev` says which claim or which key is wrong. What `keyfold serve` says is the
//! same for each of them.

use super::{KANBAN, dev, message};
use crate::server::Server;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::hmac;
use serde_json::{Value, json};
use std::fs;
use std::time::{SystemTime, UNIX_EPOCH};

/// The secret that `keyfold dev` and the tokens share.
pub const SECRET: &[u8; 32] = b"a secret of the tests, 32 bytes.";

pub fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()
}

/// A token with these claims beside those of a good one; null leaves a claim out.
pub fn token(changes: &Value, algorithm: &str, secret: &[u8]) -> String {
    let mut claims = json!({ "iss": "keyfold-dev", "aud": "keyfold-dev", "sub": "me", "exp": now() + 3_600 });
    for (name, value) in changes.as_object().unwrap() {
        claims[name] = value.clone();
    }
    claims.as_object_mut().unwrap().retain(|_, value| !value.is_null());
    let encoded = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let message = format!("{}.{}", encoded(&json!({ "alg": algorithm, "typ": "JWT" })), encoded(&claims));
    let signature = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, secret), message.as_bytes());
    let signature = if algorithm == "none" { String::new() } else { URL_SAFE_NO_PAD.encode(signature) };
    format!("{message}.{signature}")
}

/// `keyfold dev` with a field for callers who sign in.
fn server() -> Server {
    let directory = tempfile::tempdir().unwrap();
    let schema =
        KANBAN.replacen("type Query {\n", "type Query {\n  me: User @find(where: { id: \"{auth.sub}\" })\n", 1);
    fs::write(directory.path().join("schema.graphql"), schema).unwrap();
    fs::write(directory.path().join("secret"), SECRET).unwrap();
    dev(directory, &["--token-secret", "secret"])
}

/// What the server answers to this header.
async fn answer(server: &Server, authorization: &str) -> (u16, Value) {
    let request = server.client.post(format!("{}/graphql", server.url)).header("authorization", authorization);
    let response = request.json(&json!({ "query": "{ me { name } }" })).send().await.unwrap();
    (response.status().as_u16(), response.json().await.unwrap())
}

#[tokio::test]
async fn a_token_that_is_refused_says_why_and_how_to_get_another() {
    let server = server();
    let good = token(&json!({}), "HS256", SECRET);
    assert_eq!(answer(&server, &format!("Bearer {good}")).await, (200, json!({ "data": { "me": null } })));
    let bearer = |changes: Value| format!("Bearer {}", token(&changes, "HS256", SECRET));
    for (slip, header, parts) in [
        ("no scheme", good.clone(), ["Send `Authorization: Bearer <token>`", "`keyfold token --sub me`"]),
        ("quotes around it", format!("Bearer \"{good}\""), ["cannot be read", "Leave out the quotes"]),
        ("a script without a token", "Bearer undefined".to_owned(), ["sent \"undefined\"", "keyfold token"]),
        ("cut off", format!("Bearer {}", &good[..good.len() - 2]), ["cut or changed", "keyfold token"]),
        ("expired", bearer(json!({ "exp": now() - 7_300 })), ["has expired. It ended at 20", ", 2 hours ago."]),
        ("not yet valid", bearer(json!({ "nbf": now() + 7_300 })), ["It begins at 20", "in 2 hours."]),
        (
            "another key",
            format!("Bearer {}", token(&json!({}), "HS256", b"another secret of the tests, 32.")),
            ["The issuer has another key", "`--token-secret`"],
        ),
        ("alg none", format!("Bearer {}", token(&json!({}), "none", SECRET)), ["\"none\" is not accepted", "HS256"]),
        (
            "another issuer",
            bearer(json!({ "iss": "https://a.example" })),
            ["\"https://a.example\"", "believes \"keyfold-dev\""],
        ),
        (
            "another audience",
            bearer(json!({ "aud": "app" })),
            ["Its `aud` is \"app\"", "the server is \"keyfold-dev\""],
        ),
        ("no audience", bearer(json!({ "aud": null })), ["Its `aud` is missing", "the server is \"keyfold-dev\""]),
        ("no end", bearer(json!({ "exp": null })), ["the claim exp is missing", "seconds since 1970"]),
        (
            "an end in a text",
            bearer(json!({ "exp": "1900000000" })),
            ["has the wrong type", "Give the token `exp`: a number"],
        ),
    ] {
        let (status, answer) = answer(&server, &header).await;
        assert_eq!((status, &answer["errors"][0]["extensions"]["code"]), (401, &json!("UNAUTHENTICATED")), "{slip}");
        for part in parts {
            assert!(message(&answer).contains(part), "{slip}: {part}\n{answer}");
        }
    }
}

#[tokio::test]
async fn a_key_of_a_machine_that_is_unknown_names_the_option() {
    let server = server();
    let request = server.client.post(format!("{}/graphql", server.url)).header("x-api-key", "secret");
    let answer: Value = request.json(&json!({ "query": "{ __typename }" })).send().await.unwrap().json().await.unwrap();
    assert!(message(&answer).contains("no machine has this key") && message(&answer).contains("--api-keys-file"));
}
