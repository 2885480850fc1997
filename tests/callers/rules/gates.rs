//! Gates that stand behind other gates: each row fails if its gate alone is taken out.

use super::{Library, Row, check_rows, support};
use keyfold::execute::gateway::Gateway;
use keyfold::schema::load;
use keyfold::table::embedded::observer::Recorder;
use keyfold::table::store::TableStore;
use serde_json::{Value, json};
use std::sync::Arc;

/// What the administrator, who sits in each ring, puts. Ben has asked for a seat, and has none.
const FILL: &str = r#"mutation {
  a: putSeat(ringId: "r", userId: "root", rank: "chair") { userId }
  b: putSeat(ringId: "open", userId: "root") { userId }
  c: putRing(id: "r", name: "R") { id }
  d: putRing(id: "open", name: "O", open: true) { id }
  e: putBoard(ringId: "r", name: "B") { name }
  f: putPlea(ringId: "r", userId: "ben", rank: "chair") { userId }
  g: putSafe(id: "s", code: "1234") { id }
  h: putMark(id: "m", flag: "red") { id }
  i: putSlip(ringId: "r", id: "1", ownerId: "root") { id }
  j: putSlip(ringId: "r", id: "2", ownerId: "ann") { id }
  k: putGavel(ringId: "r", name: "G") { name }
  l: putTally(ringId: "r")
}"#;

