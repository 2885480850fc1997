//! Gateways on given items, and shortcuts to create items and to run operations.

use crate::support;
use keyfold::execute::gateway::Gateway;
use keyfold::execute::request::{Request, Settings};
use keyfold::schema::model::Model;
use keyfold::table::data::attribute::{Attribute, Item};
use keyfold::table::embedded::observer::Recorder;
use keyfold::table::store::TableStore;
use serde_json::{Value, json};
use std::sync::Arc;

/// Runs a test's work.
pub fn block_on<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}

/// A gateway of a system on a store with these items, one list per table, and the recorder of its calls.
pub async fn gateway(model: &Arc<Model>, items: Vec<Vec<Item>>) -> (Gateway, Arc<Recorder>) {
    let recorder = Arc::new(Recorder::default());
    let store = TableStore::in_memory_observed(recorder.clone()).unwrap();
    store.create_missing(&model.tables).await.unwrap();
    for (table, items) in model.tables.iter().zip(items) {
        store.load(table, items, support::deadline()).await.unwrap();
    }
    recorder.take();
    let settings = Settings { max_aliases: 10_000, ..support::settings() };
    (Gateway::new(model.clone(), store, settings), recorder)
}

/// The data of an operation of the user `u`, which must succeed.
pub async fn data(gateway: &Gateway, query: &str) -> Value {
    let request = Request { caller: support::caller(json!({ "sub": "u" })), ..support::request(query, Value::Null) };
    let response = support::run(gateway, &request, false).await;
    assert_eq!(response.get("errors"), None, "{query}");
    response["data"].clone()
}

/// An item of text attributes.
pub fn item(attributes: &[(&str, &str)]) -> Item {
    attributes.iter().map(|(name, value)| ((*name).to_owned(), Attribute::S((*value).into()))).collect()
}
