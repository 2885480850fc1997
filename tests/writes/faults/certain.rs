//! Every kind of write of docs/guarantees.md with `@idempotent`: whatever becomes of its answers, it takes effect once,
//! and a repeat with its key says so for certain.

use super::backend::{Backend, troubled};
use crate::scripted::{LOST, Trouble};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

const SCHEMA: &str = r#"
extend schema @table(name: "kinds", partitionKey: "PK", sortKey: "SK", timeToLive: "ttl", indexes: [
  { name: "byState", partitionKey: "StateKey" }
  { name: "byWear", partitionKey: "WornKey" }
])
type Query {
  book(id: ID!): Book @find
  pages(bookId: ID!): [Page!]! @find
  poster(id: ID!): Poster @find
}
type Mutation {
  beginBook(id: ID!, state: String!, isbn: String): Book! @put
  beginPage(bookId: ID!, id: ID!, text: String!): Page! @put
  beginPoster(id: ID!, text: String!): Poster! @put
  put(id: ID!, state: String!, key: ID!): Book! @idempotent(key: "{key}") @put
  replace(id: ID!, state: String!, key: ID!): Book! @idempotent(key: "{key}") @put(replace: true)
  grade(id: ID!, state: String!, key: ID!): Book @idempotent(key: "{key}") @update
  count(id: ID!, key: ID!): Book @idempotent(key: "{key}") @update(expression: "SET count = count + 1")
  make(id: ID!, state: String!, key: ID!): Book! @idempotent(key: "{key}") @update(upsert: true)
  delete(id: ID!, key: ID!): Book @idempotent(key: "{key}") @delete
  deleteSurely(id: ID!, key: ID!): Book! @idempotent(key: "{key}") @delete
  deleteAll(id: ID!, key: ID!): Book @idempotent(key: "{key}") @delete(cascade: ["pages"])
  addPage(bookId: ID!, id: ID!, text: String!, key: ID!): Page! @idempotent(key: "{key}")
    @check(item: Book, where: { id: "{bookId}" }, if: "attribute_exists(id)")
    @put
  fill(bookId: ID!, text: String!, key: ID!): [Page!]! @idempotent(key: "{key}") @update(many: true)
  tear(bookId: ID!, key: ID!): [Page!]! @idempotent(key: "{key}") @delete(many: true)
  addPages(bookId: ID!, pages: [PageInput!]!, key: ID!): [Page!]! @idempotent(key: "{key}") @put(each: "pages")
  note(id: ID!, text: String!, key: ID!): Book @idempotent(key: "{key}") @put(at: "notes")
  forget(id: ID!, text: String!, key: ID!): Book @idempotent(key: "{key}") @delete(at: "notes[text = :text]")
  vote(id: ID!, name: String!, key: ID!): Book @idempotent(key: "{key}")
    @update(at: "votes[name = :name]", expression: "ADD count 1")
  offer(id: ID!, name: String!, count: Int!, key: ID!): Book @idempotent(key: "{key}") @put(at: "votes")
  strike(id: ID!, name: String!, key: ID!): Book @idempotent(key: "{key}") @delete(at: "votes[name = :name]")
  moveTo(id: ID!, town: String!, key: ID!): Book @idempotent(key: "{key}")
    @update(expression: "SET place.town = :town, place.moves = if_not_exists(place.moves, 0) + 1")
  register(id: ID!, isbn: String!, key: ID!): Book @idempotent(key: "{key}") @update
  edit(id: ID!, color: String!, version: Int!, key: ID!): Book @idempotent(key: "{key}") @update
  setPoster(id: ID!, text: String!, key: ID!): Poster @idempotent(key: "{key}") @update
  putPoster(id: ID!, text: String!, key: ID!): Poster! @idempotent(key: "{key}") @put
  numberPage(bookId: ID!, id: ID!, text: String!, key: ID!): Page! @idempotent(key: "{key}")
    @find(item: Book, where: { id: "{bookId}" })
    @update(item: Book, where: { id: "{bookId}" }, expression: "SET count = count + 1")
    @put(set: { number: "{Book.count}" })
  movePage(from: ID!, to: ID!, id: ID!, key: ID!): Page @idempotent(key: "{key}")
    @update(move: true, where: { bookId: "{from}" }, set: { bookId: "{to}" })
  carryPage(from: ID!, to: ID!, id: ID!, key: ID!): Page! @idempotent(key: "{key}")
    @find(item: Page, where: { bookId: "{from}" })
    @put(set: { bookId: "{to}", text: "{Page.text}", number: "{Page.number}" })
    @delete(item: Page, where: { bookId: "{from}" })
  lend(from: ID!, to: ID!, key: ID!): Boolean! @idempotent(key: "{key}")
    @update(item: Book, where: { id: "{from}" }, expression: "SET count = count - 1")
    @update(item: Book, where: { id: "{to}" }, expression: "SET count = count + 1")
}
type Book
  @item(
    keys: [
      { attribute: "PK", template: "BOOK#{id}" }
      { attribute: "SK", template: "BOOK" }
      { attribute: "StateKey", template: "STATE#{state}" }
      { attribute: "WornKey", template: "WORN#{id}", when: "state = 'worn'" }
    ]
  ) {
  id: ID!
  state: String! @attribute(name: "state")
  color: String! @default(value: "red")
  count: Int! @default(value: "0")
  version: Int! @version
  code: ID! @default(value: "{uuid}")
  at: DateTime! @default(value: "{now}")
  isbn: String @unique
  notes: [Note!]!
  votes: [Votes!] @attribute(stored: MAP, by: "name")
  place: Place
  pages: [Page!]! @find
}
type Note { text: String! }
type Votes { name: String! count: Int! }
type Place { town: String! moves: Int! }
type Page @item(keys: { PK: "BOOK#{bookId}", SK: "PAGE#{id}" }) { bookId: ID! id: ID! text: String! number: Int }
input PageInput { id: ID! text: String! }
type Poster @item(keys: { PK: "POSTER#{id}#{replica:3}", SK: "POSTER" }) { id: ID! text: String! }
"#;

