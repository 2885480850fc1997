//! An operation in; its calls on the samples, with their answers, out. It runs on a store in memory.

use super::records::Records;
use crate::cli::store_choice::explained;
use crate::execute::caller::Caller;
use crate::execute::gateway::Gateway;
use crate::execute::request::{Request, Settings};
use crate::schema::model::Model;
use crate::table::embedded::observer::{CallObserver, sorted};
use crate::table::store::{ClientKind, TableStore};
use anyhow::{Context, Result};
use serde_json::{Map, Value, json};
use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// How long one operation on the samples may take.
const BOUND: Duration = Duration::from_secs(30);

/// A call of DynamoDB.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedCall {
    /// `GetItem` …
    pub operation: String,
    /// Its parameters.
    pub request: Value,
    /// The answer.
    pub answer: Value,
}

/// The result of an operation.
pub struct Recording {
    /// Its calls, in the order in which they began.
    pub calls: Vec<RecordedCall>,
    /// The messages of its errors.
    pub errors: Vec<String>,
}

#[derive(Debug, Default)]
struct Tape {
    calls: Mutex<Vec<RecordedCall>>,
}

impl CallObserver for Tape {
    fn begun(&self, operation: &str, body: &[u8]) {
        let call = RecordedCall { operation: operation.to_owned(), request: sorted(body), answer: Value::Null };
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).push(call);
    }

    fn answered(&self, operation: &str, body: &[u8], answer: &[u8]) {
        let request = sorted(body);
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        let open = calls
            .iter_mut()
            .rev()
            .find(|call| call.answer.is_null() && call.operation == operation && call.request == request);
        if let Some(call) = open {
            call.answer = sorted(answer);
        }
    }
}

/// A store in memory with the samples, on which operations are tried.
pub struct Bench<'r> {
    model: Arc<Model>,
    records: &'r Records,
    caller: Caller,
    ready: Option<(Gateway, Arc<Tape>)>,
}

impl<'r> Bench<'r> {
    /// A bench for a schema, its samples, and the caller of the operations.
    pub fn new(model: Arc<Model>, records: &'r Records, caller: Caller) -> Self {
        Self { model, records, caller, ready: None }
    }

    /// Runs an operation. After a write, the next operation gets fresh samples.
    pub async fn run(&mut self, operation: &str) -> Result<Recording> {
        let (gateway, tape) = match &self.ready {
            Some(ready) => ready.clone(),
            None => self.ready.insert(self.fill().await?).clone(),
        };
        let request = Request { query: operation.to_owned(), caller: self.caller.clone(), ..Request::default() };
        let prepared = match gateway.prepare(&request).await {
            Ok(prepared) => prepared,
            Err(errors) => {
                return Ok(Recording {
                    calls: Vec::new(),
                    errors: errors.into_iter().map(|error| error.message).collect(),
                });
            }
        };
        if prepared.writes() {
            self.ready = None;
        }
        let response = gateway.run(&prepared, Instant::now() + BOUND, false).await;
        let calls = std::mem::take(&mut *tape.calls.lock().unwrap_or_else(PoisonError::into_inner));
        let body: Value = serde_json::from_slice(&response.body).context("a response is not JSON")?;
        let errors = body["errors"].as_array().into_iter().flatten().filter_map(|error| error["message"].as_str());
        Ok(Recording { calls, errors: errors.map(str::to_owned).collect() })
    }

    async fn fill(&self) -> Result<(Gateway, Arc<Tape>)> {
        let tape = Arc::new(Tape::default());
        let store = TableStore::in_memory_observed(tape.clone())
            .map_err(|error| explained(error, "cannot create a store in memory"))?;
        let store = store.with_client(ClientKind::Sdk);
        store.create_missing(&self.model.tables).await.map_err(|error| explained(error, "cannot create the tables"))?;
        for (position, table) in self.model.tables.iter().enumerate() {
            let items = self
                .records
                .list
                .iter()
                .filter(|record| record.table == position)
                .map(|record| record.item.clone())
                .collect();
            let loaded = store.load(table, items, Instant::now() + BOUND).await;
            loaded.map_err(|error| explained(error, "the samples could not be loaded"))?;
        }
        tape.calls.lock().unwrap_or_else(PoisonError::into_inner).clear();
        // The document shows the calls of each operation by itself, so nothing is kept from one to the next.
        let settings = Settings {
            cursor_key: b"a design document".to_vec(),
            cache_bytes: 0,
            learned_pages: false,
            ..Settings::default()
        };
        Ok((Gateway::new(self.model.clone(), store, settings), tape))
    }
}

