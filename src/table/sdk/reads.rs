//! A GetItem, BatchGetItem, Query or Scan as plain data in; the items that the SDK brings, and their cost, out.

use super::convert::{SdkItem, item_from_sdk, item_to_sdk, key_to_sdk, names, text, values};
use crate::table::attempt::failure::AttemptFailure;
use crate::table::attempt::maker::BatchRead;
use crate::table::data::attribute::Item;
use crate::table::data::call::{Page, Query};
use crate::table::data::error::TableErrorKind;
use crate::table::data::expressions::Expressions;
use crate::table::data_store::{ItemRequest, Metered};
use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::types::{ConsumedCapacity, KeysAndAttributes, ReturnConsumedCapacity, Select};
use std::sync::Arc;

/// One GetItem.
pub(super) async fn get_item(client: &Client, wanted: ItemRequest<'_>) -> Result<Metered<Option<Arc<Item>>>, AttemptFailure> {
    let built = Expressions::default().project(wanted.projection);
    let request = client.get_item().table_name(wanted.table).set_key(Some(key_to_sdk(wanted.key)));
    let request = request.set_projection_expression(built.projection.clone()).set_expression_attribute_names(names(&built));
    let request = request.set_consistent_read(strong(wanted.consistent)).return_consumed_capacity(ReturnConsumedCapacity::Total);
    let output = request.send().await?;
    Ok((output.item.map(item).transpose()?, units(output.consumed_capacity.as_slice())))
}

/// One BatchGetItem.
pub(super) async fn batch_get_item(
    client: &Client,
    tables: Vec<(&str, Vec<ItemRequest<'_>>)>,
) -> Result<Metered<BatchRead>, AttemptFailure> {
    let requests = tables.into_iter().map(|(table, items)| {
        let built = Expressions::default().project(items.first().map_or(&[], |item| item.projection));
        let request = KeysAndAttributes::builder()
            .set_keys(Some(items.iter().map(|item| key_to_sdk(item.key)).collect()))
            .set_projection_expression(built.projection.clone())
            .set_expression_attribute_names(names(&built))
            .set_consistent_read(strong(items.iter().any(|item| item.consistent)));
        // Building fails only without keys, and every table here has one.
        Some((table.to_owned(), request.build().ok()?))
    });
    let request = client.batch_get_item().return_consumed_capacity(ReturnConsumedCapacity::Total);
    let output = request.set_request_items(requests.collect()).send().await?;
    let capacity = units(output.consumed_capacity());
    let mut read = BatchRead::default();
    for (table, found) in output.responses.unwrap_or_default() {
        for one in found {
            read.items.push((table.clone(), item(one)?));
        }
    }
    for (table, rest) in output.unprocessed_keys.unwrap_or_default() {
        for key in rest.keys {
            read.unprocessed.push((table.clone(), item_from_sdk(key).ok_or_else(unknown_type)?));
        }
    }
    Ok((read, capacity))
}

/// One Query, or one Scan where there is no partition.
pub(super) async fn read_page(client: &Client, query: &Query) -> Result<Metered<Page>, AttemptFailure> {
    let mut built = Expressions::with_filter(query.filter.as_ref());
    if let Some(attributes) = &query.projection {
        built = built.project(attributes);
    }
    match &query.partition {
        None => scan(client, query, &built).await,
        Some(partition) => {
            let condition = query.sort.as_ref().map(|(name, condition)| (name.as_str(), condition));
            query_partition(client, query, &built.key_condition(partition, condition)).await
        }
    }
}

async fn query_partition(client: &Client, query: &Query, built: &Expressions<'_>) -> Result<Metered<Page>, AttemptFailure> {
    let request = client.query().table_name(&*query.table).set_index_name(query.index.as_deref().map(Into::into));
    let request = request
        .set_key_condition_expression(built.key_condition.clone())
        .set_filter_expression(text(&built.filter))
        .set_projection_expression(built.projection.clone())
        .set_expression_attribute_names(names(built))
        .set_expression_attribute_values(values(built));
    let request = request
        .set_select(query.projection.is_none().then_some(Select::Count))
        .set_scan_index_forward((!query.forward).then_some(false))
        .limit(limit(query.limit))
        .set_exclusive_start_key(query.start.clone().map(item_to_sdk))
        .set_consistent_read(strong(query.consistent))
        .return_consumed_capacity(ReturnConsumedCapacity::Total);
    let output = request.send().await?;
    let capacity = units(output.consumed_capacity.as_slice());
    Ok((page(output.items, (output.count, output.scanned_count), output.last_evaluated_key)?, capacity))
}

async fn scan(client: &Client, query: &Query, built: &Expressions<'_>) -> Result<Metered<Page>, AttemptFailure> {
    let request = client.scan().table_name(&*query.table).set_index_name(query.index.as_deref().map(Into::into));
    let request = request
        .set_filter_expression(text(&built.filter))
        .set_projection_expression(built.projection.clone())
        .set_expression_attribute_names(names(built))
        .set_expression_attribute_values(values(built));
    let request = request
        .set_select(query.projection.is_none().then_some(Select::Count))
        .limit(limit(query.limit))
        .set_exclusive_start_key(query.start.clone().map(item_to_sdk))
        .set_consistent_read(strong(query.consistent))
        .return_consumed_capacity(ReturnConsumedCapacity::Total);
    let output = request.send().await?;
    let capacity = units(output.consumed_capacity.as_slice());
    Ok((page(output.items, (output.count, output.scanned_count), output.last_evaluated_key)?, capacity))
}

fn page(items: Option<Vec<SdkItem>>, (count, scanned): (i32, i32), last_key: Option<SdkItem>) -> Result<Page, AttemptFailure> {
    Ok(Page {
        items: items.unwrap_or_default().into_iter().map(item).collect::<Result<_, _>>()?,
        count: u32::try_from(count).unwrap_or(0),
        scanned: u32::try_from(scanned).unwrap_or(0),
        // Some compatible servers send an empty map at the end of the data.
        last_key: last_key.filter(|key| !key.is_empty()).map(|key| item_from_sdk(key).ok_or_else(unknown_type)).transpose()?,
    })
}

fn item(found: SdkItem) -> Result<Arc<Item>, AttemptFailure> {
    item_from_sdk(found).map(Arc::new).ok_or_else(unknown_type)
}

pub(super) fn unknown_type() -> AttemptFailure {
    AttemptFailure::unusable(TableErrorKind::Invalid, "an item has an attribute of an unknown type".to_owned())
}

/// The `Limit` of a page; it may not be zero.
fn limit(items: u32) -> i32 {
    i32::try_from(items).unwrap_or(i32::MAX).max(1)
}

/// `ConsistentRead`; left out if false, its default.
fn strong(consistent: bool) -> Option<bool> {
    consistent.then_some(true)
}

/// The capacity units of an answer.
pub(super) fn units(consumed: &[ConsumedCapacity]) -> f64 {
    consumed.iter().filter_map(|part| part.capacity_units).sum()
}
