//! `keyfold` behind a proxy that the environment names: what the proxy is asked for.

use super::process::{Ended, keyfold, repository};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

const ITEM: &str = r#"{"Item":{"PK":{"S":"SHOP#s"},"SK":{"S":"LINK#0001"}}}"#;

/// A proxy on a free port: the first line of each request with its target. It plays the server behind it, and opens no tunnel.
struct Proxy {
    url: String,
    asked: Arc<Mutex<Vec<(String, String)>>>,
}

impl Proxy {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let asked: Arc<Mutex<Vec<(String, String)>>> = Arc::default();
        let seen = asked.clone();
        std::thread::spawn(move || {
            for connection in listener.incoming() {
                let seen = seen.clone();
                std::thread::spawn(move || answer(connection.unwrap(), &seen));
            }
        });
        Self { url, asked }
    }

    fn asked(&self) -> Vec<(String, String)> {
        let mut asked = std::mem::take(&mut *self.asked.lock().unwrap());
        // The SDK asks again where its own client was refused.
        asked.dedup();
        asked
    }
}

fn answer(connection: TcpStream, seen: &Mutex<Vec<(String, String)>>) {
    let mut reader = BufReader::new(&connection);
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
    let (status, body) =
        if first.starts_with("CONNECT ") { ("502 Bad Gateway", "") } else { ("200 OK", r#"{"Table":{},"UnprocessedItems":{}}"#) };
    let head = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len());
    let _ = (&connection).write_all(format!("{head}{body}").as_bytes());
}

/// Imports an item with these variables.
fn import(client: &str, endpoint: &str, variables: &[(&str, &str)]) -> Ended {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("items.jsonl"), ITEM).unwrap();
    let schema = repository("benches/shop.graphql");
    let arguments = ["import", "items.jsonl", "--table", "shop", "--schema", schema.to_str().unwrap(), "--endpoint-url", endpoint];
    let mut command = keyfold(directory.path(), &arguments);
    command.env("KEYFOLD_CLIENT", client).env("AWS_ACCESS_KEY_ID", "a").env("AWS_SECRET_ACCESS_KEY", "b").env("AWS_REGION", "eu-central-1");
    Ended::from(command.envs(variables.iter().copied()).output().unwrap())
}

#[test]
fn calls_go_through_the_proxy_of_the_environment() {
    for client in ["sdk", "direct"] {
        let proxy = Proxy::start();
        import(client, "http://db.example:8000", &[("HTTP_PROXY", &proxy.url)]).well();
        let line = "POST http://db.example:8000/ HTTP/1.1".to_owned();
        assert_eq!(proxy.asked(), ["DescribeTable", "BatchWriteItem"].map(|target| (line.clone(), target.to_owned())), "{client}");
    }
}

#[test]
fn https_goes_through_a_tunnel() {
    let proxy = Proxy::start();
    import("direct", "https://db.example", &[("HTTPS_PROXY", &proxy.url)]).badly(1);
    assert_eq!(proxy.asked(), [("CONNECT db.example:443 HTTP/1.1".to_owned(), String::new())]);
}

#[test]
fn hosts_of_no_proxy_are_called_directly() {
    let (proxy, server) = (Proxy::start(), Proxy::start());
    import("direct", &server.url, &[("HTTP_PROXY", &proxy.url), ("NO_PROXY", "127.0.0.1")]).well();
    let line = "POST / HTTP/1.1".to_owned();
    assert_eq!(proxy.asked(), []);
    assert_eq!(server.asked(), ["DescribeTable", "BatchWriteItem"].map(|target| (line.clone(), target.to_owned())));
}
