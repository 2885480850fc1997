//! A pantry as large as a page may be: a group `g` of 100 users and 100 containers with 100 foods each. Each user is
//! also in one of ten other groups, with five containers each.

use super::server::TABLE;
use serde_json::{Value, json};
use tempfile::TempDir;

/// The items in a directory, as `<table>.jsonl`.
pub fn large() -> TempDir {
    let mut lines = String::new();
    let mut put = |item: Value| lines += &format!("{}\n", json!({ "Item": item }));
    let groups = (0..10).map(|n| format!("h{n}")).chain(["g".to_owned()]);
    groups
        .for_each(|id| put(json!({"PK": {"S": id}, "SK": {"S": "Group"}, "GroupName": {"S": format!("Group {id}")}})));
    for n in 0..100 {
        let id = format!("u{n:03}");
        let mail = format!("{id}@example.com");
        put(json!({
            "PK": {"S": id}, "SK": {"S": "User"}, "UserName": {"S": format!("User {n}")}, "EMailAddress": {"S": mail},
        }));
        for group in ["g".to_owned(), format!("h{}", n % 10)] {
            put(json!({"PK": {"S": id}, "SK": {"S": format!("Group#{group}")}, "GroupId": {"S": group}}));
        }
    }
    let mut container = |group: &str, id: String, foods: usize| {
        put(json!({"PK": {"S": group}, "SK": {"S": format!("Container#{id}")}, "ContainerId": {"S": id}}));
        let foods: Vec<Value> = (0..foods).map(|n| food(&id, n)).collect();
        put(
            json!({"PK": {"S": id}, "SK": {"S": "Container"}, "ContainerName": {"S": format!("Container {id}")}, "Foods": {"L": foods}}),
        );
    };
    (0..100).for_each(|n| container("g", format!("c{n:03}"), 100));
    (0..50).for_each(|n| container(&format!("h{}", n % 10), format!("d{n:03}"), 2));
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join(format!("{TABLE}.jsonl")), lines).unwrap();
    directory
}

fn food(container: &str, n: usize) -> Value {
    json!({"M": {
        "FoodId": {"S": format!("{container}-f{n}")},
        "Name": {"S": format!("Food {n}")},
        "Quantity": {"N": n.to_string()},
        "Category": {"S": "other"},
        "CreatedAt": {"S": "2026-01-01T00:00:00.000Z"},
    }})
}
