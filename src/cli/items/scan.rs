//! A table in a store in, its items out one by one, under a rate.

use crate::cli::store_choice::explained;
use crate::table::data::attribute::Item;
use crate::table::data::item_size::item_size;
use crate::table::store::TableStore;
use anyhow::Result;
use indicatif::ProgressBar;
use std::ops::ControlFlow;
use std::time::Duration;
use tokio::time::Instant;

/// Items of a page at most.
const PAGE: u32 = 250;
/// How long one page may take, including waits for a throttled table.
const PAGE_BOUND: Duration = Duration::from_secs(120);
/// The bytes that a read capacity unit reads, eventually consistent (DynamoDB developer guide, "Read consumption").
const UNIT_BYTES: f64 = 8192.0;

/// How much of a table is read, and how fast.
pub struct ScanPace {
    /// The most items.
    pub most: usize,
    /// The most read capacity units a second.
    pub units: u32,
}

/// Reads a table from its beginning, until `see` has enough. A Scan gives partitions in the order of their hashes, so
/// its beginning is a sample of all. The bar shows how many items came.
pub async fn scan(
    store: &TableStore,
    table: &str,
    pace: &ScanPace,
    bar: &ProgressBar,
    see: &mut dyn FnMut(Item) -> ControlFlow<()>,
) -> Result<()> {
    let (mut seen, mut start) = (0, None);
    while seen < pace.most {
        let limit = PAGE.min(u32::try_from(pace.most - seen).unwrap_or(PAGE));
        let begun = Instant::now();
        let page = store.scan_page(table, start.take(), limit, begun + PAGE_BOUND).await;
        let page = page.map_err(|error| explained(error, &format!("cannot read {table} after {seen} items")))?;
        let bytes: usize = page.items.iter().map(item_size).sum();
        seen += page.items.len();
        bar.set_position(seen as u64);
        let is_enough = page.items.into_iter().any(|item| see(item).is_break());
        start = page.last_key;
        if start.is_none() || is_enough {
            break;
        }
        let pause = Duration::from_secs_f64(bytes as f64 / UNIT_BYTES / f64::from(pace.units.max(1)));
        tokio::time::sleep_until(begun + pause).await;
    }
    bar.finish_and_clear();
    Ok(())
}
