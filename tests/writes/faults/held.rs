//! A write requires what the mutation's `@find` read. If that has changed by the time of the write, it is read again.

use super::backend::{Backend, Call, error, first, is_write};
use crate::scripted::Reply;
use serde_json::{Value, json};

const TABLE: &str = "depot";

async fn depot() -> Backend {
    let backend = Backend::new("depot").await;
    backend
        .ok(
            "mutation { addRepo(name: \"r\", nextNumber: 5) { name } q: addRepo(name: \"q\", nextNumber: 3) { name } }",
            json!({}),
        )
        .await;
    backend.ok("mutation { addVoucher(id: \"v\", code: \"c\", amount: 7) { id } }", json!({})).await;
    backend.ok("mutation { addCard(boardId: \"x\", listId: \"a\", id: \"1\", title: \"t\") { id } }", json!({})).await;
    backend
}

fn recount(number: &'static str) -> impl Fn(&Call<'_>) + Send + Sync + 'static {
    move |call| call.table.update(TABLE, ["REPO#r", "REPO"], "SET nextNumber = :n", json!({ ":n": { "N": number } }))
}

#[tokio::test(start_paused = true)]
async fn a_copied_value_is_the_one_at_the_moment_of_the_write() {
    for (field, selection, answer) in [
        // On an item that the field writes, on one that it only reads, in a condition and in an expression.
        ("openIssue(name: \"r\", title: \"t\")", "{ number }", json!({ "number": 9 })),
        ("copyIssue(name: \"r\", number: 1, otherName: \"q\")", "{ title }", json!({ "title": "next is 9" })),
        ("limitRepo(name: \"r\")", "{ limit nextNumber }", json!({ "limit": 9, "nextNumber": 9 })),
        ("matchRepo(name: \"q\", other: \"r\")", "{ name nextNumber }", json!({ "name": "q", "nextNumber": 9 })),
        ("lookAt(name: \"r\", other: \"q\")", "{ nextNumber }", json!({ "nextNumber": 9 })),
    ] {
        let backend = depot().await;
        backend.script(first(recount("9")));
        let is = backend.ok(&format!("mutation {{ w: {field} {selection} }}"), json!({})).await;
        assert_eq!((&is["w"], backend.writes()), (&answer, 2), "{field}");
    }
    // A condition on the found value is checked against its value at the time of the write.
    for (field, number) in [("lookAt(name: \"r\", other: \"q\")", "1"), ("matchRepo(name: \"q\", other: \"r\")", "2")] {
        let backend = depot().await;
        backend.script(first(recount(number)));
        let is = backend.run(&format!("mutation {{ w: {field} {{ name }} }}"), json!({})).await;
        assert_eq!(error(&is).0, "CONFLICT", "{field}: {is}");
    }
    let backend = depot().await;
    backend.script(first(recount("1")));
    let is = backend.ok("mutation { w: openIssue(name: \"r\", title: \"t\") { number } }", json!({})).await;
    assert_eq!(is["w"]["number"], 1);
}

#[tokio::test(start_paused = true)]
async fn a_number_that_somebody_else_took_is_given_out_once() {
    let backend = depot().await;
    backend.script(first(|call| {
        recount("6")(call);
        let (pk, sk) = (json!({ "S": "REPO#r" }), json!({ "S": "ISSUE#00000005" }));
        call.table.put(TABLE, json!({ "PK": pk, "SK": sk, "title": { "S": "theirs" } }));
    }));
    let is = backend.ok("mutation { w: openIssue(name: \"r\", title: \"ours\") { number title } }", json!({})).await;
    assert_eq!(is["w"], json!({ "number": 6, "title": "ours" }));
    // If the number is taken but the counter has not moved, it is a conflict.
    let backend = depot().await;
    let (pk, sk) = (json!({ "S": "REPO#r" }), json!({ "S": "ISSUE#00000005" }));
    backend.table.put(TABLE, json!({ "PK": pk, "SK": sk, "title": { "S": "theirs" } }));
    let is = backend.run("mutation { w: openIssue(name: \"r\", title: \"ours\") { number title } }", json!({})).await;
    assert_eq!((error(&is).0, error(&is).1), ("CONFLICT", "This Issue already exists."));
}

