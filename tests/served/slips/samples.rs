//! Sample items: every form that other tools write loads, and what is no item says where and why.

use super::{dev, project, said};
use serde_json::{Value, json};
use std::fs;
use tempfile::TempDir;

/// A user in DynamoDB's JSON.
fn user() -> Value {
    json!({ "PK": { "S": "USER#1" }, "SK": { "S": "USER" }, "id": { "S": "1" }, "name": { "S": "Ann" },
            "email": { "S": "ann@example.com" } })
}

fn with(name: &str, text: &str) -> TempDir {
    let directory = project();
    fs::create_dir(directory.path().join("samples")).unwrap();
    fs::write(directory.path().join("samples").join(name), text).unwrap();
    directory
}

#[tokio::test]
async fn items_load_in_the_form_in_which_they_come() {
    let plain = json!({ "PK": "USER#1", "SK": "USER", "id": "1", "name": "Ann", "email": "ann@example.com" });
    let scan = json!({ "Items": [user()], "Count": 1, "ScannedCount": 1, "ConsumedCapacity": null });
    for (form, name, text) in [
        ("the output of a scan", "kanban.jsonl", format!("{scan:#}")),
        ("the same under its own ending", "kanban.json", format!("{scan:#}")),
        ("an item a line, in DynamoDB's JSON", "kanban.jsonl", user().to_string()),
        ("an item a line, in plain JSON", "kanban.jsonl", plain.to_string()),
        ("a list over several lines", "kanban.json", format!("{:#}", json!([plain]))),
        ("a list in DynamoDB's JSON", "kanban.jsonl", format!("{:#}", json!([user()]))),
        ("CSV", "kanban.csv", "PK,SK,id,name,email\nUSER#1,USER,1,Ann,ann@example.com\n".to_owned()),
        ("an export", "kanban.jsonl", json!({ "Item": user() }).to_string()),
    ] {
        let server = dev(with(name, &text), &[]);
        let query = json!({ "query": "{ user(id: \"1\") { name } }" });
        let answer = server.client.post(format!("{}/graphql", server.url)).json(&query).send().await.unwrap();
        let answer: Value = answer.json().await.unwrap();
        assert_eq!(answer, json!({ "data": { "user": { "name": "Ann" } } }), "{form}");
    }
}

#[test]
fn what_is_no_item_is_named_with_its_line() {
    let changed = |key: &str, value: Value| {
        let mut item = user();
        item[key] = value;
        item
    };
    let (mut lacking, mut lower) = (user(), user());
    lacking.as_object_mut().unwrap().remove("SK");
    let sort = lower.as_object_mut().unwrap().remove("SK").unwrap();
    lower["sk"] = sort;
    for (slip, text, parts) in [
        ("a wrong type", changed("name", json!({ "N": "x" })).to_string(), ["kanban.jsonl:1", "\"x\" is not a number"]),
        ("a number in quotes", changed("name", json!({ "S": 5 })).to_string(), [":1", "not a value of type S"]),
        ("a type of another tool", changed("name", json!({ "String": "x" })).to_string(), [":1", "types are S, N, B"]),
        ("a comma behind a line", format!("{},\n{}", user(), user()), [":1", "a comma stands between two objects"]),
        ("a comma behind a member", user().to_string().replace("}}", "},}"), [":1", "a comma stands before }"]),
        ("a comma behind an element", format!("[{},]", user()), [":1", "a comma stands before ]"]),
        ("single quotes", "{'PK': {'S': 'a'}}".to_owned(), [":1", "in double quotes"]),
        ("a key attribute is missing", lacking.to_string(), [":1", "the key attribute \"SK\" is missing\n"]),
        ("a key attribute in lower case", lower.to_string(), [":1", "\"SK\" is missing; is it \"sk\"?"]),
        ("a key of another type", changed("SK", json!({ "N": "1" })).to_string(), [":1", "\"SK\" must be of type S"]),
        ("an item that is there twice", format!("{}\n{}", user(), user()), [":2", "has the key of"]),
    ] {
        let said = said(with("kanban.jsonl", &text).path(), &["dev", "--listen", "127.0.0.1:0"]);
        for part in parts {
            assert!(said.contains(part), "{slip}: {part}\n{said}");
        }
    }
}

#[tokio::test]
async fn an_item_of_no_type_is_named_by_its_key() {
    let mut item = user();
    item["PK"] = json!({ "S": "USER1" });
    let mut server = dev(with("kanban.jsonl", &item.to_string()), &[]);
    let warning = "no type has the key USER1, USER; `keyfold verify FILE…` lists all such items";
    if !server.process.said_so_far().iter().any(|line| line.contains(warning)) {
        server.process.wait_for(warning);
    }
}

#[test]
fn a_file_of_another_name_says_which_name_it_needs() {
    for name in ["users.jsonl", "Kanban.jsonl", "users.json", "users.csv"] {
        let directory = with(name, &user().to_string());
        let arguments = ["docs", "--sample", "samples"];
        let output = super::plain(directory.path(), &arguments).output().unwrap();
        let mut server = dev(directory, &["--sample", "samples"]);
        // The warning may be there before the address is.
        let warning = "Name a sample file after its table, as in kanban.jsonl";
        if !server.process.said_so_far().iter().any(|line| line.contains(warning)) {
            server.process.wait_for(warning);
        }
        let stray = format!("no table of the schema matches {name}");
        assert!(server.process.said_so_far().iter().any(|line| line.contains(&stray)), "{name}");
        assert!(output.status.success());
    }
}
