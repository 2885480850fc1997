//! What a write reads first: nothing that it does not use, and what it uses by as few calls as possible.

use super::backend::{Backend, USER, error};
use serde_json::{Value, json};

const CLUBS: &str = r#"extend schema @table(name: "clubs", partitionKey: "PK", sortKey: "SK", indexes: [
  { name: "all", partitionKey: "kind", sortKey: "place" } { name: "byOwner", partitionKey: "owner" }])
type Query {
  club(id: ID!): Club @find
  clubs: [Club!]! @find(index: "all")
  room(clubId: ID!, id: ID!): Room @find
}
type Mutation {
  join(clubId: ID!): Boolean! @put(item: Member, set: { userId: "{auth.sub}" })
  setClub(id: ID!, name: String): Club @update(upsert: true)
  open(clubId: ID!, id: ID!, ownerId: ID!, text: String): Room! @put
  swap(clubId: ID!, oldId: ID!, id: ID!, ownerId: ID!): Room!
    @delete(item: Room, where: { id: "{oldId}" })
    @put(item: Room)
  closeAll(clubId: ID!, ids: [ID!]!, done: ID!): Boolean!
    @delete(item: Room, each: "ids", where: { clubId: "{clubId}", id: "{each}" })
    @put(item: Club, set: { id: "{done}" })
  name(clubId: ID!, id: ID!, name: String!): Room @update
  nameOwn(names: [NameInput!]!): Boolean! @update(item: Desk, each: "names")
  closeClub(id: ID!): Boolean! @delete(item: Club, cascade: ["rooms", "rooms.seats", "members"])
}
type Club @item(keys: { PK: "CLUB#{id}", SK: "CLUB", kind: "CLUBS", place: "{id}" }) @auth(signedIn: true) {
  id: ID!
  name: String
  rooms: [Room!]! @find
  members: [Member!]! @find
}
type Member @item(keys: { PK: "CLUB#{clubId}", SK: "MEMBER#{userId}" }) @auth(signedIn: true) { clubId: ID! userId: ID! }
type Room @item(keys: { PK: "CLUB#{clubId}", SK: "ROOM#{id}", owner: "{ownerId}" })
  @auth(if: "ownerId = :auth.sub") @auth(exists: Member, where: { userId: "{auth.sub}", clubId: "{clubId}" }) {
  clubId: ID! id: ID! ownerId: ID! text: String name: String @unique
  seats: [Seat!]! @find @auth(signedIn: true)
}
type Seat @item(keys: { PK: "SEATS#{roomId}#{userId}", SK: "SEAT", owner: "ROOM#{roomId}" }) @auth(signedIn: true) {
  roomId: ID! userId: ID!
}
type Desk @item(keys: { PK: "DESK#{clubId}#{userId}", SK: "DESK" })
  @auth(if: "userId = :auth.sub") @auth(exists: Member, where: { userId: "{auth.sub}", clubId: "{clubId}" }) {
  clubId: ID! userId: ID! name: String
}
input NameInput { clubId: ID! userId: ID! name: String }
"#;

async fn clubs(mutations: &[&str]) -> Backend {
    let backend = Backend::ruled(CLUBS).await;
    for mutation in mutations {
        backend.ok(&format!("mutation {{ {mutation} }}"), json!({})).await;
    }
    backend.calm();
    backend
}

