//! A write is made, its answer is lost, and somebody else writes before another attempt could: nothing that others
//! were answered is undone, and nothing is done twice.

use super::backend::{Backend, Call, Table, error, is_write};
use crate::scripted::{LOST, Reply};
use keyfold::plan::tree::SingleWrites;
use serde_json::{Value, json};
use std::ops::RangeInclusive;
use std::sync::Mutex;

const TABLE: &str = "ledger";

/// A write of somebody else, who has an answer.
type Other = fn(&Table);

/// Kinds of single writes: what is there before, the write, and what somebody else does after it.
fn cases() -> Vec<(&'static [&'static str], &'static str, Other)> {
    const ACCOUNT: &str = "mutation { open(id: \"a\", coins: 10) { coins } }";
    const EMPTY: &str = "mutation { open(id: \"a\", coins: 0) { coins } }";
    const PAGE: &str = "mutation { createPage(id: \"p\", title: \"one\") { version } }";
    const NOTE: &str = "mutation { writeNote(id: \"n\", amount: \"1\", ratio: 1) { id } }";
    const LINE: &str = "mutation { addLine(id: \"n\", weight: \"1\", text: \"first\") { id } }";
    vec![
        // A delete, and what somebody else creates under the same key.
        (&[ACCOUNT], "mutation { settled(id: \"a\") { coins } }", theirs),
        (&[EMPTY], "mutation { settle(id: \"a\") { coins } }", |table| account(table, "0")),
        (&[PAGE], "mutation { dropPage(id: \"p\", version: 1) { title } }", |table| {
            table.put(TABLE, page("theirs", "1"));
        }),
        // A put, and a delete or a change of what it put.
        (&[], ACCOUNT, |table| table.delete(TABLE, ["Account#a", "Account"])),
        (&[], ACCOUNT, theirs),
        (&[], PAGE, |table| table.delete(TABLE, ["Page#p", "Page"])),
        (&[ACCOUNT], "mutation { reopen(id: \"a\", coins: 3) { coins } }", theirs),
        (&[ACCOUNT], "mutation { reopen(id: \"a\", coins: 3) { coins } }", |table| {
            table.delete(TABLE, ["Account#a", "Account"])
        }),
        // Updates, and a later value.
        (&[ACCOUNT], "mutation { refund(id: \"a\", coins: 3) { coins } }", theirs),
        (&[ACCOUNT], "mutation { buy(id: \"a\", cost: 3) { coins } }", theirs),
        (&[ACCOUNT], "mutation { lock(id: \"a\") { open } }", |table| {
            table.update(TABLE, ["Account#a", "Account"], "SET #open = :o", json!({ ":o": { "BOOL": true } }));
        }),
        // An item that is deleted and created anew has the version of the one before.
        (&[PAGE], "mutation { editPage(id: \"p\", version: 1, title: \"two\") { title } }", |table| {
            table.put(TABLE, page("theirs", "1"));
        }),
        (&[PAGE], "mutation { editPage(id: \"p\", version: 1, title: \"two\") { title } }", |table| {
            table.put(TABLE, page("theirs", "3"));
        }),
        // Elements of lists.
        (&[NOTE, LINE], "mutation { changeLine(id: \"n\", no: \"1\", text: \"mine\") { id } }", |table| {
            let text = json!({ ":t": { "S": "theirs" } });
            table.update(TABLE, ["Note#n", "Note"], "SET #lines[0].#text = :t", text);
        }),
        (&[NOTE, LINE], "mutation { removeLine(id: \"n\", no: \"1\") { id } }", |table| {
            table.update(TABLE, ["Note#n", "Note"], "SET #lines = :l", lines(&["1"]));
        }),
        (&[NOTE], LINE, |table| table.update(TABLE, ["Note#n", "Note"], "SET #lines = :l", lines(&[]))),
        (&[NOTE], LINE, |table| table.update(TABLE, ["Note#n", "Note"], "SET #lines = :l", lines(&["2"]))),
    ]
}

fn account(table: &Table, coins: &str) {
    let (pk, sk) = (json!({ "S": "Account#a" }), json!({ "S": "Account" }));
    table.put(TABLE, json!({ "PK": pk, "SK": sk, "coins": { "N": coins }, "open": { "BOOL": true } }));
}

