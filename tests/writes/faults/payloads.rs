//! Mutations that return several items in a payload: each field has its item, and only what is selected is read.

use super::backend::{Backend, error};
use serde_json::{Value, json};

const BANK: &str = r#"extend schema @table(name: "bank", partitionKey: "PK", sortKey: "SK")
type Query { account(id: ID!): Account @find secret(id: ID!): Secret @find }
type Mutation {
  open(id: ID!, balance: Int!): Account! @put
  move(fromId: ID!, toId: ID!, by: Int!): Moved!
    @find(item: Account, where: { id: "{fromId}" }, as: from)
    @find(item: Account, where: { id: "{toId}" }, as: to)
    @update(item: from, expression: "SET balance = balance - :by", if: "balance >= :by", message: "Too little.")
    @update(item: to, expression: "SET balance = balance + :by")
    @put(item: Entry, set: { accountId: "{from.id}", amount: "{by}" })
  copyAll(sourceId: ID!, ids: [ID!]!): Copied!
    @find(item: Account, where: { id: "{sourceId}" })
    @put(item: Entry, each: "ids", set: { accountId: "{each}", amount: "{Account.balance}" })
  close(id: ID!): Closed @delete(item: Account)
  closeSurely(id: ID!): ClosedSurely @delete(item: Account)
  openTwo(aId: ID!, bId: ID!, balance: Int!): Two!
    @put(item: Account, set: { id: "{aId}" }, as: first)
    @put(item: Account, set: { id: "{bId}" }, as: second)
    @put(item: Entry, set: { accountId: "{second.id}", amount: "{first.balance}" })
  openPlain(aId: ID!, bId: ID!, balance: Int!): Account!
    @put(item: Account, set: { id: "{aId}" }, as: other)
    @put(item: Account, set: { id: "{bId}" })
    @put(item: Entry, set: { accountId: "{Account.id}", amount: 1 })
  replace(oldId: ID!, newId: ID!): Account!
    @find(item: Account, where: { id: "{oldId}" })
    @put(item: Account, set: { id: "{newId}", balance: 0 })
    @put(item: Entry, set: { accountId: "{newId}", amount: "{Account.balance}" })
  touch(some: [ID!]!, others: [ID!]!): Touched!
    @update(item: Account, each: "some", where: { id: "{each}" }, expression: "SET balance = balance + 1", as: firsts)
    @update(item: Account, each: "others", where: { id: "{each}" }, expression: "SET balance = balance + 1")
  note(ids: [ID!]!, noteId: ID!): Noted!
    @find(item: Account, each: "ids", where: { id: "{each}" })
    @put(item: Entry, set: { accountId: "{noteId}", amount: 1 })
  mark(secretId: ID!, owner: ID!, noteId: ID!, text: String!): Marked! @auth(signedIn: true) @put(item: Secret) @put(item: Note)
}
type Moved { from: Account! to: Account entry: Entry! ok: Boolean! }
type Copied { account: Account! entries: [Entry!]! }
type Closed { account: Account ok: Boolean }
type ClosedSurely { account: Account! }
type Two { second: Account! first: Account! entry: Entry! }
type Touched { firsts: [Account!]! others: [Account!]! }
type Noted { accounts: [Account!]! entry: Entry! }
type Marked { secret: Secret note: Note! }
type Account @item(keys: { PK: "ACCOUNT#{id}", SK: "ACCOUNT" }) { id: ID! balance: Int! entries: [Entry!]! @find }
type Entry @item(keys: { PK: "ACCOUNT#{accountId}", SK: "ENTRY#{id}" }) {
  accountId: ID! id: ID! @default(value: "{uuid7}") amount: Int! account: Account @find
}
type Secret @item(keys: { PK: "SECRET#{id}", SK: "SECRET" }) @auth(if: "owner = auth.sub", hide: true, on: [READ]) @auth(signedIn: true, on: [WRITE]) {
  id: ID! owner: ID!
}
type Note @item(keys: { PK: "NOTE#{id}", SK: "NOTE" }) @auth(signedIn: true) { id: ID! text: String! }
"#;

