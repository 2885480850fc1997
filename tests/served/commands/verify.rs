//! `keyfold verify`: which items a schema covers, what surprises about them, and what it writes.

use super::init::with_scan;
use crate::process::run;
use serde_json::{Value, json};
use std::fs;

#[test]
fn verify_says_which_items_are_of_no_type() {
    let directory = with_scan();
    run(directory.path(), &["init", "items.json"]).well();
    let verify = |arguments: &[&str]| run(directory.path(), &[&["verify"], arguments].concat());
    assert!(verify(&["items.json"]).well().starts_with("items: 6 of 6 items are of a type (100.0 %)\n"));
    let line = |pk: &str, sk: &str| json!({ "Item": { "pk": { "S": pk }, "sk": { "S": sk } } }).to_string();
    let others: Vec<String> =
        (1..=4).map(|n| line(&format!("SHOP#s{n}"), "META")).chain([line("Unique#X.y#a", "Unique#X.y")]).collect();
    fs::write(directory.path().join("others.jsonl"), others.join("\n")).unwrap();
    let ended = verify(&["items.json", "others.jsonl"]);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(
        ended.out.starts_with("items: 6 of 10 items are of a type (60.0 %), and 1 guard of unique values\n"),
        "{}",
        ended.out
    );
    assert!(ended.out.contains("no type: 4 items like SHOP#… | META, such as SHOP#s1, META; "), "{}", ended.out);
    let ended = verify(&["items.json", "others.jsonl", "--format", "json"]);
    let report: Value = serde_json::from_str(&ended.out).unwrap();
    let table = &report["tables"][0];
    assert_eq!((&table["items"], &table["guards"], &table["ofNoType"][0]["items"]), (&json!(11), &json!(1), &json!(4)));
    let import = run(directory.path(), &["import", "others.jsonl", "--table", "items", "--data", "data"]);
    assert!(import.err.contains("warning: items: 0 of 4 items are of a type"), "{import:?}");
    let ended = verify(&["--table", "items", "--data", "data"]);
    assert!(ended.out.starts_with("items: 0 of 4 items are of a type"), "{ended:?}");
}

#[test]
fn verify_counts_the_records_of_requests_apart() {
    let directory = tempfile::tempdir().unwrap();
    let schema = r#"extend schema @table(name: "payments", partitionKey: "pk", sortKey: "sk", timeToLive: "ttl")
        type Payment @item(keys: { pk: "PAYMENT#{id}", sk: "PAYMENT" }) { id: ID! amount: Int! }
        type Query { payment(id: ID!): Payment @find }
        type Mutation { pay(id: ID!, amount: Int!, key: ID!): Payment! @idempotent(key: "{key}") @put }"#;
    fs::write(directory.path().join("schema.graphql"), schema).unwrap();
    let payment = json!({ "pk": { "S": "PAYMENT#1" }, "sk": { "S": "PAYMENT" }, "amount": { "N": "3" } });
    let item = json!({ "M": { "type": { "S": "Payment" }, "key": { "M": { "pk": { "S": "PAYMENT#1" }, "sk": { "S": "PAYMENT" } } } } });
    let record = |hash: &str| {
        json!({
            "pk": { "S": format!("Idempotent#Mutation.pay#{hash}") },
            "sk": { "S": "Idempotent#Mutation.pay" },
            "ttl": { "N": "1796000000" },
            "idempotentRequest": { "S": "5f" },
            "idempotentItems": { "M": { "action0": { "L": [item] } } },
        })
    };
    let lines = [payment, record("0a"), record("0b")].map(|item| json!({ "Item": item }).to_string());
    fs::write(directory.path().join("payments.jsonl"), lines.join("\n")).unwrap();
    let ended = run(directory.path(), &["verify", "payments.jsonl"]);
    let first = "payments: 1 of 1 item are of a type (100.0 %), and 2 records of requests\n";
    assert!(ended.out.starts_with(first), "{ended:?}");
    let ended = run(directory.path(), &["verify", "payments.jsonl", "--format", "json"]);
    let report: Value = serde_json::from_str(&ended.well()).unwrap();
    let table = &report["tables"][0];
    assert_eq!((&table["items"], &table["records"], &table["ofNoType"]), (&json!(3), &json!(2), &json!([])));
}

/// A table of users whose addresses are unique, and one of them with three replicas.
const UNIQUE: &str = r#"
extend schema @table(name: "people", partitionKey: "pk")

type User @item(keys: { pk: "USER#{id}" }) {
  id: ID!
  email: String @unique
}

type Mast @item(keys: { pk: "MAST#{id}#{replica:3}" }) {
  id: ID!
  sign: String! @unique
}

type Query {
  user(id: ID!): User @find
}

type Mutation {
  addUser(id: ID!, email: String): User @put
}
"#;

