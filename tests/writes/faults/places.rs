//! A field is read wherever the item has it: in its own attribute, in the primary key, in the key of an index, or in an
//! attribute of its name. Every way to an item reads the same, and so does every write.

use super::backend::Backend;
use serde_json::{Value, json};

const SCHEMA: &str = r#"
extend schema @table(name: "tasks", partitionKey: "PK", sortKey: "SK", indexes: [
  { name: "byStatus", partitionKey: "status", sortKey: "SK" }
  { name: "byOwner", partitionKey: "OwnerKey", sortKey: "DueKey" }
  { name: "byTeam", partitionKey: "TeamKey", sortKey: "SK" }
])
enum Status { OPEN DONE }
type Task @item(keys: { PK: "TASK#{id}", SK: "TASK", status: "{state}", OwnerKey: "OWNER#{owner}", DueKey: "{due}#{rank:03}", TeamKey: "TEAM#{team}" }) {
  id: ID! @attribute(name: "taskId")
  state: Status
  owner: String
  due: Date
  rank: Int
  team: ID!
  note: String
  line: String @default(value: "{state}/{due}/{rank}", on: WRITE)
}
type Query {
  task(id: ID!): Task @find
  ofStatus(state: Status!): [Task!]! @find
  ofOwner(owner: String!): [Task!]! @find
  ofTeam(team: ID!): [Task!]! @find
}
type Mutation {
  setNote(id: ID!, note: String): Task @update
  setRank(id: ID!, rank: Int): Task @update
  setDue(id: ID!, due: Date): Task @update
  setOwner(id: ID!, owner: String): Task @update
  setTeam(id: ID!, team: ID!): Task @update
  clearOwner(id: ID!): Task @update(expression: "REMOVE owner")
  copy(id: ID!, newId: ID!): Task
    @find(item: Task) @put(set: { id: "{newId}", state: "{Task.state}", owner: "{Task.owner}", due: "{Task.due}", rank: "{Task.rank}", team: "{Task.team}" })
}
"#;

const FIELDS: &str = "id state owner due rank team";

async fn task(item: Value) -> Backend {
    let backend = Backend::of_text(SCHEMA).await;
    let mut whole = json!({ "PK": { "S": "TASK#1" }, "SK": { "S": "TASK" }, "TeamKey": { "S": "TEAM#t" } });
    whole.as_object_mut().unwrap().extend(item.as_object().unwrap().clone());
    backend.table.put("tasks", whole);
    backend
}

/// What a Get gives. Each index that has the item must give the same.
async fn read(backend: &Backend, indexes: &[&str]) -> Value {
    let get = backend.ok(&format!("{{ task(id: \"1\") {{ {FIELDS} }} }}"), json!({})).await["task"].clone();
    for index in indexes {
        let list = backend.ok(&format!("{{ list: {index} {{ {FIELDS} }} }}"), json!({})).await;
        assert_eq!(list["list"], json!([get]), "{index}");
    }
    get
}

