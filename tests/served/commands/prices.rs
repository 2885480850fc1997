//! What a million operations cost: by the prices that are built in, and by a list of AWS.

use super::{in_pantry, pantry};
use crate::process::run;
use serde_json::{Value, json};
use std::fs;

const QUERY: &str = "{ user(id: \"11111111-1111-4111-8111-111111111111\") { name } }";

#[test]
fn explain_and_check_say_dollars() {
    let pantry = pantry();
    fs::write(pantry.path().join("q.graphql"), QUERY).unwrap();
    let keyfold = |arguments: &[&str]| run(pantry.path(), arguments);
    let text = keyfold(&["explain", "q.graphql"]).well();
    assert!(
        text.ends_with("  on demand: $0.0625 a million operations (us-east-1, prices of 2024-11-01)\n"),
        "half a read unit: {text}"
    );
    let sku = |group: &str| format!("A{group}");
    let group = |group: &str| {
        let attributes = json!({ "group": group, "regionCode": "eu-west-1" });
        json!({ "productFamily": "Amazon DynamoDB PayPerRequest Throughput", "attributes": attributes })
    };
    let term = |price: &str| json!({ "T": { "priceDimensions": { "D": { "pricePerUnit": { "USD": price } } } } });
    let (reads, writes) = ("DDB-ReadUnits", "DDB-WriteUnits");
    let list = json!({
        "publicationDate": "2026-10-07T20:15:00Z",
        "products": { sku(reads): group(reads), sku(writes): group(writes) },
        "terms": { "OnDemand": { sku(reads): term("0.0000002000"), sku(writes): term("0.0000010000") } },
    });
    fs::write(pantry.path().join("list.json"), list.to_string()).unwrap();
    let json = keyfold(&["explain", "q.graphql", "--price-list", "list.json", "--format", "json", "--run"]).well();
    let json: Value = serde_json::from_str(&json).unwrap();
    let price =
        json!({ "region": "eu-west-1", "date": "2026-10-07", "millionReadUnits": 0.2, "millionWriteUnits": 1.0 });
    assert_eq!((&json["price"], &json["cost"]["dollarsAMillion"]), (&price, &json!(0.1)));
    let read = json["measured"]["capacity"]["read"].as_f64().unwrap();
    assert_eq!(json["measured"]["dollarsAMillion"], json!(read * 0.2));
    let check = keyfold(&["check", "--type", "Membership", "--price-list", "list.json"]).well();
    assert!(check.contains("$0.1000 a million"), "{check}");
    assert!(check.contains("\nA million such reads cost so much on demand (eu-west-1, prices of 2026-10-07).\n"));
}

#[test]
fn a_region_without_a_price_is_named_with_what_to_do() {
    let said = in_pantry(&["check", "--price-region", "eu-west-1"]).badly(1);
    assert!(said.contains("the prices of eu-west-1 are not built in, as those of us-east-1, us-east-2, us-west-2 are"));
    assert!(said.contains("/AmazonDynamoDB/current/eu-west-1/index.json, and name it with --price-list"), "{said}");
    let said = in_pantry(&["check", "--price-list", "schema.graphql"]).badly(1);
    assert!(said.contains("schema.graphql is not a price list of AWS"), "{said}");
    let said = in_pantry(&["check", "--price-list", "nowhere.json"]).badly(1);
    assert!(said.contains("cannot read nowhere.json"), "{said}");
}
