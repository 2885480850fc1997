//! The replicas of replicated items under trouble: a transaction writes all of them or none, and the next write of the
//! item completes interrupted batches.

use super::backend::{Backend, Call, error, is_write, troubled};
use crate::scripted::{LOST, REFUSED, Reply};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

const PUBLISH: &str = "mutation { publish(id: \"t\", genre: \"sf\", score: 20, isbn: \"1\") { id } }";
const RATE: &str = "mutation { rate(id: \"t\", score: 30) { score revision } }";
const REVIEW: &str = "mutation { reviewBoth(titleId: \"t\", id: \"a\", other: \"b\", stars: 3) { stars } }";
const RESTAR: &str = "mutation { restarBoth(titleId: \"t\", one: \"a\", other: \"b\", stars: 4) }";
const UNREVIEW: &str = "mutation { unreviewBoth(titleId: \"t\", id: \"a\", other: \"b\") }";

/// The number of an item's replicas, and the number of different values that they have in an attribute.
fn copies(backend: &Backend, begins: &str, sort: &str, attribute: &str) -> (usize, usize) {
    let items = backend.items();
    let mine = items.iter().filter(|item| {
        item.contains(&format!("\"pk\":{{\"S\":\"{begins}#")) && item.contains(&format!("\"sk\":{{\"S\":{sort:?}}}"))
    });
    let said: Vec<&str> = mine
        .map(|item| {
            item.split(&format!("{attribute:?}:{{")).nth(1).and_then(|rest| rest.split('}').next()).unwrap_or("")
        })
        .collect();
    (said.len(), said.iter().collect::<BTreeSet<_>>().len())
}

fn titles(backend: &Backend) -> (usize, usize) {
    copies(backend, "title#t", "title", "revision")
}

fn reviews(backend: &Backend) -> [(usize, usize); 2] {
    ["review#a", "review#b"].map(|sort| copies(backend, "reviews#t", sort, "stars"))
}

fn delete(call: &Call<'_>, pk: &str, sk: &str) {
    let key = json!({ "pk": { "S": pk }, "sk": { "S": sk } });
    call.table.apply("DeleteItem", json!({ "TableName": "hot", "Key": key }));
}

fn conflict() -> Reply {
    let reasons = json!([{ "Code": "None" }, { "Code": "TransactionConflict", "Message": "busy" }, { "Code": "None" }]);
    let body = json!({ "__type": "com.amazonaws.dynamodb.v20120810#TransactionCanceledException", "CancellationReasons": reasons, "message": "busy" });
    Reply::Body(400, body.to_string())
}

#[tokio::test(start_paused = true)]
async fn a_transaction_in_conflict_is_sent_again() {
    let backend = Backend::new("shards").await;
    backend.ok(PUBLISH, json!({})).await;
    backend.script(|call| (is_write(call.operation) && call.before < 3).then(conflict));
    let answer = backend.ok(RATE, json!({})).await;
    assert_eq!((&answer["rate"], backend.writes()), (&json!({ "score": 30, "revision": 2 }), 4));
    assert_eq!(titles(&backend), (3, 1));
}

