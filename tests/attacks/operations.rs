//! One client with many operations at once, over one WebSocket and over many.

use super::attack::{PATIENCE, Target, answer, operation, text, text_frame, upgrade};
use super::machine::limits;
use futures_util::future::join_all;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::sync::Notify;
use tokio::time::timeout;

fn subscribe(id: usize) -> Vec<u8> {
    text_frame(&format!(r#"{{"id": "{id}", "type": "subscribe", "payload": {{"query": "hang"}}}}"#))
}

/// Starts this many operations that never end on each socket, and counts the refusals: until there are as many as
/// expected, and for a moment more.
async fn begin(streams: &mut [TcpStream], operations: usize, expected: usize) -> usize {
    let all: Vec<u8> = (0..operations).flat_map(subscribe).collect();
    let (refused, enough) = (AtomicUsize::new(0), Notify::new());
    let socket = async |stream: &mut TcpStream| {
        let (mut reader, mut writer) = stream.split();
        let refusals = async {
            while let Some(message) = text(&mut reader).await {
                let refusal = message.contains("LIMIT_EXCEEDED");
                if refusal && refused.fetch_add(1, Ordering::Relaxed) + 1 == expected {
                    enough.notify_one();
                }
            }
        };
        tokio::join!(refusals, async { writer.write_all(&all).await.unwrap() });
    };
    tokio::select! {
        _ = join_all(streams.iter_mut().map(socket)) => {}
        () = async {
            let _ = timeout(PATIENCE, enough.notified()).await;
            // An operation too many would be refused now.
            tokio::time::sleep(Duration::from_millis(300)).await;
        } => {}
    }
    refused.into_inner()
}

#[tokio::test]
async fn a_web_socket_with_a_thousand_operations() {
    let target = Target::machine(limits()).await;
    let mut stream = target.connect().await;
    assert!(upgrade(&mut stream).await);
    // 32 run, 256 wait, and as many could be subscriptions.
    let (refused, harm) = target.under(begin(std::slice::from_mut(&mut stream), 1000, 1000 - 544)).await;
    assert_eq!(refused, 1000 - 544);
    harm.is_small();
}

#[tokio::test]
async fn a_client_with_many_web_sockets_and_requests() {
    let target = Target::machine(limits()).await;
    let attack = async {
        let mut sockets = Vec::new();
        for _ in 0..10 {
            let mut stream = target.connect().await;
            assert!(upgrade(&mut stream).await);
            sockets.push(stream);
        }
        // A quarter of --max-requests is 256.
        let refused = begin(&mut sockets, 32, 10 * 32 - 256).await;
        let mut stream = target.connect().await;
        stream.write_all(operation("hang").as_bytes()).await.unwrap();
        (refused, answer(&mut stream).await)
    };
    let ((refused, (status, body)), harm) = target.under(attack).await;
    assert_eq!((refused, status), (10 * 32 - 256, 429), "{body}");
    assert!(body.contains("LIMIT_EXCEEDED"), "{body}");
    harm.is_small();
}

#[tokio::test]
async fn a_web_socket_that_sends_operations_and_reads_nothing() {
    let target = Target::machine(limits()).await;
    let mut stream = target.connect().await;
    assert!(upgrade(&mut stream).await);
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
