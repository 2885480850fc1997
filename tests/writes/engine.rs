//! The embedded engine under the SDK clients of several writers. A seed decides how their calls take turns and which of
//! them meet trouble. The engine logs the calls in the order in which it carried them out.

use crate::policy::{Right, needed};
use crate::random_schema::keys::Attributes;
use crate::random_schema::{Rng, Schema};
use crate::scripted::{LOST, REFUSED, Reply, played};
use aws_smithy_runtime_api::client::http::{
    HttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpConnector,
};
use aws_smithy_runtime_api::client::orchestrator::HttpRequest;
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use dynoxide::{Database, DynoxideError};
use keyfold::plan::tree::SingleWrites;
use keyfold::table::store::TableStore;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

/// The engine and its log.
pub struct Engine {
    database: Database,
    /// How its writers send a write of one item.
    pub single_writes: SingleWrites,
    state: Mutex<State>,
}

struct State {
    rng: Rng,
    /// The most turns of others for which a call waits, before it is carried out and after.
    most_turns: usize,
    /// The percentage of calls that meet trouble.
    troubles: u8,
    log: Vec<Call>,
}

/// A call that was carried out.
#[derive(Debug, Clone)]
pub struct Call {
    pub writer: usize,
    #[expect(dead_code, reason = "it is shown")]
    pub operation: String,
    /// Whether it wrote something.
    pub wrote: bool,
    /// What it needs of a policy; nothing, if it is about tables.
    pub needs: Vec<Right>,
}

/// A writer's connection to the engine.
#[derive(Clone)]
struct Way {
    engine: Arc<Engine>,
    writer: usize,
}

impl Engine {
    pub fn new(seed: u64) -> Arc<Self> {
        let state = State { rng: Rng::with_seed(seed), most_turns: 0, troubles: 0, log: Vec::new() };
        let single_writes = if seed.is_multiple_of(3) { SingleWrites::Transaction } else { SingleWrites::Call };
        Arc::new(Self { database: Database::memory().unwrap(), single_writes, state: Mutex::new(state) })
    }

    /// A store that makes its calls as this writer.
    pub fn store(self: &Arc<Self>, writer: usize) -> TableStore {
        TableStore::over(Way { engine: self.clone(), writer })
    }

    /// From now on, calls wait for up to this many turns of others, and this percentage of them meets trouble.
    pub fn unsettle(&self, most_turns: usize, troubles: u8) {
        let mut state = self.state.lock().unwrap();
        (state.most_turns, state.troubles) = (most_turns, troubles);
    }

    /// How many calls have been carried out.
    pub fn calls(&self) -> usize {
        self.state.lock().unwrap().log.len()
    }

    /// The calls from a position on.
    pub fn log(&self, from: usize) -> Vec<Call> {
        self.state.lock().unwrap().log[from..].to_vec()
    }

    /// Every item of a schema's tables: the table's position, and its attributes.
    pub fn items(&self, schema: &Schema) -> Vec<(usize, Attributes)> {
        let mut items = Vec::new();
        for (position, table) in schema.tables.iter().enumerate() {
            let request = json!({ "TableName": table.name });
            let page = self.database.scan(serde_json::from_value(request).unwrap()).unwrap();
            let page = serde_json::to_value(&page).unwrap();
            assert!(page["LastEvaluatedKey"].is_null(), "one page holds everything");
            let all: Vec<Attributes> = serde_json::from_value(page["Items"].clone()).unwrap();
            items.extend(all.into_iter().map(|item| (position, item)));
        }
        items
    }

    /// The same as sorted text, without the records of requests.
    pub fn stored(&self, schema: &Schema) -> BTreeSet<(String, String)> {
        let text = |(table, item): (usize, Attributes)| (schema.tables[table].name.clone(), crate::model::text(&item));
        let is_record = |item: &Attributes| crate::model::text(item).contains("\"Idempotent#");
        self.items(schema).into_iter().filter(|(_, item)| !is_record(item)).map(text).collect()
    }

