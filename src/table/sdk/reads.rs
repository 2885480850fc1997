//! A GetItem, BatchGetItem, Query or Scan as plain data in, its items and its cost out. Must not know what a request is.

use super::convert::{SdkItem, item_from_sdk, item_to_sdk, key_to_sdk, names, text, values};
use super::store::SdkStore;
use crate::table::data::attribute::Item;
use crate::table::data::call::{Page, Query};
use crate::table::data::error::{TableError, TableErrorKind};
use crate::table::data::expressions::Expressions;
use crate::table::data::key_identity::KeyIdentity;
use crate::table::data_store::{GetResult, ItemRequest, Metered};
use crate::table::retry::backoff::Backoff;
use aws_sdk_dynamodb::types::{ConsumedCapacity, KeysAndAttributes, ReturnConsumedCapacity, Select};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use tokio::time::Instant;

/// Reads one item by GetItem. Gives it and the capacity units consumed.
pub(super) async fn get_item(store: &SdkStore, wanted: ItemRequest<'_>, deadline: Instant) -> Metered<GetResult> {
    let expressions = Expressions::default().project(wanted.projection);
    let attempts = store.attempts("GetItem", wanted.table, deadline);
    let answer = attempts.send(|| {
        let request = store.client().get_item().table_name(wanted.table).set_key(Some(key_to_sdk(wanted.key)));
        let request = request.set_projection_expression(expressions.projection.clone()).set_expression_attribute_names(names(&expressions));
        request.set_consistent_read(strong(wanted.consistent)).return_consumed_capacity(ReturnConsumedCapacity::Total).send()
    });
    match answer.await {
        Ok(output) => (output.item.map(item).transpose(), units(output.consumed_capacity.as_slice())),
        Err(error) => (Err(error), 0.0),
    }
}

