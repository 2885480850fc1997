//! HTTP/2 by prior knowledge, beside HTTP/1.1 on one port: its requests, and what its clients may not do.

use crate::machine::{Machine, Running, limits, parts, start};
use bytes::Bytes;
use futures_util::future::join_all;
use h2::client::{Builder, ResponseFuture, SendRequest};
use h2::{Reason, RecvStream};
use keyfold::serve::browsers::host::Hosts;
use keyfold::serve::listener::Stopped;
use keyfold::serve::router::Parts;
use keyfold::serve::settings::{RequestLimits, SharedLimits};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Notify;
use tokio::task::JoinHandle;

const SHORT: Duration = Duration::from_millis(50);

/// A client, and its connection until it ends.
struct Client {
    send: SendRequest<Bytes>,
    connection: JoinHandle<()>,
}

impl Client {
    async fn of(server: &Running, builder: &Builder) -> Self {
        let stream = TcpStream::connect(server.address).await.unwrap();
        let (send, connection) = builder.handshake(stream).await.unwrap();
        let connection = tokio::spawn(async move {
            let _ = connection.await;
        });
        Self { send, connection }
    }

    async fn new(server: &Running) -> Self {
        Self::of(server, &Builder::new()).await
    }

    /// Begins a request, whose body follows if there is none.
    async fn begin(&mut self, method: &str, path: &str, body: Option<&str>) -> (ResponseFuture, h2::SendStream<Bytes>) {
        let request = axum::http::Request::builder().method(method).uri(format!("http://localhost{path}"));
        let request = request.header("content-type", "application/json").body(()).unwrap();
        std::future::poll_fn(|context| self.send.poll_ready(context)).await.unwrap();
        let is_empty = method == "GET";
        let (response, mut stream) = self.send.send_request(request, is_empty).unwrap();
        if let Some(body) = body {
            stream.send_data(Bytes::copy_from_slice(body.as_bytes()), true).unwrap();
        }
        (response, stream)
    }

    async fn post(&mut self, body: &str) -> ResponseFuture {
        self.begin("POST", "/graphql", Some(body)).await.0
    }
}

/// The whole body of a response.
async fn read(mut body: RecvStream) -> Result<Vec<u8>, h2::Error> {
    let mut bytes = Vec::new();
    while let Some(chunk) = body.data().await {
        let chunk = chunk?;
        body.flow_control().release_capacity(chunk.len())?;
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes)
}

/// The status of a response and its body.
async fn answer(response: ResponseFuture) -> (u16, String) {
    let (head, body) = response.await.unwrap().into_parts();
    (head.status.as_u16(), String::from_utf8(read(body).await.unwrap()).unwrap())
}

fn bounded(limits: RequestLimits) -> Parts {
    Parts { limits, ..parts(Machine::default()) }
}