fn theirs(table: &Table) {
    account(table, "77");
}

fn page(title: &str, version: &str) -> Value {
    json!({ "PK": { "S": "Page#p" }, "SK": { "S": "Page" }, "title": { "S": title }, "version": { "N": version } })
}

fn lines(weights: &[&str]) -> Value {
    let line = |weight: &&str| json!({ "M": { "weight": { "N": weight }, "text": { "S": "theirs" } } });
    json!({ ":l": { "L": weights.iter().map(line).collect::<Vec<_>>() } })
}

/// A script in which the first write is made or not, somebody else writes, and the answer is lost.
fn lost(made: bool, other: Other, reply: fn() -> Reply) -> impl Fn(&Call<'_>) -> Option<Reply> + Send + Sync + 'static {
    move |call| {
        if !is_write(call.operation) || call.before > 0 {
            return None;
        }
        if made {
            call.table.apply(call.operation, call.body.clone());
        }
        other(call.table);
        Some(reply())
    }
}

async fn prepared(operations: &[&str]) -> Backend {
    let backend = Backend::new(TABLE).await;
    for operation in operations {
        backend.ok(operation, json!({})).await;
    }
    backend
}

#[track_caller]
fn assert_open(answer: &Value, what: &str) {
    let (code, message, _) = error(answer);
    assert!(
        ["UNAVAILABLE", "TIMEOUT"].contains(&code) && message.contains("may or may not have been made"),
        "{what}: {answer}"
    );
}

#[tokio::test(start_paused = true)]
async fn what_somebody_else_wrote_after_a_lost_answer_stays() {
    for (prepare, operation, other) in cases() {
        for (trouble, reply) in LOST {
            let expected = {
                let backend = prepared(prepare).await;
                backend.ok(operation, json!({})).await;
                other(&backend.table);
                backend.items()
            };
            let backend = prepared(prepare).await;
            backend.script(lost(true, other, reply));
            let answer = backend.run(operation, json!({})).await;
            let what = format!("{operation}, {trouble}");
            assert_eq!(backend.items(), expected, "{what}: {answer}");
            assert_open(&answer, &what);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn concurrent_puts_of_equal_items_one_wins() {
    let backend = prepared(&[]).await;
    backend.script(lost(false, |table| account(table, "10"), || Reply::Reset));
    let answer = backend.run("mutation { open(id: \"a\", coins: 10) { coins } }", json!({})).await;
    assert_open(&answer, "an equal item of somebody else");
    let backend = prepared(&["mutation { writeNote(id: \"n\", amount: \"1\", ratio: 1) { id } }"]).await;
    let theirs = |table: &Table| table.update(TABLE, ["Note#n", "Note"], "SET #lines = :l", lines(&["5"]));
    backend.script(lost(false, theirs, || Reply::Reset));
    let answer =
        backend.run("mutation { addLine(id: \"n\", weight: \"5\", text: \"theirs\") { id } }", json!({})).await;
    assert_open(&answer, "an equal element of somebody else");
}

/// A value that was generated for the request can only be there if the request wrote it.
#[tokio::test(start_paused = true)]
async fn a_generated_value_in_the_item_tells_that_the_write_was_made() {
    let retitled = |table: &Table| {
        let item = table.scan(TABLE).pop().unwrap();
        let key = [item["PK"]["S"].as_str().unwrap(), item["SK"]["S"].as_str().unwrap()];
        table.update(TABLE, key, "SET #text = :t", json!({ ":t": { "S": "theirs" } }));
    };
    let gone = |table: &Table| {
        let item = table.scan(TABLE).pop().unwrap();
        table.delete(TABLE, [item["PK"]["S"].as_str().unwrap(), item["SK"]["S"].as_str().unwrap()]);
    };
    let book = "mutation { w: book(text: \"t\") { id text } }";
    for (trouble, reply) in LOST {
        let backend = prepared(&[]).await;
        backend.script(lost(true, |_| {}, reply));
        let answer = backend.ok(book, json!({})).await;
        assert_eq!(
            (answer["w"]["text"].as_str(), backend.writes(), backend.items().len()),
            (Some("t"), 1, 1),
            "{trouble}"
        );
        backend.script(lost(true, retitled, reply));
        let id = answer["w"]["id"].as_str().unwrap();
        // Later changes of others show, as in any answer that is read after the write.
        let answer =
            backend.ok(&format!("mutation {{ w: reword(id: \"{id}\", text: \"mine\") {{ text }} }}"), json!({})).await;
        assert_eq!((answer["w"]["text"].as_str(), backend.writes()), (Some("theirs"), 1), "{trouble}");
        backend.script(lost(true, retitled, reply));
        let answer = backend
            .ok(&format!("mutation {{ w: tear(id: \"{id}\", seat: 4) {{ stubs {{ seat }} }} }}"), json!({}))
            .await;
        assert_eq!((&answer["w"]["stubs"], backend.writes()), (&json!([{ "seat": 4 }]), 1), "{trouble}");
        // An item that is not there was never made, or somebody has deleted it.
        let backend = prepared(&[]).await;
        backend.script(lost(true, gone, reply));
        assert_open(&backend.run(book, json!({})).await, trouble);
        assert!(backend.items().is_empty(), "{trouble}");
        backend.script(lost(false, |_| {}, reply));
        assert_open(&backend.run(book, json!({})).await, trouble);
    }
}

/// Kinds of writes and the form of single ones: how many of a hundred end open if one answer in a hundred is lost, half
/// of them of writes that were made. docs/language/certainty.md has these shares.
const SHARES: [(&str, &str, SingleWrites, RangeInclusive<f64>); 10] = [
    ("put", "mutation ($k: ID!) { open(id: $k, coins: 1) { coins } }", SingleWrites::Call, 0.5..=1.5),
    ("put with a generated value", "mutation { book(text: \"t\") { id } }", SingleWrites::Call, 0.2..=0.8),
    ("put that replaces", "mutation { reopen(id: \"a\", coins: 1) { coins } }", SingleWrites::Call, 0.5..=1.5),
    ("update", "mutation { refund(id: \"a\", coins: 1) { coins } }", SingleWrites::Call, 0.5..=1.5),
    ("update that counts", "mutation { retitle(id: \"p\", title: \"t\") { version } }", SingleWrites::Call, 0.5..=1.5),
    ("delete", "mutation ($k: ID!) { settle(id: $k) { coins } }", SingleWrites::Call, 0.5..=1.5),
    (
        "transaction",
        "mutation { transfer(from: \"a\", to: \"b\", amount: 0) { coins } }",
        SingleWrites::Call,
        0.0..=0.0,
    ),
    (
        "put as a transaction",
        "mutation ($k: ID!) { open(id: $k, coins: 1) { coins } }",
        SingleWrites::Transaction,
        0.0..=0.0,
    ),
    (
        "update as a transaction",
        "mutation { retitle(id: \"p\", title: \"t\") { version } }",
        SingleWrites::Transaction,
        0.0..=0.0,
    ),
    ("delete as a transaction", "mutation { settled(id: \"a\") { coins } }", SingleWrites::Transaction, 0.0..=0.0),
];

#[tokio::test(start_paused = true)]
async fn the_share_of_writes_that_may_have_been_made() {
    const WRITES: usize = 600;
    for (kind, operation, single_writes, expected) in SHARES {
        let backend = Backend::with(TABLE, single_writes).await;
        for account in ["a", "b"] {
            backend.ok("mutation ($id: ID!) { open(id: $id, coins: 0) { coins } }", json!({ "id": account })).await;
        }
        backend.ok("mutation { createPage(id: \"p\", title: \"t\") { id } }", json!({})).await;
        let rng = Mutex::new(fastrand::Rng::with_seed(7));
        backend.script(move |call| {
            let mut rng = rng.lock().unwrap();
            if !is_write(call.operation) || rng.usize(..100) > 0 {
                return None;
            }
            if rng.bool() {
                call.table.apply(call.operation, call.body.clone());
            }
            Some(LOST[rng.usize(..LOST.len())].1())
        });
        let mut open = 0;
        for number in 0..WRITES {
            let answer = backend.run(operation, json!({ "k": format!("k{number}") })).await;
            open += usize::from(error(&answer).1.contains("may or may not have been made"));
        }
        let share = open as f64 * 100.0 / WRITES as f64;
        println!("{kind}: {share:.2} %");
        assert!(expected.contains(&share), "{kind}: {share} %");
    }
}
