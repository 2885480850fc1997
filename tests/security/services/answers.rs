//! Attacks by services: answers that are too large, of another form or about something else. The error is at the
//! field, in bounded time and size, and nothing of the answer gets further.

use super::bureau::Bureau;
use crate::store::codes;
use axum::Router;
use axum::body::{Body, Bytes};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use flate2::Compression;
use flate2::write::GzEncoder;
use futures_util::stream::{StreamExt, repeat};
use keyfold::serve::outbound::service::HttpServices;
use serde_json::{Value, json};
use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What a service answers.
type Answer = Arc<dyn Fn() -> Response + Send + Sync>;

/// The name of an attack, the field that a client selects, the answer of its service, and the code of the error at each
/// of two letters; `""` for none.
pub type Attack = (&'static str, &'static str, Answer, [&'static str; 2]);

const INTERNAL: [&str; 2] = ["INTERNAL", "INTERNAL"];
const UNAVAILABLE: [&str; 2] = ["UNAVAILABLE", "UNAVAILABLE"];

/// An answer with these bytes.
fn bytes(body: impl Into<Vec<u8>>) -> Answer {
    let body = Bytes::from(body.into());
    Arc::new(move || body.clone().into_response())
}

/// An answer with these results.
fn results(first: &str, second: &str) -> Answer {
    bytes(format!(r#"{{"results":[{first},{second}]}}"#))
}

/// An answer in which the first result is this value, and the second one is fine.
fn value(value: &str, fine: &str) -> Answer {
    results(&format!(r#"{{"data":{value}}}"#), &format!(r#"{{"data":{fine}}}"#))
}

/// The bytes of gzip of a text.
fn compressed(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

fn gzip(text: &[u8]) -> Answer {
    let body = Bytes::from(compressed(text));
    Arc::new(move || ([("content-encoding", "gzip")], body.clone()).into_response())
}

pub fn attacks() -> Vec<Attack> {
    let word = r#""fine""#;
    let hint = r#"{"text":"fine"}"#;
    let huge = "x".repeat(900_000);
    let mut attacks = sizes(word);
    attacks.extend(forms(word));
    attacks.extend(objects(hint));
    attacks.extend([
        (
            "a message of a megabyte",
            "public",
            results(&format!(r#"{{"error":{{"code":"A","message":"{huge}"}}}}"#), r#"{"data":"fine"}"#),
            ["SERVICE_REFUSED", ""],
        ),
        (
            "a code of a megabyte",
            "public",
            results(&format!(r#"{{"error":{{"code":"{huge}","message":"m"}}}}"#), r#"{"data":"fine"}"#),
            ["SERVICE_REFUSED", ""],
        ),
        (
            "a value and an error at once",
            "public",
            results(r#"{"data":"secret","error":{"code":"A","message":"m"}}"#, r#"{"data":"fine"}"#),
            ["SERVICE_REFUSED", ""],
        ),
        (
            "a failed answer with a secret in it",
            "public",
            Arc::new(|| (StatusCode::INTERNAL_SERVER_ERROR, "the secret is 1234").into_response()),
            UNAVAILABLE,
        ),
        ("a secret in place of the results", "public", bytes(r#"{"results":"the secret is 1234"}"#), INTERNAL),
        (
            "an answer of another status",
            "public",
            Arc::new(|| (StatusCode::CREATED, r#"{"results":[{"data":"secret"},{"data":"secret"}]}"#).into_response()),
            UNAVAILABLE,
        ),
    ]);
    attacks
}

/// Answers that are too large, or never end.
fn sizes(word: &str) -> Vec<Attack> {
    let endless = || {
        let body = repeat(Bytes::from_static(&[b' '; 4096])).map(Ok::<_, std::io::Error>);
        Body::from_stream(body).into_response()
    };
    let digits = "9".repeat(500_000);
    vec![
        ("an answer of 50 MB", "public", bytes(vec![b' '; 50 << 20]), INTERNAL),
        ("an answer without an end", "public", Arc::new(endless), INTERNAL),
        (
            "a head of a megabyte",
            "public",
            Arc::new(|| ([("x-long", "x".repeat(1 << 20))], r#"{"results":[]}"#).into_response()),
            UNAVAILABLE,
        ),
        (
            "lists a hundred thousand deep",
            "public",
            bytes(format!("{}{}", r#"{"results":["#, "[".repeat(100_000))),
            INTERNAL,
        ),
        (
            "a value nested a hundred times",
            "json",
            value(&format!("{}1{}", "[".repeat(100), "]".repeat(100)), "1"),
            ["INTERNAL", ""],
        ),
        ("a number of half a million digits", "weight", value(&digits, "1"), ["INTERNAL", ""]),
        ("a compressed answer", "public", gzip(br#"{"results":[{"data":"a"},{"data":"b"}]}"#), INTERNAL),
        ("a compressed bomb", "public", gzip(&vec![b' '; 100 << 20]), INTERNAL),
        (
            "more results than objects",
            "public",
            bytes(format!(r#"{{"results":[{}{{"data":{word}}}]}}"#, format!(r#"{{"data":{word}}},"#).repeat(9_000))),
            INTERNAL,
        ),
    ]
}

/// Answers that are no JSON, or of another form.
fn forms(word: &str) -> Vec<Attack> {
    let fine = format!(r#"{{"data":{word}}}"#);
    vec![
        ("NaN as a number", "weight", value("NaN", "1"), INTERNAL),
        ("the number 1e999", "weight", value("1e999", "1"), ["INTERNAL", ""]),
        ("the number 1e999 as JSON", "json", value("1e999", "1"), ["INTERNAL", ""]),
        (
            "an object that a reader of JSON takes for a number",
            "weight",
            value(r#"{"$serde_json::private::Number":"secret"}"#, "1"),
            INTERNAL,
        ),
        (
            "results that are there twice",
            "public",
            bytes(format!(r#"{{"results":[{fine}],"results":[{fine},{fine}]}}"#)),
            INTERNAL,
        ),
        (
            "a value that is there twice",
            "public",
            results(r#"{"data":"secret","data":null,"error":{"code":"A","message":"m"}}"#, &fine),
            ["SERVICE_REFUSED", ""],
        ),
        (
            "bytes that are no UTF-8",
            "public",
            bytes(b"{\"results\":[{\"data\":\"\xff\xfe\"},{\"data\":\"b\"}]}".to_vec()),
            INTERNAL,
        ),
        ("half of a pair of surrogates", "public", value(r#""\ud800""#, word), INTERNAL),
        (
            "a page of HTML",
            "public",
            Arc::new(|| ([("content-type", "text/html")], "<html>secret</html>").into_response()),
            INTERNAL,
        ),
        ("more after the end", "public", bytes(format!(r#"{{"results":[{fine},{fine}]}}{{"results":[]}}"#)), INTERNAL),
        ("null in place of the results", "public", bytes("null"), INTERNAL),
    ]
}

/// Values that are other objects than the field's.
fn objects(hint: &str) -> Vec<Attack> {
    vec![
        (
            "the name of another type",
            "hint { text }",
            value(r#"{"__typename":"Vault","text":"secret"}"#, hint),
            ["INTERNAL", ""],
        ),
        ("a surplus field", "hint { text }", value(r#"{"text":"secret","code":"secret"}"#, hint), ["INTERNAL", ""]),
        (
            "a relation in place of its key",
            "hint { text vaultNumber }",
            value(r#"{"text":"secret","vault":{"number":"1","code":"secret"}}"#, hint),
            ["INTERNAL", ""],
        ),
        ("an object in place of a text", "public", value(r#"{"toString":"secret"}"#, r#""fine""#), ["INTERNAL", ""]),
        ("a list of values for one object", "public", value(r#"["secret"]"#, r#""fine""#), ["INTERNAL", ""]),
        ("an object without what it must have", "hint { text }", value("{}", hint), ["INTERNAL", ""]),
        (
            "a surplus name in a result",
            "public",
            results(r#"{"data":"fine","for":"2"}"#, r#"{"data":"fine"}"#),
            ["", ""],
        ),
    ]
}

/// A bureau whose services give this answer.
async fn bureau(answer: Answer) -> Bureau {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let app = Router::new().route("/", post(move || async move { answer() }));
    tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
    Bureau::with_words_at(Arc::new(HttpServices::default()), &url).await
}

#[tokio::test]
async fn no_answer_of_a_service_gets_further_than_its_field() {
    let mut wrong = String::new();
    for (name, field, answer, expected) in attacks() {
        let bureau = bureau(answer).await;
        let begun = Instant::now();
        let response = bureau.run(&Value::Null, &format!("{{ letters {{ number {field} }} }}")).await;
        let lasted = begun.elapsed();
        let text = response.to_string();
        let expected: Vec<&str> = expected.into_iter().filter(|code| !code.is_empty()).collect();
        let numbers: Vec<&Value> =
            response["data"]["letters"].as_array().into_iter().flatten().map(|letter| &letter["number"]).collect();
        let is_right = codes(&response) == expected && numbers == [&json!("1"), &json!("2")];
        if !is_right || text.contains("secret") || text.len() > 5_000 || lasted > Duration::from_secs(10) {
            let start: String = text.chars().take(600).collect();
            wrong += &format!("{name}, after {lasted:?}, {} bytes: {start}\n", text.len());
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}
