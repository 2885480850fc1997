//! A null that another program stored counts as a missing attribute: every write does of it what it does of an item
//! without it. And where another program stored a value in a type that a field reads but does not write, that type
//! stays.

use super::backend::{Backend, error, is_write};
use serde_json::{Map, Value, json};

const SCHEMA: &str = r#"
extend schema @table(name: "books", partitionKey: "PK", sortKey: "SK")
type Book @item(keys: { PK: "BOOK#{id}", SK: "BOOK" }) {
  id: ID!
  coins: Int
  total: Long @constraint(min: 0)
  price: Decimal
  tags: [String!] @attribute(stored: SET)
  owners: [ID!] @attribute(stored: SET)
  readers: [ID!]
  lines: [Line!]
  words: [String]
  name: String
  other: String
  owner: ID
  state: String @default(value: "new")
  stats: Stats
  version: Int! @version
}
type Line { no: ID! text: String owner: ID }
type Stats { seen: Int owner: ID }
type Query {
  book(id: ID!): Book @find
  named: [Book!]! @find(scan: true, filter: "attribute_exists(name)")
  nameless: [Book!]! @find(scan: true, filter: "attribute_not_exists(name)")
}
type Mutation {
  add(id: ID!, n: Int!): Book @update(expression: "ADD coins :n")
  addTotal(id: ID!, n: Long!): Book @update(expression: "ADD total :n")
  take(id: ID!, n: Long!): Book @update(expression: "SET total = total - :n")
  sum(id: ID!, n: Int!): Book @update(expression: "SET coins = coins + :n")
  count(id: ID!, n: Int!): Book @update(expression: "SET coins = if_not_exists(coins, :n) + :n")
  raise(id: ID!, n: Decimal!): Book @update(expression: "SET price = if_not_exists(price, 10) - :n")
  tag(id: ID!, tags: [String!]!): Book @update(expression: "ADD tags :tags")
  untag(id: ID!, tags: [String!]!): Book @update(expression: "DELETE tags :tags SET coins = 1")
  word(id: ID!, words: [String!]!): Book @update(expression: "SET words = list_append(words, :words)")
  words(id: ID!, words: [String!]!): Book @update(expression: "SET words = list_append(if_not_exists(words, :words), :words)")
  first(id: ID!, name: String!): Book @update(expression: "SET name = if_not_exists(name, :name)")
  rename(id: ID!): Book @update(expression: "SET name = other")
  either(id: ID!, name: String!): Book @update(expression: "SET name = if_not_exists(other, :name)")
  see(id: ID!, n: Int!): Book @update(expression: "SET stats.seen = if_not_exists(stats.seen, :n) + :n")
  ifOther(id: ID!, n: Int!): Book @update(expression: "SET coins = :n", if: "attribute_exists(other)")
  ifFree(id: ID!, n: Int!): Book @update(expression: "SET coins = :n", if: "attribute_not_exists(other) AND name = 'n'")
  ifUnseen(id: ID!, n: Int!): Book @update(expression: "SET coins = :n", if: "NOT attribute_exists(stats.seen)")
  setReaders(id: ID!, readers: [ID!]): Book @update
  clear(id: ID!): Book @update(expression: "REMOVE coins")
  setName(id: ID!, name: String): Book @update
  make(id: ID!, name: String): Book @update(upsert: true)
  addLine(id: ID!, no: ID!, text: String): Book @put(at: "lines")
  changeLine(id: ID!, no: ID!, text: String, owner: ID): Book @update(at: "lines[no = :no]")
  both(id: ID!, otherId: ID!, n: Int!): Boolean!
    @update(item: Book, where: { id: "{id}" }, expression: "ADD coins :n")
    @update(item: Book, where: { id: "{otherId}" }, expression: "ADD coins :n")
  expect(id: ID!, name: String, version: Int!): Book @update
  setOwner(id: ID!, owner: ID): Book @update
  give(id: ID!, owner: ID!): Book @update(expression: "SET owner = :owner, stats.owner = :owner")
  setOwners(id: ID!, owners: [ID!]): Book @update
  setTags(id: ID!, tags: [String!]): Book @update
  retag(id: ID!, tags: [String!]): Book @update(expression: "SET tags = :tags")
}
"#;

