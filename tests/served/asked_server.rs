//! A server that plays the tables, over TLS or without: what it is asked for out; and an import by `keyfold` that asks
//! it.

use super::process::{Ended, keyfold, repository};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

const ITEM: &str = r#"{"Item":{"PK":{"S":"SHOP#s"},"SK":{"S":"LINK#0001"}}}"#;

/// A server on a free port: the first line of each request with its target. It opens no tunnel.
pub struct AskedServer {
    /// Where it listens.
    pub url: String,
    asked: Arc<Mutex<Vec<(String, String)>>>,
}

impl AskedServer {
    /// Over plain HTTP.
    pub fn start() -> Self {
        Self::listen("http://127.0.0.1", answer)
    }

    /// Over TLS, as `localhost`. The first connection has the first of these configurations, and the last one is for
    /// all that are left.
    pub fn start_tls(configs: Vec<Arc<ServerConfig>>) -> Self {
        let configs = Arc::new(Mutex::new(VecDeque::from(configs)));
        Self::listen("https://localhost", move |connection, seen| {
            let config = {
                let mut configs = configs.lock().unwrap();
                if configs.len() > 1 { configs.pop_front() } else { configs.front().cloned() }
            };
            let session = ServerConnection::new(config.unwrap()).unwrap();
            answer(StreamOwned::new(session, connection), seen);
        })
    }

    fn listen(base: &str, serve: impl Fn(TcpStream, &Mutex<Vec<(String, String)>>) + Clone + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("{base}:{}", listener.local_addr().unwrap().port());
        let asked: Arc<Mutex<Vec<(String, String)>>> = Arc::default();
        let seen = asked.clone();
        std::thread::spawn(move || {
            for connection in listener.incoming() {
                let (serve, seen) = (serve.clone(), seen.clone());
                std::thread::spawn(move || serve(connection.unwrap(), &seen));
            }
        });
        Self { url, asked }
    }

    /// What it was asked for since the last look.
    pub fn asked(&self) -> Vec<(String, String)> {
        let mut asked = std::mem::take(&mut *self.asked.lock().unwrap());
        // The SDK asks again where its own client was refused.
        asked.dedup();
        asked
    }
}

fn answer(connection: impl Read + Write, seen: &Mutex<Vec<(String, String)>>) {
    let mut reader = BufReader::new(connection);
    let mut first = String::new();
    if reader.read_line(&mut first).unwrap_or(0) == 0 {
        return;
    }
    let (mut target, mut length) = (String::new(), 0);
    for line in reader.by_ref().lines().map_while(Result::ok).take_while(|line| !line.is_empty()) {
        let Some((name, value)) = line.split_once(": ") else { continue };
        match name.to_ascii_lowercase().as_str() {
            "x-amz-target" => target = value.rsplit('.').next().unwrap().to_owned(),
            "content-length" => length = value.parse().unwrap(),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    let _ = reader.read_exact(&mut body);
    seen.lock().unwrap().push((first.trim_end().to_owned(), target));
    let (status, body) = if first.starts_with("CONNECT ") {
        ("502 Bad Gateway", "")
    } else {
        ("200 OK", r#"{"Table":{},"UnprocessedItems":{}}"#)
    };
    let head = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len());
    let _ = reader.get_mut().write_all(format!("{head}{body}").as_bytes());
}

/// Requests with this first line, one for each target.
pub fn requests(line: &str, targets: &[&str]) -> Vec<(String, String)> {
    targets.iter().map(|target| (line.to_owned(), (*target).to_owned())).collect()
}

/// Imports an item with these variables.
pub fn import(client: &str, endpoint: &str, variables: &[(&str, &str)]) -> Ended {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("items.jsonl"), ITEM).unwrap();
    let schema = repository("benches/shop.graphql");
    let arguments =
        ["import", "items.jsonl", "--table", "shop", "--schema", schema.to_str().unwrap(), "--endpoint-url", endpoint];
    let mut command = keyfold(directory.path(), &arguments);
    command
        .env("KEYFOLD_CLIENT", client)
        .env("AWS_ACCESS_KEY_ID", "a")
        .env("AWS_SECRET_ACCESS_KEY", "b")
        .env("AWS_REGION", "eu-central-1");
    Ended::from(command.envs(variables.iter().copied()).output().unwrap())
}
