//! Shards that another program assigns: a write finds its item in any shard and writes it there, also if the other
//! program moves it meanwhile.

use super::backend::{Backend, Call, error, is_write};
use crate::scripted::Reply;
use serde_json::{Value, json};

const SCHEMA: &str = r#"
extend schema @table(name: "things", partitionKey: "PK", sortKey: "SK", indexes: [{ name: "queue", partitionKey: "QPK", sortKey: "QSK" }])
type Entry @item(keys: { PK: "E#{account}#{shard:01..03}", SK: "{number}", QPK: "{state}#{shard:01..03}", QSK: "{number}" }) {
  account: ID! number: ID! state: String cents: Int
  parts: [Part!]!
}
type Part { id: ID! text: String }
type Task @item(keys: { PK: "T#{id}", SK: "T", QPK: "TASKS#{state}#{shard:01..03}", QSK: "{id}" }) { id: ID! state: String note: String }
type Query { entry(account: ID!, number: ID!): Entry @find queue(state: String!, shard: Int): [Entry!]! @find tasks(state: String!, shard: Int): [Task!]! @find }
input PartInput { id: ID! text: String }
type Mutation {
  setCents(account: ID!, number: ID!, cents: Int): Entry @update
  setState(account: ID!, number: ID!, state: String): Entry @update
  addCents(account: ID!, number: ID!, by: Int!): Entry @update(expression: "ADD cents :by")
  remove(account: ID!, number: ID!): Entry @delete
  removeIf(account: ID!, number: ID!): Entry @delete(if: "cents > 0")
  add(account: ID!, number: ID!, part: PartInput!): Entry @put(at: "parts")
  drop(account: ID!, number: ID!, part: ID!): Entry @delete(at: "parts[id = :part]")
  copy(account: ID!, number: ID!, id: ID!, shard: Int!): Task @check(item: Entry, if: "cents <> 0", where: { shard: null }) @put
  take(account: ID!, number: ID!, id: ID!, place: Int!): Boolean @delete(item: Entry) @put(item: Task, set: { id: "{id}", shard: "{place}" })
  pass(id: ID!, state: String): Task @update
}
"#;

/// A backend with one entry in the second shard.
async fn backend() -> Backend {
    let backend = Backend::of_text(SCHEMA).await;
    backend.table.put("things", entry("02", 5));
    backend
}

fn entry(shard: &str, cents: i64) -> Value {
    let s = |text: String| json!({ "S": text });
    json!({
        "PK": s(format!("E#cash#{shard}")), "SK": s("n".to_owned()),
        "QPK": s(format!("new#{shard}")), "QSK": s("n".to_owned()),
        "cents": { "N": cents.to_string() }, "parts": { "L": [{ "M": { "id": { "S": "p" } } }] }
    })
}

/// A script in which the other program moves the entry to the third shard before the first write.
fn moves(call: &Call<'_>) -> Option<Reply> {
    if is_write(call.operation) && call.before == 0 {
        call.table.delete("things", ["E#cash#02", "n"]);
        call.table.put("things", entry("03", 6));
    }
    None
}

/// Each write of one entry.
const WRITES: [&str; 9] = [
    "setCents(account: \"cash\", number: \"n\", cents: 9) { cents }",
    "setState(account: \"cash\", number: \"n\", state: \"old\") { state }",
    "addCents(account: \"cash\", number: \"n\", by: 1) { cents }",
    "remove(account: \"cash\", number: \"n\") { cents }",
    "removeIf(account: \"cash\", number: \"n\") { cents }",
    "add(account: \"cash\", number: \"n\", part: { id: \"q\" }) { parts { id } }",
    "drop(account: \"cash\", number: \"n\", part: \"p\") { parts { id } }",
    "copy(account: \"cash\", number: \"n\", id: \"t\", shard: 1) { id }",
    "take(account: \"cash\", number: \"n\", id: \"t\", place: 1)",
];

