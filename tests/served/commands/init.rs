//! `keyfold init`: from what a person has to a project that serves it.

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

/// A directory with the scan.
pub fn with_scan() -> TempDir {
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
