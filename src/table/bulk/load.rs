//! Many items into a table, or all items out of it, for import, export and samples. Part of [`TableStore`]. Must not
//! know files.

use crate::schema::table::Table;
use crate::table::calls::batch_write::write_batch;
use crate::table::data::attribute::{Attribute, Item, Key};
use crate::table::data::error::{TableError, TableErrorKind};
use crate::table::data::key_identity::canonical;
use crate::table::data::write::{BATCHES_AT_ONCE, BatchWrite, batches};
use crate::table::sdk::convert::{item_from_sdk, item_to_sdk};
use crate::table::store::TableStore;
use aws_sdk_dynamodb::types::Select;
use futures_util::future::TryFutureExt;
use futures_util::stream::{self, StreamExt, TryStreamExt};
use std::collections::HashSet;
use tokio::time::Instant;

/// A page of whole items of a Scan.
#[derive(Debug, Default)]
pub struct ScanPage {
    /// The items, in the table's order.
    pub items: Vec<Item>,
    /// The key to start the next page after; `None` at the end of the table.
    pub last_key: Option<Item>,
}

impl TableStore {
    /// Writes items as fast as the store can: in bulk to the embedded store, otherwise by [`TableStore::put_batch`],
    /// which has the deadline. They replace items with the same keys; of several items with one key, the last stays.
    /// Pass some thousand items at a time: all are in memory.
    pub async fn load(&self, table: &Table, items: Vec<Item>, deadline: Instant) -> Result<(), TableError> {
        match self.engine() {
            Some(engine) => engine.load(&table.name, distinct(table, items)?).await,
            None => self.put_batch(table, items, deadline).await,
        }
    }

    /// Writes items by BatchWriteItem, 25 in each call, and sends unprocessed items again until the deadline. They
    /// replace items with the same keys; of several items with one key, the last stays. After an error some items are
    /// written: repeat the call to write the rest.
    pub async fn put_batch(&self, table: &Table, items: Vec<Item>, deadline: Instant) -> Result<(), TableError> {
        // A batch may not name a key twice, and the order of concurrent batches is undefined.
        let batches = batches(distinct(table, items)?.into_iter().map(BatchWrite::Put));
        let put = |batch| {
            write_batch(self.caller(deadline.into()), &table.name, batch, deadline)
                .map_ok(drop)
                .map_err(|failure| failure.error)
        };
        stream::iter(batches).map(|batch| Ok(put(batch))).try_buffer_unordered(BATCHES_AT_ONCE).try_collect().await
    }

    /// Reads one page of whole items: at most a megabyte, and at most `limit` items. The page's `last_key` starts the
    /// next one.
    pub async fn scan_page(
        &self,
        table: &str,
        start: Option<Item>,
        limit: u32,
        deadline: Instant,
    ) -> Result<ScanPage, TableError> {
        let limit = i32::try_from(limit).unwrap_or(i32::MAX).max(1);
        let start = start.map(item_to_sdk);
        let attempts = self.caller(deadline.into()).attempts("Scan", table, deadline);
        let request = self.client().scan().table_name(table).limit(limit).set_exclusive_start_key(start);
        let output = attempts.send(|| request.clone().send()).await?;
        let unknown = || {
            let detail = format!("Scan {table}: an item has an attribute of an unknown type");
            TableError { kind: TableErrorKind::Invalid, detail }
        };
        let items = output.items.unwrap_or_default().into_iter().map(item_from_sdk).collect::<Option<_>>();
        let last_key = output.last_evaluated_key.filter(|key| !key.is_empty());
        let last_key = last_key.map(|key| item_from_sdk(key).ok_or_else(unknown)).transpose()?;
        Ok(ScanPage { items: items.ok_or_else(unknown)?, last_key })
    }

    /// Whether a table has no item.
    pub async fn is_empty(&self, table: &str, deadline: Instant) -> Result<bool, TableError> {
        let attempts = self.caller(deadline.into()).attempts("Scan", table, deadline);
        let request = self.client().scan().table_name(table).limit(1).select(Select::Count).consistent_read(true);
        Ok(attempts.send(|| request.clone().send()).await?.count == 0)
    }
}

/// The items in their order, of several with one key only the last. An item without its key attributes is an error that
/// names them.
fn distinct(table: &Table, items: Vec<Item>) -> Result<Vec<Item>, TableError> {
    let sort = table.sort.as_ref().map(|key| key.name.as_str());
    let mut seen: HashSet<Key> = HashSet::with_capacity(items.len());
    let mut last_first: Vec<Item> = Vec::with_capacity(items.len());
    for item in items.into_iter().rev() {
        let Some(key) = Key::new(&item, &table.partition.name, sort) else {
            let names: Vec<&str> = table.primary_key().map(|key| key.name.as_str()).collect();
            let has: Vec<String> = names.iter().filter_map(|name| item.get(name)).map(short).collect();
            let detail = format!(
                "an item for {} lacks a key attribute of {} (it has {})",
                table.name,
                names.join(", "),
                has.join(", ")
            );
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