#[test]
fn verify_writes_the_guards_of_existing_items() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("schema.graphql"), UNIQUE).unwrap();
    let user =
        |id: &str, email: &str| json!({ "Item": { "pk": { "S": format!("USER#{id}") }, "email": { "S": email } } });
    let mast = |number: u8| json!({ "Item": { "pk": { "S": format!("MAST#m#{number}") }, "sign": { "S": "KF" } } });
    let guard = |key: &str, owner: &str| {
        let key = format!("Unique#{key}");
        json!({ "Item": { "pk": { "S": key }, "ownerpk": { "S": owner } } })
    };
    // Of an owner that is gone, two that another program left, and one of another schema.
    let guards = [("User.email#e", "USER#other"), ("User.email#gone", "USER#g"), ("User.email#old", "USER#a")];
    let guards = guards.into_iter().chain([("Client.email#c", "CLIENT#c")]).map(|(key, owner)| guard(key, owner));
    let none = json!({ "Item": { "pk": { "S": "USER#none" } } });
    let mut items = vec![user("a", "a@x"), user("b", "b@x"), user("c", "both"), user("d", "both"), user("e", "e")];
    items.extend([none, mast(0), mast(1), mast(2)].into_iter().chain(guards));
    let lines: Vec<String> = items.iter().map(Value::to_string).collect();
    fs::write(directory.path().join("items.jsonl"), lines.join("\n")).unwrap();
    let store = ["--table", "people", "--data", "data"];
    let keyfold = |arguments: &[&str]| run(directory.path(), &[arguments, &store].concat());
    let imported = keyfold(&["import", "items.jsonl"]);
    assert!(imported.err.contains("5 values of `User.email` without a guard"), "{imported:?}");
    assert!(imported.err.contains("1 value of `Mast.sign` without a guard"), "{imported:?}");

    let dry = keyfold(&["verify", "--write-guards"]);
    assert_eq!(dry.code, Some(1), "{dry:?}");
    for line in [
        "  Mast.sign   1 value   0 with a guard  1 without  0 that another item has\n",
        "  User.email  5 values  0 with a guard  3 without  2 that another item has\n",
        "  conflict: User.email of USER#c and of USER#d are equal\n",
        "Nothing is written yet: `keyfold verify --table people --write-guards --yes` writes 4 guards and deletes 3 guards of values that no item has, with 4 write units each\n",
    ] {
        assert!(dry.out.contains(line), "{line}{}", dry.out);
    }
    assert_eq!(keyfold(&["verify", "--write-guards"]).out, dry.out, "a dry run writes nothing");

    let written = keyfold(&["verify", "--write-guards", "--yes"]);
    assert_eq!(written.code, Some(1), "the conflicts are still there: {written:?}");
    let done = "\n3 guards of values that no item has deleted\n4 guards written\n";
    assert!(written.out.ends_with(done), "{written:?}");
    let again = keyfold(&["verify", "--write-guards", "--yes", "--format", "json"]);
    let report: Value = serde_json::from_str(&again.out).unwrap();
    assert_eq!(
        report["uniqueValues"]["fields"][1],
        json!({ "field": "User.email", "values": 5, "withoutGuard": 2, "ofSeveralItems": 2 })
    );
    assert_eq!(report["uniqueValues"]["written"], json!(0));
    run(directory.path(), &[&["export", "all.jsonl"], &store[..]].concat()).well();
    let all = fs::read_to_string(directory.path().join("all.jsonl")).unwrap();
    for key in ["User.email#a@x", "User.email#b@x", "User.email#e", "Mast.sign#KF", "Client.email#c"] {
        assert!(all.contains(&format!("Unique#{key}\"")), "{key}: {all}");
    }
    for key in ["User.email#gone", "User.email#old", "USER#other"] {
        assert!(!all.contains(key), "{key}: {all}");
    }
    assert!(!all.contains("Unique#User.email#both"), "{all}");
}

/// Books with their authors, who lend each other books.
const LIBRARY: &str = r#"
extend schema
  @table(name: "books", partitionKey: "pk", timeToLive: "until", indexes: [{ name: "byAuthor", partitionKey: "a" }])
  @table(name: "people", partitionKey: "id")

type Book @item(table: "books", keys: { pk: "BOOK#{isbn}", a: "AUTHOR#{authorId}" }) {
  isbn: ID!
  title: String!
  authorId: ID! @attribute(name: "authorId")
  nextIsbn: ID
  numberOfSeries: Int
  author: Person @find(where: { id: "{authorId}" })
  next: Book @find(where: { isbn: "{nextIsbn}" })
  series: Book @find(where: { isbn: "S-{numberOfSeries}" })
  review: Review @find(where: { isbn: "{isbn}" })
}

type Review @item(table: "books", keys: { pk: "REVIEW#{isbn}" }) {
  isbn: ID!
}

type Person @item(table: "people", keys: { id: "{id}" }) {
  id: ID!
}

type Query {
  book(isbn: ID!): Book @find
}
"#;