/// The writes, each with the attributes that it calculates with.
const WRITES: [(&str, &[&str]); 23] = [
    ("add(id: \"1\", n: 3) { coins }", &["coins"]),
    ("addTotal(id: \"1\", n: 3) { total }", &["total"]),
    ("addTotal(id: \"1\", n: -3) { total }", &["total"]),
    ("take(id: \"1\", n: 3) { total }", &["total"]),
    ("sum(id: \"1\", n: 3) { coins }", &["coins"]),
    ("count(id: \"1\", n: 3) { coins }", &["coins"]),
    ("raise(id: \"1\", n: \"2.5\") { price }", &["price"]),
    ("tag(id: \"1\", tags: [\"a\"]) { tags }", &["tags"]),
    ("untag(id: \"1\", tags: [\"a\"]) { tags }", &["tags"]),
    ("word(id: \"1\", words: [\"a\"]) { words }", &["words"]),
    ("words(id: \"1\", words: [\"a\"]) { words }", &["words"]),
    ("first(id: \"1\", name: \"a\") { name }", &["name"]),
    ("rename(id: \"1\") { name }", &["other"]),
    ("either(id: \"1\", name: \"a\") { name }", &["other"]),
    ("see(id: \"1\", n: 2) { stats { seen } }", &["stats.seen"]),
    ("clear(id: \"1\") { coins }", &["coins"]),
    ("ifOther(id: \"1\", n: 2) { coins }", &["other"]),
    ("ifFree(id: \"1\", n: 2) { coins }", &["other"]),
    ("ifUnseen(id: \"1\", n: 2) { coins }", &["stats.seen"]),
    ("make(id: \"1\", name: \"a\") { state }", &["state"]),
    ("addLine(id: \"1\", no: \"1\", text: \"t\") { lines { no text } }", &["lines"]),
    ("both(id: \"1\", otherId: \"2\", n: 2)", &["coins"]),
    ("expect(id: \"1\", name: \"a\", version: 1) { name }", &["version"]),
];

/// The item without these attributes, or with nulls in their place. A version is missing too, unless nothing is.
fn book(id: &str, missing: &[&str], null: bool) -> Value {
    let s = |text: &str| json!({ "S": text });
    let mut item = json!({ "PK": s(&format!("BOOK#{id}")), "SK": s("BOOK"), "name": s("n"), "other": s("o"), "coins": { "N": "7" },
        "stats": { "M": { "seen": { "N": "1" } } }, "version": { "N": "4" } });
    for name in missing {
        let holder = if name.starts_with("stats.") { &mut item["stats"]["M"] } else { &mut item };
        let holder: &mut Map<String, Value> = holder.as_object_mut().unwrap();
        let name = name.rsplit('.').next().unwrap();
        holder.remove(name);
        if null {
            holder.insert(name.to_owned(), json!({ "NULL": true }));
        }
    }
    item
}

/// An item as reads see it: without nulls.
fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let is_null = |value: &Value| value["NULL"] == true;
            members
                .iter()
                .filter(|(_, value)| !is_null(value))
                .map(|(name, value)| (name.clone(), without_nulls(value)))
                .collect()
        }
        other => other.clone(),
    }
}

#[tokio::test(start_paused = true)]
async fn a_null_is_as_a_missing_attribute_in_every_write() {
    let backend = Backend::of_text(SCHEMA).await;
    for (write, attributes) in WRITES {
        for with_version in [true, false] {
            let mut missing = attributes.to_vec();
            if !with_version && !missing.contains(&"version") {
                missing.push("version");
            }
            let mut outcomes = Vec::new();
            for null in [false, true] {
                backend.table.put("books", book("1", &missing, null));
                backend.table.put("books", book("2", &[], false));
                let answer = backend.run(&format!("mutation {{ w: {write} }}"), json!({})).await;
                let items: Vec<Value> = backend.table.scan("books").iter().map(without_nulls).collect();
                let lists = backend.ok("{ named { id name } nameless { id } }", json!({})).await;
                outcomes.push((answer, items, lists));
            }
            assert_eq!(outcomes[0], outcomes[1], "{write} without {missing:?}, and with nulls");
        }
    }
}

