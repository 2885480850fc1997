//! Interrupted deletes of more items than a transaction holds: what is left can be deleted again, and no item has lost
//! its parent.

use super::backend::{Backend, Call, GROUP, USER, error, is_write, troubled};
use crate::scripted::{LOST, REFUSED, Reply};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

const TABLE: &str = "nishiki-table-dev-db";
const DELETE: &str = "mutation ($g: ID!) { deleteGroup(id: $g) }";

/// The pantry with a group of 60 containers and 60 more members: 180 items are deleted with the group.
async fn crowd() -> Backend {
    let backend = Backend::new("pantry").await;
    for number in 0..60 {
        let (user, container) = (format!("user-{number:02}"), format!("container-{number:02}"));
        let s = |text: &str| json!({ "S": text });
        let links = [
            json!({ "PK": s(&user), "SK": s(&format!("Group#{GROUP}")), "GroupId": s(GROUP) }),
            json!({ "PK": s(GROUP), "SK": s(&format!("Container#{container}")), "ContainerId": s(&container) }),
            json!({ "PK": s(&container), "SK": s("Container"), "ContainerName": s("C") }),
        ];
        links.into_iter().for_each(|item| backend.table.put(TABLE, item));
    }
    backend
}

/// What is left of the group: whether it exists, how many items belong to it, and which of them have lost their parent.
fn left(backend: &Backend) -> (bool, usize, Vec<String>) {
    let items = backend.items();
    let has = |sk: &str, id: &str| {
        items.iter().any(|item| item.contains(&format!("\"SK\":{{\"S\":{sk:?}}}")) && item.contains(id))
    };
    let group = has("Group", GROUP);
    let mine: Vec<&String> = items.iter().filter(|item| item.contains(GROUP) || item.contains("container-")).collect();
    let adrift = mine.iter().filter(|item| {
        let container = item.split("\"PK\":{\"S\":\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap();
        let is_container = item.contains("\"SK\":{\"S\":\"Container\"}");
        if is_container { !has(&format!("Container#{container}"), GROUP) } else { !group }
    });
    (group, mine.len(), adrift.map(|item| (*item).clone()).collect())
}

/// Carries out the first ten requests of a batch. The others come back unprocessed.
fn partly(call: &Call<'_>) -> Reply {
    let requests = call.body["RequestItems"][TABLE].as_array().unwrap();
    let (done, rest) = requests.split_at(requests.len().min(10));
    call.table.apply("BatchWriteItem", json!({ "RequestItems": { TABLE: done } }));
    Reply::ok(json!({ "UnprocessedItems": if rest.is_empty() { json!({}) } else { json!({ TABLE: rest }) } }))
}

#[tokio::test(start_paused = true)]
async fn batches_that_are_partly_done_are_completed() {
    let backend = crowd().await;
    assert_eq!(left(&backend).2, Vec::<String>::new());
    backend.script(|call| (call.operation == "BatchWriteItem").then(|| partly(call)));
    let answer = backend.ok(DELETE, json!({ "g": GROUP })).await;
    assert_eq!(answer["deleteGroup"], true);
    assert_eq!(left(&backend), (false, 0, Vec::new()));
}

#[tokio::test(start_paused = true)]
async fn batches_outlast_every_trouble() {
    for (trouble, reply) in LOST.into_iter().chain(REFUSED) {
        for applied in [true, false] {
            let backend = crowd().await;
            backend.script(troubled(3, applied, reply));
            let answer = backend.run(DELETE, json!({ "g": GROUP })).await;
            assert_eq!(answer["errors"], Value::Null, "{trouble}: {answer}");
            assert_eq!(answer["data"]["deleteGroup"], true, "{trouble}");
            assert_eq!(left(&backend), (false, 0, Vec::new()), "{trouble}");
        }
    }
}

/// The delete stops for good after any number of writes. What is left is consistent, and the same delete again
/// completes it.
#[tokio::test(start_paused = true)]
async fn a_delete_that_stops_half_way_can_be_gone_on_with() {
    for (trouble, reply) in [LOST[1], REFUSED[1], ("denied", || Reply::error(400, "AccessDeniedException"))] {
        for writes in 0..9 {
            let backend = crowd().await;
            // Each batch does nothing, part of its work, or all of it.
            let (done, all) = (AtomicUsize::new(0), left(&backend).1);
            backend.script(move |call| {
                if !is_write(call.operation) {
                    return None;
                }
                match done.fetch_add(1, Ordering::Relaxed) {
                    number if number >= writes => Some(reply()),
                    number if call.operation == "BatchWriteItem" && number % 2 == 0 => Some(partly(call)),
                    _ => None,
                }
            });
            let answer = backend.run_within(Duration::from_secs(20), DELETE, json!({ "g": GROUP })).await;
            let (group, items, adrift) = left(&backend);
            assert_eq!((group, adrift), (true, Vec::new()), "{trouble} after {writes}");
            let (code, message, path) = error(&answer);
            assert!(
                ["UNAVAILABLE", "THROTTLED"].contains(&code) && path == "[\"deleteGroup\"]",
                "{trouble} after {writes}: {answer}"
            );
            let in_batches = backend.operations().iter().all(|operation| operation != "DeleteItem");
            if items < all && in_batches {
                assert_eq!(
                    message, "Not everything is deleted yet. Repeat the delete to continue.",
                    "{trouble} after {writes}"
                );
            }
            backend.calm();
            // A table that did not answer is asked once a second.
            tokio::time::advance(Duration::from_secs(1)).await;
            assert_eq!(backend.ok(DELETE, json!({ "g": GROUP })).await["deleteGroup"], true);
            assert_eq!(left(&backend), (false, 0, Vec::new()), "{trouble} after {writes}");
        }
    }
}

/// The client disconnects after any number of writes.
#[tokio::test(start_paused = true)]
async fn a_delete_that_nobody_waits_for_leaves_nothing_adrift() {
    for writes in 0..10 {
        let backend = crowd().await;
        backend.script(move |call| (is_write(call.operation) && call.before >= writes).then_some(Reply::Never));
        let abandoned = backend.run(DELETE, json!({ "g": GROUP }));
        assert!(tokio::time::timeout(Duration::from_secs(1), abandoned).await.is_err());
        let (group, _, adrift) = left(&backend);
        assert_eq!((group, adrift), (true, Vec::new()), "after {writes}");
        backend.calm();
        backend.ok(DELETE, json!({ "g": GROUP })).await;
        assert_eq!(left(&backend), (false, 0, Vec::new()), "after {writes}");
    }
}

/// An account of the ledger with this many entries.
async fn account(coins: u32, entries: usize) -> Backend {
    let backend = Backend::new("ledger").await;
    backend.ok("mutation ($c: Int!) { open(id: \"a\", coins: $c) { id } }", json!({ "c": coins })).await;
    for no in 0..entries {
        let s = |text: &str| json!({ "S": text });
        let item = json!({ "PK": s("Account#a"), "SK": s(&format!("Entry#{no:03}")), "text": s("t"), "shelf": s("s"), "state": s("new"),
            "StateKey": s("s#new") });
        backend.table.put("ledger", item);
    }
    backend
}

#[tokio::test(start_paused = true)]
async fn nothing_goes_along_with_what_may_not_be_deleted() {
    let retire = "mutation { retire(id: \"a\") { id coins } }";
    for entries in [5, 150] {
        let backend = account(3, entries).await;
        let before = backend.items();
        let answer = backend.run(retire, json!({})).await;
        assert_eq!(error(&answer), ("CONFLICT", "There are coins left.", "[\"retire\"]".to_owned()));
        assert_eq!(backend.items(), before, "{entries}");
        let backend = account(0, entries).await;
        assert_eq!(backend.ok(retire, json!({})).await, json!({ "retire": { "id": "a", "coins": 0 } }));
        assert_eq!(backend.items(), Vec::<String>::new(), "{entries}");
    }
}

#[tokio::test(start_paused = true)]
async fn delete_of_many_deletes_what_meets_the_condition_together_or_not_at_all() {
    for entries in [5, 150] {
        let backend = account(0, entries).await;
        let before = backend.items();
        let clear = "mutation ($t: String!) { clearMarked(owner: \"a\", text: $t) { no } }";
        let answer = backend.run(clear, json!({ "t": "other" })).await;
        assert_eq!(answer["data"]["clearMarked"], json!([]), "{entries}: {answer}");
        assert_eq!(backend.items(), before, "{entries}");
        let answer = backend.run(clear, json!({ "t": "t" })).await;
        if entries <= 100 {
            assert_eq!(answer["data"]["clearMarked"].as_array().unwrap().len(), entries);
            assert_eq!(backend.items().len(), 1);
        } else {
            let message = "A transaction writes at most 100 items, but this one has 150.";
            assert_eq!(error(&answer), ("LIMIT_EXCEEDED", message, "[\"clearMarked\"]".to_owned()));
            assert_eq!(backend.items(), before);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn many_without_a_condition_are_deleted_in_batches() {
    let backend = account(0, 150).await;
    backend.script(|call| {
        (call.operation == "BatchWriteItem" && call.before < 3).then(|| Reply::error(400, "ThrottlingException"))
    });
    let answer = backend.ok("mutation { clear(owner: \"a\") { no } }", json!({})).await;
    assert_eq!(answer["clear"].as_array().unwrap().len(), 150);
    assert_eq!(backend.items().len(), 1);
}

/// A barrel in the hold, as an item and the guard of its mark.
fn barrel(no: usize, mark: &str) -> [Value; 2] {
    let s = |text: &str| json!({ "S": text });
    let no = format!("{no:03}");
    let item = json!({ "PK": s("Hold#a"), "SK": s(&no), "kind": s("barrel"), "mark": s(mark) });
    let guard = json!({ "PK": s(&format!("Unique#Barrel.mark#{mark}")), "SK": s("Unique#Barrel.mark"), "ownerPK": s("Hold#a"), "ownerSK": s(&no) });
    [item, guard]
}

/// A delete of more items than a transaction holds keeps an item of another type that has replaced one of those it
/// read. It deletes the guard of a value that changes meanwhile.
#[tokio::test(start_paused = true)]
async fn a_delete_of_many_deletes_no_item_of_another_type() {
    let backend = Backend::new("ledger").await;
    (0..150)
        .for_each(|no| barrel(no, &format!("m{no}")).into_iter().for_each(|item| backend.table.put("ledger", item)));
    let item = json!({ "PK": { "S": "Hold#a" }, "SK": { "S": "007" }, "kind": { "S": "crate" } });
    let crate_ = item.clone();
    backend.script(move |call| {
        if is_write(call.operation) && call.before == 0 {
            call.table.delete("ledger", ["Unique#Barrel.mark#m7", "Unique#Barrel.mark"]);
            call.table.put("ledger", crate_.clone());
            call.table.delete("ledger", ["Unique#Barrel.mark#m9", "Unique#Barrel.mark"]);
            barrel(9, "changed").into_iter().for_each(|item| call.table.put("ledger", item));
        }
        None
    });
    backend.ok("mutation { clearBarrels(hold: \"a\") { no } }", json!({})).await;
    assert_eq!(backend.items().len(), 1, "{:?}", backend.items());
    assert!(backend.items()[0].contains("crate"), "{:?}", backend.items());
}

/// A container that is put before any of a delete's calls is deleted, too, together with its link.
#[tokio::test(start_paused = true)]
async fn what_is_put_in_between_goes_along() {
    for containers in [0, 60] {
        for turn in 0..16 {
            let backend = if containers == 0 { Backend::new("pantry").await } else { crowd().await };
            let calls = AtomicUsize::new(0);
            backend.script(move |call| {
                let s = |text: &str| json!({ "S": text });
                // Only an existing group can get another container.
                let key = json!({ "PK": s(GROUP), "SK": s("Group") });
                let group =
                    call.table.apply("GetItem", json!({ "TableName": TABLE, "Key": key, "ConsistentRead": true }));
                if calls.fetch_add(1, Ordering::Relaxed) == turn
                    && matches!(group, Reply::Body(200, body) if body.contains("GroupName"))
                {
                    call.table
                        .put(TABLE, json!({ "PK": s("container-99"), "SK": s("Container"), "ContainerName": s("C") }));
                    let link =
                        json!({ "PK": s(GROUP), "SK": s("Container#container-99"), "ContainerId": s("container-99") });
                    call.table.put(TABLE, link);
                }
                None
            });
            backend.ok(DELETE, json!({ "g": GROUP })).await;
            assert_eq!(left(&backend), (false, 0, Vec::new()), "{containers} containers, before call {turn}");
        }
    }
}

/// What depends on the group is deleted ahead of it, and the group changes whenever it is to be deleted.
#[tokio::test(start_paused = true)]
async fn error_after_some_items_are_deleted_is_no_conflict() {
    let backend = crowd().await;
    backend.script(|call| {
        let actions = call.body["TransactItems"].as_array().filter(|_| call.operation == "TransactWriteItems")?;
        let reasons: Vec<Value> = actions.iter().map(|_| json!({ "Code": "ConditionalCheckFailed" })).collect();
        let canceled = "com.amazonaws.dynamodb.v20120810#TransactionCanceledException";
        let body = json!({ "__type": canceled, "Message": "canceled", "CancellationReasons": reasons });
        Some(Reply::Body(400, body.to_string()))
    });
    let answer = backend.run_within(Duration::from_secs(60), DELETE, json!({ "g": GROUP })).await;
    let (group, items, _) = left(&backend);
    assert!(group && items < 180, "{items}");
    let message = "Not everything is deleted yet. Repeat the delete to continue.";
    assert_eq!(error(&answer), ("UNAVAILABLE", message, "[\"deleteGroup\"]".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn error_after_a_delete_that_is_done_says_that_it_is() {
    let backend = Backend::new("pantry").await;
    // The group is deleted, but items put meanwhile cannot be read.
    backend.script(|call| {
        (!is_write(call.operation) && call.before > 0).then(|| Reply::error(400, "ThrottlingException"))
    });
    let answer = backend.run(DELETE, json!({ "g": GROUP })).await;
    let message = "The item is deleted, but items that were added to it at the same time may remain.";
    assert_eq!(error(&answer), ("UNAVAILABLE", message, "[\"deleteGroup\"]".to_owned()));
    assert_eq!(left(&backend), (false, 0, Vec::new()));
    // The same with a transaction whose result is read.
    let backend = Backend::new("pantry").await;
    backend.script(|call| {
        (!is_write(call.operation) && call.before > 0).then(|| Reply::error(400, "ThrottlingException"))
    });
    let change = "mutation { changeEmail(email: \"new@example.com\") { email } }";
    let answer = backend.run(change, json!({})).await;
    let message = "The change was made, but its result could not be read.";
    assert_eq!(error(&answer), ("UNAVAILABLE", message, "[\"changeEmail\"]".to_owned()));
    assert!(backend.items().iter().any(|item| item.contains("Unique#User.email#new@example.com")));
}

#[tokio::test(start_paused = true)]
async fn a_user_goes_with_what_is_in_every_table_however_much_hangs_on_it() {
    let backend = Backend::new("pantry").await;
    let s = |text: &str| json!({ "S": text });
    let (time, post) = ("2026-04-01T00:00:00.000Z", "POST#p#2026-04-01T00:00:00.000Z");
    let (of_user, at) = (format!("USER#{USER}"), format!("{time}#f"));
    let put = |table: &str, item: Value| backend.table.put(table, item);
    put("data", json!({ "PK": s(&of_user), "SK": s(&format!("#METADATA#{USER}")), "displayName": s("A") }));
    let stored = json!({ "PK": s(&of_user), "SK": s(post), "status": s("CREATED"), "createdAt": s(time), "title": s("T"), "text": s("T") });
    put("data", stored);
    let favorite = json!({ "pk": s(&format!("FavoriteData#{USER}")), "sk": s("f"), "lsiOneSk": s(&at), "gsiOnePk": s(&format!("FavoriteData#{USER}#link")),
        "gsiOneSk": s(&at), "dataType": s("link"), "clipTime": s(time), "title": s("T"), "contentUrl": s("https://example.com") });
    put("develop.Favorite", favorite);
    // More than a plain list may hold under one parent: an item with many dependents must still be deletable.
    for number in 0..1_001 {
        let (id, link) = (format!("{number:04}"), format!("FavoriteDataTag#{USER}#f"));
        let comment =
            json!({ "PK": s(post), "SK": s(&format!("COMMENT#{id}#{time}")), "userId": s("another"), "text": s("T") });
        put("data", comment);
        let tag = json!({ "pk": s(&format!("Tag#{USER}")), "sk": s(&id), "lsiOneSk": s(&id), "lsiTwoSk": s(time), "lsiThreeSk": s(time), "tagName": s(&id) });
        put("develop.Favorite", tag);
        let of_tag = format!("FavoriteDataTag#{USER}#{id}");
        put(
            "develop.Favorite",
            json!({ "pk": s(&link), "sk": s(&id), "gsiOnePk": s(&of_tag), "gsiOneSk": s(&at), "clipTime": s(time) }),
        );
    }
    let answer = backend.ok("mutation { deleteUser { id } }", json!({})).await;
    assert_eq!(answer["deleteUser"]["id"], USER);
    let left: Vec<String> =
        backend.items().into_iter().filter(|item| item.contains(USER) || item.contains(post)).collect();
    assert_eq!(left, Vec::<String>::new());
}