#[tokio::test(start_paused = true)]
async fn no_trouble_leaves_copies_apart() {
    for (trouble, reply) in LOST.into_iter().chain(REFUSED) {
        for applied in [true, false] {
            let backend = Backend::new("shards").await;
            backend.ok(PUBLISH, json!({})).await;
            backend.script(troubled(2, applied && trouble != "conflict", reply));
            let answer = backend.run(RATE, json!({})).await;
            assert_eq!(answer["errors"], Value::Null, "{trouble}: {answer}");
            assert_eq!(answer["data"]["rate"], json!({ "score": 30, "revision": 2 }), "{trouble}: counted once");
            backend.calm();
            assert_eq!(titles(&backend), (3, 1), "{trouble}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_copy_that_is_missing_is_made_anew() {
    for operation in [
        RATE,
        "mutation { mark(id: \"t\", text: \"x\") { id } }",
        "mutation { shelve(id: \"t\", genre: \"sf\", score: 4) { id } }",
    ] {
        let backend = Backend::new("shards").await;
        backend.ok(PUBLISH, json!({})).await;
        backend.script(|call| {
            if is_write(call.operation) && call.before == 0 {
                delete(call, "title#t#1", "title");
            }
            None
        });
        backend.ok(operation, json!({})).await;
        assert_eq!(
            backend.operations().iter().filter(|operation| is_write(operation)).collect::<Vec<_>>(),
            ["TransactWriteItems", "TransactWriteItems", "TransactWriteItems"]
        );
        assert_eq!(titles(&backend), (3, 1), "{operation}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_item_that_is_gone_has_no_copies() {
    // An item that somebody else has deleted is missing.
    let backend = Backend::new("shards").await;
    backend.ok(PUBLISH, json!({})).await;
    backend.script(|call| {
        if is_write(call.operation) && call.before == 0 {
            (0..3).for_each(|number| delete(call, &format!("title#t#{number}"), "title"));
        }
        None
    });
    let answer = backend.run(RATE, json!({})).await;
    let (code, message, _) = error(&answer);
    assert_eq!((code, message), ("NOT_FOUND", "This Title does not exist."));
    assert_eq!(titles(&backend), (0, 0));
    // Replicas left by a delete are deleted by the next one, and overwritten by a new item.
    for operation in [
        "mutation { withdrawTitle(id: \"t\") { id } }",
        "mutation { shelve(id: \"t\", genre: \"sf\", score: 4) { id } }",
        "mutation { republish(id: \"t\", genre: \"sf\", score: 4) { id } }",
    ] {
        let backend = Backend::new("shards").await;
        backend.ok(PUBLISH, json!({})).await;
        backend.script(|call| {
            if !is_write(call.operation) && call.before == 0 {
                delete(call, "title#t#0", "title");
            }
            None
        });
        backend.ok(operation, json!({})).await;
        assert_eq!(titles(&backend), if operation.contains("withdraw") { (0, 0) } else { (3, 1) }, "{operation}");
    }
}

#[tokio::test(start_paused = true)]
async fn copies_beyond_a_transaction_follow_it() {
    let backend = Backend::new("shards").await;
    backend.calm();
    backend.ok(REVIEW, json!({})).await;
    let writes: Vec<String> = backend.operations().into_iter().filter(|operation| is_write(operation)).collect();
    assert_eq!(writes[0], "TransactWriteItems", "the first copies of both");
    // 118 replicas, 25 in each batch.
    assert_eq!(writes[1..], ["BatchWriteItem"; 5]);
    assert_eq!(reviews(&backend), [(60, 1); 2]);
    backend.ok(RESTAR, json!({})).await;
    assert_eq!(reviews(&backend), [(60, 1); 2]);
    assert!(backend.items().iter().all(|item| item.contains("\"stars\":{\"N\":\"4\"}")));
    backend.ok(UNREVIEW, json!({})).await;
    assert_eq!(backend.items(), Vec::<String>::new());
}

/// A write that stops after any number of batches says so. The same write again completes the replicas, even if it is
/// refused because the change is already applied.
#[tokio::test(start_paused = true)]
async fn what_broke_off_is_completed_by_the_next_write() {
    for (operation, again, left) in
        [(REVIEW, "CONFLICT", [(60, 1); 2]), (RESTAR, "", [(60, 1); 2]), (UNREVIEW, "NOT_FOUND", [(0, 0); 2])]
    {
        for batches in 0..5 {
            let backend = Backend::new("shards").await;
            if operation != REVIEW {
                backend.ok(REVIEW, json!({})).await;
            }
            backend.script(move |call| {
                (call.operation == "BatchWriteItem" && call.before > batches)
                    .then(|| Reply::error(400, "AccessDeniedException"))
            });
            let answer = backend.run(operation, json!({})).await;
            let (_, message, _) = error(&answer);
            assert_eq!(
                message,
                "The change was made, but not yet to all replicas of the item. The next change of the item updates them.",
                "{answer}"
            );
            backend.calm();
            let answer = backend.run(operation, json!({})).await;
            let code = answer["errors"][0]["extensions"]["code"].as_str().unwrap_or_default();
            assert_eq!(code, again, "{answer}");
            assert_eq!(reviews(&backend), left, "{operation} after {batches}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn writers_who_overtake_each_other_end_with_one_content() {
    // While the other replicas are written, somebody changes the first one.
    for before in 1..6 {
        let backend = Backend::new("shards").await;
        backend.script(move |call| {
            if call.operation == "BatchWriteItem" && call.before == before {
                let key = json!({ "pk": { "S": "reviews#t#0" }, "sk": { "S": "review#a" } });
                let update = json!({ "TableName": "hot", "Key": key, "UpdateExpression": "SET stars = :s", "ExpressionAttributeValues": { ":s": { "N": "5" } } });
                call.table.apply("UpdateItem", update);
            }
            None
        });
        backend.ok(REVIEW, json!({})).await;
        assert_eq!(reviews(&backend), [(60, 1); 2]);
        assert_eq!(
            backend.items().iter().filter(|item| item.contains("\"stars\":{\"N\":\"5\"}")).count(),
            60,
            "what the first copy says"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn copies_that_are_changed_again_and_again_are_not_called_done() {
    let backend = Backend::new("shards").await;
    backend.script(|call| {
        if call.operation == "BatchWriteItem" {
            let key = json!({ "pk": { "S": "reviews#t#0" }, "sk": { "S": "review#a" } });
            let values = json!({ ":s": { "N": "1" } });
            let update = json!({ "TableName": "hot", "Key": key, "UpdateExpression": "ADD stars :s", "ExpressionAttributeValues": values });
            call.table.apply("UpdateItem", update);
        }
        None
    });
    let answer = backend.run(REVIEW, json!({})).await;
    let (code, message, _) = error(&answer);
    assert!(code == "UNAVAILABLE" && message.contains("not yet to all replicas"), "{answer}");
    assert!(backend.writes() < 1_000);
}

#[tokio::test(start_paused = true)]
async fn a_shard_follows_from_the_key_in_every_write() {
    let backend = Backend::new("shards").await;
    backend.ok("mutation { createCandidate(id: \"c\", name: \"C\") { id } }", json!({})).await;
    for voter in 0..30 {
        let cast = "mutation ($v: ID!) { cast(candidateId: \"c\", voterId: $v) { voterId } }";
        backend.ok(cast, json!({ "v": voter.to_string() })).await;
        backend
            .ok(
                "mutation ($v: ID!) { weigh(candidateId: \"c\", voterId: $v, weight: 2) { weight } }",
                json!({ "v": voter.to_string() }),
            )
            .await;
        let answer = backend.run(cast, json!({ "v": voter.to_string() })).await;
        assert_eq!(error(&answer).0, "CONFLICT", "it is looked for where it is");
    }
    let counted =
        backend.ok("{ candidate(id: \"c\") { count } heavyVotes(candidateId: \"c\", weight: 2) }", json!({})).await;
    assert_eq!(counted, json!({ "candidate": { "count": 30 }, "heavyVotes": 30 }));
    let all = backend.ok("mutation { withdrawAll(candidateId: \"c\") { voterId } }", json!({})).await;
    assert_eq!((all["withdrawAll"].as_array().unwrap().len(), backend.items().len()), (30, 1));
}

/// Work on queues: each worker takes the due jobs of its own queue, and together they take all.
#[tokio::test(start_paused = true)]
async fn workers_share_what_is_due() {
    let backend = Backend::new("shards").await;
    for job in 0..12 {
        backend
            .ok(
                "mutation ($j: ID!) { ensure(id: $j, dueAt: \"2026-11-20T09:00:00Z\") { id } }",
                json!({ "j": job.to_string() }),
            )
            .await;
    }
    let mut done = BTreeSet::new();
    for worker in 0..4 {
        let due = backend
            .ok(
                "query ($w: Int!) { dueJobs(until: \"2026-11-20T09:00:00Z\", shard: $w) { id } }",
                json!({ "w": worker }),
            )
            .await;
        for job in due["dueJobs"].as_array().unwrap() {
            assert!(done.insert(job["id"].as_str().unwrap().to_owned()));
            backend
                .ok(
                    "mutation ($j: ID!) { finish(id: $j, expires: \"2026-11-21T09:00:00Z\") { id } }",
                    json!({ "j": job["id"] }),
                )
                .await;
        }
    }
    assert_eq!(done.len(), 12, "what an upsert makes is in the index like what a put makes");
    assert_eq!(
        backend.ok("{ dueJobs(until: \"2027-01-01T00:00:00Z\") { id } }", json!({})).await["dueJobs"],
        json!([])
    );
}

const POSTERS: &str = r#"
    extend schema @table(name: "posters", partitionKey: "PK", sortKey: "SK")
    type Query { poster(id: ID!, replica: ID!): Poster @find }
    type Mutation { remove(id: ID!): Poster @delete }
    type Poster @item(keys: { PK: "POSTER#{id}#{replica:3}", SK: "POSTER" }) { id: ID!  text: String! }"#;

/// A poster that is put between the reads of its replicas stays on all of them, at every moment.
#[tokio::test(start_paused = true)]
async fn a_write_between_the_reads_of_two_copies_is_not_undone() {
    let backend = Backend::of_text(POSTERS).await;
    let missing = Arc::new(Mutex::new(Vec::new()));
    let (seen, is_put) = (missing.clone(), AtomicBool::new(false));
    backend.script(move |call| {
        let s = |text: &str| json!({ "S": text });
        let key = |number| json!({ "PK": s(&format!("POSTER#a#{number}")), "SK": s("POSTER") });
        let put = |number| {
            let mut item = key(number);
            item["text"] = s("t");
            call.table.put("posters", item);
        };
        if is_put.load(Ordering::Relaxed) {
            let get = |number| call.table.apply("GetItem", json!({ "TableName": "posters", "Key": key(number) }));
            let lacks = |number: &i32| !matches!(get(*number), Reply::Body(200, body) if body.contains("text"));
            seen.lock().unwrap().extend((0..3).filter(lacks).map(|number| (call.operation.to_owned(), number)));
        } else if call.operation == "BatchGetItem" {
            is_put.store(true, Ordering::Relaxed);
            [1, 2].into_iter().for_each(put);
            let answer = call.table.apply(call.operation, call.body.clone());
            put(0);
            return Some(answer);
        }
        None
    });
    backend.ok("mutation { remove(id: \"a\") { id } }", json!({})).await;
    assert!(backend.operations().len() > 2, "the replicas are read again: {:?}", backend.operations());
    assert_eq!(*missing.lock().unwrap(), Vec::new());
    assert_eq!(backend.items().len(), 3);
}
