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
    assert!(fs::read_to_string(project.join("README.md")).unwrap().contains("`keyfold test operations --bless`"));
    run(&project, &["test", "operations", "--bless"]).well();
    run(&project, &["test", "operations"]).well();
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

#[tokio::test]
async fn answers_decide_what_items_leave_open() {
    let directory = tempfile::tempdir().unwrap();
    let mut scan = scan();
    for (number, item) in scan["Items"].as_array_mut().unwrap().iter_mut().enumerate() {
        item["gsi2pk"] = json!({ "S": "REGION#north" });
        item["gsi2sk"] = json!({ "S": format!("{number:03}") });
    }
    let more = (10..20).map(|number| {
        json!({
            "pk": { "S": "CUSTOMER#c-3" }, "sk": { "S": format!("ORDER#2026-12-{number:02}T09:00:00Z#{number:04}") },
            "kind": { "S": "Order" },
            "placedAt": { "S": format!("2026-12-{number:02}T09:00:00Z") }, "status": { "S": "open" },
            "gsi1pk": { "S": "STATUS#open" }, "gsi1sk": { "S": format!("2026-12-{number:02}T09:00:00Z#c-3") },
            "gsi2pk": { "S": "REGION#north" }, "gsi2sk": { "S": format!("{number:03}") },
        })
    });
    scan["Items"].as_array_mut().unwrap().extend(more);
    fs::write(directory.path().join("items.json"), scan.to_string()).unwrap();
    let init =
        |arguments: &[&str]| run(directory.path(), &[&["init", "items.json", "--dir", "api"], arguments].concat());
    let said = init(&[]).well();
    assert!(said.contains("note: the items leave "), "{said}");
    let project = directory.path().join("api");
    let (answers, schema) = (project.join("answers.toml"), project.join("schema.graphql"));
    let guessed = fs::read_to_string(&schema).unwrap();
    assert!(guessed.contains("gsi2pk: \"REGION#north\"") && !guessed.contains("type Mutation"), "{guessed}");
    let text = fs::read_to_string(&answers).unwrap();
    let mut changed = text.clone();
    for (guess, answer) in [
        ("\"mutations\" = \"read\"", "\"mutations\" = \"write\""),
        ("\"Customer.createdAt\" = \"time\"", "\"Customer.createdAt\" = \"number\""),
        ("\"Order.status\" = \"text\"", "\"Order.status\" = \"enum\""),
        ("\"Order.gsi2pk REGION#north\" = \"constant\"", "\"Order.gsi2pk REGION#north\" = \"value\""),
    ] {
        assert!(text.contains(guess), "{guess}: {text}");
        changed = changed.replace(guess, answer);
    }
    // The same items and the same answers give the same project.
    init(&["--answers", "api/answers.toml", "--force"]).well();
    assert_eq!(
        fs::read_to_string(&schema).unwrap(),
        guessed.replace("  # guess: epoch seconds\n", "").replace("  # guess: an enum? open, paid\n", "")
    );
    assert_eq!(fs::read_to_string(&answers).unwrap(), text);
    fs::write(&answers, &changed).unwrap();
    let said = init(&["--answers", "api/answers.toml", "--force"]).well();
    assert!(said.contains("items: 16 of 16 items are of a type (100.0 %)\n"), "{said}");
    assert_eq!(fs::read_to_string(&answers).unwrap(), changed);
    let answered = fs::read_to_string(&schema).unwrap();
    for part in [
        "enum Status {\n  open\n  paid\n}",
        "status: Status @attribute(name: \"status\")",
        "createdAt: Long",
        "gsi2pk: \"REGION#{regionId}\"",
    ] {
        assert!(answered.contains(part), "{part}: {answered}");
    }
    run(&project, &["check"]).well();
    let plan =
        run(&project, &["explain", "operations/updateCustomer.graphql", "--variables", r#"{"id": "c-1"}"#]).well();
    assert!(plan.contains("update Customer"), "{plan}");
    let said = run(&project, &["verify", "samples"]).well();
    assert!(said.starts_with("items: 16 of 16 items are of a type (100.0 %)\n"), "{said}");
    let server = Server::dev_by(keyfold(&project, &["dev", "--listen", "127.0.0.1:0"]), directory);
    let query = "mutation { updateCustomer(id: \"c-1\", name: \"Anna\") { name createdAt regionId } }";
    let answer = server.ask(query, json!({})).await;
    let customer = json!({ "name": "Anna", "createdAt": 1_700_810_111, "regionId": "north" });
    assert_eq!(answer.body["data"]["updateCustomer"], customer, "{:#}", answer.body);
}

#[test]
fn a_wrong_file_of_answers_says_what_is_wrong() {
    let directory = with_scan();
    let answered = |text: &str| {
        fs::write(directory.path().join("a.toml"), text).unwrap();
        run(directory.path(), &["init", "items.json", "--answers", "a.toml", "--force"])
    };
    let said = answered("\"mutations\" = \"perhaps\"").badly(1);
    assert_eq!(
        said.lines().last(),
        Some("error: a.toml: \"perhaps\" is no answer to \"mutations\": it is \"read\" or \"write\"")
    );
    assert!(!directory.path().join("schema.graphql").exists(), "nothing is written");
    assert!(answered("mutations = [").badly(1).contains("a.toml: TOML parse error at line 1"), "a mistake has a line");
    let ended = answered("\"Nobody.asked\" = \"enum\"");
    assert!(ended.err.contains("warning: a.toml: \"Nobody.asked\" is no question on these items"), "{ended:?}");
}

#[test]
fn without_a_source_there_are_templates_that_work() {
    let directory = tempfile::tempdir().unwrap();
    let said = run(directory.path(), &["init"]).badly(1);
    let names: Vec<&str> = said.lines().filter_map(|line| line.strip_prefix("  ")?.split_whitespace().next()).collect();
    let names = &names[1..];
    assert_eq!(names, ["pantry", "members", "tenants", "cycles", "patterns", "electrodb"], "{said}");
    for name in names {
        let said = run(directory.path(), &["init", "--template", name, "--dir", name]).well();
        assert_eq!(said, format!("\nNext: cd {name} && keyfold dev\n"));
        let project = directory.path().join(name);
        run(&project, &["check"]).well();
        let verified = run(&project, &["verify", "samples"]).well();
        assert!(verified.contains("(100.0 %)"), "{name}: {verified}");
        assert!(fs::read_to_string(project.join("README.md")).unwrap().starts_with(&format!("# {name}\n")));
    }
    let said = run(directory.path(), &["init", "--template", "pantry", "--dir", "pantry"]).badly(1);
    assert!(said.contains("exists: choose another directory with --dir, or replace it with --force"), "{said}");
    assert!(run(directory.path(), &["init", "--template", "shop"]).badly(1).contains("there is no template \"shop\""));
    let said = run(directory.path(), &["init", "x.json", "--template", "pantry"]).badly(2);
    assert!(said.contains("cannot be used with"), "{said}");
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
