//! Attacks on tenants, one line each: a caller and an operation that would reach another tenant's items in; out, what
//! the caller gets. No call of the table may name a key of the other tenant. docs/security.md has the table.

use crate::by_pass::Attack;
use crate::store::{Store, codes};
use serde_json::{Value, json};

/// What the first tenant has, put by one of its callers.
pub const FILL: &str = r#"mutation {
  a: putDesk(id: "d", name: "Front") { id }
  b: putNote(deskId: "d", id: "1", day: "2026-11-20", text: "secret one") { id }
  c: putNote(deskId: "d", id: "2", day: "2026-11-20", text: "secret two") { id }
  e: putFile(deskId: "d", id: "1", name: "plan") { id }
  f: vote(voterId: "v", choice: "yes") { voterId }
  g: putSign(id: "d", text: "closed") { id }
  h: write(day: "2026-11-20", text: "dear diary") { day }
}"#;

/// A page of the first tenant.
pub const PAGE: &str = r#"{ notes(deskId: "d", first: 1) { nodes { id } pageInfo { endCursor } } }"#;

/// All that the first tenant has, which is as it was after all attacks.
pub const ALL: &str =
    r#"{ desk(id: "d") { name version noteCount entries { id } sign { text } } voteCount diary { text } }"#;

/// A caller of the tenant whose items are attacked.
pub fn one() -> Value {
    json!({ "sub": "ann", "tenant": "one" })
}

