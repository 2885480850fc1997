//! A gateway with a hub on a store in memory, and subscribers who listen.

use crate::support;
use futures_util::stream::{BoxStream, StreamExt};
use keyfold::execute::gateway::{Gateway, Response};
use keyfold::execute::request::{Request, Settings};
use keyfold::execute::watch::hub::Hub;
use keyfold::schema::load;
use keyfold::table::embedded::observer::Recorder;
use keyfold::table::store::TableStore;
use serde_json::Value;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::timeout;

/// Longer than any event takes.
const LONG: Duration = Duration::from_secs(60);

/// A gateway and its subscriptions.
pub struct Watching {
    pub gateway: Mutex<Gateway>,
    store: TableStore,
    pub hub: Hub,
    calls: Arc<Recorder>,
}

/// What one subscriber receives.
pub struct Listener {
    responses: BoxStream<'static, Response>,
    hub: Hub,
}

/// A gateway for a schema on an empty store.
pub async fn watching(schema: &str) -> Watching {
    let calls = Arc::new(Recorder::default());
    watching_on(schema, TableStore::in_memory_observed(calls.clone()).unwrap(), calls).await
}

/// A gateway for a schema on a store without tables.
pub async fn watching_on(schema: &str, store: TableStore, calls: Arc<Recorder>) -> Watching {
    let (model, _) =
        load("board.graphql", schema, &|_| None).unwrap_or_else(|mistakes| panic!("{}", mistakes.render(false)));
    store.create_missing(&model.tables).await.unwrap();
    let gateway = Gateway::new(Arc::new(model), store.clone(), support::settings());
    let hub = Hub::new(&gateway);
    Watching { gateway: Mutex::new(gateway), store, hub, calls }
}

impl Watching {
    fn gateway(&self) -> Gateway {
        self.gateway.lock().unwrap().clone()
    }

    /// The same store with subscriptions of its own.
    pub fn with_fresh_hub(&self) -> Self {
        let gateway = self.gateway();
        let hub = Hub::new(&gateway);
        Self { gateway: Mutex::new(gateway), store: self.store.clone(), hub, calls: self.calls.clone() }
    }

    /// The same store by a gateway that keeps no reads.
    pub fn without_cache(self) -> Self {
        let settings = Settings { cache_bytes: 0, ..support::settings() };
        let gateway = Gateway::new(self.gateway().model().clone(), self.store.clone(), settings);
        Self { gateway: Mutex::new(gateway), ..self }
    }

    /// Serves another schema.
    pub async fn replace(&self, schema: &str) {
        let (model, _) =
            load("board.graphql", schema, &|_| None).unwrap_or_else(|mistakes| panic!("{}", mistakes.render(false)));
        let gateway = Gateway::new(Arc::new(model), self.store.clone(), support::settings());
        *self.gateway.lock().unwrap() = gateway.clone();
        self.hub.replace(&gateway).await;
    }

    /// The reads of items since this was last asked.
    pub fn reads(&self) -> usize {
        let reads = ["GetItem", "BatchGetItem", "Query"];
        self.calls.take().iter().filter(|(operation, _)| reads.contains(&operation.as_str())).count()
    }

    /// Subscribes. The subscription begins when the listener first listens.
    pub async fn subscribe(&self, query: &str) -> Listener {
        self.subscribe_as(Request { query: query.to_owned(), ..Request::default() }).await
    }

    /// Subscribes by an operation that was prepared just before another schema was served.
    pub async fn subscribe_across(&self, query: &str, schema: &str) -> Listener {
        let (before, request) = (self.gateway(), Request { query: query.to_owned(), ..Request::default() });
        let prepared = before.prepare(&request).await.unwrap_or_else(|errors| panic!("{errors:?}"));
        self.replace(schema).await;
        Listener { responses: self.hub.subscribe(&before, prepared, request), hub: self.hub.clone() }
    }

    pub async fn subscribe_as(&self, request: Request) -> Listener {
        match self.gateway().prepare(&request).await {
            Ok(prepared) => {
                Listener { responses: self.hub.subscribe(&self.gateway(), prepared, request), hub: self.hub.clone() }
            }
            Err(errors) => panic!("{errors:?}"),
        }
    }

    /// Runs an operation that has no errors.
    pub async fn run(&self, query: &str) -> Value {
        let body = self.run_as(Request { query: query.to_owned(), ..Request::default() }).await;
        assert!(body.get("errors").is_none(), "{query}: {body}");
        body["data"].clone()
    }

    /// The response to a request.
    pub async fn run_as(&self, request: Request) -> Value {
        let prepared = self.gateway().prepare(&request).await.unwrap_or_else(|errors| panic!("{errors:?}"));
        let response = self.gateway().run(&prepared, support::deadline(), false).await;
        serde_json::from_slice(&response.body).unwrap()
    }
}

impl Listener {
    pub fn new(responses: BoxStream<'static, Response>, hub: Hub) -> Self {
        Self { responses, hub }
    }

    /// The next response.
    pub async fn whole(&mut self) -> Option<Value> {
        Some(self.whole_with_id().await?.1)
    }

    /// The next response, with the id by which a stream of events sends it.
    pub async fn whole_with_id(&mut self) -> Option<(Option<Arc<str>>, Value)> {
        let response = timeout(LONG, self.responses.next()).await.expect("an event in time")?;
        Some((response.event, serde_json::from_slice(&response.body).unwrap()))
    }

    /// The data of the next response, which has no errors.
    pub async fn next(&mut self) -> Value {
        let body = self.whole().await.expect("an event");
        assert!(body.get("errors").is_none(), "{body}");
        body["data"].clone()
    }

    /// The id of the next event, and its data.
    pub async fn next_with_id(&mut self) -> (String, Value) {
        let body = self.whole().await.expect("an event");
        (body["extensions"]["keyfold"]["id"].as_str().unwrap().to_owned(), body["data"].clone())
    }

    /// Begins to listen.
    pub async fn begin(&mut self) {
        tokio::select! {
            biased;
            response = self.responses.next() => {
                panic!("nothing has changed, but {:?}", response.map(|response| response.body))
            }
            () = self.hub.begun() => {}
        }
    }
}