#[tokio::test(start_paused = true)]
async fn what_is_found_is_there_when_the_write_is_made() {
    for (field, gone) in [
        ("openIssue(name: \"r\", title: \"t\") { number }", ["REPO#r", "REPO"]),
        ("copyIssue(name: \"r\", number: 1, otherName: \"q\") { title }", ["REPO#r", "REPO"]),
        ("moveCard(boardId: \"x\", from: \"a\", to: \"b\", id: \"1\") { title }", ["BOARD#x", "LIST#a#1"]),
        ("redeem(code: \"c\", userId: \"u\") { amount }", ["VOUCHER#v", "VOUCHER"]),
        ("takeOpenVoucher(code: \"c\") { amount }", ["VOUCHER#v", "VOUCHER"]),
        ("peekVoucher(code: \"c\", userId: \"u\") { amount }", ["VOUCHER#v", "VOUCHER"]),
    ] {
        let backend = depot().await;
        let before = backend.items().len();
        backend.script(first(move |call| call.table.delete(TABLE, gone)));
        let is = backend.run(&format!("mutation {{ w: {field} }}"), json!({})).await;
        assert_eq!(error(&is).0, "NOT_FOUND", "{field}: {is}");
        assert_eq!(backend.items().len(), before - 1, "{field}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_item_that_moves_takes_what_came_meanwhile_along() {
    let backend = depot().await;
    backend.script(first(|call| {
        call.table.update(TABLE, ["BOARD#x", "LIST#a#1"], "SET votes = :v", json!({ ":v": { "N": "8" } }))
    }));
    let moving = "mutation { w: moveCard(boardId: \"x\", from: \"a\", to: \"b\", id: \"1\") { listId votes } }";
    assert_eq!(backend.ok(moving, json!({})).await["w"], json!({ "listId": "b", "votes": 8 }));
    assert_eq!(
        backend.ok("{ cards(boardId: \"x\") { listId votes } }", json!({})).await["cards"],
        json!([{ "listId": "b", "votes": 8 }])
    );
}

/// An index that lags behind its table still shows the old item, so the table is read.
#[tokio::test(start_paused = true)]
async fn what_an_index_gave_is_held_by_the_tables_key() {
    let redeem = "mutation { w: redeem(code: \"c\", userId: \"u\") { amount } }";
    let changes: [(&str, Value, Result<i64, &str>); 2] = [
        ("SET amount = :x", json!({ ":x": { "N": "9" } }), Ok(9)),
        ("SET code = :x, CodeKey = :x", json!({ ":x": { "S": "other" } }), Err("NOT_FOUND")),
    ];
    for (expression, values, outcome) in changes {
        let backend = depot().await;
        // The index keeps giving the old item.
        let seen = std::sync::Mutex::new(None);
        backend.script(move |call| {
            if call.operation == "Query" && call.body["IndexName"] == "ByCode" {
                let mut seen = seen.lock().unwrap();
                if seen.is_none() {
                    let Reply::Body(_, body) = call.table.apply(call.operation, call.body.clone()) else {
                        panic!("no answer")
                    };
                    *seen = Some(body);
                }
                return seen.clone().map(|body| Reply::Body(200, body));
            }
            if is_write(call.operation) && call.before == 0 {
                call.table.update(TABLE, ["VOUCHER#v", "VOUCHER"], expression, values.clone());
            }
            None
        });
        let is = backend.run(redeem, json!({})).await;
        match outcome {
            Ok(amount) => assert_eq!(is["data"]["w"]["amount"], amount, "{is}"),
            Err(code) => assert_eq!(error(&is).0, code, "{is}"),
        }
        assert_eq!(backend.writes(), if outcome.is_ok() { 2 } else { 1 });
    }
}

#[tokio::test(start_paused = true)]
async fn a_filter_of_what_was_found_holds_at_the_moment_of_the_write() {
    let take = "mutation { w: takeOpenVoucher(code: \"c\") { id } }";
    let backend = depot().await;
    backend.ok("mutation { addVoucher(id: \"w\", code: \"c\", amount: 1) { id } }", json!({})).await;
    backend.script(first(|call| {
        call.table.update(TABLE, ["VOUCHER#v", "VOUCHER"], "SET taken = :t", json!({ ":t": { "BOOL": true } }))
    }));
    assert_eq!(backend.ok(take, json!({})).await["w"]["id"], "w", "the other one is still free");
    let is = backend.run(take, json!({})).await;
    assert_eq!(error(&is).0, "NOT_FOUND");
    // A write that may have been applied is not repeated: its filter does not hold after it.
    let backend = depot().await;
    backend.script(super::backend::troubled(1, true, || Reply::Reset));
    let is = backend.run(take, json!({})).await;
    assert_eq!((error(&is).0, backend.writes()), ("UNAVAILABLE", 1), "{is}");
}

#[tokio::test(start_paused = true)]
async fn what_was_found_is_what_is_given() {
    let backend = depot().await;
    backend.script(first(|call| {
        call.table.update(TABLE, ["VOUCHER#v", "VOUCHER"], "SET amount = :a", json!({ ":a": { "N": "9" } }))
    }));
    let is = backend.ok("mutation { w: peekVoucher(code: \"c\", userId: \"u\") { amount } }", json!({})).await;
    assert_eq!(is["w"]["amount"], 9);
    let items = backend.items();
    assert!(
        items.iter().any(|item| item.contains("REDEMPTION#v") && item.contains("\"amount\":{\"N\":\"9\"}")),
        "{items:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_move_to_where_the_item_is_is_a_conflict() {
    let backend = depot().await;
    let before = backend.items();
    let is = backend
        .run("mutation { w: moveCard(boardId: \"x\", from: \"a\", to: \"a\", id: \"1\") { id } }", json!({}))
        .await;
    assert_eq!((error(&is).0, error(&is).1), ("CONFLICT", "This Card already exists."));
    assert_eq!(backend.items(), before);
}
