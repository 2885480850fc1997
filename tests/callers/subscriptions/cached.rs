//! What a copy of the gateway keeps of its reads is dropped by the changes that other copies make.

use super::listener::watching;
use serde_json::json;
use std::time::Duration;
use tokio::time::{Instant, sleep};

const BOARD: &str = include_str!("../../schemas/subscriptions/board.graphql");

#[tokio::test]
async fn another_copys_write_is_seen_as_soon_as_the_stream_tells_it() {
    let kept = BOARD.replace("type Card @item", "type Card @cacheControl(maxAge: 3600) @item");
    let reader = watching(&kept).await;
    let writer = reader.with_fresh_hub().without_cache();
    writer.run(r#"mutation { putCard(boardId: "b", id: "1", text: "one") { id } }"#).await;
    // Once this is received, the stream is followed.
    let mut listener = reader.subscribe(r#"subscription { card(boardId: "b", id: "1") { text } }"#).await;
    listener.next().await;
    let query = r#"{ card(boardId: "b", id: "1") { text } }"#;
    reader.run(query).await;
    reader.reads();
    for _ in 0..5 {
        assert_eq!(reader.run(query).await, json!({ "card": { "text": "one" } }));
    }
    assert_eq!(reader.reads(), 0, "it is kept");
    writer.run(r#"mutation { setCard(boardId: "b", id: "1", text: "two") { id } }"#).await;
    let end = Instant::now() + Duration::from_secs(60);
    while reader.run(query).await != json!({ "card": { "text": "two" } }) {
        assert!(Instant::now() < end, "the old card is still answered");
        sleep(Duration::from_millis(10)).await;
    }
}
