//! Items that are put while their parent is deleted, and items that an index does not show yet: none of them stays.

use super::backend::{Backend, Call, GROUP, USER, error, is_write};
use crate::scripted::Reply;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::time::Instant;

const DELETE_USER: &str = "mutation { deleteUser { id } }";
const DELETE_GROUP: &str = "mutation ($g: ID!) { deleteGroup(id: $g) }";
const TIME: &str = "2026-04-01T00:00:00.000Z";

fn s(text: &str) -> Value {
    json!({ "S": text })
}

fn post_key() -> String {
    format!("POST#p#{TIME}")
}

fn post() -> Value {
    let key = format!("USER#{USER}");
    json!({ "PK": s(&key), "SK": s(&post_key()), "status": s("CREATED"), "createdAt": s(TIME), "title": s("T"), "text": s("T") })
}

fn comment(id: &str) -> Value {
    json!({ "PK": s(&post_key()), "SK": s(&format!("COMMENT#{id}#{TIME}")), "userId": s("another"), "text": s("T") })
}

/// Whether an item exists at this moment.
fn is_there(call: &Call<'_>, table: &str, key: [&str; 2]) -> bool {
    let key = json!({ "PK": s(key[0]), "SK": s(key[1]) });
    let found = call.table.apply("GetItem", json!({ "TableName": table, "Key": key, "ConsistentRead": true }));
    matches!(found, Reply::Body(200, body) if body.contains("\"PK\""))
}

fn post_is_there(call: &Call<'_>) -> bool {
    is_there(call, "data", [&format!("USER#{USER}"), &post_key()])
}

/// The pantry with a post of the user that has this many comments.
async fn commented(comments: usize) -> Backend {
    let backend = Backend::new("pantry").await;
    backend.table.put("data", post());
    (0..comments).for_each(|number| backend.table.put("data", comment(&format!("{number:03}"))));
    backend
}

fn left(backend: &Backend) -> Vec<String> {
    backend.items().into_iter().filter(|item| item.contains(USER) || item.contains(&post_key())).collect()
}

/// A comment is put before any of the delete's calls, as long as its post exists: for a delete in one transaction, and
/// for a larger one.
#[tokio::test(start_paused = true)]
async fn a_comment_that_comes_in_while_its_post_goes_does_not_stay() {
    for comments in [1, 120] {
        let mut came_in = 0;
        for turn in 0..24 {
            let backend = commented(comments).await;
            let (calls, put) = (AtomicUsize::new(0), std::sync::Arc::new(AtomicUsize::new(0)));
            let done = put.clone();
            backend.script(move |call| {
                if calls.fetch_add(1, Ordering::Relaxed) == turn && post_is_there(call) {
                    call.table.put("data", comment("late"));
                    done.store(1, Ordering::Relaxed);
                }
                None
            });
            backend.ok(DELETE_USER, json!({})).await;
            came_in += put.load(Ordering::Relaxed);
            assert_eq!(left(&backend), Vec::<String>::new(), "{comments} comments, before call {turn}");
        }
        assert!(came_in > 3, "{came_in}");
    }
}

/// A post with a comment is put after the look-up, and a second comment after the first sweep has found the post.
#[tokio::test(start_paused = true)]
async fn a_post_that_comes_in_with_comments_goes_with_them() {
    for second in 1..10 {
        let backend = Backend::new("pantry").await;
        backend.script(move |call| {
            if is_write(call.operation) && call.before == 0 {
                call.table.put("data", post());
                call.table.put("data", comment("first"));
            }
            if is_write(call.operation) && call.before == second && post_is_there(call) {
                call.table.put("data", comment("second"));
            }
            None
        });
        backend.ok(DELETE_USER, json!({})).await;
        assert_eq!(left(&backend), Vec::<String>::new(), "before write {second}");
    }
}

/// The delete loses its answer. Items put meanwhile are still swept.
#[tokio::test(start_paused = true)]
async fn a_delete_whose_answer_is_lost_is_swept() {
    let backend = Backend::new("ledger").await;
    backend.ok("mutation { open(id: \"a\", coins: 0) { id } }", json!({})).await;
    let entry = |no: &str| json!({ "PK": s("Account#a"), "SK": s(&format!("Entry#{no}")), "text": s("t"), "shelf": s("s"), "state": s("new"), "StateKey": s("s#new") });
    (0..120).for_each(|no| backend.table.put("ledger", entry(&format!("{no:03}"))));
    backend.script(move |call| {
        (call.operation == "DeleteItem" && is_there(call, "ledger", ["Account#a", "Account"])).then(|| {
            call.table.put("ledger", entry("late"));
            call.table.apply(call.operation, call.body.clone());
            Reply::Reset
        })
    });
    backend.ok("mutation { retire(id: \"a\") { id } }", json!({})).await;
    assert_eq!(backend.items(), Vec::<String>::new());
}