/// The calls that a field adds to those of its parent. The Gets of a wave share a call, so they are compared by key; a
/// single remaining key becomes the GetItem that it would be alone.
pub fn beyond(calls: Vec<RecordedCall>, others: &[RecordedCall]) -> Vec<RecordedCall> {
    let known: HashSet<String> = others.iter().flat_map(keys).collect();
    let mut same: Vec<&RecordedCall> = others.iter().collect();
    let mut left = Vec::new();
    for call in calls {
        match call.operation.as_str() {
            "GetItem" | "BatchGetItem" => left.extend(without(call, &known)),
            _ => {
                match same.iter().position(|other| other.operation == call.operation && asked(other) == asked(&call)) {
                    Some(at) => drop(same.swap_remove(at)),
                    None => left.push(call),
                }
            }
        }
    }
    left
}

/// Whether the calls lack a Get of the others, because one of their Queries reads its item too.
pub fn reads_along(calls: &[RecordedCall], others: &[RecordedCall]) -> bool {
    let got: HashSet<String> = calls.iter().flat_map(keys).collect();
    others.iter().flat_map(keys).any(|key| !got.contains(&key)) && calls.iter().any(|call| call.operation == "Query")
}

/// The items that a call asks for, whatever its projection.
fn asked(call: &RecordedCall) -> Value {
    let mut request = call.request.clone();
    if let Some(members) = request.as_object_mut() {
        members.remove("ProjectionExpression");
        if let Some(Value::Object(names)) = members.get_mut("ExpressionAttributeNames") {
            names.retain(|placeholder, _| !placeholder.starts_with("#p"));
        }
    }
    request
}

/// Table and key of each item that a call gets.
fn keys(call: &RecordedCall) -> Vec<String> {
    let of = |table: &str, key: &Value| format!("{table} {key}");
    match call.operation.as_str() {
        "GetItem" => vec![of(call.request["TableName"].as_str().unwrap_or_default(), &call.request["Key"])],
        "BatchGetItem" => {
            let tables = call.request["RequestItems"].as_object().into_iter().flatten();
            tables
                .flat_map(|(table, wanted)| wanted["Keys"].as_array().into_iter().flatten().map(|key| of(table, key)))
                .collect()
        }
        _ => Vec::new(),
    }
}

fn without(mut call: RecordedCall, known: &HashSet<String>) -> Option<RecordedCall> {
    if keys(&call).iter().all(|key| known.contains(key)) {
        return None;
    }
    if call.operation == "GetItem" {
        return Some(call);
    }
    let is_known = |table: &str, key: &Value| known.contains(&format!("{table} {key}"));
    if let Some(tables) = call.request["RequestItems"].as_object_mut() {
        for (table, wanted) in tables.iter_mut() {
            let held = call.answer["Responses"][table.as_str()].take();
            let keys: Vec<Value> =
                wanted["Keys"].as_array().into_iter().flatten().filter(|key| !is_known(table, key)).cloned().collect();
            let is_kept = |item: &&Value| keys.iter().any(|key| holds(item, key));
            call.answer["Responses"][table.as_str()] =
                held.as_array().into_iter().flatten().filter(is_kept).cloned().collect();
            wanted["Keys"] = Value::Array(keys);
        }
        tables.retain(|_, wanted| wanted["Keys"].as_array().is_some_and(|keys| !keys.is_empty()));
    }
    Some(single(&call).unwrap_or(call))
}

fn holds(item: &Value, key: &Value) -> bool {
    key.as_object().into_iter().flatten().all(|(name, value)| item.get(name) == Some(value))
}

/// A BatchGetItem of one key as a GetItem.
fn single(call: &RecordedCall) -> Option<RecordedCall> {
    let tables = call.request["RequestItems"].as_object().filter(|tables| tables.len() == 1)?;
    let (table, wanted) = tables.iter().next()?;
    let key = wanted["Keys"].as_array().filter(|keys| keys.len() == 1)?.first()?;
    let mut request = wanted.as_object()?.clone();
    request.remove("Keys");
    request.insert("Key".into(), key.clone());
    request.insert("TableName".into(), json!(table));
    request.insert("ReturnConsumedCapacity".into(), call.request["ReturnConsumedCapacity"].clone());
    let item = call.answer["Responses"][table.as_str()].as_array().and_then(|items| items.first()).cloned();
    let answer = item.map_or_else(|| json!({}), |item| json!({ "Item": item }));
    Some(RecordedCall { operation: "GetItem".into(), request: Value::Object(request), answer })
}

impl RecordedCall {
    /// The table, or the first of several.
    pub fn table(&self) -> Option<&str> {
        let batch = || self.request["RequestItems"].as_object()?.keys().next().map(String::as_str);
        self.request["TableName"].as_str().or_else(batch)
    }

    /// The returned items, each with its table.
    pub fn items(&self) -> Vec<(String, Value)> {
        let table = self.table().unwrap_or_default().to_owned();
        let mut items: Vec<(String, Value)> = Vec::new();
        items.extend(
            self.answer
                .get("Item")
                .or_else(|| self.answer.get("Attributes"))
                .map(|item| (table.clone(), self.completed(item))),
        );
        items.extend(
            self.answer["Items"].as_array().into_iter().flatten().map(|item| (table.clone(), self.completed(item))),
        );
        for (table, found) in self.answer["Responses"].as_object().into_iter().flatten() {
            items.extend(found.as_array().into_iter().flatten().map(|item| (table.clone(), item.clone())));
        }
        items
    }

