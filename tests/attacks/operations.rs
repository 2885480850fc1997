//! One client with many operations at once, over one WebSocket and over many.

use super::attack::{Target, answer, operation, text, text_frame, upgrade};
use super::machine::limits;
use futures_util::future::join_all;
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::time::timeout;

fn subscribe(id: usize) -> Vec<u8> {
    text_frame(&format!(r#"{{"id": "{id}", "type": "subscribe", "payload": {{"query": "hang"}}}}"#))
}

/// Starts this many operations that never end, and counts the refusals.
async fn begin(stream: &mut TcpStream, operations: usize) -> usize {
    let all: Vec<u8> = (0..operations).flat_map(subscribe).collect();
    let (mut reader, mut writer) = stream.split();
    let refusals = async {
        let mut refused = 0;
        // The last answers come when the last operations have started: silence after that shows that the others run.
        while let Ok(Some(message)) = timeout(Duration::from_secs(1), text(&mut reader)).await {
            refused += usize::from(message.contains("LIMIT_EXCEEDED"));
        }
        refused
    };
    tokio::join!(refusals, async { writer.write_all(&all).await.unwrap() }).0
}

#[tokio::test]
async fn a_web_socket_with_a_thousand_operations() {
    let target = Target::machine(limits()).await;
    let mut stream = target.connect().await;
    upgrade(&mut stream).await;
    let (refused, harm) = target.under(begin(&mut stream, 1000)).await;
    assert_eq!(refused, 1000 - 32);
    harm.is_small();
}

#[tokio::test]
async fn a_client_with_many_web_sockets_and_requests() {
    let target = Target::machine(limits()).await;
    let socket = async || {
        let mut stream = target.connect().await;
        upgrade(&mut stream).await;
        let refused = begin(&mut stream, 32).await;
        (stream, refused)
    };
    let attack = async {
        let sockets = join_all((0..10).map(|_| socket())).await;
        let mut stream = target.connect().await;
        stream.write_all(operation("hang").as_bytes()).await.unwrap();
        (sockets.iter().map(|(_, refused)| refused).sum::<usize>(), answer(&mut stream).await)
    };
    let ((refused, (status, body)), harm) = target.under(attack).await;
    // A quarter of --max-requests is 256.
    assert_eq!((refused, status), (10 * 32 - 256, 429), "{body}");
    assert!(body.contains("LIMIT_EXCEEDED"), "{body}");
    harm.is_small();
}

#[tokio::test]
async fn a_web_socket_that_sends_operations_and_reads_nothing() {
    let target = Target::machine(limits()).await;
    let mut stream = target.connect().await;
    upgrade(&mut stream).await;
    let all: Vec<u8> = (0..10_000).flat_map(subscribe).collect();
    let flood = async {
        for _ in 0..50 {
            if !matches!(timeout(Duration::from_secs(2), stream.write_all(&all)).await, Ok(Ok(()))) {
                break;
            }
        }
    };
    let ((), harm) = target.under(flood).await;
    harm.is_small();
}
