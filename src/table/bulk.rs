//! Many items in or out of a table at once, for import, export and samples. Part of the store; must not know files.

use super::attribute::{Attribute, Item, Key};
use super::batch_write::{BATCHES_AT_ONCE, ITEMS_PER_BATCH, write_batch};
use super::convert::{SdkItem, item_from_sdk, item_to_sdk};
use super::error::{TableError, TableErrorKind};
use super::key_range::canonical;
use super::store::Store;
use crate::schema::table::Table;
use aws_sdk_dynamodb::types::{PutRequest, Select, WriteRequest};
use futures_util::stream::{self, StreamExt, TryStreamExt};
use std::collections::HashSet;
use tokio::time::Instant;

/// Whole items of one page of a Scan, and where to go on.
#[derive(Debug, Default)]
pub struct ScanPage {
    /// The items, in the table's own order.
    pub items: Vec<Item>,
    /// The key to start the next page after; `None` at the end of the table.
    pub last_key: Option<Item>,
}

impl Store {
    /// Writes items over what is there, in the fastest way the store has: in bulk on the embedded store, else by [`Store::put_batch`].
    /// Of several items with one key, the last stays. All items are held in memory: give it some thousand at a time. The deadline is that
    /// of [`Store::put_batch`]; the embedded store does not look at it.
    pub async fn load(&self, table: &Table, items: Vec<Item>, deadline: Instant) -> Result<(), TableError> {
        match self.engine() {
            Some(engine) => engine.load(&table.name, distinct(table, items)?).await,
            None => self.put_batch(table, items, deadline).await,
        }
    }

    /// Writes items over what is there by BatchWriteItem, 25 a call, until the deadline; what comes back unprocessed is sent again. Of
    /// several items with one key, the last stays. An error leaves some items written: the same call again completes them.
    pub async fn put_batch(&self, table: &Table, items: Vec<Item>, deadline: Instant) -> Result<(), TableError> {
        // A batch may not name a key twice, and batches side by side would write it in no certain order.
        let mut items = distinct(table, items)?.into_iter().map(item_to_sdk);
        let batches = std::iter::from_fn(|| {
            let batch: Vec<SdkItem> = items.by_ref().take(ITEMS_PER_BATCH).collect();
            (!batch.is_empty()).then_some(batch)
        });
        let batches: Vec<Vec<SdkItem>> = batches.collect();
        let put = |batch| self.put_up_to_25(&table.name, batch, deadline);
        stream::iter(batches).map(|batch| Ok(put(batch))).try_buffer_unordered(BATCHES_AT_ONCE).try_collect().await
    }

    /// Reads one page of whole items, a megabyte or `limit` items at most; go on with the page's `last_key`.
    pub async fn scan_page(&self, table: &str, start: Option<Item>, limit: u32, deadline: Instant) -> Result<ScanPage, TableError> {
        let limit = i32::try_from(limit).unwrap_or(i32::MAX).max(1);
        let start = start.map(item_to_sdk);
        let attempts = self.attempts("Scan", table, deadline);
        let request = self.client().scan().table_name(table).limit(limit).set_exclusive_start_key(start);
        let output = attempts.send(|| request.clone().send()).await?;
        let unknown = || {
            let detail = format!("Scan {table}: an item holds an attribute of an unknown type");
            TableError { kind: TableErrorKind::Invalid, detail }
        };
        let items = output.items.unwrap_or_default().into_iter().map(item_from_sdk).collect::<Option<_>>();
        let last_key = output.last_evaluated_key.filter(|key| !key.is_empty());
        let last_key = last_key.map(|key| item_from_sdk(key).ok_or_else(unknown)).transpose()?;
        Ok(ScanPage { items: items.ok_or_else(unknown)?, last_key })
    }

    /// Whether a table holds no item.
    pub async fn is_empty(&self, table: &str, deadline: Instant) -> Result<bool, TableError> {
        let attempts = self.attempts("Scan", table, deadline);
        let request = self.client().scan().table_name(table).limit(1).select(Select::Count).consistent_read(true);
        Ok(attempts.send(|| request.clone().send()).await?.count == 0)
    }

    async fn put_up_to_25(&self, table: &str, items: Vec<SdkItem>, deadline: Instant) -> Result<(), TableError> {
        let requests = items.into_iter().map(|item| {
            let put = PutRequest::builder().set_item(Some(item)).build().map_err(|error| {
                let detail = format!("BatchWriteItem {table}: {error}");
                TableError { kind: TableErrorKind::Invalid, detail }
            });
            Ok(WriteRequest::builder().put_request(put?).build())
        });
        let requests = requests.collect::<Result<Vec<_>, TableError>>()?;
        write_batch(self, table, requests, deadline).await.map(|_| ())
    }
}

/// The items with each key once, the last of its kind, in their order. An item without its key attributes is an error that names them.
fn distinct(table: &Table, items: Vec<Item>) -> Result<Vec<Item>, TableError> {
    let sort = table.sort.as_ref().map(|key| key.name.as_str());
    let mut seen: HashSet<Key> = HashSet::with_capacity(items.len());
    let mut last_first: Vec<Item> = Vec::with_capacity(items.len());
    for item in items.into_iter().rev() {
        let Some(key) = Key::of(&item, &table.partition.name, sort) else {
            let names: Vec<&str> = table.primary_key().map(|key| key.name.as_str()).collect();
            let has: Vec<String> = names.iter().filter_map(|name| item.get(*name)).map(short).collect();
            let detail = format!("an item for {} lacks a key attribute of {} (it has {})", table.name, names.join(", "), has.join(", "));
            return Err(TableError { kind: TableErrorKind::Invalid, detail });
        };
        if seen.insert(canonical(&key).into_owned()) {
            last_first.push(item);
        }
    }
    last_first.reverse();
    Ok(last_first)
}

fn short(value: &Attribute) -> String {
    format!("{value:?}").chars().take(60).collect()
}