#[tokio::test]
async fn requests_are_answered_side_by_side() {
    let machine = Machine::default();
    let (held, release) = (machine.held.clone(), machine.release.clone());
    let server = start(parts(machine)).await;
    let mut client = Client::new(&server).await;
    let waiting = client.post(r#"{"query": "hold"}"#).await;
    held.notified().await;
    let (status, body) = answer(client.post(r#"{"query": "echo"}"#).await).await;
    assert!(status == 200 && body.contains("\"query\":\"echo\""), "{status} {body}");
    let (status, body) = answer(client.begin("GET", "/graphql?query=echo", None).await.0).await;
    assert!(status == 200 && body.contains("\"query\":\"echo\""), "{status} {body}");
    let (status, body) = answer(client.post(r#"{"query": "large"}"#).await).await;
    assert_eq!((status, body.len()), (200, 5_000_011));
    assert_eq!(answer(client.begin("GET", "/nothing", None).await.0).await.0, 404);
    release.notify_one();
    assert_eq!(answer(waiting).await.0, 200);
}

#[tokio::test]
async fn the_host_is_that_of_the_target() {
    let hosts = Hosts::at([127, 0, 0, 1].into(), &[]);
    let server = start(Parts { hosts, ..parts(Machine::default()) }).await;
    let mut client = Client::new(&server).await;
    assert_eq!(answer(client.post(r#"{"query": "echo"}"#).await).await.0, 200);
    let request = axum::http::Request::builder().uri("http://evil.test/graphql?query=echo").body(()).unwrap();
    assert_eq!(answer(client.send.send_request(request, true).unwrap().0).await.0, 421);
}

#[tokio::test]
async fn there_is_no_web_socket_over_http_2() {
    let server = start(parts(Machine::default())).await;
    let mut client = Client::new(&server).await;
    let (status, _) = answer(client.begin("GET", "/graphql/ws", None).await.0).await;
    assert!((400..500).contains(&status), "{status}");
    assert_eq!(answer(client.post(r#"{"query": "echo"}"#).await).await.0, 200);
}

#[tokio::test]
async fn first_bytes_that_only_look_like_http_2_are_http_1() {
    let server = start(parts(Machine::default())).await;
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    for piece in ["P", "R", "OPFIND / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n"] {
        stream.write_all(piece.as_bytes()).await.unwrap();
    }
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 405 "), "{answer}");
}

#[tokio::test]
async fn a_client_that_does_not_say_what_it_speaks_is_disconnected() {
    let server = start(bounded(RequestLimits { header_timeout: SHORT, ..limits() })).await;
    for begin in ["", "P", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r"] {
        let mut stream = TcpStream::connect(server.address).await.unwrap();
        stream.write_all(begin.as_bytes()).await.unwrap();
        let mut rest = Vec::new();
        let _ = stream.read_to_end(&mut rest).await;
        assert!(rest.is_empty(), "{rest:?}");
    }
}

#[tokio::test]
async fn a_connection_on_which_nothing_is_asked_ends() {
    let server = start(bounded(RequestLimits { header_timeout: SHORT, ..limits() })).await;
    let client = Client::new(&server).await;
    client.connection.await.unwrap();
    // A header that begins and does not end is no request: HEADERS without END_HEADERS, on stream 1.
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    let settings = [0, 0, 0, 4, 0, 0, 0, 0, 0];
    let headers = [0, 0, 1, 1, 0, 0, 0, 0, 1, 0x82];
    stream.write_all(&[b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", &settings[..], &headers[..]].concat()).await.unwrap();
    let mut rest = Vec::new();
    let _ = stream.read_to_end(&mut rest).await;
}

#[tokio::test]
async fn a_body_that_arrives_too_slowly_is_refused() {
    let server = start(bounded(RequestLimits { body_timeout: SHORT, ..limits() })).await;
    let mut client = Client::new(&server).await;
    let (response, _body) = client.begin("POST", "/graphql", None).await;
    let (status, body) = answer(response).await;
    assert!(status == 408 && body.contains("TIMEOUT"), "{status} {body}");
}

#[tokio::test]
async fn a_header_that_is_too_long_is_refused() {
    let server = start(parts(Machine::default())).await;
    let mut client = Client::new(&server).await;
    let long =
        axum::http::Request::builder().uri("http://localhost/graphql?query=echo").header("x-long", "x".repeat(100_000));
    let (response, _) = client.send.send_request(long.body(()).unwrap(), true).unwrap();
    assert!(response.await.map_or(true, |response| response.status() == 431));
}

#[tokio::test]
async fn a_response_that_its_client_does_not_take_is_dropped_and_other_streams_go_on() {
    let shared = SharedLimits { response_memory: 6_000_000, ..SharedLimits::default() };
    let server = start(bounded(RequestLimits { write_timeout: Duration::from_secs(3), shared, ..limits() })).await;
    // Room for a small part of each response, and for all of them on the connection.
    let mut client =
        Client::of(&server, Builder::new().initial_window_size(20_000).initial_connection_window_size(1 << 24)).await;
    let mut unread = client.post(r#"{"query": "large"}"#).await.await.unwrap().into_body();
    let mut taken = 0;
    let error = loop {
        match unread.data().await.unwrap() {
            Ok(chunk) => taken += chunk.len(),
            Err(error) => break error,
        }
    };
    assert_eq!((error.reason(), taken), (Some(Reason::CANCEL), 20_000));
    // The memory of responses holds one such response only.
    let (status, body) = answer(client.post(r#"{"query": "large"}"#).await).await;
    assert_eq!((status, body.len()), (200, 5_000_011));
}

#[tokio::test]
async fn streams_share_the_memory_of_requests() {
    let machine = Machine { release: Arc::new(Notify::new()), ..Machine::default() };
    // A connection takes 128 KiB of it, each stream 24 KiB and its header.
    let shared = SharedLimits { request_memory: 1 << 20, ..SharedLimits::default() };
    let server = start(Parts { limits: RequestLimits { shared, ..limits() }, ..parts(machine) }).await;
    let mut client = Client::new(&server).await;
    let mut responses = Vec::new();
    for _ in 0..60 {
        responses.push(client.post(r#"{"query": "hang"}"#).await);
    }
    let refused = async {
        futures_util::future::select_all(responses.into_iter().map(|response| Box::pin(answer(response)))).await.0
    };
    let (status, body) = refused.await;
    assert!(status == 429 && body.contains("LIMIT_EXCEEDED"), "{status} {body}");
}

#[tokio::test]
async fn connections_without_a_request_leave_the_memory_to_others() {
    // A connection with a request has 128 KiB, and one client a quarter of all.
    let shared = SharedLimits { request_memory: 2 << 20, ..SharedLimits::default() };
    let server = start(bounded(RequestLimits { shared, ..limits() })).await;
    let mut clients = Vec::new();
    for _ in 0..100 {
        clients.push(Client::new(&server).await);
    }
    for client in &mut clients {
        assert_eq!(answer(client.post(r#"{"query": "echo"}"#).await).await.0, 200);
    }
}

#[tokio::test]
async fn a_server_that_stops_answers_what_has_begun() {
    let machine = Machine::default();
    let (held, release) = (machine.held.clone(), machine.release.clone());
    let mut server = start(parts(machine)).await;
    let mut clients = join_all((0..3).map(|_| Client::new(&server))).await;
    let waiting = clients[0].post(r#"{"query": "hold"}"#).await;
    held.notified().await;
    server.ask_to_stop();
    // The others have nothing to wait for.
    for client in clients.drain(1..) {
        client.connection.await.unwrap();
    }
    release.notify_one();
    assert_eq!(answer(waiting).await.0, 200);
    assert_eq!(server.stopped().await, Stopped::Finished);
}
