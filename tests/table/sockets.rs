//! A real connection over plain HTTP: how the SDK treats a body that is cut off, and a server without credentials.

use crate::fixture::{count_up, deadline, query};
use keyfold::table::data::write::WriteError;
use keyfold::table::request::loaders::Loaders;
use keyfold::table::sdk::store::SdkStore;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::time::Instant;

const ANSWER: &str = r#"{"Items":[{"SK":{"S":"a"}}],"Count":1,"ScannedCount":1}"#;

#[tokio::test]
async fn a_body_cut_off_on_the_wire_is_asked_for_again() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let server = tokio::spawn(async move {
        let mut connections = 0;
        loop {
            let (mut connection, _) = listener.accept().await.unwrap();
            connections += 1;
            let mut request = vec![0; 16 * 1024];
            let _ = connection.read(&mut request).await.unwrap();
            let sent = match connections {
                1 => 0,
                2 => ANSWER.len() / 2,
                _ => ANSWER.len(),
            };
            let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", ANSWER.len());
            if sent > 0 {
                connection.write_all(format!("{head}{}", &ANSWER[..sent]).as_bytes()).await.unwrap();
            }
            connection.shutdown().await.unwrap();
            if connections == 3 {
                return connections;
            }
        }
    });
    let store = SdkStore::connect(Some(&format!("http://{address}")), Some("eu-central-1")).await.unwrap();
    let page = Loaders::new(&store, deadline()).query(&query("things", "p")).await.unwrap();
    assert_eq!((page.count, server.await.unwrap()), (1, 3));
}

#[tokio::test]
async fn a_write_to_nobody_has_failed_and_one_that_was_heard_is_uncertain() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let store = SdkStore::connect(Some(&url), Some("eu-central-1")).await.unwrap();
    let server = tokio::spawn(async move {
        let (mut connection, _) = listener.accept().await.unwrap();
        let mut request = vec![0; 16 * 1024];
        let _ = connection.read(&mut request).await.unwrap();
    });
    let heard = Loaders::new(&store, deadline()).write(&count_up("a")).await;
    assert!(matches!(heard, Err(WriteError::Uncertain(_))), "{heard:?}");
    // The listener ends with its task.
    server.await.unwrap();
    let nobody = Loaders::new(&store, Instant::now() + Duration::from_secs(2)).write(&count_up("a")).await;
    assert!(matches!(nobody, Err(WriteError::Failed(_))), "{nobody:?}");
}
