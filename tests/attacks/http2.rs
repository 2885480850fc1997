//! HTTP/2 connections that use what is theirs to harm: windows of zero, headers without end, streams that are reset at
//! once, and frames that want an answer which nobody reads. Their frames are written by hand, because a library's
//! client keeps the rules (RFC 9113 section 4.1).

use super::attack::Target;
use super::process::KEY;
use super::unread;
use futures_util::future::join_all;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// The time that a connection has for all its frames. The server may stop to read them.
const SENDING: Duration = Duration::from_secs(3);

// Types and flags of frames (RFC 9113 section 6).
const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const CONTINUATION: u8 = 9;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = (payload.len() as u32).to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// The first bytes of a client: a response may have this many bytes before the client asks for more.
fn hello(window: u32) -> Vec<u8> {
    let settings = [&[0, 4][..], &window.to_be_bytes()].concat();
    [b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec(), frame(SETTINGS, 0, 0, &settings)].concat()
}

/// A header field that no table keeps (RFC 7541 section 6.2.2), with a name and a value of fewer than 127 bytes.
fn field(name: &str, value: &str) -> Vec<u8> {
    [&[0, name.len() as u8], name.as_bytes(), &[value.len() as u8], value.as_bytes()].concat()
}

/// The header of a request that posts to `/graphql`.
fn post() -> Vec<u8> {
    let [method, scheme] = [0x83, 0x86];
    let fields =
        [(":path", "/graphql"), (":authority", "localhost"), ("content-type", "application/json"), ("x-api-key", KEY)];
    let fields = fields.map(|(name, value)| field(name, value)).concat();
    [vec![method, scheme], fields].concat()
}

/// The streams that a client may open, in their order.
fn streams(number: u32) -> impl Iterator<Item = u32> {
    (0..number).map(|position| 2 * position + 1)
}

/// Sends as many of these bytes as the server takes in time, and gives the open connection.
async fn send(target: &Target, bytes: impl IntoIterator<Item = Vec<u8>>) -> TcpStream {
    let mut stream = target.connect().await;
    let sending = async {
        for bytes in bytes {
            if stream.write_all(&bytes).await.is_err() {
                break;
            }
        }
    };
    let _ = timeout(SENDING, sending).await;
    stream
}

/// Reads what the server sends until it closes the connection.
async fn rest(mut stream: TcpStream) -> Vec<u8> {
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes).await;
    bytes
}

#[tokio::test]
async fn streams_whose_windows_are_zero() {
    // The responses that are sent and those that wait are about twenty notes; each call in flight has one, too.
    let little = ["--response-memory", "6000000", "--write-timeout", "1s", "--header-timeout", "2s"];
    let target = unread::target(&little).await;
    let body = br#"{"query": "{ note(id: 1) { text } }"}"#;
    let request =
        |stream| [frame(HEADERS, END_HEADERS, stream, &post()), frame(DATA, END_STREAM, stream, body)].concat();
    let client = async || {
        let stream = send(&target, std::iter::once(hello(0)).chain(streams(50).map(request))).await;
        // Each stream is reset after the time for writes, and the connection ends when none is left.
        rest(stream).await.len()
    };
    let (sent, harm) = target.under(join_all((0..30).map(|_| client()))).await;
    assert!(sent.iter().all(|bytes| *bytes < unread::LENGTH), "{sent:?}");
    harm.is_small();
}

#[tokio::test]
async fn headers_that_never_end() {
    let target = Target::dev(&["--header-timeout", "2s"]).await;
    let begun = [hello(1 << 16), frame(HEADERS, 0, 1, &post())].concat();
    let more = frame(CONTINUATION, 0, 1, &field("x", &"y".repeat(100)).repeat(150));
    let empty = frame(CONTINUATION, 0, 1, &[]);
    let client = async |more: &Vec<u8>| {
        let frames = std::iter::once(begun.clone()).chain(std::iter::repeat_n(more.clone(), (4 << 20) / more.len()));
        rest(send(&target, frames).await).await
    };
    let (_, harm) = target
        .under_each(async || join_all((0..40).map(|n| client(if n % 2 == 0 { &more } else { &empty }))).await)
        .await;
    harm.is_small();
}

#[tokio::test]
async fn headers_that_unpack_to_much_more() {
    let target = Target::dev(&[]).await;
    // A field that the table keeps (RFC 7541 section 6.2.1), and a header that names it again in each byte.
    let value = [&[0x7f, 0xa1, 0x1e][..], &[b'y'; 4000]].concat();
    let kept = [&[0x40, 1, b'x'][..], &value].concat();
    let request =
        |stream| frame(HEADERS, END_HEADERS | END_STREAM, stream, &[post(), kept.clone(), vec![0xbe; 8000]].concat());
    let client =
        async || rest(send(&target, std::iter::once(hello(1 << 16)).chain(streams(200).map(request))).await).await;
    let (_, harm) = target.under_each(|| join_all((0..20).map(|_| client()))).await;
    harm.is_small();
}

#[tokio::test]
async fn streams_that_begin_and_do_not_end() {
    // Each has a header of 20 kB, and a body that does not come.
    let target = Target::dev(&["--body-timeout", "2s", "--header-timeout", "2s", "--request-memory", "32000000"]).await;
    let long = [post(), field("x", &"y".repeat(120)).repeat(120)].concat();
    let request = |stream| frame(HEADERS, END_HEADERS, stream, &long);
    let client =
        async || rest(send(&target, std::iter::once(hello(1 << 16)).chain(streams(250).map(request))).await).await;
    let (_, harm) = target.under(join_all((0..40).map(|_| client()))).await;
    harm.is_small();
}

#[tokio::test]
async fn streams_that_are_reset_at_once() {
    let target = Target::dev(&[]).await;
    let reset =
        |stream| [frame(HEADERS, END_HEADERS, stream, &post()), frame(RST_STREAM, 0, stream, &[0, 0, 0, 8])].concat();
    let client =
        async || rest(send(&target, std::iter::once(hello(1 << 16)).chain(streams(20_000).map(reset))).await).await;
    let (_, harm) = target.under_each(|| join_all((0..20).map(|_| client()))).await;
    harm.is_small();
}

#[tokio::test]
async fn frames_that_want_an_answer_which_nobody_reads() {
    let target = Target::dev(&["--write-timeout", "1s", "--header-timeout", "2s"]).await;
    let pings = frame(PING, 0, 0, &[7; 8]).repeat(1000);
    let settings = frame(SETTINGS, 0, 0, &[]).repeat(1000);
    let client = async |frames: &Vec<u8>| {
        let all = std::iter::once(hello(1 << 16)).chain(std::iter::repeat_n(frames.clone(), 2000));
        let stream = send(&target, all).await;
        rest(stream).await
    };
    let attack = join_all((0..30).map(|n| client(if n % 2 == 0 { &pings } else { &settings })));
    let (_, harm) = target.under(attack).await;
    harm.is_small();
}
