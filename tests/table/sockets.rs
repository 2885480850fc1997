//! Real connections over plain HTTP: which are used again, what is cut off, and a server without credentials. Each
//! maker of calls has its own pool.

use crate::fixture::{count_up, deadline, query};
use keyfold::table::data::call::Query;
use keyfold::table::data::write::WriteError;
use keyfold::table::data_store::DataStore;
use keyfold::table::request::loaders::Loaders;
use keyfold::table::store::{ClientKind, TableStore};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufStream};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::time::Instant;

const ANSWER: &str = r#"{"Items":[{"SK":{"S":"a"}}],"Count":1,"ScannedCount":1}"#;
const CLIENTS: [ClientKind; 2] = [ClientKind::Sdk, ClientKind::Direct];

/// A server's end of a connection.
struct Connection(BufStream<TcpStream>);

impl Connection {
    async fn accept(listener: &TcpListener) -> Self {
        Self(BufStream::new(listener.accept().await.unwrap().0))
    }

    /// Reads a request. `false` if the client closed the connection instead.
    async fn request(&mut self) -> bool {
        let mut length = 0;
        loop {
            let mut line = String::new();
            if self.0.read_line(&mut line).await.unwrap_or(0) == 0 {
                return false;
            }
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length: ") {
                length = value.trim().parse().unwrap();
            }
            if line == "\r\n" {
                break;
            }
        }
        self.0.read_exact(&mut vec![0; length]).await.unwrap();
        true
    }

    /// Answers with this body, and closes the connection after it if this is the last answer.
    async fn answer(&mut self, body: &str, last: bool) {
        let close = if last { "connection: close\r\n" } else { "" };
        let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n{close}\r\n", body.len());
        self.send(&[head.as_bytes(), body.as_bytes()].concat()).await;
    }

    async fn send(&mut self, bytes: &[u8]) {
        self.0.write_all(bytes).await.unwrap();
        self.0.flush().await.unwrap();
    }

    async fn close(&mut self) {
        self.0.shutdown().await.unwrap();
    }
}

async fn listener() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    (listener, url)
}

async fn connected(url: &str, client: ClientKind) -> TableStore {
    TableStore::connect(Some(url), Some("eu-central-1")).await.unwrap().with_client(client)
}

async fn count(store: &TableStore) -> u32 {
    Loaders::new(store, deadline()).query(&query("things", "p")).await.unwrap().count
}

#[tokio::test]
async fn a_body_cut_off_on_the_wire_is_asked_for_again() {
    for client in CLIENTS {
        let (listener, url) = listener().await;
        let server = tokio::spawn(async move {
            for sent in [0, ANSWER.len() / 2, ANSWER.len()] {
                let mut connection = Connection::accept(&listener).await;
                assert!(connection.request().await);
                let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", ANSWER.len());
                if sent > 0 {
                    connection.send(format!("{head}{}", &ANSWER[..sent]).as_bytes()).await;
                }
                connection.close().await;
            }
        });
        assert_eq!(count(&connected(&url, client).await).await, 1, "{client:?}");
        server.await.unwrap();
    }
}

#[tokio::test]
async fn a_connection_is_used_until_the_server_closes_it() {
    for client in CLIENTS {
        let (listener, url) = listener().await;
        let server = tokio::spawn(async move {
            for answers in [3, 1, 2] {
                let mut connection = Connection::accept(&listener).await;
                for left in (0..answers).rev() {
                    assert!(connection.request().await);
                    connection.answer(ANSWER, left == 0).await;
                }
                assert!(!connection.request().await, "nothing is sent after `Connection: close`");
            }
        });
        let store = connected(&url, client).await;
        for _ in 0..6 {
            assert_eq!(count(&store).await, 1, "{client:?}");
        }
        server.await.unwrap();
    }
}

