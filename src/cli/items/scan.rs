//! A table in a store in, its items out page by page, under a rate.

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
#[derive(Debug, Clone, Copy)]
pub struct ScanPace {
    /// The most items.
    pub most: usize,
    /// The most read capacity units a second.
    pub units: u32,
}

/// A table that is read from its beginning. A Scan gives partitions in the order of their hashes, so its beginning is a
/// sample of all.
pub struct PacedScan<'s> {
    store: &'s TableStore,
    table: &'s str,
    pace: ScanPace,
    seen: usize,
    start: Option<Item>,
    has_ended: bool,
    /// When the next page may be read.
    next: Instant,
}

impl<'s> PacedScan<'s> {
    /// A table that is not read yet.
    pub fn new(store: &'s TableStore, table: &'s str, pace: ScanPace) -> Self {
        Self { store, table, pace, seen: 0, start: None, has_ended: false, next: Instant::now() }
    }

    /// The next items; `None` after the last.
    pub async fn page(&mut self) -> Result<Option<Vec<Item>>> {
        if self.has_ended || self.seen >= self.pace.most {
            return Ok(None);
        }
        tokio::time::sleep_until(self.next).await;
        let limit = PAGE.min(u32::try_from(self.pace.most - self.seen).unwrap_or(PAGE));
        let begun = Instant::now();
        let page = self.store.scan_page(self.table, self.start.take(), limit, begun + PAGE_BOUND).await;
        let page =
            page.map_err(|error| explained(error, &format!("cannot read {} after {} items", self.table, self.seen)))?;
        let bytes: usize = page.items.iter().map(item_size).sum();
        self.seen += page.items.len();
        self.start = page.last_key;
        self.has_ended = self.start.is_none();
        self.next = begun + Duration::from_secs_f64(bytes as f64 / UNIT_BYTES / f64::from(self.pace.units.max(1)));
        Ok(Some(page.items))
    }
}

/// Reads a table from its beginning, until `see` has enough. The bar shows how many items came.
pub async fn scan(
    store: &TableStore,
    table: &str,
    pace: ScanPace,
    bar: &ProgressBar,
    see: &mut dyn FnMut(Item) -> ControlFlow<()>,
) -> Result<()> {
    let mut pages = PacedScan::new(store, table, pace);
    while let Some(items) = pages.page().await? {
        bar.set_position(pages.seen as u64);
        if items.into_iter().any(|item| see(item).is_break()) {
            break;
        }
    }
    bar.finish_and_clear();
    Ok(())
}
