//! A server's address and a request in; how many requests a second it answers over some connections, and how long each
//! takes, out.

use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// What a run of requests measured.
pub struct Measured {
    /// Answered requests.
    pub requests: usize,
    /// How long the run took.
    pub time: Duration,
    /// The time of each request, sorted.
    pub latencies: Vec<Duration>,
}

/// Sends a body over some connections for a time; each connection sends the next request when the last is answered. The
/// response must be the expected one.
pub async fn load(address: &str, body: &str, (connections, time): (usize, Duration), expected: &[u8]) -> Measured {
    let opened = futures_util::future::join_all((0..connections).map(|_| Connection::open(address, body))).await;
    let begun = Instant::now();
    let one = async |mut connection: Connection| {
        let mut latencies = Vec::new();
        while begun.elapsed() < time {
            let sent = Instant::now();
            assert!(connection.ask().await == expected, "{}", String::from_utf8_lossy(&connection.answer));
            latencies.push(sent.elapsed());
        }
        latencies
    };
    let mut latencies = futures_util::future::join_all(opened.into_iter().map(one)).await.concat();
    latencies.sort_unstable();
    Measured { requests: latencies.len(), time: begun.elapsed(), latencies }
}

/// The last of some responses to a body, one after the other.
pub async fn respond(address: &str, body: &str, requests: u64) -> Vec<u8> {
    let mut connection = Connection::open(address, body).await;
    for _ in 1..requests {
        connection.ask().await;
    }
    connection.ask().await.to_vec()
}

/// The body of a page.
pub async fn get(address: &str, path: &str) -> Vec<u8> {
    let request = format!("GET {path} HTTP/1.1\r\nhost: {address}\r\n\r\n");
    Connection::connect(address, request).await.ask().await.to_vec()
}

struct Connection {
    stream: TcpStream,
    request: Vec<u8>,
    answer: Vec<u8>,
}

impl Connection {
    async fn open(address: &str, body: &str) -> Self {
        let head = format!(
            "POST /graphql HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n",
            body.len()
        );
        Self::connect(address, format!("{head}\r\n{body}")).await
    }

    async fn connect(address: &str, request: String) -> Self {
        let stream = TcpStream::connect(address).await.unwrap();
        stream.set_nodelay(true).unwrap();
        Self { stream, request: request.into(), answer: Vec::new() }
    }

    /// Sends the request, and gives the body of the answer.
    async fn ask(&mut self) -> &[u8] {
        self.stream.write_all(&self.request).await.unwrap();
        self.answer.clear();
        loop {
            assert!(self.stream.read_buf(&mut self.answer).await.unwrap() > 0, "the server closed the connection");
            let Some(end) = self.answer.windows(4).position(|window| window == b"\r\n\r\n") else { continue };
            let head = std::str::from_utf8(&self.answer[..end]).unwrap().to_ascii_lowercase();
            assert!(head.starts_with("http/1.1 200"), "{head}");
            let length: usize = head.split("content-length: ").nth(1).unwrap().lines().next().unwrap().parse().unwrap();
            if self.answer.len() >= end + 4 + length {
                return &self.answer[end + 4..];
            }
        }
    }
}