/// Reads up to 100 items of any tables by BatchGetItem. Unprocessed keys are asked for again until the deadline. Gives the results in the
/// order of `wanted` and the capacity units consumed.
pub(super) async fn batch_get_items(store: &SdkStore, wanted: &[ItemRequest<'_>], deadline: Instant) -> Metered<Vec<GetResult>> {
    let mut outcomes: Vec<GetResult> = vec![Ok(None); wanted.len()];
    let places: HashMap<_, usize> = wanted.iter().enumerate().map(|(i, item)| ((item.table, KeyIdentity::of_key(item.key)), i)).collect();
    let place = |table: &str, found: &Item| {
        let shape = wanted.iter().find(|item| item.table == table)?;
        places.get(&(shape.table, KeyIdentity::of_item(found, shape.key)?)).copied()
    };
    let mut open: Vec<usize> = (0..wanted.len()).collect();
    let (mut capacity, mut backoff) = (0.0, Backoff::new(store.retries()));
    let tables: Vec<&str> = by_table(wanted, &open).into_keys().collect();
    let tables = tables.join(",");
    let attempts = store.attempts("BatchGetItem", &tables, deadline);
    loop {
        let answer = attempts.send(|| {
            let request = store.client().batch_get_item().return_consumed_capacity(ReturnConsumedCapacity::Total);
            request.set_request_items(request_items(wanted, &open)).send()
        });
        let output = match answer.await {
            Ok(output) => output,
            Err(error) => return (fail(outcomes, &open, &error), capacity),
        };
        capacity += units(output.consumed_capacity());
        let mut strange = None;
        for (table, items) in output.responses.unwrap_or_default() {
            for found in items {
                match item(found).map(|found| (place(&table, &found), found)) {
                    Ok((Some(i), found)) => outcomes[i] = Ok(Some(found)),
                    Ok((None, _)) => strange = Some(not_asked_for(&table)),
                    Err(error) => strange = Some(error),
                }
            }
        }
        // The item's key is unknown, so any of the open keys may be its key: none can be reported as missing.
        if let Some(error) = strange {
            return (fail(outcomes, &open, &error), capacity);
        }
        let unprocessed = output.unprocessed_keys.unwrap_or_default().into_iter();
        let unprocessed = unprocessed.flat_map(|(table, rest)| rest.keys.into_iter().map(move |key| (table.clone(), key)));
        let left: Option<Vec<usize>> = unprocessed.map(|(table, key)| place(&table, &item_from_sdk(key)?)).collect();
        // If an unprocessed key is none of ours, any key without an answer may be meant.
        let still_open = left.unwrap_or_else(|| open.iter().copied().filter(|i| matches!(outcomes[*i], Ok(None))).collect());
        let progress = still_open.len() < open.len();
        open = still_open;
        open.sort_unstable();
        if open.is_empty() {
            return (outcomes, capacity);
        }
        store.health().throttled(attempts.table);
        if !backoff.wait_for_more(progress, deadline).await {
            let detail = format!("BatchGetItem {}: {} keys are still unprocessed", attempts.table, open.len());
            return (fail(outcomes, &open, &TableError { kind: TableErrorKind::Throttled, detail }), capacity);
        }
    }
}

/// Reads one page by Query, or by Scan where there is no partition. Gives it and the capacity units consumed.
pub(super) async fn read_page(store: &SdkStore, query: &Query, deadline: Instant) -> Result<Metered<Page>, TableError> {
    let mut expressions = Expressions::with_filter(query.filter.as_ref());
    if let Some(attributes) = &query.projection {
        expressions = expressions.project(attributes);
    }
    match (&query.partition, &query.sort) {
        (None, None) => scan(store, query, &expressions, deadline).await,
        (None, Some(_)) => {
            let detail = format!("a Scan of {} with a condition on its sort key", query.table);
            Err(TableError { kind: TableErrorKind::Invalid, detail })
        }
        (Some(partition), sort) => {
            let condition = sort.as_ref().map(|(name, condition)| (name.as_str(), condition));
            expressions = expressions.key_condition(partition, condition);
            query_partition(store, query, &expressions, deadline).await
        }
    }
}

async fn query_partition(store: &SdkStore, query: &Query, built: &Expressions<'_>, deadline: Instant) -> Result<Metered<Page>, TableError> {
    let attempts = store.attempts("Query", &query.table, deadline);
    let answer = attempts.send(|| {
        let request = store.client().query().table_name(&*query.table).set_index_name(query.index.as_deref().map(Into::into));
        let request = request
            .set_key_condition_expression(built.key_condition.clone())
            .set_filter_expression(text(&built.filter))
            .set_projection_expression(built.projection.clone())
            .set_expression_attribute_names(names(built))
            .set_expression_attribute_values(values(built));
        request
            .set_select(query.projection.is_none().then_some(Select::Count))
            .set_scan_index_forward((!query.forward).then_some(false))
            .limit(limit(query.limit))
            .set_exclusive_start_key(query.start.clone().map(item_to_sdk))
            .set_consistent_read(strong(query.consistent))
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .send()
    });
    let output = answer.await?;
    let capacity = units(output.consumed_capacity.as_slice());
    Ok((page(output.items, (output.count, output.scanned_count), output.last_evaluated_key)?, capacity))
}

async fn scan(store: &SdkStore, query: &Query, built: &Expressions<'_>, deadline: Instant) -> Result<Metered<Page>, TableError> {
    let attempts = store.attempts("Scan", &query.table, deadline);
    let answer = attempts.send(|| {
        let request = store.client().scan().table_name(&*query.table).set_index_name(query.index.as_deref().map(Into::into));
        let request = request
            .set_filter_expression(text(&built.filter))
            .set_projection_expression(built.projection.clone())
            .set_expression_attribute_names(names(built))
            .set_expression_attribute_values(values(built));
        request
            .set_select(query.projection.is_none().then_some(Select::Count))
            .limit(limit(query.limit))
            .set_exclusive_start_key(query.start.clone().map(item_to_sdk))
            .set_consistent_read(strong(query.consistent))
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .send()
    });
    let output = answer.await?;
    let capacity = units(output.consumed_capacity.as_slice());
    Ok((page(output.items, (output.count, output.scanned_count), output.last_evaluated_key)?, capacity))
}

fn page(items: Option<Vec<SdkItem>>, (count, scanned): (i32, i32), last_key: Option<SdkItem>) -> Result<Page, TableError> {
    Ok(Page {
        items: items.unwrap_or_default().into_iter().map(item).collect::<Result<_, _>>()?,
        count: u32::try_from(count).unwrap_or(0),
        scanned: u32::try_from(scanned).unwrap_or(0),
        // Some compatible servers send an empty map at the end of the data.
        last_key: last_key.filter(|key| !key.is_empty()).map(|key| item_from_sdk(key).ok_or_else(unknown_type)).transpose()?,
    })
}

fn by_table<'a>(wanted: &[ItemRequest<'a>], open: &[usize]) -> BTreeMap<&'a str, Vec<ItemRequest<'a>>> {
    let mut tables: BTreeMap<&str, Vec<ItemRequest<'_>>> = BTreeMap::new();
    for item in open.iter().map(|&i| wanted[i]) {
        tables.entry(item.table).or_default().push(item);
    }
    tables
}

fn request_items(wanted: &[ItemRequest<'_>], open: &[usize]) -> Option<HashMap<String, KeysAndAttributes>> {
    let tables = by_table(wanted, open).into_iter();
    let requests = tables.map(|(table, items)| {
        let expressions = Expressions::default().project(items.first().map_or(&[], |item| item.projection));
        let request = KeysAndAttributes::builder()
            .set_keys(Some(items.iter().map(|item| key_to_sdk(item.key)).collect()))
            .set_projection_expression(expressions.projection.clone())
            .set_expression_attribute_names(names(&expressions))
            .set_consistent_read(strong(items.iter().any(|item| item.consistent)));
        // Building fails only without keys, and every table here has one.
        Some((table.to_owned(), request.build().ok()?))
    });
    requests.collect()
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

fn item(found: SdkItem) -> Result<Arc<Item>, TableError> {
    item_from_sdk(found).map(Arc::new).ok_or_else(unknown_type)
}

fn not_asked_for(table: &str) -> TableError {
    TableError {
        kind: TableErrorKind::Invalid,
        detail: format!("BatchGetItem {table}: the answer has an item that the request did not name"),
    }
}

fn unknown_type() -> TableError {
    TableError { kind: TableErrorKind::Invalid, detail: "an item has an attribute of an unknown type".to_owned() }
}

/// The `Limit` of a page; it may not be zero.
fn limit(items: u32) -> i32 {
    i32::try_from(items).unwrap_or(i32::MAX).max(1)
}

/// `ConsistentRead`; left out if false, its default.
fn strong(consistent: bool) -> Option<bool> {
    consistent.then_some(true)
}

fn units(consumed: &[ConsumedCapacity]) -> f64 {
    consumed.iter().filter_map(|part| part.capacity_units).sum()
}
