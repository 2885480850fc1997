//! A gateway on an engine, with a script between them that may answer a call or change the table before it.

use crate::scripted::{Reply, Server};
use crate::support;
use dynoxide::{Database, DynoxideError};
use keyfold::execute::caller::Caller;
use keyfold::execute::gateway::Gateway;
use keyfold::execute::request::{Request, Settings};
use keyfold::plan::tree::SingleWrites;
use keyfold::schema::model::Model;
use keyfold::table::store::TableStore;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::Instant;

/// The sample household that the pantry starts with: a user, the user's group, and a container of the group.
pub const USER: &str = "11111111-1111-4111-8111-111111111111";
pub const GROUP: &str = "22222222-2222-4222-8222-222222222222";
pub const CONTAINER: &str = "33333333-3333-4333-8333-333333333333";

/// A call on its way to the table.
pub struct Call<'a> {
    /// How many writes came before it since the script began. Reads are not counted.
    pub before: usize,
    pub operation: &'a str,
    pub body: &'a Value,
    pub table: &'a Table,
}

/// Replaces a call by its reply; `None` lets the call through.
type Script = dyn Fn(&Call<'_>) -> Option<Reply> + Send + Sync;

/// The engine.
pub struct Table {
    database: Database,
}

/// What was called since the script began.
#[derive(Default)]
struct Log {
    operations: Vec<String>,
    writes: usize,
}

/// A gateway, the engine under it, and the script between them.
pub struct Backend {
    pub gateway: Gateway,
    /// Who calls: at first the user of the household.
    pub caller: Caller,
    pub table: Arc<Table>,
    script: Arc<Mutex<Arc<Script>>>,
    log: Arc<Mutex<Log>>,
}

impl Backend {
    /// The pantry with one household, or another system without items. No script yet.
    pub async fn new(system: &str) -> Self {
        Self::with(system, SingleWrites::Call).await
    }

    /// The same, with the form of a write of one item.
    pub async fn with(system: &str, single_writes: SingleWrites) -> Self {
        let backend = Self::of(model(system), single_writes).await;
        if system == "pantry" {
            let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("samples/nishiki-table-dev-db.jsonl");
            let samples = std::fs::read_to_string(samples).unwrap();
            for line in samples.lines().filter(|line| [USER, GROUP, CONTAINER].iter().any(|id| line.contains(id))) {
                let line: Value = serde_json::from_str(line).unwrap();
                backend.table.put(&backend.gateway.model().tables[0].name, line["Item"].clone());
            }
        }
        backend
    }

    /// The text of a schema without rules, and no items. No script yet.
    pub async fn of_text(schema: &str) -> Self {
        match keyfold::schema::load("schema.graphql", schema, &|_| None) {
            Ok((model, _)) => Self::of(Arc::new(model.without_rules()), SingleWrites::Call).await,
            Err(mistakes) => panic!("{}", mistakes.render(false)),
        }
    }

    /// The text of a schema with its rules, and no items. No script yet.
    pub async fn ruled(schema: &str) -> Self {
        match keyfold::schema::load("schema.graphql", schema, &|_| None) {
            Ok((model, _)) => Self::of(Arc::new(model), SingleWrites::Call).await,
            Err(mistakes) => panic!("{}", mistakes.render(false)),
        }
    }

    /// Another gateway of the same schema, without items.
    pub async fn anew(&self) -> Self {
        Self::of(self.gateway.model().clone(), SingleWrites::Call).await
    }

    async fn of(model: Arc<Model>, single_writes: SingleWrites) -> Self {
        let table = Arc::new(Table { database: Database::memory().unwrap() });
        let script: Arc<Mutex<Arc<Script>>> = Arc::new(Mutex::new(Arc::new(|_: &Call<'_>| None)));
        let log: Arc<Mutex<Log>> = Arc::default();
        let (engine, current, noted) = (table.clone(), script.clone(), log.clone());
        let server = Server::new(move |_, operation, body| {
            let before = {
                let mut log = noted.lock().unwrap();
                let before = log.writes;
                log.writes += usize::from(is_write(operation));
                log.operations.push(operation.to_owned());
                before
            };
            let script = current.lock().unwrap().clone();
            let instead = script(&Call { before, operation, body: &body, table: &engine });
            instead.unwrap_or_else(|| engine.apply(operation, body))
        });
        let store = TableStore::over(server);
        store.create_missing(&model.tables).await.unwrap();
        let gateway = Gateway::new(model, store, Settings { single_writes, ..support::settings() });
        let backend = Self { gateway, caller: by(USER), table, script, log };
        *backend.log.lock().unwrap() = Log::default();
        backend
    }

    /// From now on, this script is asked before each call. Counting starts again.
    pub fn script(&self, script: impl Fn(&Call<'_>) -> Option<Reply> + Send + Sync + 'static) {
        *self.log.lock().unwrap() = Log::default();
        *self.script.lock().unwrap() = Arc::new(script);
    }

    /// Removes the script.
    pub fn calm(&self) {
        self.script(|_| None);
    }

    /// Runs an operation that must not fail.
    pub async fn ok(&self, operation: &str, variables: Value) -> Value {
        let answer = self.run(operation, variables).await;
        assert_eq!(answer["errors"], Value::Null, "{operation}: {answer}");
        answer["data"].clone()
    }

    /// Runs an operation with a deadline a minute from now.
    pub async fn run(&self, operation: &str, variables: Value) -> Value {
        support::run(&self.gateway, &self.request(operation, variables), false).await
    }

    /// Runs an operation with this much time.
    pub async fn run_within(&self, time: Duration, operation: &str, variables: Value) -> Value {
        let prepared = self
            .gateway
            .prepare(&self.request(operation, variables))
            .await
            .unwrap_or_else(|errors| panic!("{errors:?}"));
        let response = self.gateway.run(&prepared, Instant::now() + time, false).await;
        serde_json::from_slice(&response.body).unwrap()
    }

    /// A request of the caller.
    pub fn request(&self, operation: &str, variables: Value) -> Request {
        Request { caller: self.caller.clone(), ..support::request(operation, variables) }
    }

    /// The operations of the calls since the script began, in order.
    pub fn operations(&self) -> Vec<String> {
        self.log.lock().unwrap().operations.clone()
    }

    /// How many writes were sent since the script began.
    pub fn writes(&self) -> usize {
        self.log.lock().unwrap().writes
    }

    /// Every item as text, sorted.
    pub fn items(&self) -> Vec<String> {
        let tables = &self.gateway.model().tables;
        let mut items: Vec<String> =
            tables.iter().flat_map(|table| self.table.scan(&table.name)).map(|item| sorted(&item)).collect();
        items.sort();
        items
    }
}

/// The changes of items: `-` before each that is gone, `+` before each that is new.
pub fn changes(before: &[String], after: &[String]) -> Vec<String> {
    let gone = before.iter().filter(|item| !after.contains(item)).map(|item| format!("- {item}"));
    gone.chain(after.iter().filter(|item| !before.contains(item)).map(|item| format!("+ {item}"))).collect()
}

/// An item as text, its attributes by name and the elements of its sets in order.
fn sorted(value: &Value) -> String {
    match value {
        Value::Object(members) => {
            let mut members: Vec<String> = members
                .iter()
                .map(|(name, value)| match value.as_array().filter(|_| ["SS", "NS", "BS"].contains(&name.as_str())) {
                    Some(elements) => {
                        let mut elements: Vec<String> = elements.iter().map(sorted).collect();
                        elements.sort();
                        format!("{name:?}:{elements:?}")
                    }
                    None => format!("{name:?}:{}", sorted(value)),
                })
                .collect();
            members.sort();
            format!("{{{}}}", members.join(","))
        }
        Value::Array(values) => format!("[{}]", values.iter().map(sorted).collect::<Vec<_>>().join(",")),
        other => other.to_string(),
    }
}

/// Whether an operation writes.
pub fn is_write(operation: &str) -> bool {
    ["PutItem", "UpdateItem", "DeleteItem", "TransactWriteItems", "BatchWriteItem"].contains(&operation)
}

/// A script in which somebody else writes before the first write.
pub fn first(
    other: impl Fn(&Call<'_>) + Send + Sync + 'static,
) -> impl Fn(&Call<'_>) -> Option<Reply> + Send + Sync + 'static {
    move |call| {
        if is_write(call.operation) && call.before == 0 {
            other(call);
        }
        None
    }
}

/// A script for writes only: `reply` replaces the answers of the first `times`. With `applied` they are carried out all
/// the same.
pub fn troubled(
    times: usize,
    applied: bool,
    reply: fn() -> Reply,
) -> impl Fn(&Call<'_>) -> Option<Reply> + Send + Sync + 'static {
    move |call| {
        if !is_write(call.operation) || call.before >= times {
            return None;
        }
        if applied {
            call.table.apply(call.operation, call.body.clone());
        }
        Some(reply())
    }
}

/// The code, the message and the path of an answer's only error; empty texts if there is none.
#[track_caller]
pub fn error(answer: &Value) -> (&str, &str, String) {
    match answer["errors"].as_array().map(Vec::as_slice).unwrap_or_default() {
        [] => ("", "", String::new()),
        [error] => (
            error["extensions"]["code"].as_str().unwrap(),
            error["message"].as_str().unwrap(),
            error["path"].to_string(),
        ),
        several => panic!("{several:?}"),
    }
}

/// A user as a caller.
pub fn by(user: &str) -> Caller {
    support::caller(json!({ "sub": user }))
}

/// A system's model without rules, read once.
fn model(system: &str) -> Arc<Model> {
    static MODELS: Mutex<Option<HashMap<String, Arc<Model>>>> = Mutex::new(None);
    let mut models = MODELS.lock().unwrap();
    models.get_or_insert_default().entry(system.to_owned()).or_insert_with(|| support::unruled_model(system)).clone()
}

impl Table {
    /// Carries out a call and gives its answer.
    pub fn apply(&self, operation: &str, body: Value) -> Reply {
        let database = &self.database;
        match operation {
            "GetItem" => answer(body, |request| database.get_item(request)),
            "BatchGetItem" => answer(body, |request| database.batch_get_item(request)),
            "Query" => answer(body, |request| database.query(request)),
            "Scan" => answer(body, |request| database.scan(request)),
            "PutItem" => answer(body, |request| database.put_item(request)),
            "UpdateItem" => answer(body, |request| database.update_item(request)),
            "DeleteItem" => answer(body, |request| database.delete_item(request)),
            "TransactWriteItems" => answer(body, |request| database.transact_write_items(request)),
            "BatchWriteItem" => answer(body, |request| database.batch_write_item(request)),
            "CreateTable" => answer(body, |request| database.create_table(request)),
            "DescribeTable" => answer(body, |request| database.describe_table(request)),
            "DescribeTimeToLive" => answer(body, |request| database.describe_time_to_live(request)),
            "UpdateTimeToLive" => answer(body, |request| database.update_time_to_live(request)),
            "ListTables" => answer(body, |request| database.list_tables(request)),
            other => panic!("{other} is not known here"),
        }
    }

    /// Overwrites an item, whoever else is writing.
    pub fn put(&self, table: &str, item: Value) {
        let done = self.apply("PutItem", json!({ "TableName": table, "Item": item }));
        assert!(matches!(done, Reply::Body(200, _)));
    }

    /// Changes an item with an update expression. `#name` is the attribute `name`, for names that DynamoDB reserves.
    pub fn update(&self, table: &str, key: [&str; 2], expression: &str, values: Value) {
        let key = json!({ "PK": { "S": key[0] }, "SK": { "S": key[1] } });
        let mut body = json!({ "TableName": table, "Key": key, "UpdateExpression": expression });
        if values.is_object() {
            body["ExpressionAttributeValues"] = values;
        }
        let names = expression
            .split(|sign: char| !(sign.is_alphanumeric() || sign == '#'))
            .filter(|word| word.starts_with('#'));
        let names: Map<String, Value> = names.map(|name| (name.to_owned(), json!(name[1..]))).collect();
        if !names.is_empty() {
            body["ExpressionAttributeNames"] = names.into();
        }
        let done = self.apply("UpdateItem", body);
        assert!(matches!(done, Reply::Body(200, _)));
    }

    /// Deletes an item.
    pub fn delete(&self, table: &str, key: [&str; 2]) {
        let key = json!({ "PK": { "S": key[0] }, "SK": { "S": key[1] } });
        let done = self.apply("DeleteItem", json!({ "TableName": table, "Key": key }));
        assert!(matches!(done, Reply::Body(200, _)));
    }

    /// Every item.
    pub fn scan(&self, table: &str) -> Vec<Value> {
        let mut items = Vec::new();
        let mut start = Value::Null;
        loop {
            let request = json!({ "TableName": table, "ExclusiveStartKey": start });
            let page = self.database.scan(serde_json::from_value(request).unwrap()).unwrap();
            let page = serde_json::to_value(&page).unwrap();
            items.extend(page["Items"].as_array().cloned().unwrap_or_default());
            start = page["LastEvaluatedKey"].clone();
            if start.is_null() {
                return items;
            }
        }
    }
}

fn answer<Q: DeserializeOwned, R: Serialize>(
    body: Value,
    operation: impl FnOnce(Q) -> Result<R, DynoxideError>,
) -> Reply {
    match operation(serde_json::from_value(body).unwrap()) {
        Ok(response) => Reply::ok(serde_json::to_value(&response).unwrap()),
        Err(refusal) => Reply::Body(refusal.status_code(), refusal.to_json()),
    }
}