/// What was null may have become a value, or the other way round, before the write.
#[tokio::test(start_paused = true)]
async fn a_null_that_goes_or_comes_meanwhile_is_seen() {
    let backend = Backend::of_text(SCHEMA).await;
    backend.table.put("books", book("1", &["coins", "version"], true));
    backend.script(|call| {
        if is_write(call.operation) && call.before == 1 {
            call.table.update("books", ["BOOK#1", "BOOK"], "SET coins = :n", json!({ ":n": { "N": "5" } }));
        }
        None
    });
    let is = backend.ok("mutation { add(id: \"1\", n: 3) { coins version } }", json!({})).await;
    assert_eq!(is["add"], json!({ "coins": 8, "version": 1 }));
    backend.script(|call| {
        if is_write(call.operation) && call.before == 0 {
            call.table.update("books", ["BOOK#1", "BOOK"], "SET coins = :n", json!({ ":n": { "NULL": true } }));
        }
        None
    });
    let is = backend.ok("mutation { add(id: \"1\", n: 3) { coins version } }", json!({})).await;
    assert_eq!(is["add"], json!({ "coins": 3, "version": 2 }));
}

/// Two items of a write have nulls: both are read, and the second attempt is made.
#[tokio::test(start_paused = true)]
async fn nulls_in_several_items_of_a_write_are_seen_together() {
    let backend = Backend::of_text(SCHEMA).await;
    ["1", "2"].into_iter().for_each(|id| backend.table.put("books", book(id, &["coins", "version"], true)));
    backend.calm();
    backend.ok("mutation { both(id: \"1\", otherId: \"2\", n: 3) }", json!({})).await;
    assert_eq!(backend.writes(), 2);
    for id in ["1", "2"] {
        let is = backend.ok(&format!("{{ book(id: \"{id}\") {{ coins version }} }}"), json!({})).await;
        assert_eq!(is["book"], json!({ "coins": 3, "version": 1 }));
    }
}

