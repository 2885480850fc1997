//! Attacks on rules, one line each: a caller and an operation that would get around a rule in; out, what the caller
//! gets. docs/security.md has the table.

use crate::store::{Store, codes};
use serde_json::{Value, json};

/// What the club has. Ann hides a note, a sketch and a vote, and Ben has others.
const FILL: &str = r#"mutation {
  a: putRoom(id: "r", name: "Attic", plan: "secret plan") { id }
  b: putPerson(id: "ann", name: "Ann", mail: "ann@example.com", rank: 7) { id }
  c: putPerson(id: "ben", name: "Ben", mail: "ben@example.com", rank: 3) { id }
  d: putNote(roomId: "r", id: "1", topic: "t", score: 90, ownerId: "ann", shared: false, text: "secret") { id }
  e: putNote(roomId: "r", id: "2", topic: "t", score: 50, ownerId: "ann", shared: true, text: "open") { id }
  f: putNote(roomId: "r", id: "3", topic: "t", score: 10, ownerId: "ben", shared: false, text: "mine") { id }
  g: putNote(roomId: "r", id: "4", topic: "u", score: 10, ownerId: "ann", shared: false, text: "secret too") { id }
  h: putSketch(roomId: "r", id: "1", ownerId: "ann") { id }
  j: borrow(personId: "ann", id: "l") { id }
  k: putSeat(personId: "ann", boardId: "b", role: "CHAIR") { role }
  l: putSeat(personId: "dora", boardId: "b", role: "MEMBER") { role }
  m: putSeat(personId: "cleo", boardId: "c", role: "CHAIR") { role }
  n: putBoard(id: "b", name: "secret board") { id }
  o: addMinute(boardId: "b", id: "1", text: "secret minute") { id }
}"#;

/// The name of an attack, its caller, its operation, and the data and the codes of the errors that the caller gets.
pub type Attack = (&'static str, Value, &'static str, Value, &'static [&'static str]);