async fn open() -> Library {
    let loaded = load("gates.graphql", include_str!("../../schemas/rules/gates.graphql"), &|_| None);
    let (model, _) = loaded.unwrap_or_else(|mistakes| panic!("{}", mistakes.render(false)));
    let recorder = Arc::new(Recorder::default());
    let store = TableStore::in_memory_observed(recorder.clone()).unwrap();
    store.create_missing(&model.tables).await.unwrap();
    let library = Library { gateway: Gateway::new(Arc::new(model), store, support::settings()), recorder };
    for (claims, text) in
        [(root(), FILL), (ann(), r#"mutation { putWish(id: "w", ownerId: "ann", text: "peace") { id } }"#)]
    {
        let (filled, _) = library.run(&super::caller(claims), text, json!({})).await;
        assert_eq!(filled.get("errors"), None, "{filled}");
    }
    library
}

fn root() -> Value {
    json!({ "sub": "root", "role": "admin", "rank": "chair" })
}

fn ann() -> Value {
    json!({ "sub": "ann" })
}

fn ben() -> Value {
    json!({ "sub": "ben", "rank": "chair" })
}

/// A plea stands under the key of a seat, and lets nobody in.
fn pleas() -> Vec<Row> {
    vec![
        (ben(), r#"{ board(ringId: "r") { name } }"#, json!({ "board": null }), &["FORBIDDEN board"], 1),
        (
            ben(),
            r#"mutation { nameBoard(ringId: "r", name: "X") { name } }"#,
            json!({ "nameBoard": null }),
            &["FORBIDDEN nameBoard"],
            1,
        ),
        // Of two rules, the look-up of one is read first.
        (
            ben(),
            r#"mutation { nameRing(id: "r", name: "X") { name } }"#,
            json!({ "nameRing": null }),
            &["FORBIDDEN nameRing"],
            2,
        ),
        (ben(), r#"{ ring(id: "r") { name } }"#, json!({ "ring": null }), &["FORBIDDEN ring"], 1),
        // It shows nothing hidden either.
        (
            root(),
            r#"mutation { putDen(ringId: "r", id: "p", name: "P") { name } }"#,
            json!({ "putDen": { "name": "P" } }),
            &[],
            2,
        ),
        (
            ben(),
            r#"{ den(ringId: "r", id: "p") { name } dens(ringId: "r") { name } }"#,
            json!({ "den": null, "dens": [] }),
            &[],
            2,
        ),
        (root(), r#"{ den(ringId: "r", id: "p") { name } }"#, json!({ "den": { "name": "P" } }), &[], 1),
        (
            root(),
            r#"{ board(ringId: "r") { name } ring(id: "r") { name } }"#,
            json!({ "board": { "name": "B" }, "ring": { "name": "R" } }),
            &[],
            1,
        ),
    ]
}

/// What the claims decide is decided before anything is read.
fn by_claims() -> Vec<Row> {
    vec![
        // Who has no rank sees no medal, so the one that would be returned is not made.
        (
            ann(),
            r#"mutation { giveMedal(id: "a", ringId: "r") { id } }"#,
            json!({ "giveMedal": null }),
            &["FORBIDDEN giveMedal"],
            0,
        ),
        (
            root(),
            r#"mutation { giveMedal(id: "a", ringId: "r") { id } }"#,
            json!({ "giveMedal": { "id": "a" } }),
            &[],
            2,
        ),
        // Nobody but the administrator writes flags, so the one to copy is not read.
        (
            ann(),
            r#"mutation { copyFlag(from: "m", to: "n") }"#,
            json!({ "copyFlag": null }),
            &["FORBIDDEN copyFlag"],
            0,
        ),
        (
            ann(),
            r#"mutation { copyFlag(from: "none", to: "n") }"#,
            json!({ "copyFlag": null }),
            &["FORBIDDEN copyFlag"],
            0,
        ),
        // A check does not see what the claims hide.
        (
            ann(),
            r#"mutation { noteSafe(id: "s", mark: "a") }"#,
            json!({ "noteSafe": null }),
            &["NOT_FOUND noteSafe"],
            0,
        ),
        (
            ann(),
            r#"mutation { noteSafe(id: "none", mark: "a") }"#,
            json!({ "noteSafe": null }),
            &["NOT_FOUND noteSafe"],
            0,
        ),
        (ann(), r#"mutation { noteNoSafe(id: "s", mark: "b") }"#, json!({ "noteNoSafe": true }), &[], 1),
        (
            root(),
            r#"mutation { noteNoSafe(id: "s", mark: "c") }"#,
            json!({ "noteNoSafe": null }),
            &["CONFLICT noteNoSafe"],
            1,
        ),
        (root(), r#"mutation { noteSafe(id: "s", mark: "d") }"#, json!({ "noteSafe": true }), &[], 1),
    ]
}

/// A transaction leaves out the old guard of a value that another item gets. What the rules look up is found among its
/// calls all the same.
fn left_out_guards() -> Vec<Row> {
    let put = r#"mutation { a: putDesk(ringId: "r", id: "a", label: "A") { id } b: putDesk(ringId: "r", id: "b", label: "B") { id } }"#;
    let swap = r#"mutation { labelDesks(ringId: "r", a: "a", ofA: "B", b: "b", ofB: "A") }"#;
    vec![
        (root(), put, json!({ "a": { "id": "a" }, "b": { "id": "b" } }), &[], 4),
        (root(), swap, json!({ "labelDesks": null }), &["CONFLICT labelDesks"], 2),
        (ben(), swap, json!({ "labelDesks": null }), &["FORBIDDEN labelDesks"], 2),
    ]
}

/// What another rule decides of a new item needs no look-up, and one look-up that is left is not read before the write.
fn new_items() -> Vec<Row> {
    let put = r#"mutation { putRing(id: "new", name: "N", open: true) { name } }"#;
    let closed = r#"mutation { putRing(id: "shut", name: "N") { name } }"#;
    vec![
        // The second call asks who sees the new item.
        (ann(), put, json!({ "putRing": { "name": "N" } }), &[], 2),
        (ann(), closed, json!({ "putRing": null }), &["FORBIDDEN putRing"], 1),
        (
            root(),
            r#"mutation { putSeat(ringId: "shut", userId: "root") { userId } }"#,
            json!({ "putSeat": { "userId": "root" } }),
            &[],
            1,
        ),
        (root(), closed, json!({ "putRing": { "name": "N" } }), &[], 2),
    ]
}

/// No look-up for a write reveals whether there are hidden items.
fn hidden_from_writers() -> Vec<Row> {
    let clear = r#"mutation { clearSlips(ringId: "r") { id } }"#;
    vec![
        (ben(), clear, json!({ "clearSlips": [] }), &[], 2),
        (ben(), r#"mutation { clearSlips(ringId: "none") { id } }"#, json!({ "clearSlips": [] }), &[], 1),
        (json!({ "sub": ["ben"] }), clear, Value::Null, &["FORBIDDEN clearSlips"], 0),
        // Ann sees hers, and learns that she may not delete it.
        (ann(), clear, Value::Null, &["FORBIDDEN clearSlips"], 3),
        (root(), clear, json!({ "clearSlips": [{ "id": "1" }] }), &[], 3),
        (root(), clear, json!({ "clearSlips": [] }), &[], 1),
    ]
}

/// What a look-up hides looks as if it were not there. The look-up is made beside the data, if the key says of which
/// item.
fn hidden_by_look_ups() -> Vec<Row> {
    let put = r#"mutation { a: putDen(ringId: "r", id: "d", name: "D") { name } b: putNook(id: "1", ringId: "r") { id } c: putNook(id: "2", ringId: "none") { id } }"#;
    let all = r#"{ den(ringId: "r", id: "d") { name } dens(ringId: "r") { name } denCount(ringId: "r") hasDen(ringId: "r", id: "d") }"#;
    let nothing = json!({ "den": null, "dens": [], "denCount": 0, "hasDen": false });
    let there = json!({ "den": { "name": "D" }, "dens": [{ "name": "D" }], "denCount": 1, "hasDen": true });
    let note = |id: &str| {
        if id == "d" {
            r#"mutation { noteDen(ringId: "r", id: "d", mark: "x") }"#
        } else {
            r#"mutation { noteDen(ringId: "r", id: "no", mark: "x") }"#
        }
    };
    vec![
        (ann(), put, json!({ "a": null, "b": null, "c": null }), &[], 6),
        (ann(), r#"{ den(ringId: "r", id: "d") { name } }"#, json!({ "den": null }), &[], 1),
        (root(), r#"{ den(ringId: "r", id: "d") { name } }"#, json!({ "den": { "name": "D" } }), &[], 1),
        (ann(), all, nothing.clone(), &[], 2),
        (root(), all, there, &[], 2),
        (json!({ "sub": ["root"] }), all, nothing, &[], 0),
        (ann(), "{ nooks { id } nookCount }", json!({ "nooks": [], "nookCount": 0 }), &[], 2),
        (root(), "{ nooks { id } nookCount }", json!({ "nooks": [{ "id": "1" }], "nookCount": 1 }), &[], 2),
        (ann(), note("d"), json!({ "noteDen": null }), &["NOT_FOUND noteDen"], 1),
        (ann(), note("no"), json!({ "noteDen": null }), &["NOT_FOUND noteDen"], 1),
        (root(), note("no"), json!({ "noteDen": null }), &["NOT_FOUND noteDen"], 2),
        (root(), note("d"), json!({ "noteDen": true }), &[], 2),
    ]
}

/// Of several conditions that fail in one transaction, who is refused learns only that.
fn order_of_errors() -> Vec<Row> {
    vec![
        (
            ann(),
            r#"mutation { nameBoardIf(mark: "m", flag: "blue", ringId: "r", name: "X") }"#,
            json!({ "nameBoardIf": null }),
            &["FORBIDDEN nameBoardIf"],
            1,
        ),
        (
            root(),
            r#"mutation { nameBoardIf(mark: "m", flag: "blue", ringId: "r", name: "X") }"#,
            json!({ "nameBoardIf": null }),
            &["CONFLICT nameBoardIf"],
            1,
        ),
        // The tally has no points with which to calculate.
        (ann(), r#"mutation { score(ringId: "r", by: 1) }"#, json!({ "score": null }), &["FORBIDDEN score"], 1),
        (ann(), r#"mutation { score(ringId: "none", by: 1) }"#, json!({ "score": null }), &["FORBIDDEN score"], 1),
        (root(), r#"mutation { score(ringId: "r", by: 1) }"#, json!({ "score": null }), &["CONFLICT score"], 2),
        (
            ben(),
            r#"mutation { wishIf(mark: "m", flag: "blue", id: "w", text: "war") }"#,
            json!({ "wishIf": null }),
            &["FORBIDDEN wishIf"],
            1,
        ),
        (
            ann(),
            r#"mutation { wishIf(mark: "m", flag: "blue", id: "w", text: "war") }"#,
            json!({ "wishIf": null }),
            &["CONFLICT wishIf"],
            1,
        ),
    ]
}

#[tokio::test]
async fn an_item_of_another_type_under_the_key_lets_nobody_in() {
    check_rows(&open().await, pleas()).await;
}

#[tokio::test]
async fn what_the_claims_refuse_is_refused_before_anything_is_read() {
    check_rows(&open().await, by_claims()).await;
}

#[tokio::test]
async fn a_look_up_for_a_write_tells_of_no_hidden_item() {
    check_rows(&open().await, hidden_from_writers()).await;
}

#[tokio::test]
async fn what_a_look_up_hides_is_as_if_it_were_not_there() {
    check_rows(&open().await, hidden_by_look_ups()).await;
}

#[tokio::test]
async fn a_new_item_that_another_rule_decides_needs_no_look_up() {
    check_rows(&open().await, new_items()).await;
}

#[tokio::test]
async fn a_rule_is_asked_first_where_a_guard_is_left_out() {
    check_rows(&open().await, left_out_guards()).await;
}

#[tokio::test]
async fn refused_caller_learns_of_no_other_condition() {
    check_rows(&open().await, order_of_errors()).await;
}

/// A ring that is open to all, and is closed by its chair only.
#[tokio::test]
async fn what_would_be_deleted_is_not_read_for_whom_the_rules_refuse() {
    let close = r#"mutation { closeRing(id: "open") }"#;
    let chair = r#"mutation { putSeat(ringId: "open", userId: "chair", rank: "chair") { userId } }"#;
    let rows = vec![
        // One batch, of the ring and of the seat.
        (ann(), close, json!({ "closeRing": null }), &["FORBIDDEN closeRing"][..], 1),
        (root(), close, json!({ "closeRing": null }), &["FORBIDDEN closeRing"], 1),
        (root(), r#"{ seatCount(ringId: "open") }"#, json!({ "seatCount": 1 }), &[], 1),
        (root(), chair, json!({ "putSeat": { "userId": "chair" } }), &[], 1),
        (json!({ "sub": "chair" }), close, json!({ "closeRing": true }), &[], 4),
        (root(), r#"{ seatCount(ringId: "open") }"#, json!({ "seatCount": 0 }), &[], 1),
    ];
    check_rows(&open().await, rows).await;
}

/// A ring with more seats than a transaction can delete, the caller's among them.
#[tokio::test]
async fn what_lets_the_caller_in_may_be_deleted_first() {
    let library = open().await;
    let seated = super::caller(root());
    for number in 0..120 {
        let put = format!(r#"mutation {{ putSeat(ringId: "r", userId: "{number:03}") {{ userId }} }}"#);
        let (filled, _) = library.run(&seated, &put, json!({})).await;
        assert_eq!(filled.get("errors"), None, "{filled}");
    }
    // What the second deletion demands is decided before the seats of the first are deleted.
    let drops = [
        (ben(), "dropRing", Value::Null, 121),
        (json!({ "sub": "007" }), "dropRingAndGavel", Value::Null, 121),
        (root(), "dropRingAndGavel", json!(true), 0),
    ];
    for (claims, field, dropped, left) in drops {
        let drop = format!(r#"mutation {{ {field}(id: "r") }}"#);
        let (answer, _) = library.run(&super::caller(claims.clone()), &drop, json!({})).await;
        assert_eq!(answer["data"][field], dropped, "{claims}: {answer}");
        let (counted, _) = library.run(&seated, r#"{ seatCount(ringId: "r") }"#, json!({})).await;
        assert_eq!(counted["data"]["seatCount"], left, "{claims}: {counted}");
    }
}
