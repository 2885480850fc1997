//! What `set:` says without names: literals in the form of the field's type, and words. They are made once for an
//! action and for each element of a list, whatever number of attempts there is.

use super::backend::{Backend, error, first, troubled};
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

/// Types of fields, each with how it is stored.
const TYPES: [&str; 23] = [
    "ID",
    "String",
    "Int",
    "Float",
    "Boolean",
    "Long",
    "Decimal",
    "DateTime",
    "Date",
    "LocalDateTime",
    "JSON",
    "State",
    "[String!]",
    "Int @attribute(type: S)",
    "Boolean @attribute(type: S)",
    "Boolean @attribute(type: N)",
    "ID @attribute(type: N)",
    "DateTime @attribute(stored: EPOCH_SECONDS)",
    "Date @attribute(form: \"%d/%m/%Y\")",
    "AWSDateTime",
    "AWSTimestamp",
    "AWSEmail",
    "AWSJSON",
];

const TEXTS: [&str; 13] = [
    "0",
    "-7",
    "1.5",
    "true",
    "x",
    "OPEN",
    "[]",
    "2027-01-01",
    "2027-01-01T00:00:00Z",
    "2027-01-01T00:00:00",
    "a@b.example",
    "{now}",
    "{uuid}",
];

/// A schema whose field of a type is written with each of the texts: by default, or by `set:`.
fn with_texts(ty: &str, texts: &[&str], by_default: bool) -> String {
    let field = |(number, text): (usize, &&str)| {
        let (bare, options) = ty.split_once(' ').unwrap_or((ty, ""));
        let default = if by_default { format!("@default(value: {text:?})") } else { String::new() };
        format!("  f{number}: {bare} {options} {default}\n")
    };
    let fields: String = texts.iter().enumerate().map(field).collect();
    let set: Vec<String> = texts.iter().enumerate().map(|(number, text)| format!("f{number}: {text:?}")).collect();
    let set = if by_default { String::new() } else { format!("(set: {{ {} }})", set.join(", ")) };
    format!(
        "extend schema @table(name: \"texts\", partitionKey: \"PK\")\ntype Query {{ one(id: ID!): One @find }}\n\
         type Mutation {{ put(id: ID!): One! @put{set} }}\nenum State {{ OPEN DONE }}\n\
         type One @item(keys: {{ PK: \"{{id}}\" }}) {{\n  id: ID!\n{fields}}}\n"
    )
}

#[tokio::test(start_paused = true)]
async fn whatever_text_a_schema_may_have_is_written() {
    let mut tried = 0;
    for ty in TYPES {
        for by_default in [true, false] {
            let loads =
                |text: &&str| keyfold::schema::load("s", &with_texts(ty, &[text], by_default), &|_| None).is_ok();
            let texts: Vec<&str> = TEXTS.into_iter().filter(|text| loads(text)).collect();
            assert!(!texts.is_empty(), "{ty}");
            let backend = Backend::of_text(&with_texts(ty, &texts, by_default)).await;
            let names: Vec<String> = (0..texts.len()).map(|number| format!("f{number}")).collect();
            let made = backend.ok(&format!("mutation {{ put(id: \"a\") {{ {} }} }}", names.join(" ")), json!({})).await;
            for (name, text) in names.iter().zip(&texts) {
                assert!(!made["put"][name].is_null(), "{text:?} of {ty}, by default: {by_default}");
            }
            tried += texts.len();
        }
    }
    assert!(tried > 130, "{tried}");
}

const COPIES: &str = r#"extend schema @table(name: "copies", partitionKey: "PK", sortKey: "SK")
type Query { copy(id: ID!): Copy @find }
type Mutation {
  draw(id: ID!, number: Int!, place: PlaceInput!): Source! @put(replace: true)
  begin(id: ID!): Copy! @put
  copy(sourceId: ID!, id: ID!): Copy
    @find(item: Source)
    @update(item: Copy, where: { id: "{id}" }, set: { number: "{Source.number}", place: "{Source.place}" })
}
type Source @item(keys: { PK: "SOURCE#{id}", SK: "SOURCE" }) { id: ID! number: Int! place: Place! }
type Copy @item(keys: { PK: "COPY#{id}", SK: "COPY" }) { id: ID! number: Int place: Place }
type Place { box: Int label: String! @default(value: "Box {box}") }
input PlaceInput { box: Int }
"#;

#[tokio::test(start_paused = true)]
async fn a_copied_object_is_the_one_at_the_moment_of_the_write() {
    let backend = Backend::of_text(COPIES).await;
    let draw =
        |number: i32| format!(r#"mutation {{ draw(id: "s", number: {number}, place: {{ box: {number} }}) {{ id }} }}"#);
    backend.ok(&draw(1), json!({})).await;
    backend.ok(r#"mutation { begin(id: "c") { id } }"#, json!({})).await;
    backend.calm();
    backend.script(first(|call| {
        let place = json!({ "M": { "box": { "N": "2" }, "label": { "S": "Box 2" } } });
        let values = json!({ ":n": { "N": "2" }, ":p": place });
        call.table.update("copies", ["SOURCE#s", "SOURCE"], "SET #number = :n, #place = :p", values);
    }));
    let copied =
        backend.ok(r#"mutation { copy(sourceId: "s", id: "c") { number place { box label } } }"#, json!({})).await;
    assert_eq!(copied["copy"], json!({ "number": 2, "place": { "box": 2, "label": "Box 2" } }));
}

#[tokio::test(start_paused = true)]
async fn a_given_object_whose_default_is_made_of_null_is_refused() {
    let backend = Backend::of_text(COPIES).await;
    let refused = backend.run(r#"mutation { draw(id: "s", number: 1, place: {}) { id } }"#, json!({})).await;
    let (code, message, _) = error(&refused);
    assert_eq!(
        (code, message),
        ("BAD_USER_INPUT", "Place.label must not be null, but its default uses a field that is null.")
    );
    assert_eq!(backend.writes(), 0);
}