#[tokio::test(start_paused = true)]
async fn a_usual_write_costs_what_it_did() {
    let backend = Backend::of_text(SCHEMA).await;
    backend.table.put("books", book("1", &[], false));
    for (write, _) in WRITES.iter().filter(|(write, _)| {
        !["both", "expect", "if", "take", "word(", "addTotal(id: \"1\", n: -"].iter().any(|no| write.starts_with(no))
    }) {
        backend.calm();
        backend.ok(&format!("mutation {{ w: {write} }}"), json!({})).await;
        assert_eq!(backend.operations(), ["UpdateItem"], "{write}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_type_in_which_a_value_is_stored_stays() {
    let backend = Backend::of_text(SCHEMA).await;
    let number = "It is stored as a number in this item, and the value is none in its usual spelling.";
    let numbers = "It is stored as a set of numbers in this item, and the value is none in its usual spelling.";
    for (stored, write, expected) in [
        (json!({ "owner": { "N": "42" } }), "setOwner(id: \"1\", owner: \"43\") { owner }", Ok(json!({ "N": "43" }))),
        (json!({ "owner": { "N": "42" } }), "setOwner(id: \"1\", owner: \"043\") { owner }", Err(number)),
        (json!({ "owner": { "N": "42" } }), "setOwner(id: \"1\", owner: \"ann\") { owner }", Err(number)),
        (json!({ "owner": { "N": "42" } }), "setOwner(id: \"1\", owner: null) { owner }", Ok(Value::Null)),
        (json!({ "owner": { "S": "42" } }), "setOwner(id: \"1\", owner: \"43\") { owner }", Ok(json!({ "S": "43" }))),
        (
            json!({ "owner": { "NULL": true } }),
            "setOwner(id: \"1\", owner: \"43\") { owner }",
            Ok(json!({ "S": "43" })),
        ),
        (json!({}), "setOwner(id: \"1\", owner: \"43\") { owner }", Ok(json!({ "S": "43" }))),
        (json!({ "owner": { "N": "42" } }), "give(id: \"1\", owner: \"43\") { owner }", Ok(json!({ "N": "43" }))),
        (
            json!({ "owner": { "N": "42" } }),
            "give(id: \"1\", owner: \"x\") { owner }",
            Err("Argument \"owner\" does not fit its use in the update: "),
        ),
        (
            json!({ "owners": { "NS": ["1"] } }),
            "setOwners(id: \"1\", owners: [\"2\"]) { owner }",
            Ok(json!({ "NS": ["2"] })),
        ),
        (json!({ "owners": { "NS": ["1"] } }), "setOwners(id: \"1\", owners: [\"2\", \"a\"]) { owner }", Err(numbers)),
        (
            json!({ "owners": { "L": [{ "S": "a" }] } }),
            "setOwners(id: \"1\", owners: [\"2\"]) { owner }",
            Ok(json!({ "L": [{ "S": "2" }] })),
        ),
        (
            json!({ "owners": { "SS": ["a"] } }),
            "setOwners(id: \"1\", owners: [\"2\"]) { owner }",
            Ok(json!({ "SS": ["2"] })),
        ),
        (
            json!({ "readers": { "L": [{ "N": "1" }] } }),
            "setReaders(id: \"1\", readers: [\"2\", \"3\"]) { readers }",
            Ok(json!({ "L": [{ "N": "2" }, { "N": "3" }] })),
        ),
        (
            json!({ "readers": { "L": [{ "N": "1" }] } }),
            "setReaders(id: \"1\", readers: [\"2\", \"x\"]) { readers }",
            Err(number),
        ),
        (json!({}), "setReaders(id: \"1\", readers: [\"2\"]) { readers }", Ok(json!({ "L": [{ "S": "2" }] }))),
        (
            json!({ "tags": { "L": [] } }),
            "setTags(id: \"1\", tags: [\"a\"]) { tags }",
            Ok(json!({ "L": [{ "S": "a" }] })),
        ),
        (
            json!({ "tags": { "L": [] } }),
            "retag(id: \"1\", tags: [\"a\"]) { tags }",
            Ok(json!({ "L": [{ "S": "a" }] })),
        ),
        (json!({ "tags": { "SS": ["b"] } }), "retag(id: \"1\", tags: [\"a\"]) { tags }", Ok(json!({ "SS": ["a"] }))),
    ] {
        let mut item = book("1", &[], false);
        item.as_object_mut().unwrap().extend(stored.as_object().unwrap().clone());
        backend.table.put("books", item);
        let before = backend.items();
        let answer = backend.run(&format!("mutation {{ w: {write} }}"), json!({})).await;
        match expected {
            Ok(value) => {
                assert_eq!(answer["errors"], Value::Null, "{stored} {write}: {answer}");
                let name = ["owners", "tags", "owner", "readers"]
                    .into_iter()
                    .find(|name| write.contains(&format!("{name}:")))
                    .unwrap();
                assert_eq!(backend.table.scan("books")[0][name], value, "{stored} {write}");
            }
            Err(why) => {
                let (code, message, _) = error(&answer);
                assert!(code == "BAD_USER_INPUT" && message.contains(why), "{stored} {write}: {answer}");
                assert_eq!(backend.items(), before);
            }
        }
    }
    // In an element of a list.
    for (owner, kept) in [("7", json!({ "N": "7" })), ("x", json!({ "N": "1" }))] {
        let mut item = book("1", &[], false);
        item["lines"] = json!({ "L": [{ "M": { "no": { "S": "1" }, "owner": { "N": "1" } } }] });
        backend.table.put("books", item);
        backend
            .run(&format!("mutation {{ changeLine(id: \"1\", no: \"1\", owner: \"{owner}\") {{ id }} }}"), json!({}))
            .await;
        assert_eq!(backend.table.scan("books")[0]["lines"]["L"][0]["M"]["owner"], kept, "{owner}");
    }
}