#[tokio::test(start_paused = true)]
async fn an_upsert_whose_index_keys_follow_from_its_key_reads_nothing() {
    let backend = clubs(&[]).await;
    backend.ok(r#"mutation { setClub(id: "a", name: "A") { id name } }"#, json!({})).await;
    backend.ok(r#"mutation { setClub(id: "a", name: "B") { id name } }"#, json!({})).await;
    assert_eq!(backend.operations(), ["UpdateItem", "UpdateItem"]);
    let all = backend.ok("{ clubs { id name } }", json!({})).await;
    assert_eq!(all["clubs"], json!([{ "id": "a", "name": "B" }]));
    // What another program has given an item stays, as after an update that reads it.
    let own =
        json!({ "PK": { "S": "CLUB#b" }, "SK": { "S": "CLUB" }, "kind": { "S": "CLOSED" }, "place": { "S": "b" } });
    backend.table.put("clubs", own);
    backend.ok(r#"mutation { setClub(id: "b", name: "B") { name } }"#, json!({})).await;
    assert!(backend.items().iter().any(|item| item.contains("CLOSED")), "{:?}", backend.items());
}

#[tokio::test(start_paused = true)]
async fn a_delete_beside_others_of_which_nothing_is_used_reads_nothing() {
    // A room has a unique field, so it is read for its guard.
    let (join, open) = (r#"join(clubId: "c")"#, r#"open(clubId: "c", id: "r", ownerId: "x") { id }"#);
    let backend = clubs(&[join, open]).await;
    backend.ok(r#"mutation { swap(clubId: "c", oldId: "r", id: "s", ownerId: "x") { clubId } }"#, json!({})).await;
    assert_eq!(backend.operations()[..2], ["BatchGetItem", "TransactWriteItems"], "{:?}", backend.operations());
    let seats = Backend::of_text(
        r#"extend schema @table(name: "seats", partitionKey: "PK", sortKey: "SK")
        type Query { seat(id: ID!): Seat @find }
        type Mutation {
          take(id: ID!): Seat! @put
          change(from: ID!, to: ID!): Seat! @delete(item: Seat, where: { id: "{from}" }) @put(item: Seat, set: { id: "{to}" })
          leave(ids: [ID!]!, done: ID!): Boolean! @delete(item: Seat, each: "ids", where: { id: "{each}" }) @put(item: Note, set: { id: "{done}" })
        }
        type Seat @item(keys: { PK: "SEAT#{id}", SK: "SEAT" }) { id: ID! }
        type Note @item(keys: { PK: "NOTE#{id}", SK: "NOTE" }) { id: ID! }"#,
    )
    .await;
    for id in ["a", "b", "c"] {
        seats.ok("mutation ($i: ID!) { take(id: $i) { id } }", json!({ "i": id })).await;
    }
    seats.calm();
    seats.ok(r#"mutation { leave(ids: ["a", "b"], done: "n") }"#, json!({})).await;
    assert_eq!(seats.operations(), ["TransactWriteItems"]);
    let before = seats.items();
    let refused = seats.run(r#"mutation { leave(ids: ["a", "c", "b"], done: "m") }"#, json!({})).await;
    assert_eq!(error(&refused).0, "NOT_FOUND", "{refused}");
    assert_eq!(refused["errors"][0]["extensions"]["elements"], json!([0, 2]), "{refused}");
    assert_eq!(seats.items(), before);
}

#[tokio::test(start_paused = true)]
async fn an_item_and_what_its_rules_look_up_are_read_by_one_call() {
    let (join, open) = (r#"join(clubId: "c")"#, r#"open(clubId: "c", id: "r", ownerId: "x") { id }"#);
    let backend = clubs(&[join, open]).await;
    backend.ok(r#"mutation { name(clubId: "c", id: "r", name: "Blue") { id } }"#, json!({})).await;
    assert_eq!(backend.operations()[..2], ["BatchGetItem", "TransactWriteItems"], "{:?}", backend.operations());
}

#[tokio::test(start_paused = true)]
async fn nothing_is_looked_up_for_elements_whose_keys_let_the_caller_in() {
    let backend = clubs(&[]).await;
    let names = ["r", "s"].map(|room| json!({ "clubId": room, "userId": USER, "name": "N" }));
    let refused = backend.run("mutation ($n: [NameInput!]!) { nameOwn(names: $n) }", json!({ "n": names })).await;
    assert_eq!(error(&refused).0, "NOT_FOUND", "{refused}");
    assert_eq!(backend.operations(), ["TransactWriteItems"]);
}

#[tokio::test(start_paused = true)]
async fn a_cascade_reads_what_leads_to_others_once() {
    let own: Vec<Value> = (0..3).map(|room| json!({ "id": format!("r{room}") })).collect();
    let backend = clubs(&[r#"setClub(id: "c") { id }"#, r#"join(clubId: "c")"#]).await;
    for room in &own {
        let open = r#"mutation ($r: ID!) { open(clubId: "c", id: $r, ownerId: "x") { id } }"#;
        backend.ok(open, json!({ "r": room["id"] })).await;
    }
    backend.calm();
    backend.ok(r#"mutation { closeClub(id: "c") }"#, json!({})).await;
    // Its rooms with its members, and the seats of three rooms; the same again; then the seats, which an index finds.
    let operations = backend.operations();
    let count = |wanted: &str| operations.iter().filter(|operation| *operation == wanted).count();
    assert_eq!((count("Query"), count("TransactWriteItems")), (11, 1), "{operations:?}");
    assert_eq!(backend.items(), Vec::<String>::new());
}
