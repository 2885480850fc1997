//! Compressed bodies: responses in the coding that a client accepts, requests in gzip.

use crate::machine::{Machine, Running, limits, parts, start};
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use serde_json::Value;
use std::io::{Read, Write};

fn packed(body: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(body).unwrap();
    encoder.finish().unwrap()
}

fn unpacked(coding: &str, body: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    match coding {
        "zstd" => bytes = zstd::bulk::decompress(body, 8 << 20).unwrap(),
        "gzip" => GzDecoder::new(body).read_to_end(&mut bytes).map(drop).unwrap(),
        "br" => brotli::BrotliDecompress(&mut &*body, &mut bytes).unwrap(),
        _ => bytes.extend_from_slice(body),
    }
    bytes
}

/// The coding of a response and its body as it is sent.
async fn ask(server: &Running, body: &'static str, accept: &str) -> (u16, String, Vec<u8>) {
    let response = server.post(body).header("accept-encoding", accept).send().await.unwrap();
    assert_eq!(response.headers()["vary"], "accept, accept-encoding");
    let coding = response.headers().get("content-encoding").map_or("", |value| value.to_str().unwrap()).to_owned();
    assert!(response.headers().contains_key("content-length"));
    (response.status().as_u16(), coding, response.bytes().await.unwrap().to_vec())
}

#[tokio::test]
async fn a_long_response_is_compressed_as_the_client_wants() {
    let server = start(parts(Machine::default())).await;
    let (_, coding, plain) = ask(&server, r#"{"query": "large"}"#, "identity").await;
    assert_eq!((coding.as_str(), plain.len()), ("", 5_000_011));
    let rows = [
        ("gzip, deflate, br, zstd", "gzip"),
        ("gzip, deflate, br", "gzip"),
        ("gzip;q=0.5, br", "br"),
        ("*;q=0.1", "gzip"),
        ("identity;q=0, br", "br"),
    ];
    for (accept, expected) in rows {
        let (status, coding, body) = ask(&server, r#"{"query": "large"}"#, accept).await;
        assert_eq!((status, coding.as_str()), (200, expected), "{accept}");
        assert!(body.len() < 100_000 && unpacked(&coding, &body) == plain, "{accept}");
    }
    let (_, coding, body) = ask(&server, r#"[{"query": "large"}, {"query": "echo"}]"#, "gzip").await;
    assert!(coding == "gzip" && unpacked(&coding, &body).starts_with(b"[{\"data\":\"xx"), "{coding}");
}

#[tokio::test]
async fn a_short_response_is_compressed_only_if_it_must_be() {
    let server = start(parts(Machine::default())).await;
    let (_, coding, plain) = ask(&server, r#"{"query": "echo"}"#, "gzip, br").await;
    assert!(coding.is_empty() && plain.starts_with(b"{\"data\""));
    let (_, coding, body) = ask(&server, r#"{"query": "echo"}"#, "gzip, identity;q=0").await;
    assert_eq!((coding.as_str(), unpacked(&coding, &body)), ("gzip", plain));
    let (status, coding, body) = ask(&server, r#"{"query": "mutation"}"#, "*;q=0").await;
    let body: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(
        (status, coding.as_str(), &body["errors"][0]["extensions"]["code"]),
        (406, "", &"BAD_USER_INPUT".into())
    );
}

/// The status of a request whose body has this coding, and its error if there is one.
async fn send(server: &Running, coding: &str, body: Vec<u8>) -> (u16, Value) {
    let request = server
        .client
        .post(server.url("/graphql"))
        .header("content-type", "application/json")
        .header("content-encoding", coding);
    let response = request.body(body).send().await.unwrap();
    let status = response.status().as_u16();
    assert!(status != 415 || response.headers()["accept-encoding"] == "gzip");
    (status, serde_json::from_slice(&response.bytes().await.unwrap()).unwrap())
}

#[tokio::test]
async fn a_request_may_be_gzip() {
    let server = start(parts(Machine::default())).await;
    let (status, body) = send(&server, "gzip", packed(br#"{"query": "echo", "operationName": "A"}"#)).await;
    assert_eq!((status, &body["data"]["operationName"]), (200, &"A".into()));
    let (status, body) = send(&server, "identity", br#"{"query": "echo"}"#.to_vec()).await;
    assert_eq!((status, &body["data"]["query"]), (200, &"echo".into()));
    for other in ["br", "deflate", "gzip, gzip"] {
        assert_eq!(send(&server, other, packed(b"{}")).await.0, 415, "{other}");
    }
    let (status, body) = send(&server, "gzip", br#"{"query": "echo"}"#.to_vec()).await;
    assert_eq!((status, &body["errors"][0]["extensions"]["code"]), (400, &"BAD_USER_INPUT".into()));
}

#[tokio::test]
async fn a_bomb_is_refused_as_a_long_body_is() {
    let server = start(parts(Machine::default())).await;
    let text = format!("{{\"query\": \"echo\", \"more\": \"{}\"}}", "x".repeat(limits().body_limit));
    let body = packed(text.as_bytes());
    assert!(body.len() < limits().body_limit);
    let (status, body) = send(&server, "gzip", body).await;
    assert_eq!((status, &body["errors"][0]["extensions"]["code"]), (413, &"LIMIT_EXCEEDED".into()));
}
