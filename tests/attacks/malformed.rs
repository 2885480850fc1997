//! Many bodies that are not requests, from many connections.

use super::attack::{Target, answer, post};
use futures_util::future::join_all;
use tokio::io::AsyncWriteExt;

#[tokio::test]
async fn many_bodies_that_are_no_request() {
    let target = Target::dev(&[]).await;
    let body = post(&"[".repeat(20_000));
    let client = async || {
        let mut stream = target.connect().await;
        let mut statuses = Vec::new();
        for _ in 0..5 {
            stream.write_all(body.as_bytes()).await.unwrap();
            statuses.push(answer(&mut stream).await.0);
        }
        statuses
    };
    let (statuses, harm) = target.under_each(|| join_all((0..10).map(|_| client()))).await;
    assert!(statuses.concat().concat().iter().all(|status| *status == 400), "{statuses:?}");
    harm.is_small();
}
