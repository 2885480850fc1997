//! Attacks over the wire on a running `keyfold` with services: what a client sends beside its operation comes to no
//! service, and what a service answers comes to no log.

use super::ear::Ear;
use crate::process::{Process, keyfold, repository};
use crate::signer::{AUDIENCE, ISSUER, Signer, Token};
use crate::store::codes;
use ring::digest::{SHA256, digest};
use serde_json::{Value, json};
use std::collections::HashSet;
use tempfile::TempDir;

/// The secret by which the issuer signs.
const SECRET: &[u8] = b"a secret of more than 32 bytes for tests";

/// A running `keyfold` with one letter.
struct Served {
    process: Process,
    _directory: TempDir,
    url: String,
}

impl Served {
    async fn start(words: &str) -> Self {
        Self::start_with(words, "").await
    }

    /// The same, whose service `words` has another argument.
    async fn start_with(words: &str, argument: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("secret"), SECRET).unwrap();
        let text = std::fs::read_to_string(repository("tests/schemas/security/bureau.graphql")).unwrap();
        let schema = directory.path().join("schema.graphql");
        std::fs::write(&schema, text.replace(r#"name: "words","#, &format!(r#"name: "words", {argument}"#))).unwrap();
        let arguments = ["dev", "--listen", "127.0.0.1:0", "--schema", schema.to_str().unwrap()];
        let sign_in = ["--issuer", ISSUER, "--audience", AUDIENCE, "--jwt-secret-file", "secret"];
        let mut command = keyfold(directory.path(), &[&arguments[..], &sign_in].concat());
        command.env("WORDS_URL", words);
        let mut process = Process::start(command);
        let line = process.wait_for("GraphQL   http://");
        let url = format!("http://{}", line.split_once("http://").unwrap().1.trim());
        let served = Self { process, _directory: directory, url };
        let put = r#"mutation { putLetter(number: "1", text: "secret letter") { number } }"#;
        let filled = served.post(&token("cleo", "clerk"), &[], &json!({ "query": put })).await;
        assert_eq!(codes(&filled), [""; 0], "{filled}");
        served
    }

    async fn post(&self, token: &str, headers: &[(&str, &str)], body: &Value) -> Value {
        let mut request = reqwest::Client::new().post(&self.url).header("content-type", "application/json");
        request = request.header("authorization", format!("Bearer {token}")).body(body.to_string());
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        serde_json::from_slice(&request.send().await.unwrap().bytes().await.unwrap()).unwrap()
    }
}

fn token(sub: &str, role: &str) -> String {
    Token::good("HS256", "").claim("sub", sub).claim("role", role).signed(&Signer::Secret(SECRET.to_vec()))
}

/// "the headers of a client", "the token of a client".
#[tokio::test(flavor = "multi_thread")]
async fn a_service_gets_neither_headers_nor_the_token_of_a_client() {
    let ear = Ear::start(None).await;
    let served = Served::start(&ear.url).await;
    let forged = [
        ("keyfold-signature", "t=1,v1=forged"),
        ("traceparent", "forged\t00-1"),
        ("tracestate", "a=forged"),
        ("cookie", "a=forged"),
        ("x-forwarded-for", "forged"),
        ("x-api-caller", "forged"),
        ("baggage", "sub=forged"),
        ("content-encoding-of-services", "forged"),
    ];
    let body = json!({
        "query": r#"{ letter(number: "1") { mine } }"#, "caller": { "sub": "forged" },
        "extensions": { "caller": { "sub": "forged" } },
    });
    let token = token("ben", "guest");
    let response = served.post(&token, &forged, &body).await;
    assert_eq!(response["data"], json!({ "letter": { "mine": "fine" } }), "{response}");
    let heard = ear.take();
    assert_eq!(heard.len(), 1);
    assert_eq!(heard[0].json()["caller"], json!({ "sub": "ben" }));
    let text = heard[0].text();
    assert!(
        !text.contains("forged") && !text.contains(&token) && !text.contains(token.split('.').next_back().unwrap())
    );
    let names: HashSet<&str> = heard[0].headers.keys().map(axum::http::HeaderName::as_str).collect();
    let known = HashSet::from(["host", "content-type", "content-length", "keyfold-signature", "traceparent"]);
    assert!(names.is_subset(&known), "{names:?}");
}

/// A service that forwards tokens gets the token of the request, and nothing else shows it.
#[tokio::test(flavor = "multi_thread")]
async fn a_service_gets_the_token_only_if_the_schema_says_so() {
    let ear = Ear::start(None).await;
    let mut served = Served::start_with(&ear.url, "forwardToken: true,").await;
    let token = token("ben", "guest");
    let query = json!({ "query": r#"{ letter(number: "1") { public mine } }"# });
    let response = served.post(&token, &[], &query).await;
    assert_eq!(response["data"], json!({ "letter": { "public": "fine", "mine": "fine" } }), "{response}");
    for heard in ear.take() {
        let is_words = heard.json()["field"] == "Letter.public";
        let sent = heard.headers.get("authorization").map(|value| value.to_str().unwrap().to_owned());
        assert_eq!(sent, is_words.then(|| format!("Bearer {token}")));
        assert!(!String::from_utf8_lossy(&heard.body).contains(&token));
    }
    // Nobody is signed in, so there is no token.
    let anonymous = reqwest::Client::new().post(&served.url).header("content-type", "application/json");
    anonymous.body(query.to_string()).send().await.unwrap();
    let heard = ear.take();
    assert_eq!((heard.len(), heard.iter().any(|heard| heard.headers.contains_key("authorization"))), (2, false));
    served.process.wait_for("kind=\"query\"");
    let said = served.process.said_so_far().join("\n");
    assert!(!said.contains(&token) && !said.contains(token.split('.').next_back().unwrap()), "{said}");
}

/// "the hash of a document that another caller has sent".
#[tokio::test(flavor = "multi_thread")]
async fn a_persisted_document_lets_nobody_in() {
    let ear = Ear::start(None).await;
    let served = Served::start(&ear.url).await;
    let query = r#"{ letter(number: "1") { summary stamp } }"#;
    let hash = hex::encode(digest(&SHA256, query.as_bytes()));
    let extensions = json!({ "persistedQuery": { "version": 1, "sha256Hash": hash } });
    let body = json!({ "query": query, "extensions": extensions });
    let response = served.post(&token("cleo", "clerk"), &[], &body).await;
    assert_eq!(response["data"], json!({ "letter": { "summary": "fine", "stamp": "fine" } }), "{response}");
    ear.take();
    let response = served.post(&token("ben", "guest"), &[], &json!({ "extensions": extensions })).await;
    assert_eq!(codes(&response), ["FORBIDDEN", "FORBIDDEN"], "{response}");
    assert_eq!(ear.take().len(), 0);
}

/// No line of the log has what a service answered, nor what it got.
#[tokio::test(flavor = "multi_thread")]
async fn the_log_has_nothing_of_an_answer() {
    use axum::http::StatusCode;
    use axum::response::IntoResponse;
    let answers = [
        (StatusCode::OK, r#"{"results":"hunter2"}"#.to_owned()),
        (StatusCode::OK, r#"{"results":[{"data":{"text":{"a":"hunter2"}}}]}"#.to_owned()),
        (StatusCode::OK, r#"{"results":[{"error":{"code":"hunter2","message":"hunter2"}}]}"#.to_owned()),
        (StatusCode::OK, format!(r#"{{"results":"{}"}}"#, "hunter2".repeat(100_000))),
        (StatusCode::OK, format!(r#"{{"results":[{{"data":{{"{}hunter2":1}}}}]}}"#, "x".repeat(100_000))),
        (StatusCode::INTERNAL_SERVER_ERROR, "hunter2".to_owned()),
        (StatusCode::FORBIDDEN, "hunter2".to_owned()),
    ];
    for (status, body) in answers {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let answer = body.clone();
        let app = axum::Router::new().fallback(move || async move { (status, answer).into_response() });
        tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
        let mut served = Served::start(&url).await;
        let query = json!({ "query": r#"{ letter(number: "1") { public mine hint { text } } }"# });
        let token = token("ben-who-calls", "guest");
        let response = served.post(&token, &[], &query).await;
        assert_eq!(codes(&response).len(), 3, "{response}");
        // The line of the request comes after those of its calls.
        served.process.wait_for("kind=\"query\"");
        let said = served.process.said_so_far().join("\n");
        assert!(!said.contains("hunter2") && said.len() < 10_000, "{}", said.chars().take(3000).collect::<String>());
        assert!(!said.contains("a secret of the bureau") && !said.contains(&token), "{said}");
    }
}