#[tokio::test]
async fn a_connection_that_was_closed_while_idle_is_replaced() {
    for client in CLIENTS {
        let (listener, url) = listener().await;
        let noticed = Arc::new(Notify::new());
        let notice = noticed.clone();
        let server = tokio::spawn(async move {
            let mut connection = Connection::accept(&listener).await;
            assert!(connection.request().await);
            connection.answer(ANSWER, false).await;
            connection.close().await;
            assert!(!connection.request().await, "the client closes its end, too");
            notice.notify_one();
            let mut connection = Connection::accept(&listener).await;
            assert!(connection.request().await);
            connection.answer(r#"{"Attributes":{"n":{"N":"1"}}}"#, true).await;
        });
        let store = connected(&url, client).await;
        assert_eq!(count(&store).await, 1, "{client:?}");
        noticed.notified().await;
        // A write, since it is not sent again where it may have been heard.
        let written = Loaders::new(&store, deadline()).write(&count_up("a")).await;
        assert!(written.is_ok(), "{client:?}: {written:?}");
        server.await.unwrap();
    }
}

#[tokio::test]
async fn each_runtime_has_connections_of_its_own() {
    let (listener, url) = listener().await;
    let server = tokio::spawn(async move {
        let mut first = Connection::accept(&listener).await;
        assert!(first.request().await);
        first.answer(ANSWER, false).await;
        let mut second = Connection::accept(&listener).await;
        for connection in [&mut second, &mut first] {
            assert!(connection.request().await);
            connection.answer(ANSWER, false).await;
        }
    });
    let store = connected(&url, ClientKind::Direct).await;
    assert_eq!(count(&store).await, 1);
    let other = store.clone();
    let counted = tokio::task::spawn_blocking(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(count(&other))
    });
    assert_eq!(counted.await.unwrap(), 1);
    assert_eq!(count(&store).await, 1);
    server.await.unwrap();
}

#[tokio::test]
async fn an_answer_of_several_megabytes_is_read_whole() {
    let text = "x".repeat(200);
    let items: Vec<_> = (0..30_000).map(|number| json!({ "SK": { "S": format!("{number}{text}") } })).collect();
    let body = json!({ "Items": items, "Count": items.len(), "ScannedCount": items.len() }).to_string();
    assert!(body.len() > 6 << 20);
    for client in CLIENTS {
        let (listener, url) = listener().await;
        let body = body.clone();
        let server = tokio::spawn(async move {
            let mut connection = Connection::accept(&listener).await;
            assert!(connection.request().await);
            connection.answer(&body, false).await;
            assert!(connection.request().await);
            connection.send(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n").await;
            for chunk in body.as_bytes().chunks(100_000) {
                connection.send(&[format!("{:x}\r\n", chunk.len()).as_bytes(), chunk, b"\r\n"].concat()).await;
            }
            connection.send(b"0\r\n\r\n").await;
        });
        let store = connected(&url, client).await;
        let all = Query { limit: u32::MAX, ..query("things", "p") };
        for _ in 0..2 {
            let (page, _) = store.read_page(&all, deadline().into()).await.unwrap();
            assert_eq!((page.items.len(), page.count), (30_000, 30_000), "{client:?}");
        }
        server.await.unwrap();
    }
}

#[tokio::test]
async fn a_write_to_nobody_has_failed_and_one_that_was_heard_is_uncertain() {
    for client in CLIENTS {
        let (listener, url) = listener().await;
        let store = connected(&url, client).await;
        let server = tokio::spawn(async move { Connection::accept(&listener).await.request().await });
        let heard = Loaders::new(&store, deadline()).write(&count_up("a")).await;
        assert!(matches!(heard, Err(WriteError::Uncertain(_))), "{client:?}: {heard:?}");
        // The listener ends with its task.
        assert!(server.await.unwrap());
        let nobody = Loaders::new(&store, Instant::now() + Duration::from_secs(2)).write(&count_up("a")).await;
        assert!(matches!(nobody, Err(WriteError::Failed(_))), "{client:?}: {nobody:?}");
    }
}

#[tokio::test]
async fn a_server_that_never_finishes_to_connect_was_sent_nothing() {
    let (listener, url) = listener().await;
    // It accepts connections, and never speaks TLS.
    let url = url.replace("http://", "https://");
    let writes = CLIENTS.map(async |client| {
        let store = connected(&url, client).await;
        Loaders::new(&store, deadline()).write(&count_up("a")).await
    });
    for written in futures_util::future::join_all(writes).await {
        assert!(matches!(written, Err(WriteError::Failed(_))), "{written:?}");
    }
    drop(listener);
}