pub fn attacks() -> Vec<Attack> {
    let two = || json!({ "sub": "ann", "tenant": "two" });
    let of = |tenant: Value| json!({ "sub": "ann", "tenant": tenant });
    let none = json!({ "sub": "ann" });
    let desk = r#"{ desk(id: "d") { id name } }"#;
    let no_desk = json!({ "desk": null });
    vec![
        ("an item by its id", two(), desk, no_desk.clone(), &[]),
        ("an alias of a field", two(), r#"{ mine: desk(id: "d") { n: name } }"#, json!({ "mine": null }), &[]),
        (
            "fragments",
            two(),
            r#"{ ... on Query { ...Q } } fragment Q on Query { desk(id: "d") { ... on Desk { name } } }"#,
            no_desk.clone(),
            &[],
        ),
        (
            "a list of ids",
            two(),
            r#"{ desksById(ids: ["d", "d"]) { name } }"#,
            json!({ "desksById": [null, null] }),
            &[],
        ),
        ("a list of an index", two(), "{ desks { id } }", json!({ "desks": [] }), &[]),
        (
            "an index by another field",
            two(),
            r#"{ notesOf(day: "2026-11-20") { text } }"#,
            json!({ "notesOf": [] }),
            &[],
        ),
        (
            "a union",
            two(),
            r#"{ things(deskId: "d") { ... on Note { text } ... on File { name } } }"#,
            json!({ "things": [] }),
            &[],
        ),
        (
            "a filter",
            two(),
            r#"{ notes(deskId: "d", search: "secret") { nodes { text } } }"#,
            json!({ "notes": { "nodes": [] } }),
            &[],
        ),
        (
            "a page",
            two(),
            r#"{ notes(deskId: "d", first: 1) { edges { cursor } pageInfo { hasNextPage endCursor } } }"#,
            json!({ "notes": { "edges": [], "pageInfo": { "hasNextPage": false, "endCursor": null } } }),
            &[],
        ),
        (
            "a cursor of another tenant",
            two(),
            r#"{ notes(deskId: "d", first: 1, after: "<cursor>") { nodes { text } } }"#,
            Value::Null,
            &["BAD_USER_INPUT"],
        ),
        (
            "a cursor of another tenant, of another field",
            two(),
            r#"{ desk(id: "d") { notes(after: "<cursor>") { nodes { text } } } }"#,
            no_desk.clone(),
            &[],
        ),
        ("a Boolean", two(), r#"{ isDesk(id: "d") }"#, json!({ "isDesk": false }), &[]),
        ("a count over shards", two(), "{ voteCount }", json!({ "voteCount": 0 }), &[]),
        ("an item in a shard", two(), r#"{ vote(voterId: "v") { choice } }"#, json!({ "vote": null }), &[]),
        ("an item with replicas", two(), r#"{ sign(id: "d") { text } }"#, json!({ "sign": null }), &[]),
        ("a replica by its number", two(), r#"{ sign(id: "d", replica: 1) { text } }"#, json!({ "sign": null }), &[]),
        ("an id that is a key", two(), r#"{ desk(id: "d#T#one#DESK#d") { name } }"#, no_desk.clone(), &[]),
        (
            "an id that begins another key",
            two(),
            r##"{ note(deskId: "d", id: "") { text } sign(id: "d#0#x") { text } }"##,
            json!({ "note": null, "sign": null }),
            &[],
        ),
        ("no tenant", none.clone(), desk, no_desk.clone(), &[]),
        (
            "no tenant, a count",
            none.clone(),
            r#"{ voteCount isDesk(id: "d") }"#,
            json!({ "voteCount": 0, "isDesk": false }),
            &[],
        ),
        ("an anonymous caller", Value::Null, desk, no_desk.clone(), &[]),
        ("a tenant of null", of(Value::Null), desk, no_desk.clone(), &[]),
        ("a list of tenants", of(json!(["one", "two"])), desk, no_desk.clone(), &[]),
        ("a tenant that is an object", of(json!({ "one": "one" })), desk, no_desk.clone(), &[]),
        ("an empty tenant", of(json!("")), desk, no_desk.clone(), &[]),
        ("the tenant in capitals", of(json!("ONE")), desk, no_desk.clone(), &[]),
        ("a tenant with a space", of(json!("one ")), desk, no_desk.clone(), &[]),
        (
            "a tenant that is a key",
            of(json!("one#DESK#d")),
            r#"{ desk(id: "") { name } desks { id } }"#,
            json!({ "desk": null, "desks": [] }),
            &[],
        ),
        ("a tenant that is escaped already", of(json!("%6Fne")), desk, no_desk.clone(), &[]),
        ("a tenant of 3,000 letters", of(json!("x".repeat(3_000))), desk, no_desk.clone(), &[]),
        (
            "the diary of another subject",
            json!({ "sub": "ben", "tenant": "one" }),
            "{ diary { text } }",
            json!({ "diary": [] }),
            &[],
        ),
        (
            "a subject that is a key",
            json!({ "sub": "ann#", "tenant": "one" }),
            "{ diary { text } }",
            json!({ "diary": [] }),
            &[],
        ),
        (
            "an update",
            two(),
            r#"mutation { renameDesk(id: "d", name: "x") { name } }"#,
            json!({ "renameDesk": null }),
            &["NOT_FOUND"],
        ),
        (
            "an update with a version",
            two(),
            r#"mutation { renameDesk(id: "d", name: "x", version: 1) { name } }"#,
            json!({ "renameDesk": null }),
            &["NOT_FOUND"],
        ),
        (
            "an update of an index key",
            two(),
            r#"mutation { moveNote(deskId: "d", id: "1", day: "2026-11-21") { text } }"#,
            json!({ "moveNote": null }),
            &["NOT_FOUND"],
        ),
        (
            "a delete with its cascade",
            two(),
            r#"mutation { deleteDesk(id: "d") { name } }"#,
            json!({ "deleteDesk": null }),
            &[],
        ),
        (
            "a delete of many",
            two(),
            r#"mutation { deleteNotes(deskId: "d") { text } }"#,
            json!({ "deleteNotes": [] }),
            &[],
        ),
        (
            "a delete of all replicas",
            two(),
            r#"mutation { dropSign(id: "d") { text } }"#,
            json!({ "dropSign": null }),
            &[],
        ),
        (
            "a check of an item",
            two(),
            r#"mutation { putNote(deskId: "d", id: "9", day: "2026-11-20", text: "x") { text } }"#,
            json!({ "putNote": null }),
            &["NOT_FOUND"],
        ),
        (
            "a put under the same id",
            two(),
            r#"mutation { putDesk(id: "d", name: "Front") { name } }"#,
            json!({ "putDesk": { "name": "Front" } }),
            &[],
        ),
        (
            "a replacing put",
            two(),
            r#"mutation { replaceDesk(id: "d", name: "Back") { name } }"#,
            json!({ "replaceDesk": { "name": "Back" } }),
            &[],
        ),
        (
            "an upsert",
            two(),
            r#"mutation { setNote(deskId: "d", id: "1", day: "2026-11-20", text: "mine") { text } }"#,
            json!({ "setNote": { "text": "mine" } }),
            &[],
        ),
        (
            "a unique value that another tenant has",
            two(),
            r#"mutation { putDesk(id: "e", name: "Front") { name } }"#,
            json!({ "putDesk": { "name": "Front" } }),
            &[],
        ),
        (
            "a write without a tenant",
            none.clone(),
            r#"mutation { putDesk(id: "x", name: "x") { id } }"#,
            json!({ "putDesk": null }),
            &["FORBIDDEN"],
        ),
        (
            "a delete without a tenant",
            none.clone(),
            r#"mutation { deleteDesk(id: "d") { id } }"#,
            json!({ "deleteDesk": null }),
            &["FORBIDDEN"],
        ),
        (
            "a write by an anonymous caller",
            Value::Null,
            r#"mutation { putDesk(id: "x", name: "x") { id } }"#,
            json!({ "putDesk": null }),
            &["UNAUTHENTICATED"],
        ),
        (
            "a write under a list of tenants",
            of(json!(["one"])),
            r#"mutation { putDesk(id: "x", name: "x") { id } }"#,
            json!({ "putDesk": null }),
            &["FORBIDDEN"],
        ),
        (
            "a write under a tenant of 3,000 letters",
            of(json!("x".repeat(3_000))),
            r#"mutation { putDesk(id: "x", name: "x") { id } }"#,
            json!({ "putDesk": null }),
            &["BAD_USER_INPUT"],
        ),
    ]
}

/// What [`ALL`] gives.
pub fn left() -> Value {
    json!({
        "desk": { "name": "Front", "version": 1, "noteCount": 2, "entries": [{ "id": "1" }, { "id": "1" }, { "id": "2" }], "sign": { "text": "closed" } },
        "voteCount": 1,
        "diary": [{ "text": "dear diary" }],
    })
}

#[tokio::test]
async fn no_request_names_a_key_of_another_tenant() {
    let offices = Store::open("offices.graphql", include_str!("../schemas/security/offices.graphql")).await;
    let filled = offices.run(&one(), FILL).await;
    assert_eq!(filled["errors"], Value::Null, "{filled}");
    let page = offices.run(&one(), PAGE).await;
    let cursor = page["data"]["notes"]["pageInfo"]["endCursor"].as_str().unwrap();
    let mut wrong = String::new();
    for (name, claims, operation, data, expected) in attacks() {
        let response = offices.run(&claims, &operation.replace("<cursor>", cursor)).await;
        if response["data"] != data || codes(&response) != expected {
            wrong += &format!("{name}: {response}\n");
        }
        for (kind, body) in offices.calls() {
            let text = body.to_string();
            if text.contains("\"T#one#") || text.contains("U#ann\"") && claims["sub"] != "ann" {
                wrong += &format!("{name}: {kind} {text}\n");
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert_eq!(offices.run(&one(), ALL).await["data"], left());
}

#[test]
fn the_page_lists_every_attack() {
    let page = include_str!("../../docs/security.md");
    for (name, ..) in attacks() {
        assert!(page.contains(name), "docs/security.md does not list: {name}");
    }
}
