//! More clients than requests that may run at once, each of which sends its body byte by byte.

use super::attack::{Target, answer, head};
use futures_util::future::join_all;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::interval;

#[tokio::test]
async fn many_bodies_that_arrive_slowly() {
    // As many clients as a process may have files by default on most systems.
    let target = Target::dev(&["--max-requests", "400"]).await;
    let client = async || {
        let mut stream = target.connect().await;
        stream.write_all(head(100_000).as_bytes()).await.unwrap();
        let (mut reader, mut writer) = stream.split();
        let mut ticks = interval(Duration::from_millis(200));
        let trickle = async {
            while writer.write_all(b" ").await.is_ok() {
                ticks.tick().await;
            }
            std::future::pending().await
        };
        let mut status = [0; 12];
        tokio::select! {
            () = trickle => unreachable!(),
            read = reader.read_exact(&mut status) => read.map(|_| String::from_utf8_lossy(&status).into_owned()),
        }
    };
    let (statuses, harm) = target.under(join_all((0..800).map(|_| client()))).await;
    // A client that does not read its response for some seconds, while it sends, may lose it.
    let answered: Vec<&String> = statuses.iter().flatten().collect();
    assert!(!answered.is_empty() && answered.iter().all(|status| *status == "HTTP/1.1 408"), "{statuses:?}");
    println!("{} clients of {} lost their response", statuses.len() - answered.len(), statuses.len());
    harm.is_small();
}

#[tokio::test]
async fn bodies_that_stop_before_their_end_share_a_bound_of_memory() {
    let target = Target::dev(&["--body-timeout", "1s"]).await;
    let client = async || {
        let mut stream = target.connect().await;
        let _ = stream.write_all(head(1_000_001).as_bytes()).await;
        let _ = stream.write_all(&[b' '; 1_000_000]).await;
        answer(&mut stream).await.0
    };
    let (statuses, harm) = target.under(join_all((0..100).map(|_| client()))).await;
    // One client may have a quarter of --request-memory. A connection that is closed while the client sends may lose
    // its response.
    assert!(
        statuses.contains(&408)
            && statuses.contains(&429)
            && statuses.iter().all(|status| [408, 429, 0].contains(status)),
        "{statuses:?}"
    );
    harm.is_small();
}
