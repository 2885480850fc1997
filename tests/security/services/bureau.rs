//! A bureau whose services remember what they get, and what callers get from it.

use futures_util::future::BoxFuture;
use futures_util::{FutureExt, StreamExt};
use keyfold::execute::caller::Caller;
use keyfold::execute::gateway::{Gateway, Response};
use keyfold::execute::request::{Request, Settings};
use keyfold::execute::service::call::{
    ServiceAnswer, ServiceCaller, ServiceConnector, ServiceError, ServiceRequest, ServiceResult,
};
use keyfold::execute::watch::hub::Hub;
use keyfold::schema::load;
use keyfold::schema::model::service::Service;
use keyfold::table::store::TableStore;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::Instant;

const SCHEMA: &str = include_str!("../../schemas/security/bureau.graphql");

/// What the bureau has. What others than clerks may not see has the word `secret` in it.
const FILL: &str = r#"mutation {
  a: putLetter(number: "1", text: "secret letter") { number }
  b: putLetter(number: "2", text: "secret reply") { number }
  c: putVault(number: "1", code: "secret code") { number }
  d: putDiary(letter: "1", number: "1", ownerId: "ann", text: "secret diary") { number }
  e: putDiary(letter: "1", number: "2", ownerId: "ben", text: "an open page") { number }
}"#;

/// Whoever may see all letters.
pub fn clerk() -> Value {
    json!({ "sub": "cleo", "role": "clerk" })
}

/// What a field of a service is for an object.
type Answers = Arc<dyn Fn(&str, Value) -> Value + Send + Sync>;

/// Services that remember their calls.
#[derive(Clone)]
pub struct Listening {
    answers: Answers,
    calls: Arc<Mutex<Vec<ServiceRequest>>>,
}

impl Listening {
    /// Services whose value is made of the field and the item.
    pub fn new(answers: impl Fn(&str, Value) -> Value + Send + Sync + 'static) -> Self {
        Self { answers: Arc::new(answers), calls: Arc::default() }
    }

    /// The calls since the last time.
    pub fn take(&self) -> Vec<ServiceRequest> {
        std::mem::take(&mut *self.calls.lock().unwrap())
    }
}

impl ServiceCaller for Listening {
    fn call<'c>(&'c self, request: &'c ServiceRequest) -> BoxFuture<'c, Result<ServiceAnswer, ServiceError>> {
        self.calls.lock().unwrap().push(request.clone());
        let value = |item| ServiceResult::Ok((self.answers)(&request.field, item));
        let results = request.values().into_iter().map(value).collect();
        async move { Ok(ServiceAnswer { results, bytes: 100 }) }.boxed()
    }
}

impl ServiceConnector for Listening {
    fn connect(&self, _: &Service) -> Option<Arc<dyn ServiceCaller>> {
        Some(Arc::new(self.clone()))
    }
}

/// A gateway on a store in memory.
pub struct Bureau {
    pub gateway: Gateway,
}

impl Bureau {
    /// The bureau with its items, whose services are these.
    pub async fn open(services: Arc<dyn ServiceConnector>) -> Self {
        Self::with_words_at(services, "http://127.0.0.1:1/").await
    }

    /// The same, with the address of its services.
    pub async fn with_words_at(services: Arc<dyn ServiceConnector>, url: &str) -> Self {
        let environment = |name: &str| (name == "WORDS_URL").then(|| url.to_owned());
        let (model, _) = load("bureau.graphql", SCHEMA, &environment)
            .unwrap_or_else(|mistakes| panic!("{}", mistakes.render(false)));
        let store = TableStore::in_memory().unwrap();
        store.create_missing(&model.tables).await.unwrap();
        let settings =
            Settings { cursor_key: b"a key for tests".to_vec(), services: Some(services), ..Settings::default() };
        let bureau = Self { gateway: Gateway::new(Arc::new(model), store, settings) };
        let filled = bureau.run(&clerk(), FILL).await;
        assert_eq!(filled["errors"], Value::Null, "{filled}");
        bureau
    }

    /// The response to an operation of a caller with these claims; null is an anonymous caller.
    pub async fn run(&self, claims: &Value, operation: &str) -> Value {
        serde_json::from_slice(&self.response(request(claims, operation)).await.body).unwrap()
    }

    /// The response to a request, also to one that is refused.
    pub async fn response(&self, request: Request) -> Response {
        match self.gateway.prepare(&request).await {
            Ok(prepared) => self.gateway.run(&prepared, Instant::now() + Duration::from_secs(60), false).await,
            Err(errors) => Response::refused(&errors),
        }
    }

    /// The first response that a subscription gives each of these callers, once an operation of a clerk is done.
    pub async fn notified(&self, callers: &[Value], subscription: &str, change: &str) -> Vec<Value> {
        let hub = Hub::new(&self.gateway);
        let mut feeds = Vec::new();
        for claims in callers {
            let request = request(claims, subscription);
            let prepared = self.gateway.prepare(&request).await.unwrap_or_else(|errors| panic!("{errors:?}"));
            let mut feed = hub.subscribe(&self.gateway, prepared, request);
            tokio::select! {
                biased;
                early = feed.next() => panic!("nothing has changed, but {:?}", early.map(|early| early.body)),
                () = hub.begun() => {}
            }
            feeds.push(feed);
        }
        let changed = self.run(&clerk(), change).await;
        assert_eq!(changed["errors"], Value::Null, "{changed}");
        let mut notified = Vec::new();
        for mut feed in feeds {
            let first = tokio::time::timeout(Duration::from_secs(60), feed.next()).await.unwrap().unwrap();
            notified.push(serde_json::from_slice(&first.body).unwrap());
        }
        notified
    }
}

/// A request of a caller with these claims.
pub fn request(claims: &Value, operation: &str) -> Request {
    let caller = match claims {
        Value::Object(claims) => Caller::signed_in(claims.clone()),
        _ => Caller::anonymous(),
    };
    Request { query: operation.to_owned(), caller, ..Request::default() }
}
