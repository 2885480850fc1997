//! A policy of IAM in; which of DynamoDB's calls it allows out.
//!
//! The actions that a call needs are those of the DynamoDB developer guide, "Actions, resources, and condition keys for
//! DynamoDB"; the parts of a transaction need the actions of the parts ("Using IAM with DynamoDB transactions").

use serde_json::Value;
use std::collections::BTreeSet;

/// An action and the resource that it is on, without the beginning of the ARN: `("Query", "shop/index/ByName")`.
pub type Right = (String, String);

/// What a policy allows.
pub fn allowed(policy: &Value) -> BTreeSet<Right> {
    assert_eq!(policy["Version"], "2012-10-17");
    let mut rights = BTreeSet::new();
    let mut ids = BTreeSet::new();
    for statement in policy["Statement"].as_array().unwrap() {
        let id = statement["Sid"].as_str().unwrap();
        assert!(ids.insert(id) && id.bytes().all(|letter| letter.is_ascii_alphanumeric()), "{id}");
        assert_eq!(statement["Effect"], "Allow");
        let (_, resource) = statement["Resource"].as_str().unwrap().split_once(":table/").unwrap();
        for action in statement["Action"].as_array().unwrap() {
            let action = action.as_str().unwrap().strip_prefix("dynamodb:").unwrap();
            assert!(rights.insert((action.to_owned(), resource.to_owned())), "{action} on {resource} is allowed twice");
        }
    }
    rights
}

/// What a call of an item needs.
pub fn needed(operation: &str, body: &Value) -> Vec<Right> {
    let table = |body: &Value| body["TableName"].as_str().unwrap_or_else(|| panic!("{operation}: {body}")).to_owned();
    match operation {
        "Query" | "Scan" => {
            let index = body["IndexName"].as_str().map(|index| format!("/index/{index}")).unwrap_or_default();
            vec![(operation.to_owned(), table(body) + &index)]
        }
        "BatchGetItem" | "BatchWriteItem" => body["RequestItems"]
            .as_object()
            .unwrap()
            .keys()
            .map(|table| (operation.to_owned(), table.clone()))
            .collect(),
        "TransactWriteItems" => {
            let parts = body["TransactItems"].as_array().unwrap().iter().flat_map(|part| part.as_object().unwrap());
            parts
                .map(|(kind, part)| (if kind == "ConditionCheck" { "ConditionCheckItem" } else { kind }, part))
                .map(right_of_part)
                .collect()
        }
        "GetItem" | "PutItem" | "UpdateItem" | "DeleteItem" | "DescribeTable" | "DescribeTimeToLive" => {
            vec![(operation.to_owned(), table(body))]
        }
        other => panic!("nobody knows what {other} needs"),
    }
}

fn right_of_part((kind, part): (&str, &Value)) -> Right {
    let action = if kind.ends_with("Item") { kind.to_owned() } else { format!("{kind}Item") };
    (action, part["TableName"].as_str().unwrap().to_owned())
}
