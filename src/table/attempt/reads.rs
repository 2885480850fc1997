//! A GetItem, BatchGetItem, Query or Scan as plain data in, its items and its cost out. Must not know what a request is.

use super::attempts::CallMeans;
use crate::table::data::attribute::Item;
use crate::table::data::call::{Page, Query};
use crate::table::data::error::{TableError, TableErrorKind};
use crate::table::data::key_identity::KeyIdentity;
use crate::table::data_store::{GetResult, ItemRequest, Metered};
use crate::table::retry::backoff::Backoff;
use std::collections::{BTreeMap, HashMap};
use tokio::time::Instant;

/// Reads one item by GetItem. Gives it and the capacity units consumed.
pub(in crate::table) async fn get_item(caller: CallMeans<'_>, wanted: ItemRequest<'_>, deadline: Instant) -> Metered<GetResult> {
    let attempts = caller.attempts("GetItem", wanted.table, deadline);
    match attempts.send(|| caller.maker.get_item(wanted)).await {
        Ok((item, capacity)) => (Ok(item), capacity),
        Err(error) => (Err(error), 0.0),
    }
}

/// Reads up to 100 items of any tables by BatchGetItem. Unprocessed keys are asked for again until the deadline. Gives the results in the
/// order of `wanted` and the capacity units consumed.
pub(in crate::table) async fn batch_get_items(
    caller: CallMeans<'_>,
    wanted: &[ItemRequest<'_>],
    deadline: Instant,
) -> Metered<Vec<GetResult>> {
    let mut outcomes: Vec<GetResult> = vec![Ok(None); wanted.len()];
    let places: HashMap<_, usize> = wanted.iter().enumerate().map(|(i, item)| ((item.table, KeyIdentity::of_key(item.key)), i)).collect();
    let place = |table: &str, found: &Item| {
        let shape = wanted.iter().find(|item| item.table == table)?;
        places.get(&(shape.table, KeyIdentity::of_item(found, shape.key)?)).copied()
    };
    let mut open: Vec<usize> = (0..wanted.len()).collect();
    let (mut capacity, mut backoff) = (0.0, Backoff::new(caller.budget));
    let tables: Vec<&str> = by_table(wanted, &open).into_keys().collect();
    let tables = tables.join(",");
    let attempts = caller.attempts("BatchGetItem", &tables, deadline);
    loop {
        let answer = attempts.send(|| caller.maker.batch_get_item(by_table(wanted, &open).into_iter().collect())).await;
        let (read, units) = match answer {
            Ok(answer) => answer,
            Err(error) => return (fail(outcomes, &open, &error), capacity),
        };
        capacity += units;
        let mut strange = None;
        for (table, item) in read.items {
            match place(&table, &item) {
                Some(i) => outcomes[i] = Ok(Some(item)),
                None => strange = Some(not_asked_for(&table)),
            }
        }
        // The item's key is unknown, so any of the open keys may be its key: none can be reported as missing.
        if let Some(error) = strange {
            return (fail(outcomes, &open, &error), capacity);
        }
        let left: Option<Vec<usize>> = read.unprocessed.iter().map(|(table, key)| place(table, key)).collect();
        // If an unprocessed key is none of ours, any key without an answer may be meant.
        let still_open = left.unwrap_or_else(|| open.iter().copied().filter(|i| matches!(outcomes[*i], Ok(None))).collect());
        let progress = still_open.len() < open.len();
        open = still_open;
        open.sort_unstable();
        if open.is_empty() {
            return (outcomes, capacity);
        }
        caller.health.throttled(attempts.table);
        if !backoff.wait_for_more(progress, deadline).await {
            let detail = format!("BatchGetItem {}: {} keys are still unprocessed", attempts.table, open.len());
            return (fail(outcomes, &open, &TableError { kind: TableErrorKind::Throttled, detail }), capacity);
        }
    }
}

/// Reads one page by Query, or by Scan where there is no partition. Gives it and the capacity units consumed.
pub(in crate::table) async fn read_page(caller: CallMeans<'_>, query: &Query, deadline: Instant) -> Result<Metered<Page>, TableError> {
    let operation = match (&query.partition, &query.sort) {
        (Some(_), _) => "Query",
        (None, None) => "Scan",
        (None, Some(_)) => {
            let detail = format!("a Scan of {} with a condition on its sort key", query.table);
            return Err(TableError { kind: TableErrorKind::Invalid, detail });
        }
    };
    caller.attempts(operation, &query.table, deadline).send(|| caller.maker.read_page(query)).await
}

fn by_table<'a>(wanted: &[ItemRequest<'a>], open: &[usize]) -> BTreeMap<&'a str, Vec<ItemRequest<'a>>> {
    let mut tables: BTreeMap<&str, Vec<ItemRequest<'_>>> = BTreeMap::new();
    for &i in open {
        tables.entry(wanted[i].table).or_default().push(wanted[i]);
    }
    tables
}

/// Gives the error to the items that are still open. Items that were read keep their results.
fn fail(mut outcomes: Vec<GetResult>, open: &[usize], error: &TableError) -> Vec<GetResult> {
    for &i in open {
        if matches!(outcomes[i], Ok(None)) {
            outcomes[i] = Err(error.clone());
        }
    }
    outcomes
}

fn not_asked_for(table: &str) -> TableError {
    TableError {
        kind: TableErrorKind::Invalid,
        detail: format!("BatchGetItem {table}: the answer has an item that the request did not name"),
    }
}
