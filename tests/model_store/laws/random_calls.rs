//! Random requests.

use crate::laws::random_expressions::Expressions;
use crate::laws::random_items::{MINUTE, Rng, item, key, key_names, key_value, one_in, pick, table};
use serde_json::{Map, Value, json};

/// What a law does.
#[derive(Debug, Clone)]
pub enum Step {
    Call(&'static str, Value),
    /// All pages of a Query or a Scan.
    Pages(&'static str, Value),
    /// The records of the stream.
    Stream,
    /// Time goes on by so many seconds.
    Wait(u64),
    /// What has expired is deleted.
    Sweep,
}

pub fn step(rng: &mut Rng, earlier: &[Step]) -> Step {
    match rng.u8(..40) {
        0..=6 => put(rng),
        7..=14 => update(rng),
        15 | 16 => delete(rng),
        17..=19 => get(rng),
        20 | 21 => batch_get(rng),
        22..=28 => Step::Pages("Query", query(rng)),
        29 => Step::Pages("Scan", scan(rng)),
        30 | 31 => batch_write(rng),
        32..=35 => transaction(rng),
        36 => Step::Stream,
        37 => Step::Wait(MINUTE * rng.u64(1..3)),
        38 => Step::Sweep,
        _ => {
            // The token of an earlier transaction.
            let is_transaction = |step: &&Step| matches!(step, Step::Call("TransactWriteItems", _));
            let transactions: Vec<&Step> = earlier.iter().filter(is_transaction).collect();
            match rng.choice(transactions) {
                Some(Step::Call(operation, body)) if rng.bool() => {
                    let (mut body, Step::Call(_, other)) = (body.clone(), transaction(rng)) else { unreachable!() };
                    body["TransactItems"] = other["TransactItems"].clone();
                    Step::Call(operation, body)
                }
                Some(transaction) => transaction.clone(),
                None => transaction(rng),
            }
        }
    }
}

fn body(rng: &mut Rng, table: &str) -> Map<String, Value> {
    let mut body = Map::from_iter([("TableName".to_owned(), json!(table))]);
    let capacity = pick(rng, &["NONE", "TOTAL", "TOTAL", "INDEXES"]);
    body.insert("ReturnConsumedCapacity".to_owned(), json!(capacity));
    if one_in(rng, 200) {
        body.insert("TableName".to_owned(), json!("missing"));
    }
    body
}

fn returns(rng: &mut Rng, body: &mut Map<String, Value>, words: &[&'static str]) {
    if !one_in(rng, 3) {
        body.insert("ReturnValues".to_owned(), json!(pick(rng, words)));
    }
    if rng.bool() {
        body.insert("ReturnValuesOnConditionCheckFailure".to_owned(), json!("ALL_OLD"));
    }
}

/// A condition for half of the writes.
fn condition(rng: &mut Rng, body: &mut Map<String, Value>, expressions: &mut Expressions) {
    if rng.bool() {
        let text = expressions.condition(rng, 2);
        body.insert("ConditionExpression".to_owned(), json!(text));
    }
}

fn put(rng: &mut Rng) -> Step {
    let (table, mut expressions) = (table(rng), Expressions::default());
    let mut body = body(rng, table);
    body.insert("Item".to_owned(), Value::Object(item(rng, table)));
    condition(rng, &mut body, &mut expressions);
    returns(rng, &mut body, &["NONE", "ALL_OLD"]);
    expressions.add_to(&mut body);
    Step::Call("PutItem", Value::Object(body))
}

fn update(rng: &mut Rng) -> Step {
    let (table, mut expressions) = (table(rng), Expressions::default());
    let mut body = body(rng, table);
    body.insert("Key".to_owned(), Value::Object(key(rng, table)));
    condition(rng, &mut body, &mut expressions);
    if !one_in(rng, 20) {
        body.insert("UpdateExpression".to_owned(), json!(expressions.update(rng)));
    }
    returns(rng, &mut body, &["NONE", "ALL_OLD", "UPDATED_OLD", "ALL_NEW", "ALL_NEW", "UPDATED_NEW"]);
    expressions.add_to(&mut body);
    Step::Call("UpdateItem", Value::Object(body))
}

fn delete(rng: &mut Rng) -> Step {
    let (table, mut expressions) = (table(rng), Expressions::default());
    let mut body = body(rng, table);
    body.insert("Key".to_owned(), Value::Object(key(rng, table)));
    condition(rng, &mut body, &mut expressions);
    returns(rng, &mut body, &["NONE", "ALL_OLD"]);
    expressions.add_to(&mut body);
    Step::Call("DeleteItem", Value::Object(body))
}

fn get(rng: &mut Rng) -> Step {
    let (table, mut expressions) = (table(rng), Expressions::default());
    let mut body = body(rng, table);
    body.insert("Key".to_owned(), Value::Object(key(rng, table)));
    body.insert("ConsistentRead".to_owned(), json!(rng.bool()));
    if rng.bool() {
        body.insert("ProjectionExpression".to_owned(), json!(expressions.projection(rng)));
    }
    expressions.add_to(&mut body);
    Step::Call("GetItem", Value::Object(body))
}

fn batch_get(rng: &mut Rng) -> Step {
    let mut tables = Map::new();
    for _ in 0..rng.usize(1..3) {
        let (table, mut expressions) = (table(rng), Expressions::default());
        let keys: Vec<Value> = (0..rng.usize(1..4)).map(|_| Value::Object(key(rng, table))).collect();
        let mut body =
            Map::from_iter([("Keys".to_owned(), json!(keys)), ("ConsistentRead".to_owned(), json!(rng.bool()))]);
        if rng.bool() {
            body.insert("ProjectionExpression".to_owned(), json!(expressions.projection(rng)));
        }
        expressions.add_to(&mut body);
        tables.insert(table.to_owned(), Value::Object(body));
    }
    Step::Call("BatchGetItem", json!({ "RequestItems": tables, "ReturnConsumedCapacity": "TOTAL" }))
}

fn batch_write(rng: &mut Rng) -> Step {
    let mut tables: Map<String, Value> = Map::new();
    for _ in 0..rng.usize(1..6) {
        let table = table(rng);
        let write = match one_in(rng, 3) {
            true => json!({ "DeleteRequest": { "Key": key(rng, table) } }),
            false => json!({ "PutRequest": { "Item": item(rng, table) } }),
        };
        tables.entry(table).or_insert_with(|| json!([])).as_array_mut().unwrap().push(write);
    }
    Step::Call("BatchWriteItem", json!({ "RequestItems": tables, "ReturnConsumedCapacity": "TOTAL" }))
}

fn transaction(rng: &mut Rng) -> Step {
    let action = |rng: &mut Rng| {
        let (table, mut expressions) = (table(rng), Expressions::default());
        let mut body = Map::from_iter([("TableName".to_owned(), json!(table))]);
        let kind = pick(rng, &["Put", "Put", "Update", "Update", "Delete", "ConditionCheck"]);
        if kind == "Put" {
            body.insert("Item".to_owned(), Value::Object(item(rng, table)));
        } else {
            body.insert("Key".to_owned(), Value::Object(key(rng, table)));
        }
        if kind == "Update" {
            body.insert("UpdateExpression".to_owned(), json!(expressions.update(rng)));
        }
        if kind == "ConditionCheck" || one_in(rng, 4) {
            body.insert("ConditionExpression".to_owned(), json!(expressions.condition(rng, 1)));
        }
        if rng.bool() {
            body.insert("ReturnValuesOnConditionCheckFailure".to_owned(), json!("ALL_OLD"));
        }
        expressions.add_to(&mut body);
        json!({ kind: body })
    };
    let actions: Vec<Value> = (0..rng.usize(1..4)).map(|_| action(rng)).collect();
    let mut body = json!({ "TransactItems": actions, "ReturnConsumedCapacity": "TOTAL" });
    if rng.bool() {
        body["ClientRequestToken"] = json!(format!("token {}", rng.u32(..)));
    }
    Step::Call("TransactWriteItems", body)
}

fn query(rng: &mut Rng) -> Value {
    let (table, mut expressions) = (table(rng), Expressions::default());
    let mut body = body(rng, table);
    let index = if table == "notes" {
        pick(rng, &[None, None, Some("all"), Some("keys"), Some("turned"), Some("local")])
    } else {
        None
    };
    body.extend(index.map(|index| ("IndexName".to_owned(), json!(index))));
    let (partition, sort) = key_names(table, index);
    let mut text = format!("{} = {}", expressions.name(partition), expressions.value(key_value(rng, partition)));
    if let Some(sort) = sort.filter(|_| !one_in(rng, 3)) {
        text += " AND ";
        text += &sort_condition(rng, sort, &mut expressions);
    }
    body.insert("KeyConditionExpression".to_owned(), json!(text));
    read_members(rng, &mut body, expressions, index);
    if index.is_none_or(|index| index == "local") && rng.bool() || one_in(rng, 40) {
        body.insert("ConsistentRead".to_owned(), json!(true));
    }
    if rng.bool() {
        body.insert("ScanIndexForward".to_owned(), json!(rng.bool()));
    }
    Value::Object(body)
}

fn sort_condition(rng: &mut Rng, name: &str, expressions: &mut Expressions) -> String {
    let value = |rng: &mut Rng, expressions: &mut Expressions| {
        let value = key_value(rng, name);
        expressions.value(value)
    };
    let path = expressions.name(name);
    match rng.u8(..8) {
        0..=4 => format!("{path} {} {}", pick(rng, &["=", "<", "<=", ">", ">="]), value(rng, expressions)),
        5 | 6 if matches!(name, "sk" | "pk") => format!("begins_with({path}, {})", value(rng, expressions)),
        _ => format!("{path} BETWEEN {} AND {}", value(rng, expressions), value(rng, expressions)),
    }
}

fn scan(rng: &mut Rng) -> Value {
    let (table, expressions) = (table(rng), Expressions::default());
    let mut body = body(rng, table);
    let index = if table == "notes" { pick(rng, &[None, None, Some("all"), Some("turned")]) } else { None };
    body.extend(index.map(|index| ("IndexName".to_owned(), json!(index))));
    read_members(rng, &mut body, expressions, index);
    Value::Object(body)
}

fn read_members(rng: &mut Rng, body: &mut Map<String, Value>, mut expressions: Expressions, index: Option<&str>) {
    if one_in(rng, 3) {
        let text = expressions.condition(rng, 1);
        body.insert("FilterExpression".to_owned(), json!(text));
    }
    match rng.u8(..6) {
        0 => drop(body.insert("Select".to_owned(), json!("COUNT"))),
        1 | 2 if matches!(index, None | Some("all" | "local")) => {
            let mut projected = Expressions::default();
            let text = projected.projection(rng);
            // The placeholders of the projection must not be those of the other expressions.
            body.insert("ProjectionExpression".to_owned(), json!(text.replace("#n", "#p")));
            let names = projected.names.into_iter().map(|(placeholder, name)| (placeholder.replace("#n", "#p"), name));
            expressions.names.extend(names);
        }
        _ => {}
    }
    if rng.bool() {
        body.insert("Limit".to_owned(), json!(rng.u8(1..5)));
    }
    expressions.add_to(body);
}
