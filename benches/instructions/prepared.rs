//! An operation's calls and their answers, as the embedded store gives them, in; a server that gives the same answers
//! without any work out.
//!
//! Two calls are one if they have the same operation and the same texts in keys and values: the SDK writes the rest in
//! no fixed order.

use super::cases::System;
use aws_smithy_runtime_api::client::http::{
    HttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpConnector,
};
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use aws_smithy_types::body::SdkBody;
use bytes::Bytes;
use keyfold::schema::model::Model;
use keyfold::table::bulk::export_lines::parse_line;
use keyfold::table::embedded::observer::CallObserver;
use keyfold::table::store::{ClientKind, TableStore};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::Instant;

/// A call's operation, its body and fingerprint, and its answer.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Answer {
    /// The operation.
    pub operation: String,
    /// The body of the call.
    pub asked: Value,
    fingerprint: u64,
    body: String,
}

/// What the embedded store answers.
#[derive(Debug, Default)]
pub struct Tape {
    answers: Mutex<Vec<Answer>>,
}

impl Tape {
    /// The answers since the last time.
    pub fn take(&self) -> Vec<Answer> {
        std::mem::take(&mut *self.answers.lock().unwrap())
    }
}

impl CallObserver for Tape {
    fn begun(&self, _: &str, _: &[u8]) {}

    fn answered(&self, operation: &str, body: &[u8], answer: &[u8]) {
        let asked = serde_json::from_slice(body).unwrap();
        let body_of_answer = mixed(serde_json::from_slice(answer).unwrap(), &mut 0).to_string();
        let (operation, fingerprint, body) = (operation.to_owned(), fingerprint(operation, body), body_of_answer);
        self.answers.lock().unwrap().push(Answer { operation, asked, fingerprint, body });
    }
}

/// A store with a system's items, and the tape of its calls from now on.
pub async fn filled(system: System, model: &Model) -> (TableStore, Arc<Tape>) {
    let tape = Arc::new(Tape::default());
    let store = TableStore::in_memory_observed(tape.clone()).unwrap().with_client(ClientKind::Sdk);
    store.create_missing(&model.tables).await.unwrap();
    let items = system.lines().iter().map(|line| parse_line(line).unwrap().unwrap()).collect();
    store.load(&model.tables[0], items, Instant::now() + Duration::from_secs(60)).await.unwrap();
    tape.take();
    (store, tape)
}

/// A server that gives prepared answers.
#[derive(Debug, Clone)]
pub struct PreparedServer {
    answers: Arc<HashMap<u64, Bytes>>,
    /// For a call that has another body each time: the answer to any call of its operation.
    others: Arc<HashMap<String, Bytes>>,
}

impl PreparedServer {
    /// A server of these answers.
    pub fn new(answers: Vec<Answer>) -> Self {
        let others = answers.iter().map(|answer| (answer.operation.clone(), answer.body.clone().into())).collect();
        let answers = answers.into_iter().map(|answer| (answer.fingerprint, answer.body.into())).collect();
        Self { answers: Arc::new(answers), others: Arc::new(others) }
    }
}

impl HttpClient for PreparedServer {
    fn http_connector(&self, _: &HttpConnectorSettings, _: &RuntimeComponents) -> SharedHttpConnector {
        SharedHttpConnector::new(self.clone())
    }
}

impl HttpConnector for PreparedServer {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let operation = request.headers().get("x-amz-target").unwrap().rsplit('.').next().unwrap();
        let found = self.answers.get(&fingerprint(operation, request.body().bytes().unwrap()));
        let body = found.or_else(|| self.others.get(operation)).unwrap().clone();
        let mut response = HttpResponse::new(200.try_into().unwrap(), SdkBody::from(body));
        response.headers_mut().insert("content-type", "application/x-amz-json-1.0");
        HttpConnectorFuture::ready(Ok(response))
    }
}

/// A value with the members of each object in an order that looks random and is the same each time. The engine gives
/// another order each time, and attributes that happen to be sorted take fewer instructions.
fn mixed(value: Value, object: &mut u64) -> Value {
    match value {
        Value::Object(members) => {
            *object += 1;
            let number = *object;
            let mut members: Vec<_> = members
                .into_iter()
                .map(|(name, value)| (hash(format!("{number} {name}").as_bytes()), name, value))
                .collect();
            members.sort_by(|one, other| (one.0, &one.1).cmp(&(other.0, &other.1)));
            Value::Object(members.into_iter().map(|(_, name, value)| (name, mixed(value, object))).collect())
        }
        Value::Array(values) => values.into_iter().map(|value| mixed(value, object)).collect(),
        other => other,
    }
}

/// What two equal calls have in common, however their members are ordered. It takes few instructions, since they are
/// counted.
fn fingerprint(operation: &str, body: &[u8]) -> u64 {
    let texts = body.split(|byte| *byte == b'{').filter_map(|member| member.strip_prefix(b"\"S\":\""));
    texts.fold(hash(operation.as_bytes()), |sum, text| sum.wrapping_add(hash(text)))
}

/// The hash of a text up to its first quote (FNV-1a).
fn hash(text: &[u8]) -> u64 {
    let bytes = text.iter().take_while(|byte| **byte != b'"');
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3))
}