#[tokio::test(start_paused = true)]
async fn a_field_is_read_wherever_the_item_has_it() {
    let (open, owner, team) = ("ofStatus(state: OPEN)", "ofOwner(owner: \"ann\")", "ofTeam(team: \"t\")");
    let s = |text: &str| json!({ "S": text });
    let nothing = json!({ "id": "1", "state": null, "owner": null, "due": null, "rank": null, "team": "t" });
    let with = |fields: Value| {
        let mut all = nothing.clone();
        all.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        all
    };
    for (item, indexes, fields) in [
        (json!({}), vec![team], json!({})),
        // Only in the keys of indexes.
        (json!({ "status": s("OPEN") }), vec![team, open], json!({ "state": "OPEN" })),
        (
            json!({ "OwnerKey": s("OWNER#ann"), "DueKey": s("2026-11-20#003") }),
            vec![team, owner],
            json!({ "owner": "ann", "due": "2026-11-20", "rank": 3 }),
        ),
        // Their own attribute goes before the key of an index, and null does not.
        (
            json!({ "DueKey": s("2026-11-20#003"), "due": { "NULL": true }, "rank": { "N": "4" } }),
            vec![team],
            json!({ "due": "2026-11-20", "rank": 4 }),
        ),
        // The primary key is the identity.
        (json!({ "taskId": s("other") }), vec![team], json!({})),
        // The key of an index that others made in their way is no value of a field with an attribute of its own.
        (json!({ "DueKey": s("soon") }), vec![team], json!({})),
        // An attribute of the field's name, in an item that is older than the index.
        (json!({ "team": s("old"), "TeamKey": s("TEAM#t") }), vec![team], json!({})),
        (json!({ "state": s("DONE") }), vec![team], json!({ "state": "DONE" })),
        (json!({ "state": s("DONE"), "status": s("OPEN") }), vec![team, open], json!({ "state": "OPEN" })),
        (json!({ "owner": s("ann") }), vec![team], json!({ "owner": "ann" })),
    ] {
        let backend = task(item.clone()).await;
        assert_eq!(read(&backend, &indexes).await, with(fields.clone()), "{item}");
        let copied = backend
            .ok(&format!("mutation {{ copy(id: \"1\", newId: \"2\") {{ {FIELDS} }} }}"), json!({}))
            .await["copy"]
            .clone();
        let mut expected = with(fields);
        expected["id"] = json!("2");
        assert_eq!(copied, expected, "{item}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_field_only_in_a_key_is_read_in_items_that_are_older_than_the_key() {
    let s = |text: &str| json!({ "S": text });
    let backend = task(json!({})).await;
    backend.table.put("tasks", json!({ "PK": s("TASK#1"), "SK": s("TASK"), "team": s("old") }));
    assert_eq!(read(&backend, &[]).await["team"], "old");
    // The key of a later write goes before it.
    let set = backend.ok("mutation { setTeam(id: \"1\", team: \"new\") { team } }", json!({})).await;
    assert_eq!(set["setTeam"]["team"], "new");
    assert_eq!(read(&backend, &["ofTeam(team: \"new\")"]).await["team"], "new");
    // A key that no template makes is unreadable, where nothing else determines the field.
    backend.table.put("tasks", json!({ "PK": s("TASK#1"), "SK": s("TASK"), "TeamKey": s("CLUB#1") }));
    let answer = backend.run("{ task(id: \"1\") { team } }", json!({})).await;
    assert_eq!(answer["errors"][0]["message"], "The stored value does not fit the type ID!.");
    let before = backend.items();
    let answer = backend.run("mutation { copy(id: \"1\", newId: \"2\") { id } }", json!({})).await;
    assert_eq!(answer["errors"][0]["message"], "The stored value of Task.team does not fit the type ID!.");
    assert_eq!(before, backend.items());
}

#[tokio::test(start_paused = true)]
async fn what_a_write_makes_of_a_field_it_takes_from_where_the_item_has_it() {
    let s = |text: &str| json!({ "S": text });
    let backend = task(json!({ "status": s("OPEN"), "DueKey": s("2026-11-20#003"), "OwnerKey": s("OWNER#ann") })).await;
    let is = backend.ok("mutation { setRank(id: \"1\", rank: 4) { rank due line } }", json!({})).await;
    assert_eq!(is["setRank"], json!({ "rank": 4, "due": "2026-11-20", "line": "OPEN/2026-11-20/4" }));
    assert_eq!(read(&backend, &["ofOwner(owner: \"ann\")", "ofStatus(state: OPEN)"]).await["rank"], 4);
    // What is set to null is null, wherever else the item has it.
    let backend = task(json!({ "owner": s("old"), "OwnerKey": s("OWNER#ann"), "DueKey": s("2026-11-20#003") })).await;
    for clear in ["setOwner(id: \"1\", owner: null) { owner }", "clearOwner(id: \"1\") { owner }"] {
        let is = backend.ok(&format!("mutation {{ w: {clear} }}"), json!({})).await;
        assert_eq!(is["w"]["owner"], Value::Null, "{clear}");
        assert_eq!(read(&backend, &[]).await["owner"], Value::Null, "{clear}");
    }
}

/// Another writer may change any place that gave the value.
#[tokio::test(start_paused = true)]
async fn what_gave_a_value_is_a_condition_of_the_write() {
    let s = |text: &str| json!({ "S": text });
    let backend = task(json!({ "DueKey": s("2026-11-20#003"), "OwnerKey": s("OWNER#ann") })).await;
    backend.script(|call| {
        if call.operation == "UpdateItem" && call.before == 0 {
            call.table.update(
                "tasks",
                ["TASK#1", "TASK"],
                "SET DueKey = :k",
                json!({ ":k": { "S": "2026-11-21#003" } }),
            );
        }
        None
    });
    let is = backend.ok("mutation { setRank(id: \"1\", rank: 4) { due } }", json!({})).await;
    assert_eq!((&is["setRank"]["due"], backend.writes()), (&json!("2026-11-21"), 2));
}
