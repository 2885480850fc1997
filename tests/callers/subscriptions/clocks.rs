//! Subscriptions on a server whose streams have a clock that is wrong or rounds, as that of DynamoDB Local does: every
//! change after the beginning arrives, and a live query ends as the table.

use super::front::store_behind;
use super::listener::{Watching, watching_on};
use serde_json::json;
use std::sync::Arc;

const BOARD: &str = include_str!("../../schemas/subscriptions/board.graphql");

/// What a clock shows at a second.
type Clock = fn(f64) -> f64;

/// What they show may precede the beginning of a subscription.
const CLOCKS: [(&str, Clock); 4] = [
    ("5 s behind", |now| now - 5.0),
    ("rounds to the minute", |now| (now / 60.0).floor() * 60.0 - 60.0),
    ("5 s ahead", |now| now + 5.0),
    ("a year behind", |now| now - 31_536_000.0),
];

/// A board on a server with this clock.
async fn board(clock: Clock) -> Watching {
    let store = store_behind(move |_, (_, body)| {
        for record in body["Records"].as_array_mut().into_iter().flatten() {
            let created = &mut record["dynamodb"]["ApproximateCreationDateTime"];
            *created = json!(clock(created.as_f64().unwrap()).floor());
        }
    });
    watching_on(BOARD, store.await, Arc::default()).await
}

async fn put(board: &Watching, text: &str) {
    board.run(&format!(r#"mutation {{ putCard(boardId: "b", id: "1", text: "{text}") {{ id }} }}"#)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_change_after_the_beginning_arrives() {
    for (name, clock) in CLOCKS {
        let board = board(clock).await;
        put(&board, "before").await;
        let query = |after: &str| format!(r#"subscription {{ cards(boardId: "b"{after}) {{ id node {{ text }} }} }}"#);
        let mut cards = board.subscribe(&query("")).await;
        cards.begin().await;
        for text in ["one", "two", "three"] {
            put(&board, text).await;
        }
        let (id, first) = cards.next_with_id().await;
        assert_eq!(first["cards"]["node"], json!({ "text": "one" }), "{name}");
        for text in ["two", "three"] {
            assert_eq!(cards.next().await["cards"]["node"], json!({ "text": text }), "{name}");
        }
        // Who comes back receives the rest, of a copy with a log and of one without.
        for other in [None, Some(board.with_fresh_hub())] {
            let mut again = other.as_ref().unwrap_or(&board).subscribe(&query(&format!(", after: {id:?}"))).await;
            for text in ["two", "three"] {
                assert_eq!(again.next().await["cards"]["node"], json!({ "text": text }), "{name}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_live_query_ends_as_the_table() {
    for (name, clock) in CLOCKS {
        let board = board(clock).await;
        put(&board, "before").await;
        let query = |after: &str| format!(r#"subscription {{ card(boardId: "b", id: "1"{after}) {{ text }} }}"#);
        let mut card = board.subscribe(&query("")).await;
        let (begun, first) = card.next_with_id().await;
        assert_eq!(first, json!({ "card": { "text": "before" } }), "{name}");
        for text in ["one", "two"] {
            put(&board, text).await;
            assert_eq!(card.next().await, json!({ "card": { "text": text } }), "{name}");
        }
        // Its beginning is a place to go on from, too.
        let mut again = board.subscribe(&query(&format!(", after: {begun:?}"))).await;
        for text in ["one", "two"] {
            assert_eq!(again.next().await, json!({ "card": { "text": text } }), "{name}");
        }
        board.run(r#"mutation { deleteCard(boardId: "b", id: "1") { id } }"#).await;
        for listener in [&mut card, &mut again] {
            assert_eq!(listener.next().await, json!({ "card": null }), "{name}");
        }
    }
}
