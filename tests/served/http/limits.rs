//! The bounds of a request, a connection and a shutdown.

use crate::machine::{Machine, limits, parts, start};
use keyfold::serve::listener::Stopped;
use keyfold::serve::router::Parts;
use keyfold::serve::settings::{RequestLimits, SharedLimits};
use serde_json::Value;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const SHORT: Duration = Duration::from_millis(20);

fn bounded(limits: RequestLimits) -> Parts {
    Parts { limits, ..parts(Machine::default()) }
}

fn shared(shared: SharedLimits) -> RequestLimits {
    RequestLimits { shared, ..limits() }
}

async fn code(response: reqwest::Response) -> (u16, String) {
    let status = response.status().as_u16();
    let body: Value = serde_json::from_slice(&response.bytes().await.unwrap()).unwrap();
    (status, body["errors"][0]["extensions"]["code"].as_str().unwrap().to_owned())
}

/// Sends the text unchanged, and returns everything until the server closes the connection.
async fn raw(address: std::net::SocketAddr, text: &str) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(text.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    String::from_utf8(answer).unwrap()
}

#[tokio::test]
async fn a_body_that_is_too_large_is_refused_with_or_without_its_length() {
    let server = start(bounded(limits())).await;
    let large = format!("{{\"query\": \"{}\"}}", "x".repeat(2000));
    let request =
        server.client.post(server.url("/graphql")).header("content-type", "application/json").body(large.clone());
    assert_eq!(code(request.send().await.unwrap()).await, (413, "LIMIT_EXCEEDED".into()));
    let head = "POST /graphql HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n";
    let answer = raw(server.address, &format!("{head}{:x}\r\n{large}\r\n0\r\n\r\n", large.len())).await;
    assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
}

#[tokio::test]
async fn a_client_that_still_sends_its_body_can_read_why_it_is_refused() {
    let server = start(bounded(limits())).await;
    let send = async || {
        let mut stream = TcpStream::connect(server.address).await.unwrap();
        let head =
            "POST /graphql HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: 4000000\r\n\r\n";
        stream.write_all(head.as_bytes()).await.unwrap();
        // The server has answered, and reads no body.
        stream.readable().await.unwrap();
        let sent = stream.write_all(&[b' '; 4_000_000]).await.is_ok();
        let mut answer = Vec::new();
        let read = stream.read_to_end(&mut answer).await.is_ok();
        sent && read && answer.starts_with(b"HTTP/1.1 413 ")
    };
    // The server waits for some seconds, for which a busy machine may stop this client.
    let mut attempts = 0;
    while !send().await {
        attempts += 1;
        assert!(attempts < 10, "the connection is reset");
    }
}

#[tokio::test]
async fn a_client_that_sends_for_ever_is_not_read_for_ever() {
    let server = start(bounded(limits())).await;
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    let head =
        "POST /graphql HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: 4000000000\r\n\r\n";
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut sent = 0;
    while sent < 1_000 && stream.write_all(&[b' '; 100_000]).await.is_ok() {
        sent += 1;
    }
    assert!(sent < 1_000, "100 MB were read");
}

