//! Bodies that declare a huge length, or have no end.

use super::attack::{Target, answer};
use futures_util::future::join_all;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

const HEAD: &str = "POST /graphql HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n";

#[tokio::test]
async fn bodies_of_impossible_lengths() {
    let target = Target::dev(&[]).await;
    let first = async |text: &str| {
        let mut stream = target.connect().await;
        stream.write_all(format!("{HEAD}{text}\r\n").as_bytes()).await.unwrap();
        let mut status = [0; 12];
        stream.read_exact(&mut status).await.unwrap();
        String::from_utf8_lossy(&status).into_owned()
    };
    let lengths = [
        "9223372036854775808",
        "18446744073709551615",
        "18446744073709551616",
        "99999999999999999999999",
        "-1",
        "1, 1",
    ];
    let client = async || {
        // `100 Continue` would invite the client to send the whole body.
        assert_eq!(first("expect: 100-continue\r\ncontent-length: 12000000\r\n").await, "HTTP/1.1 413");
        for length in lengths {
            let status = first(&format!("content-length: {length}\r\n")).await;
            assert!(["HTTP/1.1 413", "HTTP/1.1 400", "HTTP/1.1 431"].contains(&status.as_str()), "{length}: {status}");
        }
    };
    let (_, harm) = target.under_each(|| join_all((0..20).map(|_| client()))).await;
    harm.is_small();
}

#[tokio::test]
async fn a_client_is_asked_to_continue_only_with_a_length_that_is_served() {
    let target = Target::dev(&[]).await;
    let mut stream = target.connect().await;
    let body = r#"{"query": "{ __typename }"}"#;
    stream
        .write_all(format!("{HEAD}expect: 100-continue\r\ncontent-length: {}\r\n\r\n", body.len()).as_bytes())
        .await
        .unwrap();
    assert_eq!(answer(&mut stream).await.0, 100);
    stream.write_all(body.as_bytes()).await.unwrap();
    assert_eq!(answer(&mut stream).await, (200, r#"{"data":{"__typename":"Query"}}"#.into()));
}

#[tokio::test]
async fn bodies_without_an_end() {
    let target = Target::dev(&[]).await;
    let chunk = [b"10000\r\n".to_vec(), vec![b' '; 0x10000], b"\r\n".to_vec()].concat();
    let client = async || {
        let mut stream = target.connect().await;
        stream.write_all(format!("{HEAD}transfer-encoding: chunked\r\n\r\n").as_bytes()).await.unwrap();
        let mut sent = 0;
        while sent < 1000 && stream.write_all(&chunk).await.is_ok() {
            sent += 1;
        }
        sent
    };
    let (sent, harm) = target.under_each(|| join_all((0..50).map(|_| client()))).await;
    assert!(sent.concat().iter().all(|sent| *sent < 1000), "{sent:?}");
    harm.is_small();
}
