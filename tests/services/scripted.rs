//! Scripted services: what a test says that a service answers, and a record of the calls that it got.

use crate::support;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use keyfold::execute::caller::Caller;
use keyfold::execute::gateway::Gateway;
use keyfold::execute::request::{Request, Settings};
use keyfold::execute::service::call::{
    RefusedItem, ServiceAnswer, ServiceCaller, ServiceConnector, ServiceError, ServiceRequest, ServiceResult,
};
use keyfold::schema;
use keyfold::schema::model::Model;
use keyfold::schema::model::service::Service;
use keyfold::table::bulk::export_lines::parse_line;
use keyfold::table::embedded::observer::Recorder;
use keyfold::table::store::TableStore;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What a service does with a call.
pub type Behaviour = Arc<dyn Fn(&ServiceRequest) -> Act + Send + Sync>;

/// What becomes of a call.
pub enum Act {
    /// It is answered.
    Answer(Vec<ServiceResult>),
    /// It is answered with as many bytes.
    Bytes(Vec<ServiceResult>, usize),
    /// It fails.
    Fail(ServiceError),
    /// It is answered after a time.
    Late(Duration, Vec<ServiceResult>),
}

/// The services of a test.
#[derive(Clone)]
pub struct Scripted {
    behaviour: Behaviour,
    calls: Arc<Mutex<Vec<ServiceRequest>>>,
}

impl Scripted {
    /// Services that all do this.
    pub fn new(behaviour: impl Fn(&ServiceRequest) -> Act + Send + Sync + 'static) -> Self {
        Self { behaviour: Arc::new(behaviour), calls: Arc::default() }
    }

    /// Services that answer each item with a value of it.
    pub fn by_item(value: impl Fn(&str, Value) -> ServiceResult + Send + Sync + 'static) -> Self {
        Self::new(move |request| {
            Act::Answer(items(request).into_iter().map(|item| value(&request.field, item)).collect())
        })
    }

    /// The calls since the last time, each as the field, the number of its items and the items.
    pub fn take(&self) -> Vec<(String, Vec<Value>)> {
        let calls = std::mem::take(&mut *self.calls.lock().unwrap());
        calls.iter().map(|call| (call.field.clone(), items(call))).collect()
    }

    /// The calls themselves since the last time.
    pub fn take_requests(&self) -> Vec<ServiceRequest> {
        std::mem::take(&mut *self.calls.lock().unwrap())
    }
}

/// The items of a call.
pub fn items(request: &ServiceRequest) -> Vec<Value> {
    request.items.iter().map(|item| serde_json::from_str(item).unwrap()).collect()
}

/// A service's refusal of an item.
pub fn refused(code: &str, message: &str) -> ServiceResult {
    Err(RefusedItem { code: code.to_owned(), message: message.to_owned() })
}

impl ServiceCaller for Scripted {
    fn call<'c>(&'c self, request: &'c ServiceRequest) -> BoxFuture<'c, Result<ServiceAnswer, ServiceError>> {
        self.calls.lock().unwrap().push(request.clone());
        let act = (self.behaviour)(request);
        async move {
            match act {
                Act::Answer(results) => Ok(ServiceAnswer { results, bytes: 100 }),
                Act::Bytes(results, bytes) => Ok(ServiceAnswer { results, bytes }),
                Act::Fail(error) => Err(error),
                Act::Late(time, results) => {
                    tokio::time::sleep(time).await;
                    Ok(ServiceAnswer { results, bytes: 100 })
                }
            }
        }
        .boxed()
    }
}

impl ServiceConnector for Scripted {
    fn connect(&self, _: &Service) -> Option<Arc<dyn ServiceCaller>> {
        Some(Arc::new(self.clone()))
    }
}

/// The model of the tests' shop.
pub fn model() -> Arc<Model> {
    let text = include_str!("schema.graphql");
    Arc::new(
        schema::load("schema.graphql", text, &|_| None).unwrap_or_else(|found| panic!("{}", found.render(false))).0,
    )
}

/// A shop of this many orders, with two lines each, and the calls that its table gets from now on.
pub async fn shop(orders: usize, services: Option<Arc<dyn ServiceConnector>>) -> (Gateway, Arc<Recorder>) {
    let (model, recorder) = (model(), Arc::new(Recorder::default()));
    let store = TableStore::in_memory_observed(recorder.clone()).unwrap();
    store.create_missing(&model.tables).await.unwrap();
    let text = |text: &str| json!({ "S": text });
    let mut lines = vec![
        json!({ "PK": text("CUSTOMER#c1"), "SK": text("CUSTOMER"), "name": text("Ann") }),
        json!({ "PK": text("CUSTOMER#c2"), "SK": text("CUSTOMER"), "name": text("Bob") }),
    ];
    for order in 0..orders {
        let id = format!("{order:03}");
        let parcels = json!({ "L": [{ "M": { "code": text("a") } }, { "M": { "code": text(&id) } }] });
        lines.push(json!({
            "PK": text("SHOP"), "SK": text(&format!("ORDER#{id}")), "customerId": text(if order % 2 == 0 { "c1" } else { "c2" }),
            "note": text("a note"), "parcel": { "M": { "code": text("z") } }, "parcels": parcels,
        }));
        for sku in ["1", "2"] {
            let quantity = json!({ "N": sku });
            lines.push(
                json!({ "PK": text(&format!("ORDER#{id}")), "SK": text(&format!("LINE#{sku}")), "quantity": quantity }),
            );
        }
    }
    let items = lines.iter().map(|line| parse_line(&json!({ "Item": line }).to_string()).unwrap().unwrap());
    store.load(&model.tables[0], items.collect(), support::deadline()).await.unwrap();
    recorder.take();
    (Gateway::new(model, store, Settings { services, ..support::settings() }), recorder)
}

/// A caller's request.
pub fn by(role: &str, query: &str) -> Request {
    let claims = json!({ "sub": "u1", "role": role, "org": { "id": 7 }, "email": "u1@example.com" });
    let caller: Caller = support::caller(claims);
    Request { caller, ..support::request(query, json!({})) }
}

/// What a clerk gets.
pub async fn answer(gateway: &Gateway, query: &str) -> Value {
    support::run(gateway, &by("clerk", query), false).await
}
