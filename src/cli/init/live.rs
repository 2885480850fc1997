//! A table that exists in, its description and a sample of its items out, under a rate.

use crate::cli::store_choice::{Remote, explained};
use crate::sources::material::Receiver;
use crate::table::data::item_size::item_size;
use anyhow::Result;
use indicatif::{ProgressBar, ProgressStyle};
use std::time::Duration;
use tokio::time::Instant;

/// Items of a page at most.
const PAGE: u32 = 250;
/// How long one page may take, including waits for a throttled table.
const PAGE_BOUND: Duration = Duration::from_secs(120);
/// The bytes that a read capacity unit reads, eventually consistent (DynamoDB developer guide, "Read consumption").
const UNIT_BYTES: f64 = 8192.0;

/// Reads a table: at most `sample` items, with at most `units` read capacity units a second. A Scan gives partitions in
/// the order of their hashes, so its beginning is a sample of all.
pub async fn read(
    table: &str,
    remote: &Remote,
    (sample, units): (usize, u32),
    receiver: &mut dyn Receiver,
) -> Result<()> {
    let store = remote.store().await?;
    let described =
        store.described(table).await.map_err(|error| explained(error, &format!("cannot describe {table}")))?;
    receiver.table(described);
    let bar = ProgressBar::new(sample as u64);
    if let Ok(style) = ProgressStyle::with_template("{bar:40} {pos} of up to {len} items, {per_sec}") {
        bar.set_style(style);
    }
    let (mut seen, mut start) = (0, None);
    while seen < sample {
        let limit = PAGE.min(u32::try_from(sample - seen).unwrap_or(PAGE));
        let begun = Instant::now();
        let page = store.scan_page(table, start.take(), limit, begun + PAGE_BOUND).await;
        let page = page.map_err(|error| explained(error, &format!("cannot read {table} after {seen} items")))?;
        let bytes: usize = page.items.iter().map(item_size).sum();
        seen += page.items.len();
        bar.set_position(seen as u64);
        let is_enough = page.items.into_iter().any(|item| receiver.item(Some(table), item).is_break());
        start = page.last_key;
        if start.is_none() || is_enough {
            break;
        }
        let pause = Duration::from_secs_f64(bytes as f64 / UNIT_BYTES / f64::from(units));
        tokio::time::sleep_until(begun + pause).await;
    }
    bar.finish_and_clear();
    Ok(())
}
