//! Changes of items with fields that services compute: a service is asked for what arrives, and for nothing else.

use crate::scripted::Scripted;
use crate::support;
use futures_util::StreamExt;
use keyfold::execute::gateway::Gateway;
use keyfold::execute::request::{Request, Settings};
use keyfold::execute::watch::hub::Hub;
use keyfold::schema;
use keyfold::table::store::TableStore;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

/// Whoever is signed in sees notes; only members of its room see a letter.
const SCHEMA: &str = r#"
extend schema @table(name: "post", partitionKey: "PK", sortKey: "SK", stream: NEW_AND_OLD_IMAGES) @service(name: "words")

type Note @item(keys: { PK: "NOTES", SK: "NOTE#{id}" }) {
  id: ID!
  text: String!
  word: String @resolve(service: "words", requires: "id text")
}

type Member @item(keys: { PK: "ROOM#{room}", SK: "MEMBER#{sub}" }) {
  room: ID!
  sub: ID!
}

type Letter
  @item(keys: { PK: "ROOM#{room}", SK: "LETTER#{id}" })
  @auth(exists: Member, where: { room: "{room}", sub: "{auth.sub}" }, on: [READ])
  @auth(signedIn: true, on: [WRITE]) {
  room: ID!
  id: ID!
  text: String!
  word: String @resolve(service: "words", requires: "id text")
}

type Query {
  note(id: ID!): Note @find
}

type Mutation {
  putNote(id: ID!, text: String!): Note! @put(replace: true)
  dropNote(id: ID!): Note @delete
  putLetter(room: ID!, id: ID!, text: String!): Letter! @put(replace: true)
  dropLetter(room: ID!, id: ID!): Letter @delete
  join(room: ID!, sub: ID!): Member! @put
}

type Subscription {
  newNotes: Note @watch(on: [INSERT])
  goneNotes: Note @watch(on: [REMOVE])
  changedNotes: Note @watch(on: [MODIFY])
  notes: Note @watch
  newLetters(room: ID!): Letter @watch(on: [INSERT])
  goneLetters(room: ID!): Letter @watch(on: [REMOVE])
}
"#;

fn by_ann(operation: &str) -> Request {
    Request { caller: support::caller(json!({ "sub": "ann" })), ..support::request(operation, json!({})) }
}

/// What a subscription of Ann gives while operations run, up to the change whose text is `last`, and what services get
/// for it.
async fn notified(subscription: &str, operations: &[&str], events: usize) -> (Vec<Value>, Vec<Value>) {
    let services = Scripted::by_item(|_, item| Ok(json!(format!("word of {}", item["text"].as_str().unwrap()))));
    let (model, _) =
        schema::load("post.graphql", SCHEMA, &|_| None).unwrap_or_else(|mistakes| panic!("{}", mistakes.render(false)));
    let store = TableStore::in_memory().unwrap();
    store.create_missing(&model.tables).await.unwrap();
    let settings = Settings { services: Some(Arc::new(services.clone())), ..support::settings() };
    let gateway = Gateway::new(Arc::new(model), store, settings);
    let run = async |operation: &str| {
        let answer = support::run(&gateway, &by_ann(operation), false).await;
        assert_eq!(answer.get("errors"), None, "{operation}: {answer}");
    };
    run(r#"mutation { join(room: "r", sub: "ann") { sub } }"#).await;
    let hub = Hub::new(&gateway);
    let request = by_ann(subscription);
    let prepared = gateway.prepare(&request).await.unwrap_or_else(|errors| panic!("{errors:?}"));
    let mut feed = hub.subscribe(&gateway, prepared, request);
    tokio::select! {
        biased;
        _ = feed.next() => panic!("nothing has changed"),
        () = hub.begun() => {}
    }
    for operation in operations {
        run(operation).await;
    }
    let mut given = Vec::new();
    while given.len() < events {
        let response = timeout(Duration::from_secs(60), feed.next()).await.unwrap().unwrap();
        let body: Value = serde_json::from_slice(&response.body).unwrap();
        assert_eq!(body.get("errors"), None, "{body}");
        given.push(body["data"].as_object().unwrap().values().next().unwrap().clone());
    }
    (given, services.take().into_iter().flat_map(|(_, items)| items).collect())
}

const NOTES: [&str; 4] = [
    r#"mutation { putNote(id: "1", text: "a") { id } }"#,
    r#"mutation { putNote(id: "1", text: "b") { id } }"#,
    r#"mutation { dropNote(id: "1") { id } }"#,
    // The last change of each kind that arrives.
    r#"mutation { a: putNote(id: "2", text: "c") { id } b: putNote(id: "2", text: "d") { id } c: dropNote(id: "2") { id } }"#,
];

#[tokio::test]
async fn a_service_is_asked_for_the_kinds_of_change_that_arrive() {
    let item = |id: &str, text: &str| json!({ "id": id, "text": text });
    let (given, asked) = notified("subscription { newNotes { id word } }", &NOTES, 2).await;
    assert_eq!(given, [json!({ "id": "1", "word": "word of a" }), json!({ "id": "2", "word": "word of c" })]);
    assert_eq!(asked, [item("1", "a"), item("2", "c")]);
    let (given, asked) = notified("subscription { changedNotes { id word } }", &NOTES, 2).await;
    assert_eq!(given[1], json!({ "id": "2", "word": "word of d" }));
    assert_eq!(asked, [item("1", "b"), item("2", "d")]);
    let (given, asked) = notified("subscription { goneNotes { id word } }", &NOTES, 2).await;
    assert_eq!((given, asked), (vec![Value::Null, Value::Null], vec![]));
    let (_, asked) = notified("subscription { notes { id word } }", &NOTES, 6).await;
    assert_eq!(asked.len(), 4);
}

#[tokio::test]
async fn what_a_rule_looks_up_decides_the_kind_before_a_service_is_asked() {
    let put =
        |id: &str, text: &str| format!(r#"mutation {{ putLetter(room: "r", id: "{id}", text: "{text}") {{ id }} }}"#);
    let operations = [put("1", "a"), put("1", "b"), put("2", "c")];
    let operations: Vec<&str> = operations.iter().map(String::as_str).collect();
    let query = r#"subscription { newLetters(room: "r") { id word } }"#;
    let (given, asked) = notified(query, &operations, 2).await;
    assert_eq!(given, [json!({ "id": "1", "word": "word of a" }), json!({ "id": "2", "word": "word of c" })]);
    assert_eq!(asked, [json!({ "id": "1", "text": "a" }), json!({ "id": "2", "text": "c" })]);
}
