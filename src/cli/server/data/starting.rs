//! The gateway that serves now and the first caller in, the operations with which GraphiQL starts out. The query
//! answers from the items of the store, and the arguments of the mutation fit them.

use super::range::SearchedRange;
use crate::cli::docs::recording::records::{Records, TypesOfTable};
use crate::cli::docs::recording::uses;
use crate::execute::caller::Caller;
use crate::execute::gateway::Gateway;
use crate::execute::request::Request;
use crate::serve::backend::current_gateway::CurrentGateway;
use crate::serve::console::starting_text::{FittingOperations, StartingTexts, starting_texts};
use crate::table::data::attribute::Item;
use futures_util::future::{BoxFuture, FutureExt};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout_at};

/// How long the search for a query may take. It reads a few pages of a store in this process, and a browser waits for
/// it.
const BOUND: Duration = Duration::from_secs(5);

/// Most queries that are tried.
const TRIED: usize = 40;

/// Texts that fit the items of the store. They are kept until another schema is served.
pub struct TextsOfItems {
    current: Arc<CurrentGateway>,
    caller: Caller,
    last: Mutex<Option<(Gateway, FittingOperations)>>,
}

impl TextsOfItems {
    /// Texts whose query answers this caller.
    pub fn new(current: Arc<CurrentGateway>, caller: Caller) -> Self {
        Self { current, caller, last: Mutex::default() }
    }

    async fn fitting(&self, gateway: &Gateway) -> FittingOperations {
        let mut last = self.last.lock().await;
        if let Some((of, found)) = &*last
            && Arc::ptr_eq(of.model(), gateway.model())
        {
            return found.clone();
        }
        let found = operations(gateway, &self.caller).await;
        // Without a query that answers, there may be one when the store has more items.
        *last = found.query.is_some().then(|| (gateway.clone(), found.clone()));
        found
    }
}

impl StartingTexts for TextsOfItems {
    fn texts(&self) -> BoxFuture<'_, Vec<String>> {
        async {
            let gateway = self.current.get();
            starting_texts(&gateway.model().api, self.fitting(&gateway).await)
        }
        .boxed()
    }
}

/// The operations; without an item, none.
async fn operations(gateway: &Gateway, caller: &Caller) -> FittingOperations {
    let deadline = Instant::now() + BOUND;
    let records = records(gateway, deadline).await;
    let mutation = uses::first_write(gateway.model(), &records);
    let query = timeout_at(deadline, first_that_answers(gateway, caller, &records, deadline)).await.ok().flatten();
    FittingOperations { query, mutation, subscription: uses::first_watch(gateway.model(), &records) }
}

async fn first_that_answers(
    gateway: &Gateway,
    caller: &Caller,
    records: &Records,
    deadline: Instant,
) -> Option<String> {
    for query in uses::readings(gateway.model(), records).take(TRIED) {
        let request = Request { query, caller: caller.clone(), ..Request::default() };
        let Ok(prepared) = gateway.prepare(&request).await else { continue };
        let response = gateway.run(&prepared, deadline, false).await;
        let body: Value = serde_json::from_slice(&response.body).unwrap_or_default();
        if body.get("errors").is_none() && holds_something(&body["data"]) {
            return Some(request.query);
        }
    }
    None
}

/// Whether a value holds anything but nulls and empty lists.
fn holds_something(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Array(values) => values.iter().any(holds_something),
        Value::Object(members) => members.values().any(holds_something),
        _ => true,
    }
}

/// The first page of each table. A table that cannot be read gives none.
async fn records(gateway: &Gateway, deadline: Instant) -> Records {
    let mut records = Records::default();
    for (position, table) in gateway.model().tables.iter().enumerate() {
        let types = TypesOfTable::new(gateway.model(), position, None);
        if let Ok((page, _)) =
            gateway.store().read_page(&SearchedRange::default().query(table, None, None), deadline.into()).await
        {
            records.list.extend(page.items.iter().map(|item| types.sample(Item::clone(item))));
        }
    }
    records
}