#[tokio::test(start_paused = true)]
async fn an_item_that_moves_to_another_shard_is_followed() {
    for write in WRITES {
        let backend = backend().await;
        backend.script(moves);
        let answer = backend.ok(&format!("mutation {{ r: {write} }}"), json!({})).await;
        assert!(!answer["r"].is_null(), "{write}: {answer}");
        assert_eq!(backend.writes(), 2, "{write}: the first found nothing");
        let items = backend.items();
        assert!(!items.iter().any(|item| item.contains("#02")), "{write}: nothing is made anew: {items:?}");
        let gone = write.starts_with("remove") || write.starts_with("take");
        assert_eq!(items.iter().any(|item| item.contains("E#cash#03")), !gone, "{write}: {items:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_item_that_is_deleted_meanwhile_is_missing() {
    for write in WRITES {
        let backend = backend().await;
        backend.script(|call| {
            if is_write(call.operation) && call.before == 0 {
                call.table.delete("things", ["E#cash#02", "n"]);
            }
            None
        });
        let answer = backend.run(&format!("mutation {{ r: {write} }}"), json!({})).await;
        match write.starts_with("remove(") {
            true => assert_eq!(answer["data"]["r"], Value::Null, "{write}: {answer}"),
            false => assert_eq!(error(&answer).0, "NOT_FOUND", "{write}"),
        }
        assert_eq!(backend.items(), Vec::<String>::new(), "{write}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_missing_item_and_one_in_two_shards_are_refused() {
    for write in WRITES {
        let backend = backend().await;
        backend.table.delete("things", ["E#cash#02", "n"]);
        let answer = backend.run(&format!("mutation {{ r: {write} }}"), json!({})).await;
        match write.starts_with("remove(") {
            true => assert_eq!(answer["data"]["r"], Value::Null, "{write}: {answer}"),
            false => assert_eq!(error(&answer).0, "NOT_FOUND", "{write}"),
        }
        backend.table.put("things", entry("01", 1));
        backend.table.put("things", entry("03", 3));
        let before = backend.items();
        let answer = backend.run(&format!("mutation {{ r: {write} }}"), json!({})).await;
        assert_eq!(error(&answer).0, "BAD_USER_INPUT", "{write}");
        assert_eq!(backend.items(), before, "{write}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_item_keeps_its_number_in_the_keys_of_indexes() {
    let backend = backend().await;
    let state =
        |state: &str| format!("mutation {{ setState(account: \"cash\", number: \"n\", state: {state}) {{ state }} }}");
    let found = |state: &str, shard: u8| format!("{{ queue(state: \"{state}\", shard: {shard}) {{ number }} }}");
    backend.ok(&state("\"old\""), json!({})).await;
    assert_eq!(backend.ok(&found("old", 2), json!({})).await["queue"], json!([{ "number": "n" }]));
    // The primary key tells the number of an item that comes back.
    backend.ok(&state("null"), json!({})).await;
    assert_eq!(backend.ok(&found("old", 2), json!({})).await["queue"], json!([]));
    backend.ok(&state("\"back\""), json!({})).await;
    assert_eq!(backend.ok(&found("back", 2), json!({})).await["queue"], json!([{ "number": "n" }]));
}

#[tokio::test(start_paused = true)]
async fn a_number_that_only_an_index_has_is_held() {
    let s = |text: &str| json!({ "S": text });
    let task =
        move |queue: &str| json!({ "PK": s("T#t"), "SK": s("T"), "QPK": s(&format!("TASKS#{queue}")), "QSK": s("t") });
    let pass = |state: &str| format!("mutation {{ pass(id: \"t\", state: {state}) {{ state }} }}");
    let tasks = |state: &str, shard: u8| format!("{{ tasks(state: \"{state}\", shard: {shard}) {{ id }} }}");
    let backend = backend().await;
    backend.table.put("things", task("new#03"));
    // Another program changes the number between the read and the write.
    backend.script(move |call| {
        if is_write(call.operation) && call.before == 0 {
            call.table.put("things", task("new#01"));
        }
        None
    });
    backend.ok(&pass("\"old\""), json!({})).await;
    assert_eq!(backend.writes(), 2, "the first held the number that it had read");
    assert_eq!(backend.ok(&tasks("old", 1), json!({})).await["tasks"], json!([{ "id": "t" }]));
    backend.calm();
    // An item that has left the index has lost its number.
    backend.ok(&pass("null"), json!({})).await;
    let before = backend.items();
    let answer = backend.run(&pass("\"old\""), json!({})).await;
    let (code, message, _) = error(&answer);
    assert_eq!(code, "CONFLICT");
    assert_eq!(message, "The program that assigns shards has given this Task none, so it cannot be in this index.");
    assert_eq!(backend.items(), before);
}