async fn bank() -> Backend {
    let backend = Backend::of_text(BANK).await;
    for (id, balance) in [("a", 10), ("b", 1)] {
        backend.ok(&format!(r#"mutation {{ open(id: "{id}", balance: {balance}) {{ id }} }}"#), json!({})).await;
    }
    backend.calm();
    backend
}

async fn moved(backend: &Backend, selection: &str) -> Value {
    backend.ok(&format!(r#"mutation {{ move(fromId: "a", toId: "b", by: 3) {selection} }}"#), json!({})).await["move"]
        .clone()
}

#[tokio::test(start_paused = true)]
async fn each_field_of_a_payload_has_its_item() {
    let backend = bank().await;
    let selection = "{ __typename from { id balance } to { id balance entries { id } } entry { amount accountId } ok }";
    let expected = json!({ "__typename": "Moved", "from": { "id": "a", "balance": 7 }, "to": { "id": "b", "balance": 4, "entries": [] },
        "entry": { "amount": 3, "accountId": "a" }, "ok": true });
    assert_eq!(moved(&backend, selection).await, expected);
    // What is found, the transaction, and both accounts at once; then what is selected below them.
    assert_eq!(backend.operations(), ["BatchGetItem", "TransactWriteItems", "BatchGetItem", "Query"]);
    let refused = backend.run(r#"mutation { move(fromId: "a", toId: "b", by: 30) { ok } }"#, json!({})).await;
    assert_eq!(error(&refused), ("CONFLICT", "Too little.", r#"["move"]"#.to_owned()));
}

#[tokio::test(start_paused = true)]
async fn only_what_is_selected_is_read() {
    let backend = bank().await;
    assert_eq!(moved(&backend, "{ ok }").await, json!({ "ok": true }));
    assert_eq!(backend.operations(), ["BatchGetItem", "TransactWriteItems"]);
    backend.calm();
    // The new entry is known, and the item below it is one read.
    let twice = moved(
        &backend,
        "{ entry { amount } again: entry { account { balance } } ...more } } fragment more on Moved { entry { id }",
    )
    .await;
    assert_eq!((&twice["entry"]["amount"], &twice["again"]["account"]["balance"]), (&json!(3), &json!(4)));
    assert!(twice["entry"]["id"].is_string());
    assert_eq!(backend.operations(), ["BatchGetItem", "TransactWriteItems", "GetItem"]);
}

#[tokio::test(start_paused = true)]
async fn what_was_found_and_lists_stand_beside_each_other() {
    let backend = bank().await;
    let query =
        r#"mutation { copyAll(sourceId: "a", ids: ["x", "y"]) { account { balance } entries { accountId amount } } }"#;
    let copied = backend.ok(query, json!({})).await["copyAll"].clone();
    let entries = json!([{ "accountId": "x", "amount": 10 }, { "accountId": "y", "amount": 10 }]);
    assert_eq!(copied, json!({ "account": { "balance": 10 }, "entries": entries }));
    assert_eq!(backend.operations(), ["GetItem", "TransactWriteItems"]);
}

#[tokio::test(start_paused = true)]
async fn a_deleted_item_may_be_missing() {
    let backend = bank().await;
    for (id, expected) in [("b", json!({ "balance": 1 })), ("b", Value::Null)] {
        let query = format!(r#"mutation {{ close(id: "{id}") {{ account {{ balance }} ok }} }}"#);
        assert_eq!(backend.ok(&query, json!({})).await["close"], json!({ "account": expected, "ok": true }));
    }
    let refused = backend.run(r#"mutation { closeSurely(id: "b") { account { id } } }"#, json!({})).await;
    assert_eq!((error(&refused).0, &refused["data"]), ("NOT_FOUND", &json!({ "closeSurely": null })));
    // What is selected decides nothing.
    let closed = backend.ok(r#"mutation { closeSurely(id: "a") { __typename } }"#, json!({})).await;
    assert_eq!(closed["closeSurely"], json!({ "__typename": "ClosedSurely" }));
    let refused = backend.run(r#"mutation { closeSurely(id: "b") { __typename } }"#, json!({})).await;
    assert_eq!((error(&refused).0, &refused["data"]), ("NOT_FOUND", &json!({ "closeSurely": null })));
}

#[tokio::test(start_paused = true)]
async fn a_hidden_item_is_null_beside_what_is_shown() {
    let backend = Backend::ruled(BANK).await;
    let me = super::backend::USER;
    for (number, owner, seen) in [(0, me, json!({ "owner": me })), (1, "somebody", Value::Null)] {
        let query = format!(
            r#"mutation {{ mark(secretId: "s{number}", owner: "{owner}", noteId: "n{number}", text: "t") {{ secret {{ owner }} note {{ text }} }} }}"#
        );
        let marked = backend.ok(&query, json!({})).await;
        assert_eq!(marked["mark"], json!({ "secret": seen, "note": { "text": "t" } }), "{owner}");
    }
}

#[tokio::test(start_paused = true)]
async fn new_items_of_one_type_have_names_of_their_own() {
    let backend = bank().await;
    let query = r#"mutation { openTwo(aId: "x", bId: "y", balance: 7) { first { id } second { id } entry { accountId amount } } }"#;
    let two = backend.ok(query, json!({})).await["openTwo"].clone();
    let expected =
        json!({ "first": { "id": "x" }, "second": { "id": "y" }, "entry": { "accountId": "y", "amount": 7 } });
    assert_eq!(two, expected);
    let query = r#"mutation { openPlain(aId: "p", bId: "q", balance: 7) { id entries { amount } } }"#;
    assert_eq!(backend.ok(query, json!({})).await["openPlain"], json!({ "id": "q", "entries": [{ "amount": 1 }] }));
}

#[tokio::test(start_paused = true)]
async fn the_name_of_a_type_means_the_last_item_in_scope() {
    let backend = bank().await;
    let query = r#"mutation { replace(oldId: "a", newId: "n") { id balance entries { amount } } }"#;
    let replaced = backend.ok(query, json!({})).await["replace"].clone();
    assert_eq!(replaced, json!({ "id": "n", "balance": 0, "entries": [{ "amount": 0 }] }));
}

#[tokio::test(start_paused = true)]
async fn a_payload_costs_at_most_what_is_said_before() {
    let backend = bank().await;
    let ids: Vec<String> = (0..40).map(|number| format!("i{number}")).collect();
    for id in &ids {
        backend.ok("mutation ($id: ID!) { open(id: $id, balance: 1) { id } }", json!({ "id": id })).await;
    }
    let (one, other) = ids.split_at(20);
    for (query, variables) in [
        ("mutation { move(fromId: \"a\", toId: \"b\", by: 1) { from { balance } to { balance } } }", json!({})),
        ("mutation { move(fromId: \"a\", toId: \"b\", by: 1) { ok } }", json!({})),
        (
            "mutation ($a: [ID!]!, $b: [ID!]!) { touch(some: $a, others: $b) { firsts { balance entries { id } } others { balance } } }",
            json!({ "a": one, "b": other }),
        ),
        (
            "mutation ($a: [ID!]!) { note(ids: $a, noteId: \"n\") { accounts { entries { id } again: balance } entry { id } } }",
            json!({ "a": ids }),
        ),
    ] {
        let response = crate::support::run(&backend.gateway, &backend.request(query, variables), true).await;
        assert_eq!(response["errors"], Value::Null, "{response}");
        assert_eq!(crate::support::costs_more(&response), None, "{response:#}");
    }
}
