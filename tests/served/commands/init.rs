//! `keyfold init` and `keyfold verify`: from what a person has to a project that serves it.

use crate::process::{keyfold, repository, run};
use crate::server::Server;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// A scan of orders and their customers, whose index keys are made of an order's status and its day.
fn scan() -> Value {
    let customer = |id: &str, name: &str| {
        json!({
            "pk": { "S": format!("CUSTOMER#{id}") }, "sk": { "S": "PROFILE" }, "kind": { "S": "Customer" },
            "name": { "S": name }, "createdAt": { "N": "1700810111" },
        })
    };
    let order = |customer: &str, number: u32, status: &str| {
        let at = format!("2026-11-{:02}T09:00:00Z", number);
        json!({
            "pk": { "S": format!("CUSTOMER#{customer}") }, "sk": { "S": format!("ORDER#{at}#{number:04}") },
            "gsi1pk": { "S": format!("STATUS#{status}") }, "gsi1sk": { "S": format!("{at}#{customer}") },
            "kind": { "S": "Order" }, "placedAt": { "S": at }, "status": { "S": status },
            "lines": { "L": [{ "M": { "sku": { "S": "x" }, "cents": { "N": "250" } } }] },
        })
    };
    json!({ "Items": [
        customer("c-1", "Ann"), customer("c-2", "Ben"),
        order("c-1", 3, "open"), order("c-1", 5, "paid"), order("c-2", 7, "open"), order("c-2", 9, "paid"),
    ], "Count": 6 })
}

fn with_scan() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("items.json"), format!("{:#}", scan())).unwrap();
    directory
}

#[tokio::test]
async fn from_a_scan_to_a_nested_query_takes_two_commands() {
    let directory = with_scan();
    let said = run(directory.path(), &["init", "items.json", "--dir", "api"]).well();
    assert!(said.contains("items: 6 of 6 items are of a type (100.0 %)"), "{said}");
    assert!(said.ends_with("Next: cd api && keyfold dev\n"), "{said}");
    let project = directory.path().join("api");
    run(&project, &["check"]).well();
    for file in ["keyfold.toml", "README.md", "samples/items.jsonl", "operations/orders.graphql"] {
        assert!(project.join(file).is_file(), "{file}");
    }
    let server = Server::dev_by(keyfold(&project, &["dev", "--listen", "127.0.0.1:0"]), directory);
    let query = r#"{
      customer(id: "c-1") { name createdAt orders { placedAt status lines { sku cents } customer { name } } }
      ordersByStatus(status: "open", since: "2026-11-04T00:00:00Z") { customerId placedAt }
    }"#;
    let answer = server.ask(query, json!({})).await;
    let order = |day: u32, status: &str| {
        json!({
            "placedAt": format!("2026-11-{day:02}T09:00:00.000Z"), "status": status,
            "lines": [{ "sku": "x", "cents": 250 }], "customer": { "name": "Ann" },
        })
    };
    let expected = json!({
        "customer": {
            "name": "Ann", "createdAt": "2023-11-24T07:15:11.000Z", "orders": [order(3, "open"), order(5, "paid")],
        },
        "ordersByStatus": [{ "customerId": "c-2", "placedAt": "2026-11-07T09:00:00.000Z" }],
    });
    assert_eq!(answer.body["data"], expected, "{:#}", answer.body);
}

#[test]
fn what_exists_is_replaced_by_force_only() {
    let directory = with_scan();
    let init = |more: &[&str]| run(directory.path(), &[&["init", "items.json"], more].concat());
    init(&[]).well();
    let said = init(&[]).badly(1);
    assert!(said.contains("schema.graphql exists") && said.contains("--force"), "{said}");
    fs::write(directory.path().join("schema.graphql"), "mine").unwrap();
    init(&["--force", "--no-samples"]).well();
    assert!(fs::read_to_string(directory.path().join("schema.graphql")).unwrap().contains("type Order"));
}

