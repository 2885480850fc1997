//! Changes that the stream no longer has: who has lost them gets an error, and goes on after the id of the error.

use super::front::store_behind;
use super::listener::{Listener, watching_on};
use axum::http::StatusCode;
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

const BOARD: &str = include_str!("../../schemas/subscriptions/board.graphql");

/// Waits for the error that reports the loss. Gives the id in it.
async fn next_loss(listener: &mut Listener) -> String {
    loop {
        let (id, body) = listener.whole_with_id().await.expect("an error");
        if let Some(error) = body.get("errors").map(|errors| &errors[0]) {
            assert_eq!(error["extensions"]["code"], "UNAVAILABLE", "{error}");
            assert_eq!(error["message"], "Some changes were lost. Read the items again, and go on after this id.");
            assert_eq!(error["extensions"]["after"].as_str(), id.as_deref(), "a browser goes on after it, too");
            return id.unwrap_or_else(|| panic!("{error}")).to_string();
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn subscriber_that_lost_changes_goes_on_after_the_id_of_the_error() {
    for code in ["TrimmedDataAccessException", "ExpiredIteratorException"] {
        // An iterator that expires before the first record loses the place, another one does not.
        let with_records = code.starts_with("Trimmed");
        let trouble = Arc::new(AtomicBool::new(false));
        let troubled = trouble.clone();
        let store = store_behind(move |operation, answer| {
            if operation == "GetRecords" && troubled.swap(false, Ordering::SeqCst) {
                *answer = (
                    StatusCode::BAD_REQUEST,
                    json!({ "__type": format!("com.amazonaws.dynamodb.v20120810#{code}"), "message": "said so" }),
                );
            }
        });
        let board = watching_on(BOARD, store.await, Arc::default()).await;
        let put = async |text: &str| {
            board.run(&format!(r#"mutation {{ putCard(boardId: "b", id: "1", text: "{text}") {{ id }} }}"#)).await;
        };
        put("before").await;
        let query = |id: &str, after: &str| {
            format!(r#"subscription {{ cards(boardId: "{id}"{after}) {{ node {{ text }} }} }}"#)
        };
        let (mut hears, mut silent) =
            (board.subscribe(&query("b", "")).await, board.subscribe(&query("other", "")).await);
        hears.begin().await;
        silent.begin().await;
        if with_records {
            put("one").await;
            assert_eq!(hears.next().await["cards"]["node"], json!({ "text": "one" }));
        }
        trouble.store(true, Ordering::SeqCst);
        let after = next_loss(&mut hears).await;
        next_loss(&mut silent).await;
        put("two").await;
        // Once and again: the id stays good.
        for _ in 0..2 {
            let mut again = board.subscribe(&query("b", &format!(", after: {after:?}"))).await;
            let mut texts = vec![again.next().await["cards"]["node"]["text"].clone()];
            while texts.last().unwrap() != "two" {
                texts.push(again.next().await["cards"]["node"]["text"].clone());
            }
            assert!(with_records || texts.len() == 1, "{texts:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_that_is_switched_off_ends_subscriptions_and_refuses_new_ones_until_it_is_on_again() {
    let is_off = Arc::new(AtomicBool::new(false));
    let seen = is_off.clone();
    let store = store_behind(move |operation, answer| {
        if operation == "DescribeStream" && seen.load(Ordering::SeqCst) {
            answer.1["StreamDescription"]["StreamStatus"] = json!("DISABLED");
        }
    });
    let board = watching_on(BOARD, store.await, Arc::default()).await;
    let query = |after: &str| format!(r#"subscription {{ cards(boardId: "b"{after}) {{ node {{ text }} }} }}"#);
    let put = async |text: &str| {
        board.run(&format!(r#"mutation {{ putCard(boardId: "b", id: "1", text: "{text}") {{ id }} }}"#)).await;
    };
    let mut hears = board.subscribe(&query("")).await;
    hears.begin().await;
    is_off.store(true, Ordering::SeqCst);
    let after = next_loss(&mut hears).await;
    put("unheard").await;
    let mut early = board.subscribe(&query("")).await;
    let refused = early.whole().await.expect("an error");
    assert_eq!(refused["errors"][0]["message"], "The stream of the table cannot be read. Try again later.");
    is_off.store(false, Ordering::SeqCst);
    // What changed meanwhile is in no stream: nobody goes on over it.
    let mut over = board.subscribe(&query(&format!(", after: {after:?}"))).await;
    let refused = over.whole().await.expect("an error");
    let message = &refused["errors"][0]["message"];
    assert_eq!(message, "The changes after this id are no longer there. Read the items again.");
    let mut anew = board.subscribe(&query("")).await;
    anew.begin().await;
    put("heard").await;
    assert_eq!(anew.next().await["cards"]["node"], json!({ "text": "heard" }));
}
