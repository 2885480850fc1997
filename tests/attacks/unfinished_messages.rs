//! WebSocket messages that begin and do not end.

use super::attack::{Target, frame_head, text, upgrade};
use futures_util::future::join_all;
use tokio::io::AsyncWriteExt;

#[tokio::test]
async fn many_messages_that_do_not_end() {
    let target = Target::dev(&["--body-timeout", "1s", "--request-memory", "32000000"]).await;
    let client = async || {
        let mut stream = target.connect().await;
        let opened = upgrade(&mut stream).await;
        let _ = stream.write_all(&frame_head(2_000_000)).await;
        let _ = stream.write_all(&[b' '; 1_200_000]).await;
        // No more bytes come, and the server closes the socket.
        assert_eq!(text(&mut stream).await, None);
        opened
    };
    let (opened, harm) = target.under_each(|| join_all((0..100).map(|_| client()))).await;
    assert!(opened.concat().contains(&true));
    harm.is_small();
}

#[tokio::test]
async fn a_message_in_parts_with_pings_between_them_is_one_message() {
    let target = Target::dev(&["--body-timeout", "1s"]).await;
    let client = async || {
        let mut stream = target.connect().await;
        while !upgrade(&mut stream).await {
            stream = target.connect().await;
        }
        // A text message whose last part never comes, and a ping after each part.
        let part = [&[0x01, 0x81, 0, 0, 0, 0, b' '][..], &[0x89, 0x80, 0, 0, 0, 0]].concat();
        let more = [&[0x00, 0x81, 0, 0, 0, 0, b' '][..], &[0x89, 0x80, 0, 0, 0, 0]].concat();
        let mut sent = stream.write_all(&part).await;
        let mut ticks = tokio::time::interval(std::time::Duration::from_millis(50));
        let mut parts = 0;
        while sent.is_ok() && parts < 200 {
            ticks.tick().await;
            sent = stream.write_all(&more).await;
            parts += 1;
        }
        parts
    };
    let (parts, harm) = target.under(join_all((0..50).map(|_| client()))).await;
    assert!(parts.iter().all(|parts| *parts < 200), "{parts:?}");
    harm.is_small();
}