    fn turns(&self) -> usize {
        let mut state = self.state.lock().unwrap();
        let most = state.most_turns;
        if most == 0 { 0 } else { state.rng.usize(..=most) }
    }

    /// Carries out a call, or simulates trouble.
    fn answer(&self, writer: usize, operation: &str, body: Value) -> Reply {
        let mut state = self.state.lock().unwrap();
        let trouble = state.rng.u8(..100) < state.troubles;
        let (applied, kind) = (!trouble || state.rng.bool(), state.rng.usize(..100));
        if !applied {
            return REFUSED[kind % REFUSED.len()].1();
        }
        let needs = if operation.contains("Table") || operation.ends_with("TimeToLive") {
            Vec::new()
        } else {
            needed(operation, &body)
        };
        let writes = is_write(operation) && !is_record_alone(&body);
        let reply = self.apply(operation, body);
        let wrote = writes && matches!(reply, Reply::Body(200, _));
        state.log.push(Call { writer, operation: operation.to_owned(), wrote, needs });
        if trouble { LOST[kind % LOST.len()].1() } else { reply }
    }

    fn apply(&self, operation: &str, body: Value) -> Reply {
        let database = &self.database;
        match operation {
            "GetItem" => answer(body, |request| database.get_item(request)),
            "BatchGetItem" => answer(body, |request| database.batch_get_item(request)),
            "Query" => answer(body, |request| database.query(request)),
            "PutItem" => answer(body, |request| database.put_item(request)),
            "UpdateItem" => answer(body, |request| database.update_item(request)),
            "DeleteItem" => answer(body, |request| database.delete_item(request)),
            "TransactWriteItems" => answer(body, |request| database.transact_write_items(request)),
            "TransactGetItems" => answer(body, |request| database.transact_get_items(request)),
            "BatchWriteItem" => answer(body, |request| database.batch_write_item(request)),
            "CreateTable" => answer(body, |request| database.create_table(request)),
            "DescribeTable" => answer(body, |request| database.describe_table(request)),
            "DescribeTimeToLive" => answer(body, |request| database.describe_time_to_live(request)),
            "UpdateTimeToLive" => answer(body, |request| database.update_time_to_live(request)),
            "ListTables" => answer(body, |request| database.list_tables(request)),
            other => panic!("{other} is not known here"),
        }
    }
}

/// Whether an operation writes.
fn is_write(operation: &str) -> bool {
    ["PutItem", "UpdateItem", "DeleteItem", "TransactWriteItems", "BatchWriteItem"].contains(&operation)
}

/// Whether a transaction writes nothing but the record of a request that had nothing to do.
fn is_record_alone(body: &Value) -> bool {
    let mut writes = body["TransactItems"].as_array().into_iter().flatten();
    let is_record = |one: &Value| one["Put"]["Item"].to_string().contains("\"Idempotent#");
    writes.next().is_some_and(is_record) && writes.next().is_none()
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

impl std::fmt::Debug for Way {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Way")
    }
}

impl HttpClient for Way {
    fn http_connector(&self, _: &HttpConnectorSettings, _: &RuntimeComponents) -> SharedHttpConnector {
        SharedHttpConnector::new(self.clone())
    }
}

impl HttpConnector for Way {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let way = self.clone();
        let operation = request.headers().get("x-amz-target").unwrap().rsplit('.').next().unwrap().to_owned();
        let body: Value = serde_json::from_slice(request.body().bytes().unwrap()).unwrap();
        HttpConnectorFuture::new(async move {
            for _ in 0..way.engine.turns() {
                tokio::task::yield_now().await;
            }
            let reply = way.engine.answer(way.writer, &operation, body);
            for _ in 0..way.engine.turns() {
                tokio::task::yield_now().await;
            }
            played(reply).await
        })
    }
}
