//! Requests that are wrong in one thing each.

use serde_json::{Value, json};

/// What is wrong, the operation, and its request, for the tables of `random_items`.
pub fn refusals() -> Vec<(&'static str, &'static str, Value)> {
    let mut all = updates();
    all.extend(conditions());
    all.extend(puts());
    all.extend(reads());
    all.extend(batches());
    all
}

fn key() -> Value {
    json!({ "pk": { "S": "p" }, "sk": { "S": "a" } })
}

/// An object with these members besides the table's name.
fn notes(members: Value) -> Value {
    let mut body = json!({ "TableName": "notes" });
    let (Value::Object(all), Value::Object(members)) = (&mut body, members) else { unreachable!() };
    all.extend(members);
    body
}

fn updates() -> Vec<(&'static str, &'static str, Value)> {
    let update = |text: &str, values: Value| {
        let names = json!({ "#n": "n" });
        let mut body = json!({ "Key": key(), "UpdateExpression": text });
        if text.contains('#') {
            body["ExpressionAttributeNames"] = names;
        }
        if !values.is_null() {
            body["ExpressionAttributeValues"] = values;
        }
        ("UpdateItem", notes(body))
    };
    let one = json!({ ":v": { "N": "1" } });
    let text = json!({ ":v": { "S": "a" } });
    let all = [
        ("a clause twice", update("SET a = :v SET b = :v", one.clone())),
        ("paths overlap", update("SET a = :v, a.b = :v", one.clone())),
        ("paths conflict", update("SET a.b = :v, a[0] = :v", one.clone())),
        ("an empty update", update("", Value::Null)),
        ("a value that is not there", update("SET a = :w", one.clone())),
        ("a value that is not used", update("REMOVE a", one.clone())),
        ("a name that is not there", update("REMOVE #n, #m", Value::Null)),
        ("no clause", update("a = :v", one.clone())),
        ("an unknown function", update("SET a = twice(:v)", one.clone())),
        ("a sum with a text", update("SET a = b + :v", text.clone())),
        ("an addition of a text", update("ADD a :v", text.clone())),
        ("a deletion of a number", update("DELETE a :v", one.clone())),
        ("a list with a number", update("SET a = list_append(:v, a)", one.clone())),
        ("what is not there", update("SET a = b", Value::Null)),
        ("a way that is not there", update("SET a.b = :v", one.clone())),
        ("a way to remove that is not there", update("REMOVE a.b", Value::Null)),
        ("a number with no limits", update("SET a = :v", json!({ ":v": { "N": "1E126" } }))),
        ("a number with too many digits", update("SET a = :v", json!({ ":v": { "N": "1".repeat(39) } }))),
    ];
    all.into_iter().map(|(what, (operation, body))| (what, operation, body)).collect()
}

fn conditions() -> Vec<(&'static str, &'static str, Value)> {
    let condition = |text: &str, values: Value| {
        let mut body = json!({ "Item": key(), "ConditionExpression": text });
        if !values.is_null() {
            body["ExpressionAttributeValues"] = values;
        }
        ("PutItem", notes(body))
    };
    let one = json!({ ":v": { "N": "1" } });
    let text = json!({ ":v": { "S": "a" } });
    let all = [
        ("an open bracket", condition("(attribute_exists(a)", Value::Null)),
        ("no operator", condition("a :v", one.clone())),
        ("an unknown type", condition("attribute_type(a, :v)", text.clone())),
        ("a start that is a number", condition("begins_with(a, :v)", one.clone())),
        ("a path with itself", condition("a = a", Value::Null)),
        ("bounds of two types", condition("a BETWEEN :v AND :w", json!({ ":v": { "N": "1" }, ":w": { "S": "a" } }))),
        (
            "values without an expression",
            ("PutItem", notes(json!({ "Item": key(), "ExpressionAttributeValues": one }))),
        ),
        ("no values", condition("attribute_exists(a)", json!({}))),
        ("an unknown word", ("PutItem", notes(json!({ "Item": key(), "ReturnValues": "ALL_NEW" })))),
    ];
    all.into_iter().map(|(what, (operation, body))| (what, operation, body)).collect()
}

fn puts() -> Vec<(&'static str, &'static str, Value)> {
    let put = |item: Value| ("PutItem", notes(json!({ "Item": item })));
    let long = "x".repeat(410_000);
    let all = [
        ("a set without elements", put(json!({ "pk": { "S": "p" }, "sk": { "S": "a" }, "s": { "SS": [] } }))),
        ("a set with equal texts", put(json!({ "pk": { "S": "p" }, "sk": { "S": "a" }, "s": { "SS": ["a", "a"] } }))),
        (
            "a set with equal numbers",
            put(json!({ "pk": { "S": "p" }, "sk": { "S": "a" }, "s": { "NS": ["1", "1.0"] } })),
        ),
        ("no number", put(json!({ "pk": { "S": "p" }, "sk": { "S": "a" }, "s": { "N": "one" } }))),
        ("no type", put(json!({ "pk": { "S": "p" }, "sk": { "S": "a" }, "s": {} }))),
        ("a null that is false", put(json!({ "pk": { "S": "p" }, "sk": { "S": "a" }, "s": { "NULL": false } }))),
        ("no sort key", put(json!({ "pk": { "S": "p" } }))),
        ("an empty key", put(json!({ "pk": { "S": "" }, "sk": { "S": "a" } }))),
        ("an empty key of an index", put(json!({ "pk": { "S": "p" }, "sk": { "S": "a" }, "gp": { "S": "" } }))),
        ("a key that is too long", put(json!({ "pk": { "S": "p".repeat(2049) }, "sk": { "S": "a" } }))),
        ("a sort key that is too long", put(json!({ "pk": { "S": "p" }, "sk": { "S": "a".repeat(1025) } }))),
        ("an item that is too large", put(json!({ "pk": { "S": "p" }, "sk": { "S": "a" }, "s": { "S": long } }))),
    ];
    all.into_iter().map(|(what, (operation, body))| (what, operation, body)).collect()
}