#[test]
fn mistakes_of_init_and_verify_say_what_to_do() {
    let directory = with_scan();
    let said = run(directory.path(), &["init"]).badly(1);
    assert!(said.contains("keyfold init FILE") && said.contains("--table NAME"), "{said}");
    let said = run(directory.path(), &["init", "none.json"]).badly(1);
    assert!(said.contains("none.json"), "{said}");
    fs::write(directory.path().join("empty.json"), "{\"Items\": []}").unwrap();
    let said = run(directory.path(), &["init", "empty.json"]).badly(1);
    assert!(said.contains("there is no table"), "{said}");
    assert!(!directory.path().join("schema.graphql").exists());
    run(directory.path(), &["init", "items.json"]).well();
    let said = run(directory.path(), &["verify"]).badly(1);
    assert!(said.contains("keyfold verify FILE"), "{said}");
}

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
    let guard = json!({ "Item": { "pk": { "S": "Unique#User.email#e" }, "ownerpk": { "S": "USER#other" } } });
    let none = json!({ "Item": { "pk": { "S": "USER#none" } } });
    let mut items = vec![user("a", "a@x"), user("b", "b@x"), user("c", "both"), user("d", "both"), user("e", "e")];
    items.extend([none, mast(0), mast(1), mast(2), guard]);
    let lines: Vec<String> = items.iter().map(Value::to_string).collect();
    fs::write(directory.path().join("items.jsonl"), lines.join("\n")).unwrap();
    let store = ["--table", "people", "--data", "data"];
    let keyfold = |arguments: &[&str]| run(directory.path(), &[arguments, &store].concat());
    let imported = keyfold(&["import", "items.jsonl"]);
    assert!(imported.err.contains("5 values of `User.email` have no guard"), "{imported:?}");
    assert!(imported.err.contains("1 value of `Mast.sign` have no guard"), "{imported:?}");

    let dry = keyfold(&["verify", "--write-guards"]);
    assert_eq!(dry.code, Some(1), "{dry:?}");
    for line in [
        "  Mast.sign   1 value   0 with a guard  1 without  0 that another item has\n",
        "  User.email  5 values  0 with a guard  2 without  3 that another item has\n",
        "  conflict: User.email of USER#c and of USER#d are equal\n",
        "  conflict: User.email of USER#e: its guard is that of USER#other\n",
        "Nothing is written yet: `keyfold verify --table people --write-guards --yes` writes 3 guards, with 4 write units each\n",
    ] {
        assert!(dry.out.contains(line), "{line}{}", dry.out);
    }
    assert_eq!(keyfold(&["verify", "--write-guards"]).out, dry.out, "a dry run writes nothing");

    let written = keyfold(&["verify", "--write-guards", "--yes"]);
    assert_eq!(written.code, Some(1), "the conflicts are still there: {written:?}");
    assert!(written.out.ends_with("\n3 guards written\n"), "{written:?}");
    let again = keyfold(&["verify", "--write-guards", "--yes", "--format", "json"]);
    let report: Value = serde_json::from_str(&again.out).unwrap();
    assert_eq!(
        report["uniqueValues"]["fields"][1],
        json!({ "field": "User.email", "values": 5, "withoutGuard": 3, "ofSeveralItems": 3 })
    );
    assert_eq!(report["uniqueValues"]["written"], json!(0));
    run(directory.path(), &[&["export", "all.jsonl"], &store[..]].concat()).well();
    let all = fs::read_to_string(directory.path().join("all.jsonl")).unwrap();
    for key in ["Unique#User.email#a@x", "Unique#User.email#b@x", "Unique#Mast.sign#KF"] {
        assert!(all.contains(key), "{key}: {all}");
    }
    assert!(!all.contains("Unique#User.email#both"), "{all}");
}

#[test]
fn every_own_design_has_a_project_that_passes_the_checks() {
    for samples in ["examples/tenants/samples", "examples/members/samples", "samples"] {
        let directory = tempfile::tempdir().unwrap();
        let path = repository(samples);
        let said = run(directory.path(), &["init", &path.display().to_string(), "--dir", "api"]).well();
        assert!(said.contains("Next: cd api"), "{said}");
        run(&directory.path().join("api"), &["check"]).well();
        assert!(Path::new(&directory.path().join("api/operations")).is_dir());
    }
}