#[test]
fn verify_says_what_surprises_about_items_and_which_references_lead_nowhere() {
    let directory = tempfile::tempdir().unwrap();
    let write = |name: &str, items: &[Value]| {
        let lines: Vec<String> = items.iter().map(|item| json!({ "Item": item }).to_string()).collect();
        fs::write(directory.path().join(name), lines.join("\n")).unwrap();
    };
    fs::write(directory.path().join("schema.graphql"), LIBRARY).unwrap();
    let book = |isbn: &str, author: &str, key: &str| {
        json!({
            "pk": { "S": format!("BOOK#{isbn}") }, "a": { "S": key }, "title": { "S": "x" },
            "authorId": { "S": author }, "numberOfSeries": { "N": "7" },
            "nextIsbn": { "S": "9" }, "until": { "N": "9999999999" },
        })
    };
    write(
        "books.jsonl",
        &[book("1", "ann", "AUTHOR#ann"), book("2", "ben", "AUTHOR#ann"), book("S-7", "cy", "AUTHOR#cy")],
    );
    write("people.jsonl", &[json!({ "id": { "S": "ann" } }), json!({ "id": { "S": "ben" } })]);
    let verify = |arguments: &[&str]| run(directory.path(), &[&["verify"], arguments].concat());
    let ended = verify(&["books.jsonl", "people.jsonl"]);
    let stale =
        "1 item (BOOK#2) with a stale index key: `Book.a` is \"AUTHOR#ann\", and the fields make \"AUTHOR#ben\"";
    assert!(ended.well().contains(stale));
    let ended = verify(&["books.jsonl", "people.jsonl", "--references"]);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    for line in [
        "  `Book.author`: 1 of 3 references to no item, such as that of BOOK#S-7 to cy\n",
        "  `Book.next`: 3 of 3 references to no item, such as that of BOOK#1 to BOOK#9\n",
        "  `Book.series`: 3 references, each to an item\n",
        "  `Book.review`: 3 of 3 references to no item, which need not be there, such as that of BOOK#1 to REVIEW#1\n",
    ] {
        assert!(ended.out.contains(line), "{line}{}", ended.out);
    }
    let ended = verify(&["books.jsonl", "--references", "--format", "json"]);
    let report: Value = serde_json::from_str(&ended.out).unwrap();
    let next = json!({
        "field": "Book.next", "references": 3, "toNoItem": 3, "optional": false, "example": { "item": "BOOK#1", "key": "BOOK#9" },
    });
    assert_eq!(
        report["references"]["fields"][0], next,
        "what is in a file that was not read is not looked at: {report:#}"
    );
    let finding = &report["tables"][0]["findings"][0];
    assert_eq!((&finding["kind"], &finding["items"]), (&json!("staleIndexKey"), &json!(1)));
    // A table that is read knows no others.
    run(directory.path(), &["import", "books.jsonl", "--table", "books", "--data", "data"]).well();
    let ended = verify(&["--table", "books", "--data", "data", "--references"]);
    let unread = "  `Book.author` is not looked at: its items are in people, which was not read\n";
    assert!(ended.code == Some(1) && ended.out.contains(unread), "{ended:?}");
}

/// A post whose maps hold what their types cannot read.
const MAPS: &str = r#"
extend schema @table(name: "posts", partitionKey: "pk")

type Post @item(keys: { pk: "POST#{id}" }) {
  id: ID!
  reactions: [Reaction!]! @attribute(stored: MAP, by: "kind")
  visits: [Visits!]! @attribute(stored: MAP, by: "day", value: "count")
  seats: [Reaction!]! @attribute(stored: MAP, by: "kind")
}

enum Kind {
  LIKE
  SAD
}

type Reaction {
  kind: Kind!
  n: Int!
}

type Visits {
  day: Date!
  count: Int!
}

type Query {
  post(id: ID!): Post @find
}
"#;

#[test]
fn verify_says_what_is_wrong_inside_maps() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("schema.graphql"), MAPS).unwrap();
    let number = |number: &str| json!({ "N": number });
    let entry = |n: Value| json!({ "M": { "n": n } });
    let post = |id: &str, reactions: Value, visits: Value| json!({ "Item": { "pk": { "S": format!("POST#{id}") }, "reactions": reactions, "visits": visits } });
    let sound =
        post("a", json!({ "M": { "LIKE": entry(number("3")) } }), json!({ "M": { "2026-11-20": number("1") } }));
    fs::write(directory.path().join("sound.jsonl"), sound.to_string()).unwrap();
    let verify = |file: &str| run(directory.path(), &["verify", file]);
    let ended = verify("sound.jsonl");
    assert!(!ended.out.contains("Reaction.") && !ended.out.contains("Post."), "{}", ended.out);
    let odd = post(
        "b",
        json!({ "M": { "WOW": entry(number("3")), "SAD": entry(json!({ "S": "x" })), "LIKE": { "S": "y" } } }),
        json!({ "M": { "yesterday": number("1") } }),
    );
    let list = post("c", json!({ "L": [] }), json!({ "M": {} }));
    fs::write(directory.path().join("odd.jsonl"), format!("{odd}\n{list}")).unwrap();
    let ended = verify("odd.jsonl");
    for place in ["Reaction.kind", "Reaction.n", "Post.reactions", "Visits.day"] {
        assert!(ended.out.contains(place), "{place}: {}", ended.out);
    }
}