pub fn attacks() -> Vec<Attack> {
    let anonymous = || Value::Null;
    let ben = || json!({ "sub": "ben" });
    let ann = || json!({ "sub": "ann" });
    let cleo = || json!({ "sub": "cleo" });
    let no_note = || json!({ "note": null });
    let no_room = || json!({ "room": null });
    let named = |names: &[&str]| names.iter().map(|name| json!({ "name": name })).collect::<Value>();
    let schema = json!({
        "__type": { "fields": named(&["id", "name", "mail", "rank", "loans"]) },
        "__schema": { "directives": named(&["skip", "include", "deprecated", "specifiedBy", "oneOf"]) },
    });
    vec![
        // Hidden items, by every way to them.
        ("a hidden item by its key", ben(), r#"{ note(roomId: "r", id: "1") { text } }"#, no_note(), &[]),
        (
            "a hidden item, only its key fields",
            ben(),
            r#"{ note(roomId: "r", id: "1") { id roomId __typename } }"#,
            no_note(),
            &[],
        ),
        (
            "a hidden item under an alias",
            ben(),
            r#"{ a: note(roomId: "r", id: "1") { t: text } b: note(roomId: "r", id: "2") { t: text } }"#,
            json!({ "a": null, "b": { "t": "open" } }),
            &[],
        ),
        (
            "a hidden item in a fragment",
            ben(),
            r#"{ ...Q } fragment Q on Query { note(roomId: "r", id: "1") { ...N } } fragment N on Note { text }"#,
            no_note(),
            &[],
        ),
        (
            "a hidden item with a directive",
            ben(),
            r#"{ note(roomId: "r", id: "1") @include(if: true) { text @skip(if: false) } }"#,
            no_note(),
            &[],
        ),
        (
            "a hidden item among listed ids",
            ben(),
            r#"{ noteList(roomId: "r", ids: ["1", "2"]) { text } }"#,
            json!({ "noteList": [null, { "text": "open" }] }),
            &[],
        ),
        (
            "a hidden item in a list",
            ben(),
            r#"{ room(id: "r") { noteList { id } } }"#,
            json!({ "room": { "noteList": [{ "id": "2" }, { "id": "3" }] } }),
            &[],
        ),
        (
            "a hidden item in a page",
            ben(),
            r#"{ notes(roomId: "r", first: 1) { nodes { id } } }"#,
            json!({ "notes": { "nodes": [{ "id": "2" }] } }),
            &[],
        ),
        (
            "a hidden item after the last of a page",
            ann(),
            r#"{ room(id: "r") { notes(first: 3) { nodes { id } pageInfo { hasNextPage } } } }"#,
            json!({ "room": { "notes": { "nodes": [{ "id": "1" }, { "id": "2" }, { "id": "4" }], "pageInfo": { "hasNextPage": false } } } }),
            &[],
        ),
        (
            "a hidden item before the first of a page",
            ben(),
            r#"{ room(id: "r") { notes(last: 2) { nodes { id } pageInfo { hasPreviousPage hasNextPage } } } }"#,
            json!({ "room": { "notes": { "nodes": [{ "id": "2" }, { "id": "3" }], "pageInfo": { "hasPreviousPage": false, "hasNextPage": false } } } }),
            &[],
        ),
        (
            "the cursor of a hidden item",
            ben(),
            r#"{ notes(roomId: "r", first: 2, after: "<cursor>") { nodes { id } } }"#,
            json!({ "notes": { "nodes": [{ "id": "2" }, { "id": "3" }] } }),
            &[],
        ),
        (
            "a cursor in another field",
            ben(),
            r#"{ room(id: "r") { notes(first: 2, after: "<cursor>") { nodes { id } } } }"#,
            no_room(),
            &["BAD_USER_INPUT"],
        ),
        (
            "a filter that only a hidden item meets",
            ben(),
            r#"{ notes(roomId: "r", text: "secret") { nodes { id } pageInfo { hasNextPage endCursor } } }"#,
            json!({ "notes": { "nodes": [], "pageInfo": { "hasNextPage": false, "endCursor": null } } }),
            &[],
        ),
        (
            "an order that a hidden item leads",
            ben(),
            r#"{ topic(topic: "t", order: DESC) { id } }"#,
            json!({ "topic": [{ "id": "2" }, { "id": "3" }] }),
            &[],
        ),
        ("a hidden item by an index", ben(), r#"{ topic(topic: "u") { id } }"#, json!({ "topic": [] }), &[]),
        (
            "a count of hidden items",
            ben(),
            r#"{ room(id: "r") { noteCount } topicCount(topic: "u") }"#,
            json!({ "room": { "noteCount": 2 }, "topicCount": 0 }),
            &[],
        ),
        (
            "a count of hidden items by a filter",
            ben(),
            r#"{ room(id: "r") { longNotes } }"#,
            json!({ "room": { "longNotes": 0 } }),
            &[],
        ),
        (
            "a Boolean of a hidden item",
            ben(),
            r#"{ room(id: "r") { hidden: hasNote(id: "1") none: hasNote(id: "9") own: hasNote(id: "3") } }"#,
            json!({ "room": { "hidden": false, "none": false, "own": true } }),
            &[],
        ),
        (
            "a hidden item as a relation",
            ben(),
            r#"{ room(id: "r") { note(id: "1") { id } } }"#,
            json!({ "room": { "note": null } }),
            &[],
        ),
        (
            "a hidden item whose fields its key reveals",
            ben(),
            r#"{ room(id: "r") { sureNote(id: "1") { id roomId } } }"#,
            no_room(),
            &["NOT_FOUND"],
        ),
        (
            "hidden items of an interface",
            ben(),
            r#"{ room(id: "r") { entries { __typename id } } }"#,
            json!({ "room": { "entries": [{ "__typename": "Note", "id": "2" }, { "__typename": "Note", "id": "3" }] } }),
            &[],
        ),
        (
            "hidden items of a union",
            ben(),
            r#"{ room(id: "r") { pieces { ... on Sketch { id } ... on Note { text } } } }"#,
            json!({ "room": { "pieces": [{ "text": "open" }, { "text": "mine" }] } }),
            &[],
        ),
        (
            "the way through hidden items",
            json!({ "sub": "cleo" }),
            r#"{ room(id: "r") { authors { id } } }"#,
            json!({ "room": { "authors": [{ "id": "ann" }] } }),
            &[],
        ),
        (
            "the way back from a shown item",
            ben(),
            r#"{ note(roomId: "r", id: "2") { room { noteList { room { noteCount } } } } }"#,
            json!({ "note": { "room": { "noteList": [{ "room": { "noteCount": 2 } }, { "room": { "noteCount": 2 } }] } } }),
            &[],
        ),
        (
            "hidden items in shards",
            ben(),
            r#"{ votes(roomId: "r") { id } voteCount(roomId: "r") vote(roomId: "r", id: "v") { id } }"#,
            json!({ "votes": [], "voteCount": 0, "vote": null }),
            &[],
        ),
        ("a hidden item with replicas", ben(), r#"{ poster(id: "p") { draft } }"#, json!({ "poster": null }), &[]),
        (
            "a replica of a hidden item",
            ben(),
            r#"{ a: poster(id: "p", replica: 0) { id } b: poster(id: "p", replica: 1) { id } }"#,
            json!({ "a": null, "b": null }),
            &[],
        ),
        (
            "hidden items as an anonymous caller",
            anonymous(),
            r#"{ room(id: "r") { noteCount noteList { text } } }"#,
            json!({ "room": { "noteCount": 1, "noteList": [{ "text": "open" }] } }),
            &[],
        ),
        ("a subject of null", json!({ "sub": null }), r#"{ note(roomId: "r", id: "1") { text } }"#, no_note(), &[]),
        ("a list of subjects", json!({ "sub": ["ann"] }), r#"{ note(roomId: "r", id: "1") { text } }"#, no_note(), &[]),
        (
            "a subject in capitals",
            json!({ "sub": "ANN" }),
            r#"{ note(roomId: "r", id: "1") { text } }"#,
            no_note(),
            &[],
        ),
        (
            "a variable in place of the key",
            ben(),
            r#"query($id: ID! = "1") { note(roomId: "r", id: $id) { text } }"#,
            no_note(),
            &[],
        ),
        // Guarded fields.
        ("a guarded field", ben(), r#"{ person(id: "ann") { name mail } }"#, json!({ "person": null }), &["FORBIDDEN"]),
        (
            "a guarded field of oneself",
            ben(),
            r#"{ person(id: "ben") { rank } }"#,
            json!({ "person": null }),
            &["FORBIDDEN"],
        ),
        (
            "a guarded field under an alias",
            ben(),
            r#"{ room(id: "r") { name: plan } }"#,
            json!({ "room": { "name": null } }),
            &["FORBIDDEN"],
        ),
        (
            "a guarded field in a fragment",
            ben(),
            r#"{ room(id: "r") { ... on Room { ...R } } } fragment R on Room { plan }"#,
            json!({ "room": { "plan": null } }),
            &["FORBIDDEN"],
        ),
        (
            "a guarded field behind a relation",
            ben(),
            r#"{ note(roomId: "r", id: "2") { room { plan } } }"#,
            json!({ "note": { "room": { "plan": null } } }),
            &["FORBIDDEN"],
        ),
        (
            "a guarded field behind a list",
            ben(),
            r#"{ room(id: "r") { authors { rank } } }"#,
            no_room(),
            &["FORBIDDEN"],
        ),
        (
            "a search by a guarded field",
            ben(),
            r#"{ personByMail(mail: "ann@example.com") { id } }"#,
            json!({ "personByMail": null }),
            &["FORBIDDEN"],
        ),
        (
            "a role that is a list",
            json!({ "sub": "ben", "role": ["staff"] }),
            r#"{ room(id: "r") { plan } }"#,
            json!({ "room": { "plan": null } }),
            &["FORBIDDEN"],
        ),
        (
            "a role in capitals",
            json!({ "sub": "ben", "role": "STAFF" }),
            r#"{ room(id: "r") { plan } }"#,
            json!({ "room": { "plan": null } }),
            &["FORBIDDEN"],
        ),
        (
            "a role inside another claim",
            json!({ "sub": "ben", "auth": { "role": "staff" } }),
            r#"{ room(id: "r") { plan } }"#,
            json!({ "room": { "plan": null } }),
            &["FORBIDDEN"],
        ),
        // Queries and types with rules.
        (
            "what is for signed-in callers",
            anonymous(),
            r#"{ person(id: "ann") { id } }"#,
            json!({ "person": null }),
            &["UNAUTHENTICATED"],
        ),
        (
            "what is for signed-in callers, behind what is public",
            anonymous(),
            r#"{ note(roomId: "r", id: "2") { owner { name } } }"#,
            json!({ "note": { "owner": null } }),
            &["UNAUTHENTICATED"],
        ),
        (
            "the type's name of what is guarded",
            anonymous(),
            r#"{ person(id: "ann") { __typename } }"#,
            json!({ "person": null }),
            &["UNAUTHENTICATED"],
        ),
        ("another caller's list", ben(), r#"{ loans(personId: "ann") { id } }"#, Value::Null, &["FORBIDDEN"]),
        (
            "another caller's list beside one's own",
            ben(),
            r#"{ a: loans(personId: "ben") { id } b: loans(personId: "ann") { id } }"#,
            Value::Null,
            &["FORBIDDEN"],
        ),
        ("another caller's count", ben(), r#"{ loanCount(personId: "ann") }"#, Value::Null, &["FORBIDDEN"]),
        ("another caller's Boolean", ben(), r#"{ hasLoan(personId: "ann", id: "l") }"#, Value::Null, &["FORBIDDEN"]),
        (
            "another caller by a variable",
            ben(),
            r#"query($id: ID! = "ann") { loanCount(personId: $id) }"#,
            Value::Null,
            &["FORBIDDEN"],
        ),
        // Items that must exist.
        ("what is for members", ben(), r#"{ board(id: "b") { name } }"#, json!({ "board": null }), &["FORBIDDEN"]),
        (
            "what is for members, as an anonymous caller",
            anonymous(),
            r#"{ board(id: "b") { name } }"#,
            json!({ "board": null }),
            &["UNAUTHENTICATED"],
        ),
        (
            "what is for members, under an alias in a fragment",
            ben(),
            r#"{ ...Q } fragment Q on Query { b: board(id: "b") { n: name } }"#,
            json!({ "b": null }),
            &["FORBIDDEN"],
        ),
        (
            "what is for members, only its type's name",
            ben(),
            r#"{ board(id: "b") { __typename id } }"#,
            json!({ "board": null }),
            &["FORBIDDEN"],
        ),
        (
            "what is behind what is for members",
            ben(),
            r#"{ board(id: "b") { minutes { text } } }"#,
            json!({ "board": null }),
            &["FORBIDDEN"],
        ),
        (
            "a list for members",
            ben(),
            r#"{ minutes(boardId: "b") { id text } }"#,
            json!({ "minutes": [null] }),
            &["FORBIDDEN"],
        ),
        (
            "an item for members beside one's own",
            cleo(),
            r#"{ own: minutes(boardId: "c") { text } minute(boardId: "b", id: "1") { text } }"#,
            json!({ "own": [], "minute": null }),
            &["FORBIDDEN"],
        ),
        (
            "the way back to what is for members",
            cleo(),
            r#"{ minute(boardId: "b", id: "1") { board { name } } }"#,
            json!({ "minute": null }),
            &["FORBIDDEN"],
        ),
        (
            "a list of subjects as a member",
            json!({ "sub": ["ann"] }),
            r#"{ board(id: "b") { name } }"#,
            json!({ "board": null }),
            &["FORBIDDEN"],
        ),
        (
            "a subject that is a member's key",
            json!({ "sub": "x#SEAT#b" }),
            r#"{ board(id: "b") { name } }"#,
            json!({ "board": null }),
            &["FORBIDDEN"],
        ),
        (
            "a role that the member lacks",
            json!({ "sub": "dora" }),
            r#"mutation { renameBoard(id: "b", name: "x") { name } }"#,
            json!({ "renameBoard": null }),
            &["FORBIDDEN"],
        ),
        (
            "a role on another board",
            cleo(),
            r#"mutation { renameBoard(id: "b", name: "x") { name } }"#,
            json!({ "renameBoard": null }),
            &["FORBIDDEN"],
        ),
        (
            "a put for members",
            cleo(),
            r#"mutation { addMinute(boardId: "b", id: "9", text: "x") { text } }"#,
            json!({ "addMinute": null }),
            &["FORBIDDEN"],
        ),
        (
            "an update for members",
            ben(),
            r#"mutation { editMinute(boardId: "b", id: "1", text: "x") { text } }"#,
            json!({ "editMinute": null }),
            &["FORBIDDEN"],
        ),
        (
            "a delete for members",
            anonymous(),
            r#"mutation { dropMinute(boardId: "b", id: "1") { text } }"#,
            json!({ "dropMinute": null }),
            &["UNAUTHENTICATED"],
        ),
        (
            "a seat that the caller gives itself",
            ben(),
            r#"mutation { putSeat(personId: "ben", boardId: "b", role: "CHAIR") { role } }"#,
            json!({ "putSeat": null }),
            &["FORBIDDEN"],
        ),
        (
            "a write after the membership is over",
            json!({ "sub": "dora" }),
            r#"mutation { a: leaveBoard(boardId: "b") { role } b: addMinute(boardId: "b", id: "9", text: "x") { text } }"#,
            json!({ "a": { "role": "MEMBER" }, "b": null }),
            &["FORBIDDEN"],
        ),
        // Writes.
        (
            "a mutation for staff",
            ben(),
            r#"mutation { deleteNote(roomId: "r", id: "1") { id } }"#,
            json!({ "deleteNote": null }),
            &["FORBIDDEN"],
        ),
        (
            "a mutation for staff, as an anonymous caller",
            anonymous(),
            r#"mutation { deleteNote(roomId: "r", id: "1") { id } }"#,
            json!({ "deleteNote": null }),
            &["UNAUTHENTICATED"],
        ),
        (
            "a mutation under an alias, after an allowed one",
            ben(),
            r#"mutation { a: rename(id: "ben", name: "Ben") { name } b: rename(id: "ann", name: "x") { name } }"#,
            json!({ "a": { "name": "Ben" }, "b": null }),
            &["FORBIDDEN"],
        ),
        (
            "a mutation in a fragment",
            ben(),
            r#"mutation { ...M } fragment M on Mutation { rename(id: "ann", name: "x") { name } }"#,
            json!({ "rename": null }),
            &["FORBIDDEN"],
        ),
        (
            "a write of a guarded field",
            ben(),
            r#"mutation { setRank(id: "ben", rank: 9) { name } }"#,
            json!({ "setRank": null }),
            &["FORBIDDEN"],
        ),
        (
            "a guarded field in what a write gives back",
            ben(),
            r#"mutation { rename(id: "ben", name: "Ben") { mail } }"#,
            json!({ "rename": null }),
            &["FORBIDDEN"],
        ),
        (
            "a hidden item in what a write gives back",
            json!({ "sub": "cleo", "role": "staff" }),
            r#"mutation { putNote(roomId: "r", id: "9", topic: "v", score: 1, ownerId: "ann", shared: false, text: "x") { text } }"#,
            json!({ "putNote": null }),
            &[],
        ),
        (
            "a hidden item behind what a write gives back",
            ben(),
            r#"mutation { setNote(roomId: "r", id: "8", topic: "v", score: 1, text: "x") { room { noteCount note(id: "1") { text } } } }"#,
            json!({ "setNote": { "room": { "noteCount": 3, "note": null } } }),
            &[],
        ),
        (
            "an update of a hidden item",
            ben(),
            r#"mutation { giveNote(roomId: "r", id: "1", ownerId: "ben") { text } }"#,
            json!({ "giveNote": null }),
            &["NOT_FOUND"],
        ),
        (
            "an update of a missing item",
            ben(),
            r#"mutation { giveNote(roomId: "r", id: "99", ownerId: "ben") { text } }"#,
            json!({ "giveNote": null }),
            &["NOT_FOUND"],
        ),
        (
            "a gift that the giver could not hold",
            ben(),
            r#"mutation { giveNote(roomId: "r", id: "3", ownerId: "ann") { text } }"#,
            json!({ "giveNote": null }),
            &["FORBIDDEN"],
        ),
        (
            "a delete of a hidden item",
            ben(),
            r#"mutation { dropNote(roomId: "r", id: "1") { text } }"#,
            json!({ "dropNote": null }),
            &[],
        ),
        (
            "a write of a shown item of another caller",
            ben(),
            r#"mutation { dropNote(roomId: "r", id: "2") { text } }"#,
            json!({ "dropNote": null }),
            &["FORBIDDEN"],
        ),
        (
            "an upsert over a hidden item",
            ben(),
            r#"mutation { setNote(roomId: "r", id: "1", topic: "t", score: 1, text: "x") { text } }"#,
            json!({ "setNote": null }),
            &["FORBIDDEN"],
        ),
        (
            "an item for another caller",
            ben(),
            r#"mutation { putNote(roomId: "r", id: "9", topic: "v", score: 1, ownerId: "ann", shared: true, text: "x") { text } }"#,
            json!({ "putNote": null }),
            &["FORBIDDEN"],
        ),
        (
            "a put over a hidden item",
            ben(),
            r#"mutation { putNote(roomId: "r", id: "1", topic: "t", score: 1, ownerId: "ben", shared: true, text: "x") { text } }"#,
            json!({ "putNote": null }),
            &["CONFLICT"],
        ),
        (
            "a repeated put",
            ben(),
            r#"mutation { putNote(roomId: "r", id: "1", topic: "t", score: 90, ownerId: "ann", shared: false, text: "secret") { text } }"#,
            json!({ "putNote": null }),
            &["FORBIDDEN"],
        ),
        (
            "a delete with its cascade",
            ben(),
            r#"mutation { deleteRoom(id: "r") { id } }"#,
            json!({ "deleteRoom": null }),
            &["FORBIDDEN"],
        ),
        (
            "a type that is public to read",
            ben(),
            r#"mutation { renameRoom(id: "r", name: "x") { name } }"#,
            json!({ "renameRoom": null }),
            &["FORBIDDEN"],
        ),
        (
            "a write with a version",
            ben(),
            r#"mutation { shareNote(roomId: "r", id: "1", version: 1) { text } }"#,
            json!({ "shareNote": null }),
            &["FORBIDDEN"],
        ),
        (
            "a replacing put of a replicated item",
            ben(),
            r#"mutation { putPoster(id: "p", draft: false) { id } }"#,
            json!({ "putPoster": null }),
            &["FORBIDDEN"],
        ),
        (
            "a write for another caller",
            ben(),
            r#"mutation { borrow(personId: "ann", id: "x") { id } }"#,
            json!({ "borrow": null }),
            &["FORBIDDEN"],
        ),
        (
            "an account for a stranger",
            anonymous(),
            r#"mutation { putPerson(id: "eve", name: "Eve", mail: "ann@example.com", rank: 9) { id } }"#,
            json!({ "putPerson": null }),
            &["UNAUTHENTICATED"],
        ),
        (
            "a write with a claim that is a list",
            json!({ "sub": ["ann"] }),
            r#"mutation { setNote(roomId: "r", id: "1", topic: "t", score: 1, text: "x") { id } }"#,
            json!({ "setNote": null }),
            &["FORBIDDEN"],
        ),
        // The schema.
        (
            "the rules in the introspection",
            ben(),
            r#"{ __type(name: "Person") { fields { name } } __schema { directives { name } } }"#,
            schema,
            &[],
        ),
    ]
}

/// What staff puts that needs claims of its own.
const OF_ANN: &str =
    r#"mutation { a: putVote(roomId: "r", id: "v") { id } b: putPoster(id: "p", draft: true) { id } }"#;

/// What fills the club, by its staff.
pub const FILLS: [&str; 2] = [FILL, OF_ANN];

/// A page whose cursor is that of a hidden item.
pub const PAGE: &str = r#"{ notes(roomId: "r", first: 1) { nodes { id } pageInfo { endCursor } } }"#;

/// All that was there, which is as it was after all attacks.
pub const ALL: &str = r#"{ room(id: "r") { name plan n: note(id: "1") { text version shared } } person(id: "ann") { name rank mail } loanCount(personId: "ann") board(id: "b") { name minutes { text } } }"#;

/// Ann, who is staff.
pub fn staff() -> Value {
    json!({ "sub": "ann", "role": "staff" })
}

/// What [`ALL`] gives.
pub fn left() -> Value {
    json!({
        "board": { "name": "secret board", "minutes": [{ "text": "secret minute" }] },
        "room": { "name": "Attic", "plan": "secret plan", "n": { "text": "secret", "version": 1, "shared": false } },
        "person": { "name": "Ann", "rank": 7, "mail": "ann@example.com" },
        "loanCount": 1,
    })
}

async fn club() -> Store {
    let store = Store::open("club.graphql", include_str!("../schemas/security/club.graphql")).await;
    for fill in FILLS {
        let filled = store.run(&staff(), fill).await;
        assert_eq!(filled["errors"], Value::Null, "{filled}");
    }
    store
}

#[tokio::test]
async fn no_operation_gets_around_a_rule() {
    let store = club().await;
    let first = store.run(&json!({ "sub": "ann" }), PAGE).await;
    let cursor = first["data"]["notes"]["pageInfo"]["endCursor"].as_str().unwrap();
    let mut wrong = String::new();
    for (name, claims, operation, data, expected) in attacks() {
        let response = store.run(&claims, &operation.replace("<cursor>", cursor)).await;
        let reveals = response.to_string().contains("secret") && claims["sub"] != "ann";
        if response["data"] != data || codes(&response) != expected || reveals {
            wrong += &format!("{name}: {response}\n");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert_eq!(store.run(&staff(), ALL).await["data"], left());
}

#[tokio::test]
async fn an_explanation_shows_no_calls_of_hidden_items() {
    let store = club().await;
    for operation in [r#"{ note(roomId: "r", id: "1") { text } }"#, r#"{ room(id: "r") { noteCount } }"#] {
        let response = store.explained(&json!({ "sub": "ben" }), operation).await;
        let explained = &response["extensions"]["keyfold"];
        assert!(explained["plan"].is_object() && explained["calls"] == json!([]), "{response}");
        assert!(!response.to_string().contains("secret"), "{response}");
    }
}

#[test]
fn the_page_lists_every_attack() {
    let page = include_str!("../../docs/security.md");
    for (name, ..) in attacks() {
        assert!(page.contains(name), "docs/security.md does not list: {name}");
    }
}