/// The delete loses its answer, and its second attempt loses a race. What the first attempt deleted is still swept
/// after the third.
#[tokio::test(start_paused = true)]
async fn a_delete_whose_answer_is_lost_is_swept_after_a_lost_race() {
    let backend = Backend::new("ledger").await;
    let open = "mutation { open(id: \"a\", coins: 0) { id } }";
    backend.ok(open, json!({})).await;
    let account = |open: bool| json!({ "PK": s("Account#a"), "SK": s("Account"), "coins": { "N": "0" }, "open": { "BOOL": open } });
    let late = json!({ "PK": s("Account#a"), "SK": s("Entry#late"), "text": s("t"), "shelf": s("s"), "state": s("new"), "StateKey": s("s#new") });
    let raced = std::sync::Arc::new(AtomicUsize::new(0));
    let races = raced.clone();
    backend.script(move |call| match call.operation {
        // The first attempt deletes the account. An entry is put at the same time, and somebody opens the account
        // again.
        "DeleteItem" if call.before == 0 => {
            call.table.put("ledger", late.clone());
            call.table.apply(call.operation, call.body.clone());
            call.table.put("ledger", account(true));
            Some(Reply::Reset)
        }
        // The second attempt loses a race against a change of the new account.
        "TransactWriteItems" if races.fetch_add(1, Ordering::Relaxed) == 0 => {
            call.table.put("ledger", account(false));
            None
        }
        // The third attempt finds that the account is deleted.
        "GetItem" if races.load(Ordering::Relaxed) == 1 => {
            call.table.delete("ledger", ["Account#a", "Account"]);
            None
        }
        _ => None,
    });
    backend.ok("mutation { retire(id: \"a\") { id } }", json!({})).await;
    assert_eq!(raced.load(Ordering::Relaxed), 1, "{:?}", backend.operations());
    assert_eq!(backend.items(), Vec::<String>::new());
}

/// A backend whose global indexes lag behind its table until this much time has passed.
async fn behind(time: Duration) -> Backend {
    let (backend, older) = (Backend::new("pantry").await, Backend::new("pantry").await);
    let until = Instant::now() + time;
    backend.script(move |call| {
        let by_index = call.operation == "Query" && call.body["IndexName"].is_string();
        (by_index && Instant::now() < until).then(|| older.table.apply(call.operation, call.body.clone()))
    });
    backend
}

#[tokio::test(start_paused = true)]
async fn a_membership_that_its_index_does_not_show_yet_goes_with_its_group() {
    let backend = behind(Duration::from_millis(200)).await;
    let create = "mutation { createGroup(name: \"G\") { id } }";
    let group = backend.ok(create, json!({})).await["createGroup"]["id"].clone();
    backend.ok(DELETE_GROUP, json!({ "g": group })).await;
    let left: Vec<String> = backend.items().into_iter().filter(|item| item.contains(group.as_str().unwrap())).collect();
    assert_eq!(left, Vec::<String>::new());
}

/// The wait for an index is short, and ends at the deadline.
#[tokio::test(start_paused = true)]
async fn an_index_that_stays_behind_is_waited_for_a_moment() {
    for (time, most) in [(60_000, 1_000), (100, 100)] {
        let backend = behind(Duration::from_secs(3600)).await;
        let begun = Instant::now();
        let answer = backend.run_within(Duration::from_millis(time), DELETE_GROUP, json!({ "g": GROUP })).await;
        assert_eq!((error(&answer).0, &answer["data"]["deleteGroup"]), ("", &json!(true)));
        assert!(begun.elapsed() <= Duration::from_millis(most), "{:?}", begun.elapsed());
    }
}

/// An item that is deleted but still shown by an index is not deleted again.
#[tokio::test(start_paused = true)]
async fn what_an_index_still_shows_is_not_deleted_again_and_again() {
    let backend = behind(Duration::from_secs(3600)).await;
    backend.ok(DELETE_GROUP, json!({ "g": GROUP })).await;
    assert_eq!(backend.writes(), 1, "{:?}", backend.operations());
}
