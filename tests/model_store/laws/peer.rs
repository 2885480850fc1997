//! Requests in; the answers of another implementation of DynamoDB out: the engine of the embedded store, or moto.

use crate::moto::{Account, Moto};
use crate::store::data::number::Number;
use aws_smithy_runtime_api::client::http::HttpConnector;
use aws_smithy_runtime_api::client::orchestrator::HttpRequest;
use aws_smithy_types::body::SdkBody;
use dynoxide::storage_backend::clock::ManualClock;
use dynoxide::{Database, DynoxideError};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::sync::OnceLock;
use tokio::runtime::Runtime;

/// An implementation with tables of its own.
pub trait Peer {
    fn name(&self) -> &'static str;

    /// The status and the body of the answer to a call at this second.
    fn call(&mut self, operation: &str, body: &Value, now: u64) -> (u16, Value);

    /// Whether its stream can be compared.
    fn has_a_stream(&self) -> bool;

    /// Deletes what has expired, if the implementation can do so on request.
    fn sweep(&mut self, now: u64) -> bool;
}

/// The engine, in memory.
pub struct Engine {
    database: Database,
    clock: ManualClock,
}

impl Engine {
    pub fn new() -> Self {
        let clock = ManualClock::new(0);
        Self { database: Database::memory_with_clock(clock.arc()).unwrap(), clock }
    }
}

impl Peer for Engine {
    fn name(&self) -> &'static str {
        "the engine"
    }

    fn call(&mut self, operation: &str, body: &Value, now: u64) -> (u16, Value) {
        self.clock.set(now);
        let database = &self.database;
        let answer = match operation {
            "GetItem" => typed(body, |request| database.get_item(request)),
            "BatchGetItem" => typed(body, |request| database.batch_get_item(request)),
            "Query" => typed(body, |request| database.query(request)),
            "Scan" => typed(body, |request| database.scan(request)),
            "PutItem" => typed(body, |request| database.put_item(request)),
            "UpdateItem" => typed(body, |request| database.update_item(request)),
            "DeleteItem" => typed(body, |request| database.delete_item(request)),
            "BatchWriteItem" => typed(body, |request| database.batch_write_item(request)),
            "TransactWriteItems" => typed(body, |request| database.transact_write_items(request)),
            "CreateTable" => typed(body, |request| database.create_table(request)),
            "DescribeTable" => typed(body, |request| database.describe_table(request)),
            "UpdateTimeToLive" => typed(body, |request| database.update_time_to_live(request)),
            "ListStreams" => typed(body, |request| database.list_streams(request)),
            "DescribeStream" => typed(body, |request| database.describe_stream(request)),
            "GetShardIterator" => typed(body, |request| database.get_shard_iterator(request)),
            "GetRecords" => typed(body, |request| database.get_records(request)),
            other => panic!("{other} is not for the engine"),
        };
        match answer {
            Ok(body) => (200, body),
            Err(refused) => (refused.status_code(), serde_json::from_str(&refused.to_json()).unwrap()),
        }
    }

    fn has_a_stream(&self) -> bool {
        true
    }

    fn sweep(&mut self, now: u64) -> bool {
        self.clock.set(now);
        self.database.sweep_ttl().unwrap();
        true
    }
}

fn typed<Q: DeserializeOwned, R: Serialize>(
    body: &Value,
    operation: impl FnOnce(Q) -> Result<R, DynoxideError>,
) -> Result<Value, DynoxideError> {
    // The engine says the class of most refusals before their text.
    let request = serde_json::from_str(&body.to_string()).map_err(|error| match error.to_string() {
        text if ["VALIDATION", "missing field", "AttributeValue"].iter().any(|words| text.contains(words)) => {
            DynoxideError::ValidationException(text)
        }
        text => DynoxideError::SerializationException(text),
    })?;
    Ok(serde_json::from_str(&serde_json::to_string(&operation(request)?).unwrap()).unwrap())
}

/// An account of moto's. It has a clock of its own.
pub struct SecondStore {
    account: Account,
    runtime: Runtime,
}

impl SecondStore {
    /// A new account, if `.ci/second-store` has set the interpreter.
    pub fn new() -> Option<Self> {
        static MOTO: OnceLock<Option<Moto>> = OnceLock::new();
        let start = || std::env::var_os("KEYFOLD_SECOND_STORE").map(|python| Moto::start(&python));
        let account = MOTO.get_or_init(start).as_ref()?.account();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        Some(Self { account, runtime })
    }
}

impl Peer for SecondStore {
    fn name(&self) -> &'static str {
        "moto"
    }

    fn call(&mut self, operation: &str, body: &Value, _: u64) -> (u16, Value) {
        let mut request = HttpRequest::new(SdkBody::from(body.to_string()));
        let service = if operation.contains("Stream") || operation.contains("Shard") || operation == "GetRecords" {
            "DynamoDBStreams_20120810"
        } else {
            "DynamoDB_20120810"
        };
        let signed =
            "AWS4-HMAC-SHA256 Credential=a/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=b";
        request.headers_mut().insert("x-amz-target", format!("{service}.{operation}"));
        request.headers_mut().insert("content-type", "application/x-amz-json-1.0");
        request.headers_mut().insert("authorization", signed);
        let client = &self.account;
        self.runtime.block_on(async {
            let answer = client.client().call(request).await.unwrap();
            let body = answer.body().bytes().unwrap();
            let body = serde_json::from_slice(body).unwrap_or_else(|_| json!({ "__type": "none" }));
            (answer.status().as_u16(), with_normal_numbers(body))
        })
    }

    fn has_a_stream(&self) -> bool {
        false
    }

    fn sweep(&mut self, _: u64) -> bool {
        false
    }
}

/// moto gives a number as it was written.
fn with_normal_numbers(answer: Value) -> Value {
    let normal = |value: Value| match value.as_str().map(Number::parse) {
        Some(Ok(number)) => json!(number.text()),
        _ => value,
    };
    match answer {
        Value::Object(members) => {
            let members = members.into_iter().map(|(name, value)| {
                let value = match (name.as_str(), value) {
                    ("N", value) => normal(value),
                    ("NS", Value::Array(elements)) => elements.into_iter().map(normal).collect(),
                    (_, value) => with_normal_numbers(value),
                };
                (name, value)
            });
            Value::Object(members.collect())
        }
        Value::Array(values) => values.into_iter().map(with_normal_numbers).collect(),
        other => other,
    }
}
