//! The gateway and the first caller in, the operations with which GraphiQL starts out. The query answers from the items of the store, and
//! the arguments of the mutation fit them.

use super::range::SearchedRange;
use crate::cli::docs::recording::records::{Records, TypesOfTable};
use crate::cli::docs::recording::uses;
use crate::execute::caller::Caller;
use crate::execute::gateway::Gateway;
use crate::execute::request::Request;
use crate::serve::console::starting_text::FittingOperations;
use crate::table::data::attribute::Item;
use serde_json::Value;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// How long the search for a query may take. It reads a few pages of a store in this process, before the server answers.
const BOUND: Duration = Duration::from_secs(20);

/// Most queries that are tried.
const TRIED: usize = 40;

/// The operations; without an item, none.
pub async fn operations(gateway: &Gateway, caller: &Caller) -> FittingOperations {
    let deadline = Instant::now() + BOUND;
    let records = records(gateway, deadline).await;
    let mutation = uses::first_write(gateway.model(), &records);
    let query = timeout_at(deadline, first_that_answers(gateway, caller, &records, deadline)).await.ok().flatten();
    FittingOperations { query, mutation, subscription: uses::first_watch(gateway.model(), &records) }
}

async fn first_that_answers(gateway: &Gateway, caller: &Caller, records: &Records, deadline: Instant) -> Option<String> {
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
        let types = TypesOfTable::of(gateway.model(), position, None);
        if let Ok((page, _)) = gateway.store().read_page(&SearchedRange::default().query(table, None, None), deadline.into()).await {
            records.list.extend(page.items.iter().map(|item| types.sample(Item::clone(item))));
        }
    }
    records
}