/// Ways to lose an answer. `idempotent` tries all of them on one kind of write.
const TROUBLES: [Trouble; 3] = [LOST[1], LOST[0], LOST[3]];

/// What there is at first.
const BEGIN: &str = r#"mutation {
  a: beginBook(id: "a", state: "new", isbn: "1") { id } b: beginBook(id: "b", state: "new") { id }
  p: beginPage(bookId: "a", id: "p", text: "t") { id } q: beginPage(bookId: "a", id: "q", text: "t") { id }
  w: beginPoster(id: "w", text: "t") { id }
}"#;

/// The kinds of writes, by the first cells of their rows, with what tries them.
const KINDS: [(&str, &[&str]); 29] = [
    ("`@put`", &[r#"w: put(id: "c", state: "new", key: "k") { id state version code at }"#]),
    ("`@put(replace: true)`", &[r#"w: replace(id: "a", state: "worn", key: "k") { id state isbn version code at }"#]),
    ("`@update`", &[r#"w: grade(id: "a", state: "torn", key: "k") { state version code }"#]),
    (
        "any write, with `when:` on the key of an index",
        &[r#"w: grade(id: "a", state: "worn", key: "k") { state version }"#],
    ),
    ("`@update(expression:)`", &[r#"w: count(id: "a", key: "k") { count version }"#]),
    ("`@update(upsert: true)`", &[r#"w: make(id: "c", state: "worn", key: "k") { id state code at }"#]),
    ("the same, of an item that is there", &[r#"w: make(id: "a", state: "worn", key: "k") { state color code }"#]),
    ("`@delete`", &[r#"w: delete(id: "a", key: "k") { id }"#, r#"w: deleteSurely(id: "a", key: "k") { id }"#]),
    ("the answer of a `@delete`", &[r#"w: delete(id: "a", key: "k") { id state isbn count version code at }"#]),
    ("a `@delete` of an item that another writer deletes first", &[r#"w: delete(id: "nobody", key: "k") { id }"#]),
    ("`@delete(cascade:)`", &[r#"w: deleteAll(id: "a", key: "k") { id code }"#]),
    ("`@check`", &[r#"w: addPage(bookId: "a", id: "r", text: "t", key: "k") { id text }"#]),
    (
        "`many: true`",
        &[r#"w: fill(bookId: "a", text: "u", key: "k") { id text }"#, r#"w: tear(bookId: "a", key: "k") { id text }"#],
    ),
    (
        "`each:`",
        &[r#"w: addPages(bookId: "a", pages: [{ id: "r", text: "t" }, { id: "s", text: "t" }], key: "k") { id text }"#],
    ),
    (
        "`at:`",
        &[
            r#"w: note(id: "a", text: "t", key: "k") { notes { text } version }"#,
            r#"w: note(id: "a", text: "t", key: "n") { id }
               x: forget(id: "a", text: "t", key: "k") { notes { text } }"#,
        ],
    ),
    (
        "`at:` of a map",
        &[
            r#"w: offer(id: "a", name: "n", count: 3, key: "k") { votes { name count } version }"#,
            r#"w: offer(id: "a", name: "n", count: 3, key: "n") { id }
               x: vote(id: "a", name: "n", key: "k") { votes { name count } version }"#,
            r#"w: offer(id: "a", name: "n", count: 3, key: "n") { id }
               x: strike(id: "a", name: "n", key: "k") { votes { name count } version }"#,
        ],
    ),
    (
        "an entry, a map or an object that a write makes",
        &[
            r#"w: vote(id: "a", name: "n", key: "k") { votes { name count } version }"#,
            r#"w: moveTo(id: "a", town: "t", key: "k") { place { town moves } version }"#,
        ],
    ),
    ("`@unique`", &[r#"w: register(id: "b", isbn: "2", key: "k") { isbn version }"#]),
    ("`@version`", &[r#"w: edit(id: "a", color: "blue", version: 1, key: "k") { color version }"#]),
    (
        "`{replica:n}`",
        &[
            r#"w: setPoster(id: "w", text: "u", key: "k") { text }"#,
            r#"w: putPoster(id: "x", text: "u", key: "k") { text }"#,
        ],
    ),
    ("`@default`", &[r#"w: put(id: "c", state: "new", key: "k") { color count code at }"#]),
    (
        "`@find`, then writes with what it found",
        &[r#"w: numberPage(bookId: "a", id: "r", text: "t", key: "k") { id number text }"#],
    ),
    ("`@update(move: true)`", &[r#"w: movePage(from: "a", to: "b", id: "p", key: "k") { bookId text }"#]),
    (
        "a copy under another key: `@find`, `@put`, `@delete`",
        &[r#"w: carryPage(from: "a", to: "b", id: "p", key: "k") { bookId text }"#],
    ),
    ("several actions of a field", &[r#"w: lend(from: "a", to: "b", key: "k")"#]),
    (
        "several root fields",
        &[r#"w: count(id: "a", key: "k") { count } x: grade(id: "b", state: "worn", key: "k") { state }
             y: put(id: "c", state: "new", key: "k") { id code }"#],
    ),
    (
        "`@idempotent`",
        &[r#"w: lend(from: "a", to: "b", key: "k") x: put(id: "c", state: "new", key: "k") { code at }"#],
    ),
    ("a lost answer", &[r#"w: count(id: "a", key: "k") { count }"#]),
    ("a lost answer of a transaction", &[r#"w: lend(from: "a", to: "b", key: "k")"#]),
];

/// The rows of the table of writes: the kind, and what a lost answer is with `@idempotent`.
fn rows() -> BTreeMap<String, String> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/guarantees.md");
    let page = std::fs::read_to_string(page).unwrap();
    let (_, writes) = page.split_once("\n## Writes\n").unwrap();
    let (writes, _) = writes.split_once("\n## ").unwrap();
    let rows = writes.lines().filter(|line| line.starts_with("| ") && line.contains("`tests/"));
    let cells = |row: &str| row.split('|').map(|cell| cell.trim().to_owned()).collect::<Vec<_>>();
    rows.map(cells).map(|cells| (cells[1].clone(), cells[6].clone())).collect()
}

#[test]
fn every_row_says_of_a_lost_answer_what_is_tried() {
    let rows = rows();
    let certain = rows.iter().filter(|(_, lost)| lost.starts_with("certain")).map(|(kind, _)| kind.as_str());
    let tried: BTreeSet<&str> = KINDS.iter().map(|(kind, _)| *kind).collect();
    assert_eq!(certain.collect::<BTreeSet<_>>(), tried, "the rows that say \"certain\", and those that are tried");
    let unsaid = rows.iter().filter(|(_, lost)| !lost.starts_with("certain") && *lost != "as the write");
    assert_eq!(unsaid.collect::<Vec<_>>(), Vec::new());
}

async fn begun(like: &Backend) -> Backend {
    let backend = like.anew().await;
    backend.ok(BEGIN, json!({})).await;
    backend.calm();
    backend
}

/// A text in which every generated value is the same.
fn plain(text: &str) -> String {
    let is_part = |sign: char| sign.is_ascii_hexdigit() || "-:.TZ".contains(sign);
    let word = |word: &str| match word.len() {
        36 if word.matches('-').count() == 4 => "UUID".to_owned(),
        20..=30 if word.ends_with('Z') => "TIME".to_owned(),
        _ => word.to_owned(),
    };
    let (mut plain, mut left) = (String::new(), text);
    while !left.is_empty() {
        let end = left.find(|sign| !is_part(sign)).unwrap_or(left.len());
        plain.push_str(&word(&left[..end]));
        let next = left[end..].chars().next().map_or(0, char::len_utf8);
        plain.push_str(&left[end..end + next]);
        left = &left[end + next..];
    }
    plain
}

/// What there is: the items that are no records, and how many records.
fn stored(backend: &Backend) -> (Vec<String>, usize) {
    let (records, own): (Vec<_>, Vec<_>) = backend.items().into_iter().partition(|item| item.contains("Idempotent#"));
    let mut own: Vec<String> = own.iter().map(|item| plain(item)).collect();
    own.sort();
    (own, records.len())
}

/// Of a write whose answers are lost, a repeat with its key says what became of it, and it takes effect once.
#[tokio::test(start_paused = true)]
async fn a_lost_answer_of_every_kind_of_write_is_certain() {
    let empty = Backend::of_text(SCHEMA).await;
    for (kind, operations) in KINDS {
        for fields in operations {
            let operation = format!("mutation {{ {fields} }}");
            let calm = begun(&empty).await;
            let expected = calm.ok(&operation, json!({})).await;
            let state = stored(&calm);
            assert_eq!(state.1, fields.matches("key: ").count(), "{kind}: each field has a record");
            let once = TROUBLES.iter().flat_map(|trouble| [(trouble, 1, true), (trouble, 1, false)]);
            let ever = [(&TROUBLES[0], usize::MAX, true), (&TROUBLES[0], usize::MAX, false)];
            for ((trouble, reply), times, applied) in once.chain(ever) {
                let what = format!("{kind}, {fields}: {trouble}, {times} times, made: {applied}");
                let backend = begun(&empty).await;
                backend.script(troubled(times, applied, *reply));
                let answer = backend.run_within(Duration::from_secs(20), &operation, json!({})).await;
                backend.calm();
                // Of a table that was silent for long, a while later.
                tokio::time::sleep(Duration::from_secs(60)).await;
                let again = backend.ok(&operation, json!({})).await;
                assert_eq!(plain(&again.to_string()), plain(&expected.to_string()), "{what}");
                assert_eq!(stored(&backend), state, "{what}");
                if answer["errors"].is_null() {
                    assert_eq!(answer["data"], again, "{what}");
                }
                let items = backend.items();
                assert_eq!(backend.ok(&operation, json!({})).await, again, "{what}");
                assert_eq!(backend.items(), items, "{what}");
            }
        }
    }
}

#[test]
fn generated_values_are_distinguished() {
    let text = r#"{"code":"3b241101-e2bb-4255-8caf-4136c566a962","at":"2026-11-28T07:20:13.123Z","n":"12"}"#;
    assert_eq!(plain(text), r#"{"code":"UUID","at":"TIME","n":"12"}"#);
    let _: Value = serde_json::from_str(&plain(text)).unwrap();
}
