//! A gateway runs on any store: here on a list of items that knows neither the AWS SDK nor the embedded engine. It has
//! only the public names of the crate.

use futures_util::future::{BoxFuture, FutureExt, ready};
use keyfold::store::{
    Attribute, BatchWrite, CallScope, DataStore, GetResult, Item, ItemRequest, KeyValue, Metered, Page, Query,
    RetryBudget, SortCondition, Table, TableError, TableErrorKind, WriteAction, WriteCall, WriteError,
};
use keyfold::{Gateway, Request};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

const SCHEMA: &str = r##"
extend schema @table(name: "notes", partitionKey: "PK", sortKey: "SK")
type Note @item(keys: { PK: "Board#{board}", SK: "Note#{id}" }) {
  board: ID!
  id: ID!
  text: String
}
type Query {
  note(board: ID!, id: ID!): Note @find
  notes(board: ID!): [Note!]! @find
}
type Mutation {
  putNote(board: ID!, id: ID!, text: String): Note! @put(replace: true)
}
"##;

/// Items in the order of their keys.
#[derive(Default)]
struct Shelf {
    items: Mutex<Vec<Arc<Item>>>,
    budget: RetryBudget,
}

fn holds<N: AsRef<str>>(item: &Item, (name, value): &(N, KeyValue)) -> bool {
    item.get(name.as_ref()) == Some(&Attribute::from(value.clone()))
}

fn unsupported() -> TableError {
    TableError { kind: TableErrorKind::Invalid, detail: "not on a shelf".to_owned() }
}

impl DataStore for Shelf {
    fn get_items<'a>(
        &'a self,
        requests: &'a [ItemRequest<'a>],
        _: CallScope<'a>,
    ) -> BoxFuture<'a, Metered<Vec<GetResult>>> {
        let items = self.items.lock().unwrap();
        let has = |item: &Item, key: &ItemRequest<'_>| {
            std::iter::once(&key.key.partition).chain(&key.key.sort).all(|part| holds(item, part))
        };
        let found = requests.iter().map(|request| Ok(items.iter().find(|item| has(item, request)).cloned())).collect();
        ready((found, 1.0)).boxed()
    }

    fn read_page<'a>(&'a self, query: &'a Query, _: CallScope<'a>) -> BoxFuture<'a, Result<Metered<Page>, TableError>> {
        let begins = |item: &Item| match &query.sort {
            Some((name, SortCondition::BeginsWith(KeyValue::S(start)))) => {
                matches!(item.get(name), Some(Attribute::S(text)) if text.starts_with(start))
            }
            _ => false,
        };
        let items = self.items.lock().unwrap();
        let found = items.iter().filter(|item| holds(item, query.partition.as_ref().unwrap()) && begins(item)).cloned();
        let items: Vec<Arc<Item>> = found.take(query.limit as usize).collect();
        let count = u32::try_from(items.len()).unwrap();
        ready(Ok((Page { items, count, scanned: count, last_key: None }, 1.0))).boxed()
    }

    fn write<'a>(
        &'a self,
        call: &'a WriteCall,
        _: CallScope<'a>,
    ) -> BoxFuture<'a, Result<Metered<Option<Item>>, WriteError>> {
        let WriteAction::Put(item) = &call.action else { return ready(Err(WriteError::Failed(unsupported()))).boxed() };
        self.items.lock().unwrap().push(Arc::new(item.clone()));
        ready(Ok((None, 1.0))).boxed()
    }

    fn transact<'a>(
        &'a self,
        _: &'a [WriteCall],
        _: &'a str,
        _: CallScope<'a>,
    ) -> BoxFuture<'a, Result<Metered<()>, WriteError>> {
        ready(Err(WriteError::Failed(unsupported()))).boxed()
    }

    fn write_batch<'a>(
        &'a self,
        _: &'a str,
        _: Vec<BatchWrite>,
        _: CallScope<'a>,
    ) -> BoxFuture<'a, Result<Metered<()>, WriteError>> {
        ready(Err(WriteError::Failed(unsupported()))).boxed()
    }

    fn ready<'a>(&'a self, _: &'a [Table]) -> BoxFuture<'a, Result<(), TableError>> {
        ready(Ok(())).boxed()
    }

    fn retries(&self) -> &RetryBudget {
        &self.budget
    }

    fn has_eventual_indexes(&self) -> bool {
        false
    }
}

async fn data(gateway: &Gateway, query: &str) -> Value {
    let response = gateway.execute(Request::new(query)).await.json();
    assert_eq!(response.get("errors"), None, "{response}");
    response["data"].clone()
}

#[tokio::test]
async fn a_gateway_runs_on_any_store() {
    let gateway = Gateway::builder().schema(SCHEMA).store(Arc::new(Shelf::default())).build().await.unwrap();
    for id in ["1", "2"] {
        data(&gateway, &format!(r#"mutation {{ putNote(board: "b", id: "{id}", text: "t{id}") {{ id }} }}"#)).await;
    }
    let found = data(
        &gateway,
        r#"{ note(board: "b", id: "2") { text } gone: note(board: "b", id: "9") { text } notes(board: "b") { id } }"#,
    );
    assert_eq!(found.await, json!({ "note": { "text": "t2" }, "gone": null, "notes": [{ "id": "1" }, { "id": "2" }] }));
}
