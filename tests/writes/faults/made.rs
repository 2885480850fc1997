//! What `set:` says without names: literals in the form of the field's type, and words. They are made once for an
//! action and for each element of a list, whatever number of attempts there is.

use super::backend::{Backend, error, troubled};
use crate::scripted::Reply;
use serde_json::{Value, json};
use std::collections::HashSet;

const DESK: &str = r#"extend schema @table(name: "desk", partitionKey: "PK", sortKey: "SK")
type Query { task(id: ID!): Task @find }
type Mutation {
  open(id: ID!, now: String, place: PlaceInput): Task!
    @put(set: { rank: 5, share: "0.5", done: false, state: OPEN, tags: "[]", due: "2027-01-01", note: "{now}" })
  openAll(ids: [ID!]!): [Task!]! @put(each: "ids", set: { id: "{each}", code: "{uuid}", at: "{now+1d}", rank: "-5" })
  ring(id: ID!): Task @update(set: { rank: 0, done: "true", at: "{now}", note: "by {auth.sub} at {now}", place: "{}" })
  ringMore(id: ID!, by: Int!): Task @update(set: { at: "{now}" }, expression: "ADD rank :by")
  ensure(id: ID!): Task @update(upsert: true, set: { code: "{uuid7}", rank: 9 })
  step(id: ID!, text: String!): Task @put(item: Task, at: "steps", set: { at: "{now}", count: 1 })
  over(id: ID!): Task @update(set: { rank: 11 })
}
type Task @item(keys: { PK: "TASK#{id}", SK: "TASK" }) {
  id: ID! code: String! @default(value: "none") rank: Int! @constraint(max: 10) share: Float done: Boolean! @default(value: "false")
  state: State! @default(value: "DONE") tags: [String!]! due: Date at: DateTime note: String
  place: Place! @default(value: "{}") steps: [Step!]!
}
type Place { street: String! @default(value: "Main Street") box: Int rooms: Rooms! @default(value: "{}") }
type Rooms { count: Int! @default(value: "1") names: [String!]! }
type Step { text: String! at: DateTime! count: Int! }
enum State { OPEN DONE }
input PlaceInput { street: String box: Int }
"#;

const TASK: &str = "{ id code rank share done state tags due at note place { street box rooms { count names } } steps { text at count } }";

async fn run(backend: &Backend, field: &str) -> Value {
    let answer = backend.ok(&format!("mutation {{ {field} {TASK} }}"), json!({})).await;
    let made = answer.as_object().and_then(|answer| answer.values().next()).cloned().unwrap_or_default();
    let id = if made.is_array() { made[0]["id"].clone() } else { made["id"].clone() };
    let read = backend.ok(&format!("query ($id: ID!) {{ task(id: $id) {TASK} }}"), json!({ "id": id })).await;
    assert_eq!(
        read["task"],
        if made.is_array() { made[0].clone() } else { made.clone() },
        "what comes back is what is stored"
    );
    made
}

#[tokio::test(start_paused = true)]
async fn literals_have_the_type_of_their_field_and_words_are_made() {
    let backend = Backend::of_text(DESK).await;
    let made = run(&backend, r#"open(id: "a")"#).await;
    let place = json!({ "street": "Main Street", "box": null, "rooms": { "count": 1, "names": [] } });
    let expected = json!({ "id": "a", "code": "none", "rank": 5, "share": 0.5, "done": false, "state": "OPEN", "tags": [], "due": "2027-01-01",
        "at": null, "note": null, "place": place, "steps": [] });
    assert_eq!(made, expected, "an argument `now`, which is not given, comes before the word");
    let given = run(&backend, r#"open(id: "b", now: "soon", place: { box: 3 })"#).await;
    assert_eq!(given["note"], "soon");
    assert_eq!(given["place"], json!({ "street": "Main Street", "box": 3, "rooms": { "count": 1, "names": [] } }));
}

#[tokio::test(start_paused = true)]
async fn each_element_has_its_own_words_and_all_attempts_the_same() {
    let backend = Backend::of_text(DESK).await;
    backend.script(troubled(1, true, || Reply::Reset));
    let made = run(&backend, r#"openAll(ids: ["a", "b", "c"])"#).await;
    let codes: HashSet<&str> = made.as_array().into_iter().flatten().filter_map(|task| task["code"].as_str()).collect();
    assert_eq!(codes.len(), 3, "{made}");
    assert!(made.as_array().is_some_and(|all| {
        all.iter().all(|task| task["rank"] == -5 && task["at"].as_str().is_some_and(|at| at.ends_with('Z')))
    }));
}

#[tokio::test(start_paused = true)]
async fn an_update_writes_literals_and_words_beside_an_expression_too() {
    let backend = Backend::of_text(DESK).await;
    run(&backend, r#"open(id: "a", place: { street: "Low Road", box: 3 })"#).await;
    let rung = run(&backend, r#"ring(id: "a")"#).await;
    assert_eq!((&rung["rank"], &rung["done"], &rung["place"]["box"]), (&json!(0), &json!(true), &Value::Null));
    assert_eq!(rung["place"]["street"], "Main Street");
    let more = run(&backend, r#"ringMore(id: "a", by: 4)"#).await;
    assert_eq!(more["rank"], 4);
    let made = run(&backend, r#"ensure(id: "new")"#).await;
    assert_eq!((&made["rank"], made["code"].as_str().map(str::len)), (&json!(9), Some(36)));
    let stepped = run(&backend, r#"step(id: "a", text: "go")"#).await;
    assert_eq!((&stepped["steps"][0]["count"], stepped["steps"][0]["at"].is_string()), (&json!(1), true));
}

#[tokio::test(start_paused = true)]
async fn a_literal_keeps_the_constraint_of_its_field() {
    let backend = Backend::of_text(DESK).await;
    run(&backend, r#"open(id: "a")"#).await;
    let refused = backend.run(r#"mutation { over(id: "a") { rank } }"#, json!({})).await;
    assert_eq!(error(&refused).0, "BAD_USER_INPUT");
}
