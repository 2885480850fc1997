//! What the commands say of services: who may read a field that one computes, and what nobody knows the cost of.

use super::in_pantry;
use crate::process::repository;
use serde_json::{Value, json};

#[test]
fn check_names_the_rules_of_what_a_service_gets() {
    let schema = repository("tests/schemas/security/bureau.graphql");
    let printed = in_pantry(&["check", schema.to_str().unwrap(), "--rules", "--type", "Letter"]).well();
    // A cell goes over several lines.
    let words = |field: &str| {
        let lines = printed.lines().skip_while(|line| !line.starts_with(&format!("{field} ")));
        let own = lines.enumerate().take_while(|(at, line)| *at == 0 || line.starts_with(' '));
        let cell = own.map(|(_, line)| line.chars().skip(28).take(35).collect::<String>());
        cell.collect::<Vec<_>>().join(" ").split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(words("Letter.summary"), "Letter.text: if auth.role = 'clerk'", "{printed}");
    assert_eq!(words("Letter.seal"), "Vault: if auth.role = 'clerk'", "{printed}");
    assert_eq!(words("Letter.stamp"), "if auth.role = 'clerk'", "{printed}");
    assert_eq!(words("Letter.public"), "as Letter", "{printed}");
    assert!(printed.lines().all(|line| line.chars().count() <= 100), "{printed}");
}

#[test]
fn check_and_explain_say_what_nobody_knows_the_cost_of() {
    let schema = repository("examples/shop/schema.graphql");
    let schema = schema.to_str().unwrap();
    let printed = in_pantry(&["check", schema]).well();
    let line = "Order.total by pricing: a call for at most 1000 objects, cost unknown\n  gets lines { sku quantity }\n";
    assert!(printed.contains(line), "{printed}");
    assert!(!in_pantry(&["check", schema, "--type", "Customer"]).well().contains("cost unknown"));
    let printed: Value =
        serde_json::from_str(&in_pantry(&["check", schema, "--type", "OrderLine", "--format", "json"]).well()).unwrap();
    let price =
        json!({ "field": "OrderLine.price", "service": "pricing", "max": 1000, "gets": "sku", "cost": "unknown" });
    assert_eq!(printed["services"], json!([price]));

    let operation = repository("examples/shop/operations/s01_customer_and_orders.graphql");
    let printed = in_pantry(&["explain", "--schema", schema, operation.to_str().unwrap()]).well();
    assert!(printed.contains("  Order.total: 10 objects, 1 call of pricing, cost unknown\n"), "{printed}");
}