#[tokio::test]
async fn an_operation_that_takes_too_long_is_answered_all_the_same() {
    let server = start(bounded(RequestLimits { request_timeout: SHORT, ..limits() })).await;
    let response =
        server.post(r#"{"query": "hang"}"#).header("accept", "application/graphql-response+json").send().await.unwrap();
    assert_eq!(code(response).await, (504, "TIMEOUT".into()));
}

#[tokio::test]
async fn a_body_that_does_not_arrive_is_not_waited_for() {
    let server = start(bounded(RequestLimits { request_timeout: SHORT, ..limits() })).await;
    let head = "POST /graphql HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: 10\r\n\r\n{";
    let answer = raw(server.address, head).await;
    assert!(answer.starts_with("HTTP/1.1 408 "), "{answer}");
}

#[tokio::test]
async fn a_connection_that_sends_no_header_is_closed() {
    let server = start(bounded(RequestLimits { header_timeout: SHORT, ..limits() })).await;
    for text in ["", "P", "POST /graphql HTTP/1.1\r\nhost: a\r\n"] {
        let answer = raw(server.address, text).await;
        assert!(!answer.starts_with("HTTP/1.1 200"), "{answer}");
    }
}

#[tokio::test]
async fn an_idle_connection_has_more_time_than_a_header() {
    let times =
        RequestLimits { header_timeout: Duration::from_millis(200), keep_alive: Duration::from_secs(2), ..limits() };
    let server = start(bounded(times)).await;
    let head = "GET /health/live HTTP/1.1\r\nhost: a\r\n\r\n";
    let ask = async |stream: &mut TcpStream| {
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut answer = vec![0; 4096];
        let length = stream.read(&mut answer).await.unwrap_or_default();
        answer[..length].starts_with(b"HTTP/1.1 200")
    };
    let closes = async |stream: &mut TcpStream| {
        let begun = tokio::time::Instant::now();
        let mut rest = Vec::new();
        let _ = stream.read_to_end(&mut rest).await;
        begun.elapsed()
    };
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    for _ in 0..2 {
        assert!(ask(&mut stream).await);
        tokio::time::sleep(Duration::from_millis(800)).await;
    }
    assert!(ask(&mut stream).await, "it is kept for longer than a header may take");
    let idle = closes(&mut stream).await;
    assert!((1_900..20_000).contains(&idle.as_millis()), "{idle:?}");
    // A header that has begun has its own time, whatever came before it.
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    assert!(ask(&mut stream).await);
    stream.write_all(b"GET /health").await.unwrap();
    let begun = closes(&mut stream).await;
    assert!(begun < Duration::from_millis(1_500), "{begun:?}");
}

#[tokio::test]
async fn requests_beyond_the_limit_are_asked_to_come_back() {
    let machine = Machine::default();
    let (held, release) = (machine.held.clone(), machine.release.clone());
    let server =
        start(Parts { limits: shared(SharedLimits { max_requests: 1, ..SharedLimits::default() }), ..parts(machine) })
            .await;
    let first = tokio::spawn(server.post(r#"{"query": "hold"}"#).send());
    held.notified().await;
    let busy = server.post(r#"{"query": "echo"}"#).send().await.unwrap();
    assert_eq!(busy.headers()["retry-after"], "1");
    assert_eq!(code(busy).await, (503, "UNAVAILABLE".into()));
    assert_eq!(server.get("/health/live").send().await.unwrap().status().as_u16(), 200);
    release.notify_one();
    assert_eq!(first.await.unwrap().unwrap().status().as_u16(), 200);
    assert_eq!(server.post(r#"{"query": "echo"}"#).send().await.unwrap().status().as_u16(), 200);
}

#[tokio::test]
async fn a_panic_is_one_failed_request() {
    let server = start(parts(Machine::default())).await;
    for panics in [r#"{"query": "panic"}"#, r#"{"query": "mutation that panics"}"#] {
        let failed = server.post(panics).send().await.unwrap();
        assert!(failed.headers().contains_key("x-request-id"));
        assert_eq!(code(failed).await, (500, "INTERNAL".into()));
    }
    assert_eq!(server.post(r#"{"query": "echo"}"#).send().await.unwrap().status().as_u16(), 200);
}

#[tokio::test]
async fn requests_that_have_begun_finish_when_the_server_stops() {
    let machine = Machine::default();
    let (held, release) = (machine.held.clone(), machine.release.clone());
    let mut server = start(parts(machine)).await;
    let begun = tokio::spawn(server.post(r#"{"query": "hold"}"#).send());
    held.notified().await;
    server.ask_to_stop();
    release.notify_one();
    assert_eq!(begun.await.unwrap().unwrap().text().await.unwrap(), r#"{"data":"released"}"#);
    assert_eq!(server.stopped().await, Stopped::Finished);
}

#[tokio::test]
async fn a_refused_client_that_still_sends_does_not_hold_up_a_stop() {
    // Less than the time for which the server reads from such a client otherwise.
    let mut server = start(bounded(RequestLimits { shutdown_timeout: Duration::from_secs(4), ..limits() })).await;
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    let head = "POST /graphql HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: 4000000\r\n\r\n";
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.readable().await.unwrap();
    server.ask_to_stop();
    assert_eq!(server.stopped().await, Stopped::Finished);
}

#[tokio::test]
async fn requests_that_do_not_finish_are_cut_off() {
    let machine = Machine::default();
    let held = machine.held.clone();
    let mut server =
        start(Parts { limits: RequestLimits { shutdown_timeout: SHORT, ..limits() }, ..parts(machine) }).await;
    let begun = tokio::spawn(server.post(r#"{"query": "hold"}"#).send());
    held.notified().await;
    server.ask_to_stop();
    assert_eq!(server.stopped().await, Stopped::CutOff);
    begun.abort();
}

#[tokio::test]
async fn a_client_with_its_part_of_requests_is_asked_to_come_back_and_others_are_served() {
    let machine = Machine::default();
    let held = machine.held.clone();
    let limits =
        shared(SharedLimits { max_requests_per_client: Some(1), trusted_proxies: 1, ..SharedLimits::default() });
    let server = start(Parts { limits, ..parts(machine) }).await;
    // What stands to the left of the proxy's own word is the client's, which may lie.
    let from =
        |addresses: &'static str, body: &'static str| server.post(body).header("x-forwarded-for", addresses).send();
    let first = tokio::spawn(from("1.1.1.1", r#"{"query": "hold"}"#));
    held.notified().await;
    let busy = from("2.2.2.2, 1.1.1.1", r#"{"query": "echo"}"#).await.unwrap();
    assert_eq!(busy.headers()["retry-after"], "1");
    assert_eq!(code(busy).await, (429, "LIMIT_EXCEEDED".into()));
    assert_eq!(from("1.1.1.1, 2.2.2.2", r#"{"query": "echo"}"#).await.unwrap().status().as_u16(), 200);
    first.abort();
}

#[tokio::test]
async fn a_client_with_its_part_of_connections_is_hung_up_on() {
    let server = start(bounded(shared(SharedLimits { max_connections: 4, ..SharedLimits::default() }))).await;
    let mut first = TcpStream::connect(server.address).await.unwrap();
    let request = "GET /health/live HTTP/1.1\r\nhost: a\r\n\r\n";
    first.write_all(request.as_bytes()).await.unwrap();
    assert_eq!(first.read_u8().await.unwrap(), b'H');
    let mut second = TcpStream::connect(server.address).await.unwrap();
    assert!(!matches!(second.read(&mut [0]).await, Ok(1..)));
    drop(first);
    // The place is free once the server has seen that the first is gone.
    let again = async {
        loop {
            let mut again = TcpStream::connect(server.address).await.unwrap();
            if again.write_all(request.as_bytes()).await.is_ok() && again.read_u8().await.is_ok_and(|byte| byte == b'H')
            {
                return;
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(60), again).await.unwrap();
}

#[tokio::test]
async fn a_request_that_needs_more_memory_than_there_is_is_refused() {
    let limits = RequestLimits {
        body_limit: 100_000,
        ..shared(SharedLimits { request_memory: 100_000, ..SharedLimits::default() })
    };
    let server = start(bounded(limits)).await;
    let numbers = format!("{{\"query\": \"echo\", \"variables\": {{\"a\": [{}1]}}}}", "1,".repeat(10_000));
    let request = server.client.post(server.url("/graphql")).header("content-type", "application/json").body(numbers);
    assert_eq!(code(request.send().await.unwrap()).await, (413, "LIMIT_EXCEEDED".into()));
    assert_eq!(server.post(r#"{"query": "echo"}"#).send().await.unwrap().status().as_u16(), 200);
}

#[tokio::test]
async fn a_response_that_finds_no_memory_is_dropped_and_reported() {
    let limits = RequestLimits {
        body_limit: 100_000,
        ..shared(SharedLimits { response_memory: 20_000, ..SharedLimits::default() })
    };
    let server = start(bounded(limits)).await;
    let echoed = async |length: usize| {
        let body = format!("{{\"query\": \"{}\"}}", "x".repeat(length));
        let request = server.client.post(server.url("/graphql")).header("content-type", "application/json").body(body);
        request.send().await.unwrap()
    };
    let dropped = echoed(30_000).await;
    assert_eq!(dropped.headers()["retry-after"], "1");
    assert_eq!(code(dropped).await, (503, "UNAVAILABLE".into()));
    assert_eq!((echoed(18_000).await.status().as_u16(), echoed(100).await.status().as_u16()), (200, 200));
}