fn reads() -> Vec<(&'static str, &'static str, Value)> {
    let values = json!({ ":p": { "S": "p" }, ":s": { "S": "a" }, ":n": { "N": "1" }, ":e": { "S": "" } });
    let query = |text: &str, members: Value| {
        let used = values.as_object().unwrap().iter();
        let filter = members["FilterExpression"].as_str().unwrap_or_default();
        let used = used.filter(|(name, _)| text.contains(name.as_str()) || filter.contains(name.as_str()));
        let used: serde_json::Map<String, Value> = used.map(|(name, value)| (name.clone(), value.clone())).collect();
        let mut body = notes(json!({ "KeyConditionExpression": text, "ExpressionAttributeValues": used }));
        body.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        ("Query", body)
    };
    let none = json!({});
    let all = [
        ("no partition", query("sk = :s", none.clone())),
        ("no equality", query("pk > :p", none.clone())),
        ("a difference", query("pk = :p AND sk <> :s", none.clone())),
        ("an alternative", query("pk = :p OR sk = :s", none.clone())),
        ("two conditions on one key", query("pk = :p AND sk > :s AND sk < :s", none.clone())),
        ("another attribute", query("pk = :p AND n = :n", none.clone())),
        ("a key of another type", query("pk = :p AND sk = :n", none.clone())),
        ("an empty partition", query("pk = :e", none.clone())),
        ("bounds the wrong way round", query("pk = :p AND sk BETWEEN :s AND :e", none.clone())),
        ("an unknown index", query("pk = :p", json!({ "IndexName": "other" }))),
        ("a strong reading of a global index", query("gp = :p", json!({ "IndexName": "all", "ConsistentRead": true }))),
        ("no limit", query("pk = :p", json!({ "Limit": 0 }))),
        ("a filter of a key", query("pk = :p", json!({ "FilterExpression": "sk = :s" }))),
        ("a start without a sort key", query("pk = :p", json!({ "ExclusiveStartKey": { "pk": { "S": "p" } } }))),
        (
            "a start in another partition",
            query(
                "pk = :p",
                json!({ "ExclusiveStartKey":
            { "pk": { "S": "q" }, "sk": { "S": "a" } } }),
            ),
        ),
        ("a count of some attributes", query("pk = :p", json!({ "Select": "COUNT", "ProjectionExpression": "n" }))),
        ("what the index has not", query("gp = :p", json!({ "IndexName": "keys", "ProjectionExpression": "n" }))),
        ("paths that overlap", ("GetItem", notes(json!({ "Key": key(), "ProjectionExpression": "a, a.b" })))),
        ("no table", ("GetItem", json!({ "TableName": "missing", "Key": key() }))),
        (
            "too many keys",
            ("GetItem", notes(json!({ "Key": { "pk": { "S": "p" }, "sk": { "S": "a" }, "n": { "N": "1" } } }))),
        ),
    ];
    all.into_iter().map(|(what, (operation, body))| (what, operation, body)).collect()
}

fn batches() -> Vec<(&'static str, &'static str, Value)> {
    let keys = |count: usize| (0..count).map(|n| json!({ "id": { "S": n.to_string() } })).collect::<Vec<_>>();
    let get = |keys: Vec<Value>| json!({ "RequestItems": { "counters": { "Keys": keys } } });
    let put = |key: &Value| json!({ "PutRequest": { "Item": key } });
    let write = |keys: Vec<Value>| json!({ "RequestItems": { "counters": keys.iter().map(put).collect::<Vec<_>>() } });
    let transact = |keys: Vec<Value>| {
        let puts = keys.iter().map(|key| json!({ "Put": { "TableName": "counters", "Item": key } }));
        json!({ "TransactItems": puts.collect::<Vec<_>>() })
    };
    let twice = |mut keys: Vec<Value>| {
        keys.push(keys[0].clone());
        keys
    };
    let check = json!({ "ConditionCheck": { "TableName": "counters", "Key": { "id": { "S": "0" } } } });
    let mut token = transact(keys(1));
    token["ClientRequestToken"] = json!("t".repeat(37));
    vec![
        ("101 keys", "BatchGetItem", get(keys(101))),
        ("a key twice", "BatchGetItem", get(twice(keys(2)))),
        ("no keys", "BatchGetItem", get(Vec::new())),
        ("no tables", "BatchGetItem", json!({ "RequestItems": {} })),
        ("26 writes", "BatchWriteItem", write(keys(26))),
        ("an item twice", "BatchWriteItem", write(twice(keys(2)))),
        ("no writes", "BatchWriteItem", write(Vec::new())),
        ("101 actions", "TransactWriteItems", transact(keys(101))),
        ("an item twice", "TransactWriteItems", transact(twice(keys(2)))),
        ("no actions", "TransactWriteItems", transact(Vec::new())),
        ("a check of nothing", "TransactWriteItems", json!({ "TransactItems": [check] })),
        ("a token that is too long", "TransactWriteItems", token),
    ]
}