    /// An item with the key attributes that the call names. The answer need not repeat them.
    fn completed(&self, item: &Value) -> Value {
        let mut whole: Map<String, Value> = match self.operation.as_str() {
            "GetItem" => self.request["Key"].as_object().cloned().unwrap_or_default(),
            "Query" => self.partition().into_iter().collect(),
            _ => Map::new(),
        };
        whole.extend(item.as_object().cloned().unwrap_or_default());
        whole.sort_keys();
        Value::Object(whole)
    }

    /// The partition key of a Query: its condition begins with `#k0 = :k0`.
    fn partition(&self) -> Option<(String, Value)> {
        let mut terms = self.request["KeyConditionExpression"].as_str()?.split(' ');
        let (name, value) = (terms.next()?, terms.nth(1)?);
        let name = self.request["ExpressionAttributeNames"][name].as_str()?;
        Some((name.to_owned(), self.request["ExpressionAttributeValues"][value].clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(operation: &str, request: Value, answer: Value) -> RecordedCall {
        RecordedCall { operation: operation.into(), request, answer }
    }

    fn key(id: &str) -> Value {
        json!({ "pk": { "S": id } })
    }

    #[test]
    fn items_have_the_keys_that_their_call_names() {
        let item = json!({ "sk": { "S": "1" } });
        let get = call("GetItem", json!({ "TableName": "t", "Key": key("a") }), json!({ "Item": item }));
        let request = json!({
            "TableName": "t",
            "KeyConditionExpression": "#k0 = :k0 AND begins_with(#k1, :k1)",
            "ExpressionAttributeNames": { "#k0": "pk", "#k1": "sk" },
            "ExpressionAttributeValues": { ":k0": { "S": "a" }, ":k1": { "S": "" } },
        });
        let query = call("Query", request, json!({ "Items": [item] }));
        for call in [get, query] {
            assert_eq!(call.items(), [("t".to_owned(), json!({ "pk": { "S": "a" }, "sk": { "S": "1" } }))]);
        }
    }

    #[test]
    fn what_the_parent_costs_is_left_out() {
        let get = |id: &str| {
            call(
                "GetItem",
                json!({ "TableName": "t", "Key": key(id), "ProjectionExpression": "#p0" }),
                json!({ "Item": key(id) }),
            )
        };
        let query = |id: &str, projection: &str| {
            let names = json!({ "#k0": "pk", "#p0": projection });
            let request = json!({ "TableName": "t", "ExpressionAttributeValues": { ":k0": id }, "ExpressionAttributeNames": names });
            call("Query", request, json!({ "Items": [], "Count": 0 }))
        };
        assert_eq!(beyond(vec![get("a"), get("b"), query("x", "p")], &[get("a"), query("x", "q")]), [get("b")]);
        assert_eq!(
            beyond(vec![query("x", "p"), query("x", "p"), query("y", "p")], &[query("x", "p")]),
            [query("x", "p"), query("y", "p")]
        );
        assert_eq!(beyond(Vec::new(), &[get("a")]), []);
        assert!(reads_along(&[query("x", "p")], &[get("a")]));
        assert!(!reads_along(&[get("a"), query("x", "p")], &[get("a")]));
        assert!(!reads_along(&[], &[get("a")]));
    }

    #[test]
    fn gets_that_travelled_with_the_parent_s_are_what_they_would_be_alone() {
        let batch = |ids: &[&str]| {
            let keys: Vec<Value> = ids.iter().map(|id| key(id)).collect();
            let request = json!({ "RequestItems": { "t": { "Keys": keys, "ProjectionExpression": "#p0" } } });
            call("BatchGetItem", request, json!({ "Responses": { "t": keys } }))
        };
        let parent = call("GetItem", json!({ "TableName": "t", "Key": key("a") }), json!({}));
        let alone = beyond(vec![batch(&["a", "b"])], std::slice::from_ref(&parent));
        assert_eq!(alone.len(), 1);
        assert_eq!(
            (alone[0].operation.as_str(), &alone[0].request["Key"], &alone[0].request["TableName"]),
            ("GetItem", &key("b"), &json!("t"))
        );
        assert_eq!(alone[0].items(), [("t".to_owned(), key("b"))]);
        let two = beyond(vec![batch(&["a", "b", "c"])], std::slice::from_ref(&parent));
        assert_eq!(
            (&two[0].request["RequestItems"]["t"]["Keys"], two[0].items().len()),
            (&json!([key("b"), key("c")]), 2)
        );
        assert_eq!(beyond(vec![batch(&["a"])], &[parent]), []);
    }
}
